"""docs/conformance.md and tests/seed say the same: every id has its tests, and every test its row."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "conformance.md"
SEED_TESTS = ROOT / "tests" / "seed"

CRITERIA_OF_STORY = {1: 3, 2: 3, 3: 5}
CRITERIA = {
    f"{document} AC-US{story}-{number:02d}"
    for document in ("0310", "0313")
    for story, count in CRITERIA_OF_STORY.items()
    for number in range(1, count + 1)
}
REQUIREMENTS = {f"FR-{number:03d}" for number in (1, 2, 3)}
TEST_CASES = {f"TC-{number:03d}" for number in (50, 56, 57, 58, 60, 61, 62, 63, 65, 70, 71, 72, 75, 76, 77)}
IDS = CRITERIA | REQUIREMENTS | TEST_CASES

_ROW = re.compile(r"^\| (?P<id>[^|]+?) \| (?P<asks>[^|]+?) \| (?P<tests>[^|]+?) \|$", re.MULTILINE)
_TEST_NAME = re.compile(r"`(test_\w+)`")


@cache
def read_table() -> list[tuple[str, str, list[str]]]:
    """The rows of the page: id, what it asks, its tests."""
    rows = [(row["id"], row["asks"], _TEST_NAME.findall(row["tests"])) for row in _ROW.finditer(PAGE.read_text())]
    return [row for row in rows if row[0] not in ("id", "---")]


@cache
def collect_seed_tests() -> list[str]:
    """The names of all test functions in tests/seed."""
    modules = [ast.parse(path.read_text()) for path in sorted(SEED_TESTS.rglob("test_*.py"))]
    functions = [
        node
        for module in modules
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [function.name for function in functions if function.name.startswith("test_")]


def id_of(test: str) -> str:
    """The id that a test's name begins with: `test_0310_ac_us1_01__...` is of `0310 AC-US1-01`."""
    words = test.removeprefix("test_").partition("__")[0].upper()
    return re.sub(r"^(0\d{3})_", r"\1 ", words, count=1).replace("_", "-")


def test_seed_documents_have_twenty_two_criteria() -> None:
    assert len(CRITERIA) == 22


def test_conformance_page_lists_every_id_once() -> None:
    listed = Counter(identity for identity, _, _ in read_table())

    assert set(listed) == IDS
    assert [identity for identity, times in listed.items() if times > 1] == []


@pytest.mark.parametrize("identity", sorted(IDS))
def test_conformance_row_names_the_tests_of_its_id(identity: str) -> None:
    named = [test for listed, _, tests in read_table() if listed == identity for test in tests]
    written = [test for test in collect_seed_tests() if id_of(test) == identity]

    assert written, "the id has no test in tests/seed"
    assert sorted(named) == sorted(set(written))


def test_seed_tests_all_belong_to_an_id() -> None:
    assert [test for test in collect_seed_tests() if id_of(test) not in IDS] == []


def test_seed_tests_of_one_name_guard_one_thing() -> None:
    """A name that two modules share would let one row stand for two tests."""
    assert [test for test, times in Counter(collect_seed_tests()).items() if times > 1] == []


def test_conformance_page_names_only_tests_that_exist() -> None:
    named = set(_TEST_NAME.findall(PAGE.read_text()))

    assert named - set(collect_seed_tests()) == set()


def test_conformance_differences_each_name_their_test() -> None:
    differences = PAGE.read_text().partition("## Deliberate differences\n")[2]
    items = [item for item in re.split(r"^- ", differences, flags=re.MULTILINE)[1:] if item.strip()]

    assert len(items) >= 3
    assert [item.splitlines()[0] for item in items if not _TEST_NAME.search(item)] == []
