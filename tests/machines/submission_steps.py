"""The steps of the submission machine."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from hypothesis import strategies as st

NAMES = ("lint", "deploy", "review", "notes")


class Outcome(Enum):
    """How the work on one message goes."""

    SUCCEED = auto()
    FAIL = auto()
    FAIL_CLAIMED = auto()
    FAIL_AFTERWARDS = auto()
    MALFORMED = auto()
    APPROVE_THEN_FAIL = auto()
    PUBLISH = auto()


class Stop(Enum):
    """Where a worker hangs: at its n-th commit, before it is made or before it is heard of."""

    BEFORE_CLAIM = (1, "before")
    AFTER_CLAIM = (1, "after")
    BEFORE_EFFECT = (2, "before")
    AFTER_EFFECT = (2, "after")


class Submit(NamedTuple):
    """Submit the skill of this name, be it new or not."""

    name: str


class Deliver(NamedTuple):
    """Pull a batch and work on it. A worker that does not settle dies after its work."""

    most: int
    outcomes: Sequence[Outcome]
    settles: bool


class Hold(NamedTuple):
    """Pull a batch and do nothing with it yet."""

    most: int


class WorkLate(NamedTuple):
    """Work on a batch that was held, perhaps not for the first time, and perhaps with nothing but stale leases."""

    number: int
    outcomes: Sequence[Outcome]


class Begin(NamedTuple):
    """Pull one message and hang in the middle of the work."""

    stop: Stop
    outcome: Outcome


class GoOn(NamedTuple):
    """Let a worker that hangs go on."""

    number: int


class Overtake(NamedTuple):
    """A worker hangs past its lease, another one does the work, and the first goes on."""

    stop: Stop
    first: Outcome
    second: Outcome


class Rerun(NamedTuple):
    """A worker hangs, and meanwhile its submission is withdrawn, submitted anew and claimed; then it goes on."""

    stop: Stop
    outcome: Outcome


class Sweep(NamedTuple):
    """Let time pass, then sweep, in one process or in two at once."""

    after_s: float
    at_once: int


class Lose(NamedTuple):
    """The message of a submission disappears, perhaps again and again as the sweep sends it again."""

    number: int
    times: int


class Duplicate(NamedTuple):
    """The message of a submission is there twice."""

    number: int


class RequeueDead(NamedTuple):
    """An operator sends every dead letter back."""


class Pause(NamedTuple):
    """Pause the queue, or resume it."""

    is_on: bool


class Resubmit(NamedTuple):
    """A submission whose run has ended begins another."""

    number: int


class Withdraw(NamedTuple):
    """A submitter takes a submission back."""

    number: int


class PassTime(NamedTuple):
    """Let time pass."""

    seconds: float


class RunToEnd(NamedTuple):
    """Let sound workers and sweeps go on until nothing is left to do."""


class Reopen(NamedTuple):
    """The process dies and the next one opens its file."""


Step = (
    Submit
    | Deliver
    | Hold
    | WorkLate
    | Begin
    | GoOn
    | Overtake
    | Rerun
    | Sweep
    | Lose
    | Duplicate
    | RequeueDead
    | Pause
    | Resubmit
    | Withdraw
    | PassTime
    | RunToEnd
    | Reopen
)

_numbers = st.integers(0, 5)
_outcomes = st.lists(st.sampled_from(Outcome), min_size=1, max_size=3)
_finishing = st.sampled_from((Outcome.SUCCEED, Outcome.PUBLISH))
_rare = (PassTime(601.0), Pause(is_on=True), Pause(is_on=False), RequeueDead(), RunToEnd())


def _deliver() -> st.SearchStrategy[Step]:
    return st.builds(Deliver, st.integers(1, 3), _outcomes, st.sampled_from((True, True, False)))


# What is here twice is made twice: `one_of` would count the same strategy only once.
STEPS = st.one_of(
    st.builds(Submit, st.sampled_from(NAMES)),
    _deliver(),
    _deliver(),
    _deliver(),
    st.builds(Hold, st.integers(1, 2)),
    st.builds(WorkLate, _numbers, _outcomes),
    st.builds(Begin, st.sampled_from(Stop), _finishing),
    st.builds(Begin, st.sampled_from(Stop), _finishing),
    st.builds(GoOn, _numbers),
    st.builds(GoOn, _numbers),
    st.builds(Overtake, st.sampled_from(Stop), _finishing, st.sampled_from(Outcome)),
    st.builds(Rerun, st.sampled_from(Stop), _finishing),
    st.builds(Sweep, st.sampled_from((301.0, 0.0)), st.integers(1, 2)),
    st.builds(Lose, _numbers, st.sampled_from((1, 1, 1, 4))),
    st.builds(Duplicate, _numbers),
    st.builds(Resubmit, _numbers),
    st.builds(Resubmit, _numbers),
    st.builds(Withdraw, _numbers),
    st.sampled_from((PassTime(61.0), PassTime(301.0), PassTime(30.0), PassTime(0.5))),
    st.sampled_from(_rare),
)
STEPS_ON_DISK = st.one_of(STEPS, st.sampled_from((PassTime(301.0), Sweep(301.0, 1), Reopen())))
