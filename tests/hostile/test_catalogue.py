"""The whole catalogue is accounted for: every item is tried by a case, or the manifest says why it cannot be."""

from __future__ import annotations

from collections import Counter

from tests.hostile import test_corpus  # noqa: F401  registers the builders
from tests.hostile.catalogue import CATALOGUE
from tests.hostile.corpus import BUILDERS, Case, read_manifest
from vskill_platform.domain.errors import error_tree
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.scanning.tier1.rules import read_ruleset

MANIFEST = read_manifest()
ITEMS = {f"{group}/{item}" for group, items in CATALOGUE.items() for item in items}
DECIDED = {"concerns", "scan_incomplete", "tier1_failed"}


def test_catalogue_is_accounted_for__by_cases_or_by_a_reason() -> None:
    tried = {item for case in MANIFEST.cases for item in case.items}
    excused = {entry.item for entry in MANIFEST.not_applicable}
    assert tried | excused == ITEMS
    assert tried & excused == set()


def test_every_case_has_a_builder__and_every_builder_a_case() -> None:
    counted = Counter(case.id for case in MANIFEST.cases)
    assert [id for id, count in counted.items() if count > 1] == []
    assert set(counted) == set(BUILDERS)


def test_every_case_expects_something__in_words_that_exist() -> None:
    codes = {error.code for error in error_tree()} | DECIDED
    states = {state.value for state in SubmissionState} | {"REFUSED"}
    for case in MANIFEST.cases:
        assert case.group in CATALOGUE, case.id
        assert case.what.endswith("."), case.id
        assert _expects_something(case), case.id
        assert case.state is None or case.state in states, case.id
        assert case.reason is None or case.reason in codes, case.id
        assert case.rule is None or case.rule in read_ruleset().rules, case.id


def test_sentences_are_said_once__so_that_each_case_says_what_it_is() -> None:
    said = Counter(case.what for case in MANIFEST.cases)
    assert [what for what, count in said.items() if count > 1] == []


def test_reasons_are_sentences() -> None:
    reasons = [entry.why for entry in MANIFEST.not_applicable]
    reasons += [reason for case in MANIFEST.cases for reason in (case.known_gap, case.defect) if reason is not None]
    assert [reason for reason in reasons if not reason.endswith(".")] == []


def _expects_something(case: Case) -> bool:
    return any(expected is not None for expected in (case.state, case.ceiling, case.limits))
