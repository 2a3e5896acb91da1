"""The audit log in the store: entries are appended by the very commit that they tell of.

`run_audited` runs an act with an env whose writes add an entry to each commit. The chain's end is held by compare-and-set, so
two processes that act at once come one after the other, and a commit that fails leaves no entry.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec

from vskill_platform.domain.audit import AUDIT_HEAD_KEY, Act, AuditEntry, AuditHead, audit_key, seal
from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.ids import CommitId
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import (
    ABSENT,
    Add,
    Commit,
    Committed,
    Delete,
    DropMessage,
    Operation,
    Put,
    Reprioritise,
    Requeue,
    Send,
)
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env, request_env_storage

T = TypeVar("T")
MAX_TOUCHED = 20
_TRIES = 100
_PAUSE_S = 0.002
_heads = msgspec.json.Decoder(AuditHead)


class AuditedWrites:
    """Writes that append an entry to the audit log in each commit."""

    def __init__(self, env: WorkerEnv, act: Act) -> None:
        self._env = env
        self._act = act

    async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        """Apply the operations and the entry as one. A chain that has grown meanwhile is followed, and nobody notices."""
        for attempt in range(_TRIES):
            head, version = await _read_head(self._env)
            appending = self._appending(operations, head, version)
            try:
                return await self._env.writes.commit([*operations, *appending], id=id)
            except Conflict:
                # Only the end of the chain may have moved: then the act itself stands, and comes after what is new.
                if (await _read_head(self._env))[1] == version or attempt == _TRIES - 1:
                    raise
            await asyncio.sleep(_PAUSE_S * min(attempt, 10))
        raise AssertionError("unreachable")

    async def find_commit(self, id: CommitId) -> Committed | None:
        """As the engine answers."""
        return await self._env.writes.find_commit(id)

    async def purge(self) -> int:
        """As the engine does."""
        return await self._env.writes.purge()

    def _appending(self, operations: Sequence[Operation], head: AuditHead, version: int) -> list[Operation]:
        entry = seal(
            AuditEntry(
                **msgspec.structs.asdict(self._act),
                number=head.number + 1,
                at=iso_from_ms(self._env.clock.now_ms()),
                touched=_touched(operations),
                previous=head.hash,
            )
        )
        end = AuditHead(number=entry.number, hash=entry.hash)
        return [
            Put(audit_key(entry.number), encode_record(entry), if_version=ABSENT),
            Put(AUDIT_HEAD_KEY, encode_record(end), if_version=version),
        ]


async def run_audited(act: Act, run: Callable[[], Awaitable[T]]) -> T:
    """Run an act so that each of its commits carries its entry. Raises what the act raises."""
    env = current_env("writes")
    writes: Commit = AuditedWrites(env, act)
    return await request_env_storage.run(dataclasses.replace(env, writes=writes), run)


async def _read_head(env: WorkerEnv) -> tuple[AuditHead, int]:
    entry = await env.kv.get(AUDIT_HEAD_KEY)
    if entry is None:
        return AuditHead(), ABSENT
    return decode_record(AUDIT_HEAD_KEY, entry.value, decoder=_heads), entry.version


def _touched(operations: Sequence[Operation]) -> tuple[str, ...]:
    """What a commit changes, by key or message id; how many more there are where not all are told."""
    names: list[str] = []
    for operation in operations:
        match operation:
            case Put(key=key) | Delete(key=key) | Add(key=key):
                names.append(key)
            case (
                Send(id=identity)
                | Requeue(message_id=identity)
                | DropMessage(message_id=identity)
                | Reprioritise(message_id=identity)
            ):
                names.append(identity)
            case _:
                pass
    more = len(names) - MAX_TOUCHED
    return (*names[:MAX_TOUCHED], f"and {more} more") if more > 0 else tuple(names)
