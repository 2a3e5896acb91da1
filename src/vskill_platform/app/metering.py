"""The engine's commits, with a watch in hand."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from vskill_platform import metrics
from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.ids import CommitId
from vskill_platform.ports.commit import Commit, Committed, Operation


class MeteredCommit:
    """A `Commit` that does what the one it is given does, and counts how long each commit took and how it ended."""

    def __init__(self, writes: Commit) -> None:
        self._writes = writes

    async def commit(self, operations: Sequence[Operation], *, id: CommitId | None = None) -> Committed:
        """Apply the operations."""
        started, outcome = perf_counter(), "failed"
        try:
            committed = await self._writes.commit(operations, id=id)
            outcome = "committed"
            return committed
        except Conflict:
            outcome = "conflict"
            raise
        finally:
            metrics.COMMIT_SECONDS.labels(outcome).observe(perf_counter() - started)

    async def find_commit(self, id: CommitId) -> Committed | None:
        """What a commit with this id wrote."""
        return await self._writes.find_commit(id)

    async def purge(self) -> int:
        """Remove what has expired."""
        return await self._writes.purge()
