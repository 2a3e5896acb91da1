"""The steps of the queue machine."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from itertools import product
from typing import NamedTuple

from hypothesis import strategies as st

from tests.machines.choices import one_of_these

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
    REQUEUE_IN_COMMIT = auto()
    DROP_IN_COMMIT = auto()
    RAISE = auto()
    LOWER = auto()
    CHECK_IDLE = auto()
    CHECK_STATUS = auto()
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


class CheckLeases(NamedTuple):
    """Commit something only while these deliveries are live."""

    numbers: Sequence[int]


class ReachIn(NamedTuple):
    """Touch a message that ever was."""

    touch: Touch
    number: int


class PassTime(NamedTuple):
    """Go to the next moment at which something happens by itself, or so many seconds before or after it."""

    past_s: float


class Reopen(NamedTuple):
    """Close the engine and open it again."""


Step = SendSome | Receive | Settle | ExchangeSome | Extend | CheckLeases | ReachIn | PassTime | Reopen

_LEASES_S = (60.0, 1.0, 30.0)
_PRIORITIES = [*product((0, 1, -1)), *product((0, 1, -1), repeat=2), *product((0, 1), repeat=3)]
_NUMBERS = (0, 0, 0, 1, 1, 2, 3, 5, 8, 13)

_SENDS = [SendSome(*parts) for parts in product(("a", "a", "b"), (0.0, 0.0, 5.0), _PRIORITIES)]
_RECEIVES = [Receive(*parts) for parts in product(("a", "a", "b"), range(1, 5), _LEASES_S, (None, None, None, *Word))]
_SETTLES = [Settle((number,), word) for number, word in product(_NUMBERS, Word)]
_SETTLES_TOGETHER = [Settle(numbers, word) for numbers, word in product(product(_NUMBERS, repeat=2), Word)]
_EXTENDS = [Extend(*parts) for parts in product(product(_NUMBERS, repeat=2), _LEASES_S)]
_CHECKS = [CheckLeases(numbers) for numbers in product(_NUMBERS, repeat=2)]
_TOUCHES = [ReachIn(*parts) for parts in product(Touch, _NUMBERS)]
_TIMES = [PassTime(past_s) for past_s in (0.0, 61.0, 0.0, 61.0, -0.001, 0.001, 1.0)]

STEPS = st.one_of(
    one_of_these(_SENDS),
    one_of_these(_RECEIVES),
    one_of_these(_RECEIVES),
    one_of_these(_RECEIVES),
    one_of_these(_SETTLES),
    one_of_these(_SETTLES_TOGETHER),
    st.builds(
        ExchangeSome,
        st.sampled_from(QUEUES),
        st.integers(0, 3),
        st.lists(one_of_these(product(_NUMBERS, (Word.ACK, *Word))), max_size=3),
    ),
    one_of_these([*_EXTENDS, *_CHECKS]),
    one_of_these(_TOUCHES),
    one_of_these(_TIMES),
    one_of_these(_TIMES),
)
STEPS_ON_DISK = st.one_of(STEPS, st.sampled_from((PassTime(61.0), PassTime(0.0), Reopen())))
