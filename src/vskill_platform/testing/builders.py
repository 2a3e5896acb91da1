"""What the record suites are built from: keys, documents and messages to write, and ways to read everything back.

Nothing in here asserts what a port promises, except where following a listing to its end would go wrong without it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import NamedTuple

from vskill_platform.domain.catalog import SKILLS, SUBMISSIONS, Document
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.search_terms import titled_terms
from vskill_platform.ports.catalog import CatalogPage, CatalogQuery
from vskill_platform.ports.commit import MAX_OPERATIONS, Committed, Index, Lease, Put, Send
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.events import EventPage
from vskill_platform.ports.kv import KV, MAX_PAGE_KEYS, DueEntry, DueIndex, Entry, Scan
from vskill_platform.ports.queue import MessageInfo, QueueStats

QUEUE = "contract"
LEASE_S = 60.0
_MOST_PAGES = 10_000


def numbered_keys(count: int, *, prefix: str) -> list[str]:
    """Keys under a prefix, in their order."""
    return [f"{prefix}{number:06d}" for number in range(count)]


async def put_keys(engine: Engine, keys: Iterable[str], *, ttl_s: float | None = None) -> None:
    """Write each key, with its own name as the value."""
    puts = [Put(key, key.encode(), ttl_s=ttl_s) for key in keys]
    for start in range(0, len(puts), MAX_OPERATIONS):
        await engine.writes.commit(puts[start : start + MAX_OPERATIONS])


async def put_due(engine: Engine, due: Mapping[str, int | None]) -> Committed:
    """Write each key, due at its moment."""
    return await engine.writes.commit([Put(key, key.encode(), due_ms=moment) for key, moment in due.items()])


async def read_value(engine: Engine, key: str) -> bytes | None:
    """The value under a key, or None."""
    entry = await engine.kv.get(key)
    return None if entry is None else entry.value


async def error_of(call: Awaitable[object]) -> type[Exception] | None:
    """The type of what a call raises, None if it returns: so that a table of calls is compared in one go."""
    try:
        await call
    except Exception as error:
        return type(error)
    return None


async def collect_keys(kv: KV, prefix: str, *, limit: int = MAX_PAGE_KEYS, cursor: str | None = None) -> list[str]:
    """Every key of a listing, by following its cursor until it is complete."""
    found: list[str] = []
    for _ in range(_MOST_PAGES):
        page = await kv.list(prefix, cursor=cursor, limit=limit)
        assert len(page.keys) <= limit
        found.extend(page.keys)
        if page.complete:
            return found
        assert page.cursor is not None
        cursor = page.cursor
    raise AssertionError("The listing does not end.")


async def collect_due(
    kv: DueIndex, prefix: str, *, before_ms: int, limit: int = MAX_PAGE_KEYS, cursor: str | None = None
) -> list[DueEntry]:
    """Every due entry of a listing, by following its cursor until it is complete."""
    found: list[DueEntry] = []
    for _ in range(_MOST_PAGES):
        page = await kv.list_due(prefix, before_ms=before_ms, cursor=cursor, limit=limit)
        assert len(page.entries) <= limit
        found.extend(page.entries)
        if page.complete:
            return found
        assert page.cursor is not None
        cursor = page.cursor
    raise AssertionError("The listing does not end.")


async def collect_scan(kv: Scan, prefix: str, *, exclude: str | None = None) -> list[tuple[str, bytes]]:
    """Every pair of a scan."""
    return [pair async for chunk in kv.scan(prefix, exclude=exclude) for pair in chunk]


def skill_document(
    identity: str,
    *,
    text: str = "",
    tier: str = "verified",
    category: str = "writing",
    publisher: str = "acme",
    capability: tuple[str, ...] = (),
    updated: int = 0,
    published: int = 0,
    score: int = 0,
    installs: int = 0,
    name: str = "",
    weight: int = 0,
) -> Document:
    """A skill's document; its row is its id and its text."""
    return Document(
        collection=SKILLS,
        id=identity,
        row=f"{identity}|{text}".encode(),
        facets={"tier": tier, "category": category, "publisher": publisher, "capability": capability},
        sorts={"updated": updated, "published": published, "score": score, "installs": installs, "name": name},
        terms=titled_terms(name, path=identity, text=text),
        weight=weight,
    )


def submission_document(identity: str, *, state: str = "RECEIVED") -> Document:
    """A submission's document."""
    return Document(
        collection=SUBMISSIONS,
        id=identity,
        row=identity.encode(),
        facets={"state": state, "repo_url": "https://example.org/repo", "verdict": ""},
        sorts={"created": 0, "updated": 0, "skill_name": identity},
    )


async def index_documents(engine: Engine, documents: Iterable[Document]) -> None:
    """Write documents in one commit."""
    await engine.writes.commit([Index(document) for document in documents])


async def send_messages(engine: Engine, ids: Iterable[str], *, delay_s: float = 0.0) -> None:
    """Put messages into the queue of these suites."""
    await engine.writes.commit([Send(QUEUE, MessageId(id), id.encode(), delay_s=delay_s) for id in ids])


async def lease_messages(engine: Engine, ids: Sequence[str], *, lease_s: float = LEASE_S) -> list[Lease]:
    """Send messages and pull them at once: a lease on each, in order. The queue must be empty before."""
    await send_messages(engine, ids)
    messages = await engine.queue.receive(QUEUE, max_messages=len(ids), lease_s=lease_s)
    assert [message.id for message in messages] == list(ids)
    return [message.lease for message in messages]


class Snapshot(NamedTuple):
    """All that the ports show of an engine, to be compared with what they show later."""

    entries: dict[str, Entry | None]
    due: list[DueEntry]
    messages: dict[MessageId, MessageInfo]
    stats: QueueStats
    documents: CatalogPage
    tiers: dict[str, int]
    events: EventPage
    last_sequence: int


async def take_snapshot(engine: Engine, *, ids: Sequence[str] = ()) -> Snapshot:
    """Read the engine through every port; of the messages, those with these ids."""
    kv = engine.kv
    return Snapshot(
        entries={key: await kv.get(key) for key in await collect_keys(kv, "")},
        due=await collect_due(kv, "", before_ms=2**53) if isinstance(kv, DueIndex) else [],
        messages=await engine.queue.find([MessageId(id) for id in ids]),
        stats=await engine.queue.stats(QUEUE),
        documents=await engine.catalog.query(CatalogQuery(SKILLS, limit=1000)),
        tiers=await engine.catalog.counts(SKILLS, "tier"),
        events=await engine.events.read(0),
        last_sequence=await engine.events.last_sequence(),
    )
