"""The scanner on its own corpus, case by case, and the corpus held to its own rules.

`known_gaps.txt` has the cases that go wrong today: malicious ones that pass, benign ones that are flagged. A case that is
not on the list must go right, and one that is must go wrong: whoever closes a gap takes it off the list.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.corpus.cases import Case, Step, read_corpus, read_known_gaps, read_steps
from vskill_platform.scanning.tier1.scan import scan_content

CASES = read_corpus()
STEPS = read_steps()
KNOWN_GAPS = read_known_gaps()
MOST_OF_A_TEMPLATE = 5
FEWEST = {"malicious": 200, "benign": 200, "tricks": 120, "pairs": 80}
FEWEST_FORMS = 3
BENIGN_A_DAY = 3
"""One of so many honest cases is scanned by `make test`, and all of them by `make test-full`; of the others, each is."""
DAILY = [
    pytest.param(case, id=case.name, marks=pytest.mark.full if number % BENIGN_A_DAY and not case.is_malicious else ())
    for number, case in enumerate(CASES)
]


@pytest.mark.parametrize("case", DAILY)
def test_case_gets_the_verdict_that_it_deserves__or_is_a_known_gap(case: Case) -> None:
    is_right = scan_content(case.content).flagged is case.is_malicious
    assert is_right is (case.name not in KNOWN_GAPS)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_step_gets_the_verdict_that_it_deserves__or_is_a_known_gap(step: Step) -> None:
    is_right = scan_content(step.content).flagged is step.is_malicious
    assert is_right is (step.name not in KNOWN_GAPS)


def test_known_gaps_are_cases__each_once() -> None:
    assert {one.name for one in (*CASES, *STEPS)} >= KNOWN_GAPS


@pytest.mark.parametrize("kind", FEWEST)
def test_corpus_has_enough_cases__of_each_kind(kind: str) -> None:
    assert sum(case.kind == kind for case in CASES) >= FEWEST[kind]


def test_template_has_few_cases__so_that_none_weighs_too_much() -> None:
    counted = Counter(case.head.get("template", case.name) for case in CASES if case.kind != "pairs")
    assert {name: count for name, count in counted.items() if count > MOST_OF_A_TEMPLATE} == {}


def test_trick_comes_in_several_forms() -> None:
    forms = Counter(case.name.split("/")[1] for case in CASES if case.kind == "tricks")
    assert {name: count for name, count in forms.items() if count < FEWEST_FORMS} == {}


def test_case_says_what_it_is__in_its_head() -> None:
    assert [case.name for case in CASES if not {"technique", "note"} <= case.head.keys()] == []
