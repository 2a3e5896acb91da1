"""The steps of the submission machine."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from itertools import product
from typing import NamedTuple

from hypothesis import strategies as st

from tests.machines.choices import one_of_these

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

_NUMBERS = range(6)
_FINISHING = (Outcome.SUCCEED, Outcome.PUBLISH)
_OUTCOMES = [*product(Outcome), *product(Outcome, repeat=2)]

_SUBMITS = [Submit(name) for name in NAMES]
_DELIVERS = [Deliver(*parts) for parts in product(range(1, 4), _OUTCOMES, (True, True, False))]
_LATE = [WorkLate(*parts) for parts in product(_NUMBERS, _OUTCOMES)]
_BEGINS = [Begin(*parts) for parts in product(Stop, _FINISHING)]
_OVERTAKES = [Overtake(*parts) for parts in product(Stop, _FINISHING, Outcome)]
_RERUNS = [Rerun(*parts) for parts in product(Stop, _FINISHING)]
_GO_ON = [GoOn(number) for number in _NUMBERS]
_SWEEPS = [Sweep(*parts) for parts in product((301.0, 0.0), (1, 2))]
_LOSSES = [Lose(*parts) for parts in product(_NUMBERS, (1, 1, 1, 4))]
_RESUBMITS = [Resubmit(number) for number in _NUMBERS]
_TIMES = [PassTime(seconds) for seconds in (61.0, 301.0, 30.0, 0.5)]
_RARE = (PassTime(601.0), Pause(is_on=True), Pause(is_on=False), RequeueDead(), RunToEnd())

STEPS = st.one_of(
    one_of_these(_SUBMITS),
    one_of_these(_DELIVERS),
    one_of_these(_DELIVERS),
    one_of_these(_DELIVERS),
    one_of_these([Hold(1), Hold(2)]),
    one_of_these(_LATE),
    one_of_these(_BEGINS),
    one_of_these(_BEGINS),
    one_of_these(_GO_ON),
    one_of_these(_GO_ON),
    one_of_these(_OVERTAKES),
    one_of_these(_RERUNS),
    one_of_these(_SWEEPS),
    one_of_these(_LOSSES),
    one_of_these(Duplicate(number) for number in _NUMBERS),
    one_of_these(_RESUBMITS),
    one_of_these(_RESUBMITS),
    one_of_these(Withdraw(number) for number in _NUMBERS),
    one_of_these(_TIMES),
    one_of_these(_RARE),
)
STEPS_ON_DISK = st.one_of(STEPS, st.sampled_from((PassTime(301.0), Sweep(301.0, 1), Reopen())))
