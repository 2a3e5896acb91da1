"""The steps of the key-value machine, and the operations that its commits are made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from hypothesis import strategies as st

from tests.machines.choices import one_of_these
from vskill_platform.domain.catalog import SUBMISSIONS, Document
from vskill_platform.domain.ids import CommitId, MessageId
from vskill_platform.ports.commit import ABSENT, Add, Check, Delete, Emit, Index, Operation, Put, Send, Unindex
from vskill_platform.testing.clock import START_MS

KEYS = ("a", "a:1", "a:2", "a:é", "a:\uffff", "a:\U0001f600", "b", "b:1", "b:2", "c")
PREFIXES = ("", "a", "a:", "a:\uffff", "b:", "z")
COMMIT_IDS = tuple(CommitId(f"c{n}") for n in range(6))
QUEUE = "q"

CURRENT, STALE = -1, -2
"""As `if_version` of a draft: the version that the key has, or one that it no longer has, when the step runs."""


class CommitSome(NamedTuple):
    """Commit these drafts, under an id or without."""

    drafts: Sequence[Operation]
    id: CommitId | None


class PassTime(NamedTuple):
    """Let time pass, and perhaps purge."""

    seconds: float
    purges: bool


class ListSome(NamedTuple):
    """Begin a listing, or follow the one that is under way."""

    prefix: str
    limit: int


class ListSomeDue(NamedTuple):
    """The same with the due index, to a horizon that is fixed when the listing begins.

    The horizon lies so far ahead of now; or, without a number, exactly on the last due there is.
    """

    prefix: str
    limit: int
    ahead_s: int | None


class Reopen(NamedTuple):
    """Close the engine and open it again."""


Step = CommitSome | PassTime | ListSome | ListSomeDue | Reopen

_GUARDS = (None, CURRENT, ABSENT, STALE)
_VALUES = (b'{"n":1}', b"", b"1", b"\x00\xff", b"{}")
_TTLS = (None, None, None, 0.0, 1.0, 60.0)
_DUES = (None, None, START_MS - 1, START_MS, START_MS + 30_000, START_MS + 3_600_000)
_AMOUNTS: tuple[dict[str, int], ...] = ({"n": 1}, {"n": -2, "m": 5}, {})


def _index(identity: str, state: str) -> Index:
    facets = {"state": state, "repo_url": "https://example.org/r", "verdict": ""}
    sorts: dict[str, int | str] = {"created": 1, "updated": 2, "skill_name": "s"}
    return Index(Document(SUBMISSIONS, identity, b"{}", facets, sorts, terms=(state.lower(),)))


_PUTS = [Put(*parts) for parts in product(KEYS, _VALUES, _GUARDS, _TTLS, _DUES)]
_OTHERS: tuple[list[Operation], ...] = (
    [Delete(*parts) for parts in product(KEYS, _GUARDS)],
    [Check(*parts) for parts in product(KEYS, (CURRENT, CURRENT, ABSENT, STALE))],
    [Add(*parts) for parts in product(KEYS, _AMOUNTS, _TTLS)],
    [Send(QUEUE, MessageId(f"m{n}"), b"x") for n in range(30)],
    [*(_index(*parts) for parts in product(("d1", "d2"), ("RECEIVED", "BLOCKED"))), Unindex(SUBMISSIONS, "d1")],
    [Emit("kind", "subject", data) for data in (b"1", b"2")],
)
_TIMES = [PassTime(*parts) for parts in product((0.001, 1.0, 30.0, 60.0, 3600.0, 90_000.0), (False, True))]
_LISTS = [ListSome(*parts) for parts in product(PREFIXES, range(1, 5))]
_DUE_LISTS = [ListSomeDue(*parts) for parts in product(PREFIXES, range(1, 5), (None, -1, 0, 7200))]

_drafts = st.one_of(one_of_these(_PUTS), one_of_these(_PUTS), *map(one_of_these, _OTHERS))
STEPS = st.one_of(
    one_of_these(CommitSome((put,), None) for put in _PUTS),
    st.builds(CommitSome, st.tuples(_drafts), st.sampled_from(COMMIT_IDS)),
    st.builds(CommitSome, st.tuples(_drafts, _drafts), st.none()),
    st.builds(CommitSome, st.lists(_drafts, max_size=4), st.none()),
    one_of_these(_TIMES),
    one_of_these(_LISTS),
    one_of_these(_DUE_LISTS),
)
STEPS_ON_DISK = st.one_of(STEPS, st.sampled_from((_TIMES[0], _TIMES[-1], Reopen())))
