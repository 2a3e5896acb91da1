"""The steps of the queue machine."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from hypothesis import strategies as st

QUEUES = ("a", "b")


class Word(Enum):
    """What a holder says of its delivery."""

    ACK = auto()
    RETRY = auto()
    RETRY_LATER = auto()
    RELEASE = auto()
    RELEASE_LATER = auto()
    BURY = auto()


class Touch(Enum):
    """How somebody else reaches in."""

    REQUEUE = auto()
    DROP = auto()
    CHECK_IDLE = auto()
    SEND_AGAIN = auto()


class SendSome(NamedTuple):
    """Send messages of these priorities in one commit."""

    queue: str
    delay_s: float
    priorities: Sequence[int]


class Receive(NamedTuple):
    """Pull, and settle each with a word, or hold them all."""

    queue: str
    most: int
    lease_s: float
    word: Word | None


class Settle(NamedTuple):
    """Settle any deliveries that ever were, in one commit. A number picks one, counted from the latest."""

    numbers: Sequence[int]
    word: Word


class ExchangeSome(NamedTuple):
    """Settle and pull in one round trip."""

    queue: str
    most: int
    words: Sequence[tuple[int, Word]]


class Extend(NamedTuple):
    """Ask for more time."""

    numbers: Sequence[int]
    lease_s: float


class ReachIn(NamedTuple):
    """Touch a message that ever was."""

    touch: Touch
    number: int


class PassTime(NamedTuple):
    """Go to the next moment at which something happens by itself, or so many seconds before or after it."""

    past_s: float


class Reopen(NamedTuple):
    """Close the engine and open it again."""


Step = SendSome | Receive | Settle | ExchangeSome | Extend | ReachIn | PassTime | Reopen

_queues = st.sampled_from(("a", "a", "b"))
_words = st.sampled_from(Word)
_leases_s = st.sampled_from((60.0, 1.0, 30.0))
_numbers = st.sampled_from((0, 0, 0, 1, 1, 2, 3, 5, 8, 13))
_priorities = st.lists(st.integers(-1, 1), min_size=1, max_size=3)


def _receive() -> st.SearchStrategy[Step]:
    return st.builds(Receive, _queues, st.integers(1, 4), _leases_s, st.sampled_from((None, None, None, *Word)))


# What is here twice is made twice: `one_of` would count the same strategy only once.
STEPS = st.one_of(
    st.builds(SendSome, _queues, st.sampled_from((0.0, 0.0, 5.0)), _priorities),
    _receive(),
    _receive(),
    _receive(),
    st.builds(Settle, st.tuples(_numbers), _words),
    st.builds(Settle, st.lists(_numbers, min_size=1, max_size=3), _words),
    st.builds(ExchangeSome, _queues, st.integers(0, 3), st.lists(st.tuples(_numbers, _words), max_size=3)),
    st.builds(Extend, st.lists(_numbers, max_size=3), _leases_s),
    st.builds(ReachIn, st.sampled_from(Touch), _numbers),
    st.builds(PassTime, st.sampled_from((0.0, -0.001, 0.001, 1.0, 61.0))),
    st.builds(PassTime, st.sampled_from((0.0, 61.0))),
)
STEPS_ON_DISK = st.one_of(STEPS, st.sampled_from((PassTime(61.0), PassTime(0.0), Reopen())))
