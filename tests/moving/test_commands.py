"""The commands that move, copy and mend a registry, as a person runs them, beside a registry that runs."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.commands import LIMIT_S, LOOPBACK_GIT, registry, run
from tests.acceptance.test_commands import GOOD
from tests.moving.houses import fill_house, open_house
from vskill_platform.domain.catalog import CATALOG_FORM, SKILLS
from vskill_platform.moving.packing import IMPORT_KEY
from vskill_platform.ports.commit import Put, Unindex
from vskill_platform.testing.git_repos import make_repository
from vskill_platform.testing.git_server import serve_repositories_in_thread

EXPORT_FIELDS = {"format", "software", "exportedAt", "parts", "content", "digest"}


def answer(*arguments: str, **environment: str) -> Any:
    done = run(*arguments, **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_registry_moves__from_one_that_runs_to_one_that_starts(tmp_path: Path) -> None:
    old, new, export = tmp_path / "old", tmp_path / "new", str(tmp_path / "export")
    make_repository(tmp_path / "git" / "acme" / "good.git", {"SKILL.md": GOOD})
    with serve_repositories_in_thread(tmp_path / "git") as source, registry(old, **LOOPBACK_GIT) as (process, _):
        submitted = run("submit", f"{source}/acme/good.git", "--wait", "--data", str(old))
        assert submitted.returncode == 0, submitted.stdout
        while_running = answer("export", str(tmp_path / "early"), "--json", "--data", str(old))
        assert set(while_running) == EXPORT_FIELDS
        refused = run("import", str(tmp_path / "early"), "--data", str(old))
        assert (refused.returncode, "data_folder_owned" in refused.stderr) == (1, True)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=LIMIT_S) == 0
    manifest = answer("export", export, "--json", "--data", str(old))
    assert [part["count"] > 0 for part in manifest["parts"] if part["name"] != "messages.jsonl"] == [True] * 3
    assert answer("import", export, "--json", "--data", str(new)) == manifest
    again = answer("export", str(tmp_path / "again"), "--json", "--data", str(new))
    assert again["parts"] == manifest["parts"]
    with registry(new, **LOOPBACK_GIT):
        (skill,) = answer("skills", "--json", "--data", str(new))["skills"]
        assert skill["name"] == "greeting"
        rescanned = run("rescan", skill["slug"], "--data", str(new))
        assert rescanned.returncode == 0, rescanned.stderr


async def test_registry_moves_to_postgresql_and_back_by_commands(postgres_url: str, tmp_path: Path) -> None:
    old, middle, new = (str(tmp_path / name) for name in ("old", "middle", "new"))
    async with open_house("sqlite", tmp_path / "old") as house:
        await fill_house(house, submissions=5)
    on_postgres = {"VSKILL_PLATFORM_DATABASE_URL": postgres_url}
    first = answer("export", str(tmp_path / "first"), "--json", "--data", old)
    assert answer("import", str(tmp_path / "first"), "--json", "--data", middle, **on_postgres) == first
    second = answer("export", str(tmp_path / "second"), "--json", "--data", middle, **on_postgres)
    answer("import", str(tmp_path / "second"), "--json", "--data", new)
    third = answer("export", str(tmp_path / "third"), "--json", "--data", new)
    assert first["parts"] == second["parts"] == third["parts"]
    assert answer("skills", "問候", "--json", "--data", middle, **on_postgres)["total"] == 1
    refused = run("backup", str(tmp_path / "backup"), "--data", middle, **on_postgres)
    assert (refused.returncode, "backup_elsewhere" in refused.stderr) == (1, True)
    assert "pg_dump" in refused.stderr


def test_commands_say_what_to_do__where_they_cannot_do_it(tmp_path: Path) -> None:
    nothing = str(tmp_path / "nothing")
    for command in (["export", str(tmp_path / "a")], ["backup", str(tmp_path / "b")], ["rebuild-catalog"]):
        refused = run(*command, "--data", nothing)
        assert (refused.returncode, "not_found" in refused.stderr) == (1, True), command
    assert not (tmp_path / "nothing").exists()
    refused = run("import", nothing, "--data", str(tmp_path / "new"))
    assert (refused.returncode, "export_incomplete" in refused.stderr) == (1, True)


async def test_up_and_every_other_command_refuse__while_an_import_has_not_ended(tmp_path: Path) -> None:
    async with open_house("sqlite", tmp_path) as house:
        await house.engine.writes.commit([Put(IMPORT_KEY, b'{"v":1,"export":"x"}')])
    for command in ("up", "health"):
        refused = run(command, "--data", str(tmp_path))
        assert (refused.returncode, "import_unfinished" in refused.stderr) == (1, True), (command, refused.stderr)
        assert "vskill-platform import" in refused.stderr
    for command in ("export", "backup"):
        refused = run(command, str(tmp_path / command), "--data", str(tmp_path))
        assert (refused.returncode, "import_unfinished" in refused.stderr) == (1, True), (command, refused.stderr)


@pytest.mark.parametrize("is_running", [False, True])
async def test_rebuild_catalog_tells_and_mends__whether_or_not_the_registry_runs(
    is_running: bool, tmp_path: Path
) -> None:
    data = str(tmp_path / "data")
    async with open_house("sqlite", tmp_path / "data") as house:
        await fill_house(house, submissions=5)
        await house.engine.catalog.set_form(CATALOG_FORM)
        await house.engine.writes.commit([Unindex(SKILLS, "acme/skills/greeting")])

    def check() -> None:
        said = answer("rebuild-catalog", "--dry-run", "--json", "--data", data)
        assert (said["missing"], said["differing"], said["unbacked"], said["malformed"]) == (1, 0, 0, 0)
        assert said["told"] == ["'skill:acme/skills/greeting' has no document."]
        done = run("rebuild-catalog", "--data", data)
        assert "1 documents were mended" in done.stdout, done.stderr
        assert answer("rebuild-catalog", "--json", "--data", data)["missing"] == 0
        assert answer("skills", "問候", "--json", "--data", data)["total"] == 1

    if is_running:
        with registry(tmp_path / "data"):
            check()
    else:
        check()
