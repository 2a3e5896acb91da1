"""The env in scope: each batch, and each request, sees its own and no other.

`AsyncLocalStorage` has `run` and `get_store` and nothing else, so there is no set and no clear to misuse: a scope begins
and ends with its callback. At run time it needs nothing but the standard library and the error tree.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Generic, TypeVar

from vskill_platform.domain.errors import BindingUnavailable

if TYPE_CHECKING:
    from vskill_platform.ports.env import WorkerEnv

S = TypeVar("S")
T = TypeVar("T")


class AsyncLocalStorage(Generic[S]):
    """A value that belongs to a chain of calls, across awaits, tasks and `asyncio.to_thread`.

    What the callback starts (tasks, timers, threads by `to_thread`) keeps its value for as long as it runs, also after
    the scope has ended. `loop.run_in_executor` does not carry it: use `asyncio.to_thread`.
    """

    def __init__(self, name: str) -> None:
        self._value: ContextVar[S | None] = ContextVar(name, default=None)

    async def run(self, store: S, callback: Callable[[], Awaitable[T]]) -> T:
        """Await the callback with `store` in scope, and give back what it gives or raises.

        It runs in a task of its own with a copy of the context, so nothing that happens inside can leak out, on any
        CPython. Cancelling the caller cancels the callback.
        """
        context = copy_context()
        context.run(self._value.set, store)

        async def scope() -> T:
            return await callback()

        return await asyncio.get_running_loop().create_task(scope(), context=context)

    def get_store(self) -> S | None:
        """The value in scope, or None outside any `run`."""
        return self._value.get()


worker_env_storage: AsyncLocalStorage[WorkerEnv] = AsyncLocalStorage("worker_env")
request_env_storage: AsyncLocalStorage[WorkerEnv] = AsyncLocalStorage("request_env")


async def run_with_worker_env(env: WorkerEnv, callback: Callable[[], Awaitable[T]]) -> T:
    """Await the callback with this env in scope, as the queue consumer does for each batch."""
    return await worker_env_storage.run(env, callback)


def get_worker_env() -> WorkerEnv | None:
    """The env of the worker batch that this code runs in, or None."""
    return worker_env_storage.get_store()


def current_env(binding: str) -> WorkerEnv:
    """The env in scope: the worker's, else the request's. `binding` is what the caller wants it for, for the error."""
    env = worker_env_storage.get_store() or request_env_storage.get_store()
    if env is None:
        raise BindingUnavailable(
            f"'{binding}' is not available here: this code runs neither in a worker batch nor in a request. "
            "Wrap it in run_with_worker_env.",
            binding=binding,
        )
    return env
