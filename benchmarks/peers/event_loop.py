"""The event loop of the asyncio peers: uvloop where it is installed, as these libraries' own commands choose it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from importlib.util import find_spec
from typing import Any, TypeVar

from benchmarks.peers.tally import Tally, obey

T = TypeVar("T")


def run(main: Coroutine[object, object, T]) -> T:
    if find_spec("uvloop") is None:
        return asyncio.run(main)
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


def obey_async(
    *,
    enqueue: Callable[[str, int], Coroutine[Any, Any, None]],
    work: Callable[[str, int, Tally], Coroutine[Any, Any, None]],
    count_left: Callable[[str], Coroutine[Any, Any, int]],
) -> None:
    """`obey`, for a peer whose commands are coroutines."""
    obey(
        enqueue=lambda store, jobs: run(enqueue(store, jobs)),
        work=lambda store, concurrency, tally: run(work(store, concurrency, tally)),
        count_left=lambda store: run(count_left(store)),
    )
