"""Read, make something of it, write it: again from the start where somebody else was faster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from vskill_platform.domain.errors import Conflict
from vskill_platform.ports.commit import Operation
from vskill_platform.worker_context import current_env

T = TypeVar("T")
_TRIES = 5


async def commit_fresh(prepare: Callable[[], Awaitable[tuple[T, Sequence[Operation]]]]) -> T:
    """Commit what `prepare` has read and made, and give back its result. Raises what it raises, or Conflict in the end.

    The operations must hold the commit to what was read.
    """
    for attempt in range(_TRIES):
        result, operations = await prepare()
        try:
            await current_env("writes").writes.commit(operations)
        except Conflict:
            if attempt == _TRIES - 1:
                raise
        else:
            return result
    raise AssertionError("unreachable")
