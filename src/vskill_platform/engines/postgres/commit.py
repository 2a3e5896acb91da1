"""Commits: handed to the writer, and the few that the database cannot carry out by itself prepared here."""

from __future__ import annotations

from collections.abc import Sequence

from vskill_platform.domain.errors import Conflict, StoreUnavailable, VskillError
from vskill_platform.domain.ids import CommitId
from vskill_platform.engines.counters import decode_counter, encode_sum
from vskill_platform.engines.postgres.batch import NotPlainCounter, Outcome, Unit
from vskill_platform.engines.postgres.limiter import PostgresLimiter
from vskill_platform.engines.postgres.readers import Readers
from vskill_platform.engines.postgres.texts import to_stored
from vskill_platform.engines.postgres.times import Times
from vskill_platform.engines.postgres.writer import Writer
from vskill_platform.ports.commit import COMMITS_KEPT_MS, Add, Committed, Operation, Put, check_operations

_MOST_COUNTER_TRIES = 100
_VALUE = """
SELECT value, version FROM kv WHERE key = $1 AND (expires_ms IS NULL OR expires_ms > (SELECT moment($2)))
"""
_FIND_COMMIT = "SELECT version FROM commits WHERE id = $1"
_PURGE_VALUES = """
WITH gone AS (
    DELETE FROM kv WHERE expires_ms <= moment($1) AND key = ANY (ARRAY(
        SELECT key FROM kv WHERE expires_ms <= (SELECT moment($1)) LIMIT $2 FOR UPDATE SKIP LOCKED
    )) RETURNING 1
) SELECT count(*) FROM gone
"""
_PURGE_COMMITS = f"""
WITH gone AS (
    DELETE FROM commits WHERE id = ANY (ARRAY(
        SELECT id FROM commits WHERE at_ms < (SELECT moment($1)) - {COMMITS_KEPT_MS} LIMIT $2 FOR UPDATE SKIP LOCKED
    )) RETURNING 1
) SELECT count(*) FROM gone
"""
_FORGET_LANES = f"DELETE FROM lane WHERE at_ms < moment($1) - {COMMITS_KEPT_MS}"


class PostgresCommit:
    """Commit over the writer."""

    def __init__(self, writer: Writer, readers: Readers, times: Times, limiter: PostgresLimiter) -> None:
        self._writer = writer
        self._readers = readers
        self._times = times
        self._limiter = limiter

    async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        """Apply the operations, all or none."""
        check_operations(operations)
        [outcome] = (await self._writer.run([Unit(operations, id)])).outcomes
        settled = await self.settle_counters(outcome, operations, id=id)
        if isinstance(settled, VskillError):
            raise settled
        return settled

    async def settle_counters(
        self, outcome: Outcome, operations: Sequence[Operation], *, id: CommitId | None = None
    ) -> Committed | VskillError:
        """The outcome, after the counters that the database left to us were added to here and the commit tried again."""
        tries = 0
        while isinstance(outcome, NotPlainCounter):
            tries += 1
            if tries > _MOST_COUNTER_TRIES:
                return StoreUnavailable("The counters of the commit are written to by too many others. Try again.")
            try:
                sums = {add.key: await self._sum(add) for add in operations if isinstance(add, Add)}
            except VskillError as error:
                return error
            written = [sums[o.key] if isinstance(o, Add) else o for o in operations]
            [outcome] = (await self._writer.run([Unit(written, id)])).outcomes
            if isinstance(outcome, Conflict) and outcome.fields.get("key") in sums:
                outcome = NotPlainCounter()
        return outcome

    async def _sum(self, add: Add) -> Put:
        """The Add as a Put that holds only if nobody writes the counter meanwhile."""
        rows = await self._readers.fetch(_VALUE, add.key, self._times.asked_ms())
        value, version = rows[0] if rows else (None, 0)
        counter = decode_counter(add.key, value)
        return Put(add.key, encode_sum(counter, add.amounts), if_version=version, ttl_s=add.ttl_s)

    async def find_commit(self, id: CommitId) -> Committed | None:
        """The commit with this id."""
        rows = await self._readers.fetch(_FIND_COMMIT, to_stored(id))
        return Committed(rows[0][0]) if rows else None

    async def purge(self) -> int:
        """Remove what has expired."""
        await self._readers.change(_FORGET_LANES, self._times.asked_ms())
        await self._limiter.forget_idle()
        values = await self._readers.remove_in_parts(_PURGE_VALUES, self._times.asked_ms())
        return values + await self._readers.remove_in_parts(_PURGE_COMMITS, self._times.asked_ms())
