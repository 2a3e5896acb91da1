"""The transition table, the categories and the steps of a record."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vskill_platform.domain.errors import IllegalTransition, InvalidQuery
from vskill_platform.domain.ids import submission_id
from vskill_platform.domain.records import advance, receive_submission
from vskill_platform.domain.recovery import STUCK_STATES
from vskill_platform.domain.submission import (
    CATEGORY_OF,
    CATEGORY_STATES,
    DELIVERABLE_STATES,
    TRANSITIONS,
    Actor,
    Category,
    SubmissionState,
    Trigger,
    check_transition,
    count_by_category,
    expand_state_filter,
)
from vskill_platform.testing.submissions import submission_at

S = SubmissionState


def test_every_state_is_in_exactly_one_category() -> None:
    listed = [state for states in CATEGORY_STATES.values() for state in states]
    assert sorted(listed) == sorted(S)
    assert {CATEGORY_OF[state] for state in S} == set(Category)


@given(st.dictionaries(st.sampled_from(S), st.integers(0, 10_000)))
def test_categories_sum_to_the_total(by_state: dict[SubmissionState, int]) -> None:
    assert sum(count_by_category(by_state).values()) == sum(by_state.values())


def test_every_state_can_be_reached_from_the_first_one() -> None:
    reached = {S.RECEIVED}
    for _ in S:
        reached |= {row.target for row in TRANSITIONS if row.source in reached}
    assert reached == set(S)


def test_only_the_first_step_has_no_source() -> None:
    assert {(row.target, row.trigger) for row in TRANSITIONS if row.source is None} == {(S.RECEIVED, Trigger.SUBMITTED)}


def test_worker_never_moves_what_is_published() -> None:
    assert [row for row in TRANSITIONS if row.source is S.PUBLISHED and Actor.WORKER in row.actors] == []


@pytest.mark.parametrize("approved", [S.AUTO_APPROVED, S.VENDOR_APPROVED])
def test_worker_takes_an_approval_nowhere_but_to_publication(approved: SubmissionState) -> None:
    targets = {row.target for row in TRANSITIONS if row.source is approved and Actor.WORKER in row.actors}
    assert targets == {approved, S.PUBLISHED}


def test_worker_moves_nothing_that_no_delivery_may_claim() -> None:
    moved = {row.source for row in TRANSITIONS if Actor.WORKER in row.actors}
    assert moved == DELIVERABLE_STATES


def test_every_stuck_state_has_a_way_to_be_sent_again_and_to_be_given_up() -> None:
    for trigger in (Trigger.RECOVERED, Trigger.RECOVERY_EXHAUSTED, Trigger.DELIVERY_EXHAUSTED):
        assert {row.source for row in TRANSITIONS if row.trigger is trigger} == set(STUCK_STATES)


@given(st.sampled_from(S), st.sampled_from(S), st.sampled_from(Trigger), st.sampled_from(Actor))
def test_check_refuses_every_step_that_is_not_in_the_table(
    source: S, target: S, trigger: Trigger, actor: Actor
) -> None:
    rows = [row for row in TRANSITIONS if row[:3] == (source, target, trigger) and actor in row.actors]
    if rows:
        check_transition(source, target, trigger=trigger, actor=actor)
    else:
        with pytest.raises(IllegalTransition):
            check_transition(source, target, trigger=trigger, actor=actor)


def test_filter_word_is_a_category_or_a_state() -> None:
    assert expand_state_filter("active") == CATEGORY_STATES[Category.ACTIVE]
    assert expand_state_filter("RECEIVED") == (S.RECEIVED,)
    with pytest.raises(InvalidQuery, match="neither a category nor a state"):
        expand_state_filter("received")


def test_first_step_is_received_with_a_history_entry_from_nothing() -> None:
    step = receive_submission(
        submission_id(UUID(int=1)),
        repo_url="https://github.com/a/b",
        skill_name="s",
        skill_path="",
        message_id="m",
        actor=Actor.SUBMITTER,
        now_ms=0,
    )
    assert (step.submission.state, step.submission.history_length) == (S.RECEIVED, 1)
    assert (step.entry.number, step.entry.source, step.entry.state) == (1, None, S.RECEIVED)


def test_step_never_runs_backwards_in_time__when_the_clock_was_set_back() -> None:
    before = submission_at(S.RECEIVED, updated_ms=10_000)
    step = advance(
        before, S.TIER1_SCANNING, trigger=Trigger.CLAIMED, actor=Actor.WORKER, now_ms=4_000, message="Claimed."
    )
    assert step.submission.updated_ms == 10_000
