"""A secret that leaves, and code that is fetched and run, are found on each way through a program, and as flows."""

from __future__ import annotations

import pytest

from tests.scanning.building import make_skill
from tests.scanning.ways_out import (
    JS_FETCHED,
    JS_HEAD,
    JS_IN,
    JS_OUT,
    JS_RUN,
    PY_FETCHED,
    PY_HEAD,
    PY_IN,
    PY_OUT,
    PY_RUN,
    SH_HEAD,
    SH_IN,
    SH_OUT,
)
from vskill_platform.scanning.tier1.scan import scan_content

SKILL = "---\nname: tidy\ndescription: Keeps the project tidy.\n---\n\n# Tidy\n\nRun the program.\n"
JS_FLOWS = frozenset(["JS-020", "JS-021", "JS-022"])
PY_FLOWS = frozenset(["PY-001", "PY-002", "PY-003"])
HIDDEN_CALL = "PY-010"
"""A call by a hidden name, which is seen before what it does."""


SH_FLOWS = frozenset(["SH-020", "SH-021", "SH-022", "SH-023", "SH-025", "SH-026"])
JS_RUNS = frozenset(["JS-001", "JS-002", "JS-003", "JS-004", "JS-005", "JS-007", "SH-002"])
PY_RUNS = frozenset(["PY-007", "PY-016", HIDDEN_CALL])


def rules_hit(path: str, program: str) -> frozenset[str]:
    """The ids of the rules that hit a program."""
    return frozenset(one.rule_id for one in scan_content(make_skill({"SKILL.md": SKILL, path: program})).findings)


def program_of(way_in: str, way_out: str) -> str:
    """The program that something goes through in these ways."""
    return way_in.replace("OUT", way_out) if "OUT" in way_in else f"{way_in}\n{way_out}\n"


@pytest.mark.parametrize("way_in", JS_IN)
def test_secret_is_followed_through_javascript__to_every_way_out(way_in: str) -> None:
    hits = {name: rules_hit("run.mjs", JS_HEAD + program_of(JS_IN[way_in], JS_OUT[name])) for name in JS_OUT}
    assert {name: found for name, found in hits.items() if not found & JS_FLOWS} == {}


@pytest.mark.parametrize("way_in", PY_IN)
def test_secret_is_followed_through_python__to_every_way_out(way_in: str) -> None:
    hits = {name: rules_hit("run.py", PY_HEAD + program_of(PY_IN[way_in], PY_OUT[name])) for name in PY_OUT}
    assert {name: found for name, found in hits.items() if not found & {*PY_FLOWS, HIDDEN_CALL}} == {}


@pytest.mark.parametrize("way_in", SH_IN)
def test_secret_is_followed_through_shell__to_every_way_out(way_in: str) -> None:
    hits = {name: rules_hit("run.sh", SH_HEAD + program_of(SH_IN[way_in], SH_OUT[name])) for name in SH_OUT}
    assert {name: found for name, found in hits.items() if not found & SH_FLOWS} == {}


@pytest.mark.parametrize("way_out", SH_OUT)
def test_ordinary_text_is_nothing_that_leaves_shell(way_out: str) -> None:
    assert not rules_hit("run.sh", SH_HEAD + program_of("d=$(git log -1 --format=%s)", SH_OUT[way_out])) & SH_FLOWS


@pytest.mark.parametrize("way_out", JS_OUT)
def test_ordinary_text_is_nothing_that_leaves_javascript(way_out: str) -> None:
    program = JS_HEAD + program_of("const d = JSON.stringify({ done: 3, of: 4 });", JS_OUT[way_out])
    assert not rules_hit("run.mjs", program) & JS_FLOWS


@pytest.mark.parametrize("way_out", PY_OUT)
def test_ordinary_text_is_nothing_that_leaves_python(way_out: str) -> None:
    assert (
        not rules_hit("run.py", PY_HEAD + program_of("d = json.dumps({'done': 3, 'of': 4})", PY_OUT[way_out]))
        & PY_FLOWS
    )


@pytest.mark.parametrize("fetched", JS_FETCHED)
def test_code_is_followed_through_javascript__to_every_way_to_run_it(fetched: str) -> None:
    hits = {name: rules_hit("run.mjs", JS_HEAD + program_of(JS_FETCHED[fetched], JS_RUN[name])) for name in JS_RUN}
    assert {name: found for name, found in hits.items() if not found & JS_RUNS} == {}


@pytest.mark.parametrize("fetched", PY_FETCHED)
def test_code_is_followed_through_python__to_every_way_to_run_it(fetched: str) -> None:
    hits = {name: rules_hit("run.py", PY_HEAD + program_of(PY_FETCHED[fetched], PY_RUN[name])) for name in PY_RUN}
    assert {name: found for name, found in hits.items() if not found & PY_RUNS} == {}


@pytest.mark.parametrize("fetched", JS_FETCHED)
def test_text_that_is_fetched_and_shown_is_no_code__in_javascript(fetched: str) -> None:
    program = JS_HEAD + program_of(JS_FETCHED[fetched], "console.log(c); fs.writeFileSync('out.txt', c);")
    assert not rules_hit("run.mjs", program) & JS_RUNS


@pytest.mark.parametrize("fetched", PY_FETCHED)
def test_text_that_is_fetched_and_shown_is_no_code__in_python(fetched: str) -> None:
    program = PY_HEAD + program_of(PY_FETCHED[fetched], "print(c)\nopen('out.txt', 'w').write(str(c))")
    assert not rules_hit("run.py", program) & PY_RUNS
