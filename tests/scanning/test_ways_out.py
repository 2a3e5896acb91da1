"""A secret that leaves, and code that is fetched and run, are found on each way through a program, and as flows."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.scanning import ways_of_others, ways_out
from tests.scanning.building import make_skill
from vskill_platform.scanning.tier1.scan import scan_content

SKILL = "---\nname: tidy\ndescription: Keeps the project tidy.\n---\n\n# Tidy\n\nRun the program.\n"
HIDDEN_CALL = "PY-010"
"""A call by a hidden name, which is seen before what it does."""


class Ways(NamedTuple):
    """First and second halves of programs in one language, the ids of the rules that see them as one, and what is ordinary."""

    path: str
    head: str
    first: dict[str, str]
    second: dict[str, str]
    rules: frozenset[str]
    ordinary_first: str = ""
    ordinary_second: str = ""
    tail: str = ""


WAYS = {
    "secret of javascript": Ways(
        "run.mjs",
        ways_out.JS_HEAD,
        ways_out.JS_IN,
        ways_out.JS_OUT,
        frozenset(["JS-020", "JS-021", "JS-022"]),
        ordinary_first="const d = JSON.stringify({ done: 3, of: 4 });",
    ),
    "secret of python": Ways(
        "run.py",
        ways_out.PY_HEAD,
        ways_out.PY_IN,
        ways_out.PY_OUT,
        frozenset(["PY-001", "PY-002", "PY-003"]),
        ordinary_first="d = json.dumps({'done': 3, 'of': 4})",
    ),
    "secret of shell": Ways(
        "run.sh",
        ways_out.SH_HEAD,
        ways_out.SH_IN,
        ways_out.SH_OUT,
        frozenset(["SH-020", "SH-021", "SH-022", "SH-023", "SH-025", "SH-026"]),
        ordinary_first="d=$(git log -1 --format=%s)",
    ),
    "code of javascript": Ways(
        "run.mjs",
        ways_out.JS_HEAD,
        ways_out.JS_FETCHED,
        ways_out.JS_RUN,
        frozenset(["JS-001", "JS-002", "JS-003", "JS-004", "JS-005", "JS-007", "SH-002"]),
        ordinary_second="console.log(c); fs.writeFileSync('out.txt', c);",
    ),
    "code of python": Ways(
        "run.py",
        ways_out.PY_HEAD,
        ways_out.PY_FETCHED,
        ways_out.PY_RUN,
        frozenset(["PY-007", "PY-016"]),
        ordinary_second="print(c)\nopen('out.txt', 'w').write(str(c))",
    ),
}

OTHERS = {path.name: ways_of_others.read_halves(path) for path in sorted(ways_of_others.FOLDER.iterdir())}
for name, halves in OTHERS.items():
    for first, second, seen, shown in (
        ("secret", "sent", ["OC-001", "OC-002"], ""),
        ("code", "run", ["OC-003"], halves["shown"][""]),
        ("link", "obey", ["OC-005", "OC-007", "RS-001"], ""),
    ):
        if not halves[first]:
            continue
        WAYS[f"{first} of {name}"] = Ways(
            name,
            "".join(halves["head"].values()),
            halves[first],
            halves[second],
            frozenset(seen),
            ordinary_first=halves["ordinary"][""] if first == "secret" else "",
            ordinary_second=shown,
            tail="".join(halves["tail"].values()),
        )


def rules_hit(ways: Ways, first: str, second: str) -> frozenset[str]:
    """The ids of the rules that hit the program of two halves."""
    program = ways.head + (first.replace("OUT", second) if "OUT" in first else f"{first}\n{second}\n")
    program += ways.tail
    return frozenset(one.rule_id for one in scan_content(make_skill({"SKILL.md": SKILL, ways.path: program})).findings)


@pytest.mark.parametrize(("of", "first"), [(of, first) for of, ways in WAYS.items() for first in ways.first])
def test_first_half_is_followed__to_every_second(of: str, first: str) -> None:
    ways = WAYS[of]
    hits = {name: rules_hit(ways, ways.first[first], second) for name, second in ways.second.items()}
    assert {name: found for name, found in hits.items() if not found & {*ways.rules, HIDDEN_CALL}} == {}


@pytest.mark.parametrize(
    ("of", "second"), [(of, second) for of, ways in WAYS.items() if ways.ordinary_first for second in ways.second]
)
def test_ordinary_text_is_no_secret_that_leaves(of: str, second: str) -> None:
    ways = WAYS[of]
    assert not rules_hit(ways, ways.ordinary_first, ways.second[second]) & ways.rules


@pytest.mark.parametrize(
    ("of", "first"), [(of, first) for of, ways in WAYS.items() if ways.ordinary_second for first in ways.first]
)
def test_text_that_is_fetched_and_shown_is_no_code(of: str, first: str) -> None:
    ways = WAYS[of]
    assert not rules_hit(ways, ways.first[first], ways.ordinary_second) & {*ways.rules, HIDDEN_CALL}
