"""Work on many items side by side: bounded, in order, and settled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


async def settle_each(
    items: Sequence[T], work: Callable[[T], Awaitable[R]], *, in_flight: int
) -> Sequence[R | Exception]:
    """For each item, in order, what the work gave or raised. At most `in_flight` are worked on at a time.

    As many workers as may be in flight take the next item each, so a slow item holds up nobody.
    """
    outcomes: dict[int, R | Exception] = {}
    remaining = iter(enumerate(items))

    async def work_on_next() -> None:
        for position, item in remaining:
            try:
                outcomes[position] = await work(item)
            except Exception as error:  # whatever one item raises is that item's outcome, for the caller to look at
                outcomes[position] = error

    async with asyncio.TaskGroup() as workers:
        for _ in range(min(in_flight, len(items))):
            workers.create_task(work_on_next())
    return [outcomes[position] for position in range(len(items))]
