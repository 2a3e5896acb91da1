"""US-003 of both documents, TC-058 and TC-060 to TC-063: the env in scope."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from tests.seed.planting import LIMIT_S, meet, wait_for
from vskill_platform import worker_context
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.worker_context import (
    AsyncLocalStorage,
    current_env,
    get_worker_env,
    request_env_storage,
    run_with_worker_env,
    worker_env_storage,
)

Envs = list[WorkerEnv | None]
Batch = Callable[[], Awaitable[None]]
Run = Callable[[WorkerEnv, Batch], Awaitable[None]]
Get = Callable[[], WorkerEnv | None]


async def look() -> WorkerEnv | None:
    return get_worker_env()


def are(seen: Envs, *expected: WorkerEnv | None) -> bool:
    """Whether exactly these envs were seen, the very objects."""
    return len(seen) == len(expected) and all(one is other for one, other in zip(seen, expected, strict=True))


async def test_tc_058__two_batches_side_by_side_see_only_their_own_env(env_with: partial[WorkerEnv]) -> None:
    first, second = env_with(), env_with()
    barrier = asyncio.Barrier(2)

    async def batch() -> Envs:
        seen: Envs = []
        for _ in range(5):
            seen.append(get_worker_env())
            await meet(barrier)
        return seen

    of_first, of_second = await asyncio.gather(run_with_worker_env(first, batch), run_with_worker_env(second, batch))

    assert are(of_first, *[first] * 5)
    assert are(of_second, *[second] * 5)


async def test_tc_060__there_is_no_env_outside_any_scope() -> None:
    assert get_worker_env() is None


async def test_tc_061__the_env_is_there_inside_the_scope(env_with: partial[WorkerEnv]) -> None:
    env = env_with()

    async def callback() -> tuple[WorkerEnv | None, WorkerEnv]:
        return get_worker_env(), current_env("kv")

    assert are([*await run_with_worker_env(env, callback)], env, env)


@pytest.mark.parametrize("is_failing", [False, True])
async def test_tc_062__there_is_no_env_after_the_scope(env_with: partial[WorkerEnv], is_failing: bool) -> None:
    async def callback() -> str:
        if is_failing:
            raise LookupError("the batch failed")
        return "done"

    if is_failing:
        with pytest.raises(LookupError, match="the batch failed"):
            await run_with_worker_env(env_with(), callback)
    else:
        assert await run_with_worker_env(env_with(), callback) == "done"

    assert get_worker_env() is None


async def test_tc_063__a_scope_within_a_scope_gives_the_outer_env_back(env_with: partial[WorkerEnv]) -> None:
    outer, inner = env_with(), env_with()
    seen: Envs = []

    async def failing() -> None:
        seen.append(get_worker_env())
        raise LookupError

    async def callback() -> None:
        seen.append(get_worker_env())
        seen.append(await run_with_worker_env(inner, look))
        seen.append(get_worker_env())
        with pytest.raises(LookupError):
            await run_with_worker_env(inner, failing)
        seen.append(get_worker_env())

    await run_with_worker_env(outer, callback)

    assert are(seen, outer, inner, outer, inner, outer)


async def test_tc_063__scopes_side_by_side_are_isolated__also_from_the_one_around_them(
    env_with: partial[WorkerEnv],
) -> None:
    outer, first, second = env_with(), env_with(), env_with()
    barrier = asyncio.Barrier(3)

    async def batch() -> Envs:
        before = get_worker_env()
        await meet(barrier)
        return [before, get_worker_env()]

    async def around() -> tuple[Envs, Envs, Envs]:
        return await asyncio.gather(run_with_worker_env(first, batch), run_with_worker_env(second, batch), batch())

    of_first, of_second, of_outer = await run_with_worker_env(outer, around)

    assert are(of_first, first, first)
    assert are(of_second, second, second)
    assert are(of_outer, outer, outer)


async def test_0310_ac_us3_01__get_worker_env_reads_the_storage_that_is_exported(env_with: partial[WorkerEnv]) -> None:
    env = env_with()

    async def both() -> Envs:
        return [get_worker_env(), worker_env_storage.get_store()]

    assert isinstance(worker_env_storage, AsyncLocalStorage)
    assert are(await both(), None, None)
    assert are(await worker_env_storage.run(env, both), env, env)
    assert are(await run_with_worker_env(env, both), env, env)


async def test_0310_ac_us3_02__the_scope_covers_everything_the_callback_starts(env_with: partial[WorkerEnv]) -> None:
    env = env_with()

    async def callback() -> Envs:
        soon: asyncio.Future[WorkerEnv | None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(lambda: soon.set_result(get_worker_env()))
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(look())
        return [
            await look(),
            task.result(),
            *await asyncio.gather(look(), look()),
            await asyncio.wait_for(look(), LIMIT_S),
            await soon,
            await asyncio.to_thread(get_worker_env),
        ]

    assert are(await run_with_worker_env(env, callback), *[env] * 7)


async def test_0310_ac_us3_02__what_the_callback_started_keeps_its_env__when_the_scope_is_over(
    env_with: partial[WorkerEnv],
) -> None:
    env = env_with()
    scope_is_over = asyncio.Event()

    async def late() -> WorkerEnv | None:
        await wait_for(scope_is_over)
        return get_worker_env()

    async def callback() -> asyncio.Task[WorkerEnv | None]:
        return asyncio.create_task(late())

    task = await run_with_worker_env(env, callback)
    assert get_worker_env() is None
    scope_is_over.set()

    assert await task is env


def test_0310_ac_us3_02__there_is_no_set_and_no_clear() -> None:
    names = {name for name in vars(worker_context) if not name.startswith("_")}
    functions = {name for name in names if inspect.isfunction(vars(worker_context)[name])}

    assert functions == {"run_with_worker_env", "get_worker_env", "current_env"}
    assert public_names(worker_env_storage) == {"run", "get_store"}


class OneVariableForAll:
    """The fault of the original: one variable, set when a batch starts and cleared when it ends."""

    def __init__(self) -> None:
        self._env: WorkerEnv | None = None

    async def run(self, env: WorkerEnv, batch: Batch) -> None:
        self._env = env
        try:
            await batch()
        finally:
            self._env = None

    def get(self) -> WorkerEnv | None:
        return self._env


async def overlap(run: Run, get: Get, *, first: WorkerEnv, second: WorkerEnv) -> tuple[Envs, Envs]:
    """Two batches: the second begins while the first runs, and the first ends while the second runs."""
    second_began, first_ended = asyncio.Event(), asyncio.Event()
    of_first: Envs = []
    of_second: Envs = []

    async def first_batch() -> None:
        of_first.append(get())
        await wait_for(second_began)
        of_first.append(get())

    async def second_batch() -> None:
        of_second.append(get())
        second_began.set()
        await wait_for(first_ended)
        of_second.append(get())

    async def run_first() -> None:
        await run(first, first_batch)
        first_ended.set()

    async with asyncio.TaskGroup() as batches:
        batches.create_task(run_first())
        batches.create_task(run(second, second_batch))
    return of_first, of_second


async def test_0310_ac_us3_05__one_variable_for_all_loses_the_env_that_a_scope_keeps(
    env_with: partial[WorkerEnv],
) -> None:
    first, second = env_with(), env_with()
    faulty = OneVariableForAll()

    of_first, of_second = await overlap(faulty.run, faulty.get, first=first, second=second)
    assert are(of_first, first, second), "the first batch works on with the second one's env"
    assert are(of_second, second, None), "the end of the first batch takes the second one's env away"

    of_first, of_second = await overlap(run_with_worker_env, get_worker_env, first=first, second=second)
    assert are(of_first, first, first)
    assert are(of_second, second, second)
    assert get_worker_env() is None


async def test_0310_ac_us3_05__each_batch_sees_its_env_throughout_its_chain(env_with: partial[WorkerEnv]) -> None:
    first, second = env_with(), env_with()
    barrier = asyncio.Barrier(2)

    async def innermost() -> WorkerEnv | None:
        await meet(barrier)
        return get_worker_env()

    async def batch() -> Envs:
        seen: Envs = [get_worker_env(), await innermost()]
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(innermost())
        seen.append(task.result())
        await meet(barrier)
        return [*seen, await asyncio.to_thread(get_worker_env), current_env("kv")]

    of_first, of_second = await asyncio.gather(run_with_worker_env(first, batch), run_with_worker_env(second, batch))

    assert are(of_first, *[first] * 5)
    assert are(of_second, *[second] * 5)


async def test_0313_ac_us3_01__no_variable_of_the_module_holds_the_env(env_with: partial[WorkerEnv]) -> None:
    env = env_with()

    async def holders() -> list[str]:
        owners = [vars(worker_context), vars(worker_env_storage), vars(request_env_storage)]
        return [name for owner in owners for name, value in owner.items() if value is env]

    assert isinstance(worker_env_storage, AsyncLocalStorage)
    assert await run_with_worker_env(env, holders) == []


def test_0313_ac_us3_04__clear_is_not_part_of_the_module() -> None:
    names = {*vars(worker_context), *dir(worker_env_storage)}

    assert not [name for name in names if "clear" in name or "reset" in name]


async def test_0313_ac_us3_04__the_scope_cleans_up__when_it_is_cancelled(env_with: partial[WorkerEnv]) -> None:
    began = asyncio.Event()
    ended: list[str] = []

    async def callback() -> None:
        try:
            began.set()
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled inside")

    async def caller() -> WorkerEnv | None:
        try:
            await run_with_worker_env(env_with(), callback)
        except asyncio.CancelledError:
            return get_worker_env()
        raise AssertionError("the cancellation did not pass through")

    task = asyncio.create_task(caller())
    await wait_for(began)
    task.cancel()

    assert await task is None
    assert ended == ["cancelled inside"]


def test_0313_ac_us3_05__set_is_not_part_of_the_module() -> None:
    names = {*vars(worker_context), *public_names(worker_env_storage)}

    assert not [name for name in names if name.startswith("set") or "_set_" in name]
    assert list(inspect.signature(run_with_worker_env).parameters) == ["env", "callback"]
    assert inspect.iscoroutinefunction(run_with_worker_env)


async def test_0313_ac_us3_05__run_with_worker_env_gives_back_what_the_callback_gives(
    env_with: partial[WorkerEnv],
) -> None:
    env = env_with()

    assert await run_with_worker_env(env, look) is env
    with pytest.raises(ZeroDivisionError):
        await run_with_worker_env(env, lambda: 1 / 0)
    assert get_worker_env() is None


def test_fr_002__the_storage_needs_nothing_but_the_standard_library() -> None:
    program = (
        "import sys; before = set(sys.modules); import vskill_platform.worker_context; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names)"
    )

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert loaded.stdout.split() == ["vskill_platform"]


async def test_fr_002__each_storage_has_a_value_of_its_own() -> None:
    letters: AsyncLocalStorage[str] = AsyncLocalStorage("letters")
    numbers: AsyncLocalStorage[str] = AsyncLocalStorage("numbers")

    async def both() -> tuple[str | None, str | None]:
        return letters.get_store(), numbers.get_store()

    assert await letters.run("a", lambda: numbers.run("1", both)) == ("a", "1")
    assert await letters.run("a", both) == ("a", None)
    assert await both() == (None, None)


async def test_fr_003__get_worker_env_takes_nothing_and_gives_the_env_or_none(env_with: partial[WorkerEnv]) -> None:
    signature = inspect.signature(get_worker_env)
    env = env_with()

    assert not signature.parameters
    assert signature.return_annotation == "WorkerEnv | None"
    assert not inspect.iscoroutinefunction(get_worker_env)
    assert get_worker_env() is None
    assert await run_with_worker_env(env, look) is env


def public_names(thing: object) -> set[str]:
    """The attributes that are not private, of the object and of its class."""
    return {name for name in dir(thing) if not name.startswith("_")}
