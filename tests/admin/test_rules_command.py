"""`vskill-platform rules`: the panel's acts at the terminal, on a registry that nobody has open."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.admin.test_rules import BASE, plant_three
from vskill_platform.app import open_env
from vskill_platform.cli.rules import Deed, rules
from vskill_platform.domain.errors import VskillError
from vskill_platform.settings import Settings


@pytest.fixture
def data(tmp_path: Path) -> str:
    async def make() -> None:
        async with open_env(Settings(data=str(tmp_path))) as env:
            await plant_three(env)

    asyncio.run(make())
    return str(tmp_path)


def run(data: str, deed: Deed, rule: str = "", severity: str = "", *, as_json: bool = True) -> None:
    rules(deed, rule, severity, reason="A test.", data=data, as_json=as_json)


def test_rules_are_tried_changed_and_rescanned__from_the_terminal(
    data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(deed: Deed, rule: str = "", severity: str = "") -> Any:
        run(data, deed, rule, severity)
        told = capsys.readouterr().out
        return json.loads(told[told.index("{\n") :])  # what is logged comes before it

    tried = answer(Deed.DRY_RUN, "PI-001", "off")
    assert (tried["isDone"], [one["slug"] for one in tried["changes"]]) == (True, ["a/b/flagged"])
    changed = answer(Deed.OFF, "PI-001")
    assert (changed["rule"]["severity"], changed["rulesetVersion"]) == ("off", tried["run"]["newVersion"])
    assert answer(Deed.DEFAULT, "PI-001")["rulesetVersion"] == BASE
    rescan = answer(Deed.RESCAN)["rescan"]
    assert (rescan["total"], rescan["current"], rescan["state"]) == (3, 2, "DONE")
    with pytest.raises(VskillError, match="No rescan is under way"):
        run(data, Deed.STOP)


def test_dry_run_and_list_are_told_in_words(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(data, Deed.DRY_RUN, "PI-001", "off", as_json=False)
    told = capsys.readouterr().out
    assert "a/b/flagged" in told
    assert "1 not known" in told
    run(data, Deed.LIST, as_json=False)
    assert BASE in capsys.readouterr().out


@pytest.mark.parametrize(("deed", "rule"), [(Deed.OFF, ""), (Deed.SEVERITY, "PI-001"), (Deed.DRY_RUN, "PI-001")])
def test_command_says_what_is_missing(deed: Deed, rule: str) -> None:
    with pytest.raises(typer.BadParameter):
        run("nowhere", deed, rule)
