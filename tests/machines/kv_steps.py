"""The steps of the key-value machine, and the operations that its commits are made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from hypothesis import strategies as st

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
    """The same with the due index, to a horizon that is fixed when the listing begins."""

    prefix: str
    limit: int
    ahead_s: int


class Reopen(NamedTuple):
    """Close the engine and open it again."""


Step = CommitSome | PassTime | ListSome | ListSomeDue | Reopen

_GUARDS = (None, CURRENT, ABSENT, STALE)
_VALUES = (b'{"n":1}', b"", b"1", b"\x00\xff", b"{}")
_TTLS = (None, None, None, 0.0, 1.0, 60.0)
_DUES = (None, None, START_MS - 1, START_MS, START_MS + 30_000, START_MS + 3_600_000)
_AMOUNTS: tuple[dict[str, int], ...] = ({"n": 1}, {"n": -2, "m": 5}, {})


def _index(identity: str, state: str) -> Index:
    facets = {"state": state, "repo_url": "https://example.org/r"}
    sorts: dict[str, int | str] = {"created": 1, "updated": 2, "skill_name": "s"}
    return Index(Document(SUBMISSIONS, identity, b"{}", facets, sorts, terms=(state.lower(),)))


# Whole operations in lists, not put together from parts: one choice each, where hypothesis would make five.
_PUTS = [Put(*parts) for parts in product(KEYS, _VALUES, _GUARDS, _TTLS, _DUES)]
_OTHERS = (
    [Delete(*parts) for parts in product(KEYS, _GUARDS)],
    [Check(*parts) for parts in product(KEYS, (CURRENT, CURRENT, ABSENT, STALE))],
    [Add(*parts) for parts in product(KEYS, _AMOUNTS, _TTLS)],
    [Send(QUEUE, MessageId(f"m{n}"), b"x") for n in range(30)],
    [*(_index(*parts) for parts in product(("d1", "d2"), ("RECEIVED", "BLOCKED"))), Unindex(SUBMISSIONS, "d1")],
    [Emit("kind", "subject", data) for data in (b"1", b"2")],
)


class _Choices(list[Operation]):
    """A list that hypothesis does not write out whole in its reports."""

    def __repr__(self) -> str:
        return f"<{len(self)} operations>"


def _one_of(operations: Sequence[Operation]) -> st.SearchStrategy[Operation]:
    return st.sampled_from(_Choices(operations))


# Puts twice, made twice: `one_of` would count the same strategy only once.
_drafts = st.one_of(_one_of(_PUTS), _one_of(_PUTS), *map(_one_of, _OTHERS))
_commits = st.one_of(
    st.builds(CommitSome, st.tuples(_one_of(_PUTS)), st.none()),
    st.builds(CommitSome, st.tuples(_drafts), st.sampled_from(COMMIT_IDS)),
    st.builds(CommitSome, st.tuples(_drafts, _drafts), st.none()),
    st.builds(CommitSome, st.lists(_drafts, max_size=4), st.none()),
)
_prefixes, _limits = st.sampled_from(PREFIXES), st.integers(1, 4)

STEPS = st.one_of(
    _commits,
    st.builds(PassTime, st.sampled_from((0.001, 1.0, 30.0, 60.0, 3600.0, 90_000.0)), st.booleans()),
    st.builds(ListSome, _prefixes, _limits),
    st.builds(ListSomeDue, _prefixes, _limits, st.sampled_from((-1, 0, 30, 7200))),
)
STEPS_ON_DISK = st.one_of(STEPS, st.sampled_from((PassTime(1.0, purges=False), PassTime(60.0, purges=True), Reopen())))
