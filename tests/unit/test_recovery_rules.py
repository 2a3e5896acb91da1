"""When a submission is stuck, and what is decided about it."""

from __future__ import annotations

import pytest

from vskill_platform.domain.delivery import error_text, retry_delay_s
from vskill_platform.domain.recovery import (
    STUCK_STATES,
    STUCK_THRESHOLD_MS,
    MessageStatus,
    Recovery,
    decide_recovery,
    due_ms,
    is_stuck,
)
from vskill_platform.domain.submission import SubmissionState

M = MessageStatus


@pytest.mark.parametrize("state", SubmissionState)
@pytest.mark.parametrize("age_ms", [0, STUCK_THRESHOLD_MS - 1, STUCK_THRESHOLD_MS, STUCK_THRESHOLD_MS + 1])
def test_stuck_is_a_stuck_state_at_least_as_old_as_the_threshold(state: SubmissionState, age_ms: int) -> None:
    assert is_stuck(state, updated_ms=1000, now_ms=1000 + age_ms) == (
        state in STUCK_STATES and age_ms >= STUCK_THRESHOLD_MS
    )


@pytest.mark.parametrize("state", SubmissionState)
def test_due_is_the_first_moment_of_being_stuck(state: SubmissionState) -> None:
    due = due_ms(state, updated_ms=1000)
    if due is None:
        assert state not in STUCK_STATES
    else:
        assert is_stuck(state, updated_ms=1000, now_ms=due)
        assert not is_stuck(state, updated_ms=1000, now_ms=due - 1)


@pytest.mark.parametrize(
    ("status", "recoveries", "expected"),
    [
        (M.WAITING, 0, Recovery.LEAVE),
        (M.DELAYED, 9, Recovery.LEAVE),
        (M.LEASED, 9, Recovery.LEAVE),
        (M.GONE, 0, Recovery.SEND_AGAIN),
        (M.GONE, 2, Recovery.SEND_AGAIN),
        (M.GONE, 3, Recovery.REJECT_RECOVERY_EXHAUSTED),
        (M.DEAD, 0, Recovery.REJECT_DELIVERY_EXHAUSTED),
    ],
)
def test_decision_depends_on_the_message(status: MessageStatus, recoveries: int, expected: Recovery) -> None:
    assert decide_recovery(status, recoveries=recoveries) is expected


def test_delays_grow_to_a_limit() -> None:
    assert [retry_delay_s(attempt) for attempt in (1, 2, 3, 4, 5, 100)] == [10, 30, 90, 270, 600, 600]


def test_error_is_kept_as_valid_text_of_bounded_length() -> None:
    assert error_text("no such file: \udcff") == "no such file: ?"
    assert len(error_text("x" * 100_000)) == 4000
