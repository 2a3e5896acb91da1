"""Hostile JavaScript: whatever it is made of, it is read in bounded steps, and what was not read is said."""

from __future__ import annotations

import pytest

from tests.scanning.seeing import checks_of, in_javascript, limits_of
from vskill_platform.scanning.limits import UNREAD_CODE
from vskill_platform.scanning.tier1.code.budget import LARGEST_SNIPPET, Budget
from vskill_platform.scanning.tier1.code.javascript import checks
from vskill_platform.scanning.tier1.code.javascript.expressions import DEEPEST
from vskill_platform.scanning.tier1.code.javascript.world import LONGEST_PATH, World
from vskill_platform.scanning.tier1.code.report import Report

ATTACK = "eval(atob('YWxlcnQoMSk='));\n"


def test_program_that_is_too_large_is_read_as_far_as_it_goes__and_named() -> None:
    seen = in_javascript(ATTACK + "// x\n" * (LARGEST_SNIPPET // 5))
    assert checks.RUNS_DECODED in checks_of(seen)
    assert limits_of(seen) == {UNREAD_CODE}


def test_large_program_is_read__up_to_the_limit() -> None:
    padding = "// a comment of an ordinary length, as people write them\n" * 15_000
    seen = in_javascript(padding + ATTACK)
    assert checks.RUNS_DECODED in checks_of(seen)
    assert limits_of(seen) == set()


@pytest.mark.parametrize("opening", ["(", "[", "{", "`${", "f(", "a=>", "x=", "function(){", "if(a){", "class A{b(){"])
def test_deep_nesting_is_named(opening: str) -> None:
    assert UNREAD_CODE in limits_of(in_javascript(ATTACK + opening * 100_000))


@pytest.mark.parametrize("opening", ["(", "[", "f(", "x=", "a=>"])
def test_code_behind_what_nests_too_deeply_is_read(opening: str) -> None:
    closing = {"(": ")", "[": "]", "f(": ")"}.get(opening, "")
    seen = in_javascript(f"{opening * (DEEPEST + 50)}1{closing * (DEEPEST + 50)};\n{ATTACK}")
    assert checks.RUNS_DECODED in checks_of(seen)
    assert limits_of(seen) == {UNREAD_CODE}


@pytest.mark.parametrize(
    "text", ["a + " * 2_000 + "b", "a ? b : " * 2_000 + "c", "x" + ".then(f)" * 2_000, "[" + "1," * 5_000 + "]"]
)
def test_long_row_is_no_depth(text: str) -> None:
    seen = in_javascript(f"{text};\n{ATTACK}")
    assert checks.RUNS_DECODED in checks_of(seen)
    assert limits_of(seen) == set()


def test_fenced_block_that_cannot_be_read_is_no_limit__because_people_read_it() -> None:
    seen = in_javascript(f"```js\n{ATTACK}{'f(' * 5_000}\n```\n", path="notes.md")
    assert limits_of(seen) == set()


@pytest.mark.parametrize(
    "piece",
    [
        "a=a+a;",
        "a+='a'+a;",
        "a.b",
        "a=[a,a];",
        "a={...a,...a};",
        "`a`+",
        "f()",
        "a<b,",
        "<a ",
        "x.split('').reverse().join('');",
        "/[/",
        "'",
        "\\u0041",
    ],
)
def test_hostile_text_ends__in_bounded_steps(piece: str) -> None:
    """What grows without bound in other readers: it is read to its end, or the report says that it was not."""
    assert limits_of(in_javascript("eval(x);let a='a';\n" + piece * 10_000)) <= {UNREAD_CODE}


def test_path_of_a_long_row_of_members_stays_short__because_each_is_kept() -> None:
    text = "a.b.c"
    world = World(Report("run.js", text, layer="javascript"), own_files={}, budget=Budget())
    value = world.known_global("a")
    for _ in range(1_000):
        value = world.call(world.member(value, "b", is_built=False, at=0), [], 0)
        assert len(value.path) <= 2 * LONGEST_PATH


def test_functions_that_call_each_other_end() -> None:
    text = "function f(a) { g(a); g(a) } function g(a) { f(a); f(a) } f(1);\n" + ATTACK
    seen = in_javascript(text)
    assert checks.RUNS_DECODED in checks_of(seen)
    assert limits_of(seen) == set()


def test_broken_code_is_read_on__behind_the_break() -> None:
    seen = in_javascript("const = ) ] } function ( class { ;\n" + ATTACK)
    assert checks.RUNS_DECODED in checks_of(seen)
