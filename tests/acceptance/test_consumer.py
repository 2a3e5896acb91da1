"""The consumer: batches, failures of single messages, time limits, pause, drain, suspects, metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tests.acceptance.running import QUEUE, inside, running_loop, send
from vskill_platform.domain.errors import DiskFull
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import Ack, Lease, Put
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import Exchange, Message, MessageBatch
from vskill_platform.stores.pause import pause_queue, resume_queue
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.waits import eventually
from vskill_platform.worker.consumer import handle_submission_queue
from vskill_platform.worker.loop import ConsumerLoop
from vskill_platform.worker_context import current_env, get_worker_env

IDS = [f"m{number:02d}" for number in range(30)]


class Handling:
    """A process that records what it was given, and waits where a test tells it to."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.in_flight = 0
        self.max_in_flight = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, message: Message) -> None:
        self.started.append(message.id)
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            await self.gate.wait()
        finally:
            self.in_flight -= 1


@pytest.fixture
def handling() -> Handling:
    return Handling()


@pytest.fixture
def env(engine: Engine, clock: FakeClock, tmp_path: Path, handling: Handling) -> WorkerEnv:
    return make_env(engine, clock=clock, folder=tmp_path, process=handling)


async def status(env: WorkerEnv, id: str) -> MessageStatus:
    found = await env.queue.find([MessageId(id)])
    return found[MessageId(id)].status if found else MessageStatus.GONE


async def hour_metrics(env: WorkerEnv) -> dict[str, int]:
    page = await env.kv.list("metric:")
    total: dict[str, int] = {}
    for key in page.keys:
        entry = await env.kv.get(key)
        assert entry is not None
        for name, count in msgspec.json.decode(entry.value, type=dict[str, int]).items():
            total[name] = total.get(name, 0) + count
    return total


async def test_loop_works_on_thirty_messages_at_once__in_ten_batches_of_three(
    env: WorkerEnv, handling: Handling
) -> None:
    handling.gate.clear()
    await send(env, *IDS, *(f"later{number}" for number in range(10)))
    async with running_loop(env) as loop:
        await eventually(lambda: handling.in_flight == 30, what="thirty messages in flight")
        assert loop.state.running == 10
        stats = await env.queue.stats(QUEUE)
        assert (stats.leased, stats.waiting) == (30, 10)
        handling.gate.set()
        await eventually(lambda: len(handling.started) == 40, what="all messages worked on")
    assert handling.max_in_flight == 30
    assert (await env.queue.stats(QUEUE))[:4] == (0, 0, 0, 0)


async def test_loop_acks_what_the_handler_returns_from__with_metrics(env: WorkerEnv, handling: Handling) -> None:
    await send(env, *IDS)
    async with running_loop(env):
        await eventually(lambda: len(handling.started) == 30, what="all messages worked on")
    assert sorted(handling.started) == IDS
    assert (await env.queue.stats(QUEUE))[:4] == (0, 0, 0, 0)
    assert (await hour_metrics(env))["processed"] == 30


async def test_message_that_fails_is_retried_later__its_batch_mates_are_done(env: WorkerEnv, clock: FakeClock) -> None:
    attempts: list[int] = []

    async def process(message: Message) -> None:
        if message.id == "bad":
            attempts.append(message.attempts)
            raise RuntimeError("broken on purpose")

    await send(env, "good1", "bad", "good2")
    async with running_loop(replace(env, process=process)):
        for attempt, delay_s in enumerate([10, 30, 90, 270], start=1):
            await eventually(lambda attempt=attempt: len(attempts) == attempt, what=f"attempt {attempt}")
            await _settled(env, "bad")
            await clock.advance(delay_s)
    assert attempts == [1, 2, 3, 4]
    assert await status(env, "good1") is MessageStatus.GONE
    assert await status(env, "good2") is MessageStatus.GONE
    dead = (await env.queue.peek(QUEUE, status=MessageStatus.DEAD)).messages
    assert [(info.id, info.attempts, info.error) for info in dead] == [("bad", 4, "RuntimeError: broken on purpose")]
    counted = await hour_metrics(env)
    assert (counted["processed"], counted["failed"], counted["failed.RuntimeError"]) == (2, 4, 4)


async def _settled(env: WorkerEnv, id: str) -> None:
    """Wait until the message is no longer leased."""

    async def is_settled() -> bool:
        return await status(env, id) is not MessageStatus.LEASED

    await eventually(is_settled, what=f"{id} settled")


async def becomes(env: WorkerEnv, id: str, wanted: MessageStatus) -> None:
    async def has_become() -> bool:
        return await status(env, id) is wanted

    await eventually(has_become, what=f"{id} {wanted}")


async def test_message_done_early_is_settled__while_its_mates_still_run(env: WorkerEnv) -> None:
    gate = asyncio.Event()

    async def process(message: Message) -> None:
        if message.id == "slow":
            await gate.wait()

    await send(env, "quick1", "slow", "quick2")
    async with running_loop(replace(env, process=process)):
        await becomes(env, "quick1", MessageStatus.GONE)
        assert await status(env, "slow") is MessageStatus.LEASED
        gate.set()
    assert (await env.queue.stats(QUEUE))[:4] == (0, 0, 0, 0)


async def test_message_over_its_time_limit_is_retried__with_the_code(
    env: WorkerEnv, handling: Handling, clock: FakeClock
) -> None:
    handling.gate.clear()
    await send(env, "slow")
    async with running_loop(env):
        await eventually(lambda: handling.in_flight == 1, what="the message in work")
        await clock.advance(env.settings.message_time_limit_s)
        await eventually(lambda: handling.in_flight == 0, what="the work cancelled")
        await _settled(env, "slow")
    info = (await env.queue.find([MessageId("slow")]))[MessageId("slow")]
    assert info.status is MessageStatus.DELAYED
    assert info.error == "time_limit_exceeded: Work on the message took longer than 300 seconds."


async def test_timeout_of_the_handlers_own_is_its_own_error__not_the_limit(env: WorkerEnv) -> None:
    async def process(message: Message) -> None:
        raise TimeoutError("the git host is slow")

    [message] = await received(env, "m")
    await handle_submission_queue(MessageBatch(QUEUE, [message]), env, process=process)
    assert message.settlement is not None
    assert message.settlement.error == "TimeoutError: the git host is slow"  # type: ignore[union-attr]


async def empties(env: WorkerEnv) -> None:
    async def is_empty() -> bool:
        return (await env.queue.stats(QUEUE))[:3] == (0, 0, 0)

    await eventually(is_empty, what="an empty queue")


async def received(env: WorkerEnv, *ids: str, body: bytes = b"{}") -> list[Message]:
    await send(env, *ids, body=body)
    return await env.queue.receive(QUEUE, max_messages=len(ids), lease_s=60)


async def test_malformed_message_is_a_dead_letter_at_once(env: WorkerEnv, engine: Engine, tmp_path: Path) -> None:
    real = make_env(engine, clock=env.clock, folder=tmp_path)
    await send(env, "junk", body=b"not json")
    async with running_loop(real):
        await becomes(env, "junk", MessageStatus.DEAD)
    info = (await env.queue.find([MessageId("junk")]))[MessageId("junk")]
    assert info.attempts == 1
    assert (info.error or "").startswith("malformed_message: ")


async def test_message_of_an_unknown_kind_is_kept_for_a_newer_worker__then_dead(
    env: WorkerEnv, engine: Engine, clock: FakeClock, tmp_path: Path
) -> None:
    real = make_env(engine, clock=clock, folder=tmp_path)
    await send(env, "new", body=b'{"kind": "teleport", "v": 1}')
    async with running_loop(real):
        for attempt, delay_s in enumerate([10, 30, 90], start=1):
            await becomes(env, "new", MessageStatus.DELAYED)
            assert await _attempts(env, "new") == attempt
            await clock.advance(delay_s)
        await becomes(env, "new", MessageStatus.DEAD)
    info = (await env.queue.find([MessageId("new")]))[MessageId("new")]
    assert (info.attempts, (info.error or "").split(":")[0]) == (4, "unknown_message_kind")


async def _attempts(env: WorkerEnv, id: str) -> int:
    return (await env.queue.find([MessageId(id)]))[MessageId(id)].attempts


async def test_loop_receives_nothing_while_paused__and_goes_on_when_the_pause_ends_by_itself(
    env: WorkerEnv, handling: Handling, clock: FakeClock
) -> None:
    await inside(env, lambda: pause_queue(reason="maintenance", seconds=60))
    await send(env, "m1")
    async with running_loop(env) as loop:
        await eventually(lambda: loop.state.is_paused, what="the loop has seen the pause")
        await clock.advance(59)
        assert handling.started == []
        assert await _attempts(env, "m1") == 0
        await clock.advance(2)
        await eventually(lambda: handling.started == ["m1"], what="work after the pause")


async def test_loop_goes_on__when_the_queue_is_resumed(env: WorkerEnv, handling: Handling, clock: FakeClock) -> None:
    await inside(env, lambda: pause_queue(reason="maintenance"))
    await send(env, "m1")
    async with running_loop(env) as loop:
        await eventually(lambda: loop.state.is_paused, what="the loop has seen the pause")
        await inside(env, resume_queue)
        await clock.advance(1)
        await eventually(lambda: handling.started == ["m1"], what="work after the pause")


async def test_batch_handed_over_before_the_pause_is_released__no_attempt_burnt(
    env: WorkerEnv, handling: Handling
) -> None:
    messages = await received(env, "m1", "m2")
    await inside(env, lambda: pause_queue(reason="maintenance"))
    await handle_submission_queue(MessageBatch(QUEUE, messages), env)
    await env.queue.exchange(QUEUE, [[m.settlement] for m in messages if m.settlement], max_messages=0, lease_s=1)
    assert handling.started == []
    assert [await _attempts(env, id) for id in ("m1", "m2")] == [0, 0]
    assert (await env.queue.stats(QUEUE)).waiting == 2


async def test_leases_are_extended__for_as_long_as_the_handler_runs(
    env: WorkerEnv, engine: Engine, handling: Handling, clock: FakeClock, tmp_path: Path
) -> None:
    patient = make_env(engine, clock=clock, folder=tmp_path, process=handling, message_time_limit_s=3600, lease_s=60)
    handling.gate.clear()
    await send(env, "long")
    async with running_loop(patient):
        await eventually(lambda: handling.in_flight == 1, what="the message in work")
        for _ in range(60):
            await clock.advance(20)
            await _extended(env, "long", clock)
        assert await status(env, "long") is MessageStatus.LEASED
        handling.gate.set()
    assert handling.started == ["long"]
    assert await status(env, "long") is MessageStatus.GONE


async def _extended(env: WorkerEnv, id: str, clock: FakeClock) -> None:
    """Wait until the lease runs for its full length again."""

    async def is_extended() -> bool:
        return (await env.queue.find([MessageId(id)]))[MessageId(id)].ready_ms >= clock.now_ms() + 60_000

    await eventually(is_extended, what="the lease extended")


async def test_stop_lets_running_work_end__within_the_grace_time(env: WorkerEnv, handling: Handling) -> None:
    handling.gate.clear()
    await send(env, "m1", "m2")
    async with running_loop(env) as loop:
        await eventually(lambda: handling.in_flight == 2, what="both in work")
        loop.stop()
        await send(env, "m3")
        handling.gate.set()
    assert sorted(handling.started) == ["m1", "m2"]
    assert (await env.queue.stats(QUEUE))[:4] == (1, 0, 0, 0)


async def test_stop_releases_what_does_not_end_in_time__no_attempt_burnt(
    env: WorkerEnv, handling: Handling, clock: FakeClock
) -> None:
    handling.gate.clear()
    await send(env, "m1", "m2", "m3")
    async with running_loop(env) as loop:
        await eventually(lambda: handling.in_flight == 3, what="all in work")
        loop.stop()
        await eventually(lambda: loop.state.is_draining, what="the grace time running")
        await clock.advance(env.settings.drain_grace_s)
    assert (await env.queue.stats(QUEUE)).waiting == 3
    assert [await _attempts(env, id) for id in ("m1", "m2", "m3")] == [0, 0, 0]
    assert (await hour_metrics(env)).get("failed", 0) == 0


async def test_suspect_runs_alone__nothing_else_is_in_flight(env: WorkerEnv, clock: FakeClock) -> None:
    await received(env, *IDS[:3])
    clock.shift(61)
    alone: list[int] = []
    in_flight = 0

    async def process(message: Message) -> None:
        nonlocal in_flight
        in_flight += 1
        await asyncio.sleep(0)
        if message.is_suspect:
            alone.append(in_flight)
        in_flight -= 1

    await send(env, *IDS[3:])
    async with running_loop(replace(env, process=process)):
        await empties(env)
    assert alone == [1, 1, 1]


async def test_overtaken_holder_changes_nothing__when_it_finishes_late(env: WorkerEnv, clock: FakeClock) -> None:
    [old] = await received(env, "m1")
    clock.shift(61)
    [new] = await env.queue.receive(QUEUE, max_messages=1, lease_s=60)
    assert (new.attempts, new.is_suspect) == (2, True)

    async def process(message: Message) -> None:
        await current_env("writes").writes.commit([Put(f"effect:{message.attempts}", b"done"), Ack(message.lease)])
        message.mark_settled()

    await handle_submission_queue(MessageBatch(QUEUE, [new]), env, process=process)
    await handle_submission_queue(MessageBatch(QUEUE, [old]), env, process=process)
    assert (await env.kv.list("effect:")).keys == ["effect:2"]
    assert old.is_settled


class Troubled:
    """The engine's queue, with a full disk at the moments the test says."""

    def __init__(self, env: WorkerEnv) -> None:
        self._queue = env.queue
        self.is_full = False
        self.refused = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._queue, name)

    async def exchange(self, *args: object, **named: object) -> Exchange:
        self._refuse()
        return await self._queue.exchange(*args, **named)  # type: ignore[arg-type]

    async def extend(self, leases: Sequence[Lease], *, lease_s: float) -> list[bool]:
        self._refuse()
        return await self._queue.extend(leases, lease_s=lease_s)

    def _refuse(self) -> None:
        if self.is_full:
            self.refused += 1
            raise DiskFull("planted")


async def test_early_settlement_is_postponed__while_the_store_is_in_trouble(env: WorkerEnv) -> None:
    troubled, gate = Troubled(env), asyncio.Event()

    async def process(message: Message) -> None:
        if message.id == "slow":
            await gate.wait()
        else:
            troubled.is_full = True

    await send(env, "quick", "slow")
    async with running_loop(replace(env, queue=troubled, process=process)):  # type: ignore[arg-type]
        await eventually(lambda: troubled.refused == 1, what="the early settlement refused")
        troubled.is_full = False
        gate.set()
        await empties(env)
    assert (await hour_metrics(env))["processed"] == 2


async def test_extension_that_is_refused_is_tried_again__before_the_lease_ends(
    env: WorkerEnv, handling: Handling, clock: FakeClock
) -> None:
    troubled = Troubled(env)
    handling.gate.clear()
    await send(env, "m1")
    async with running_loop(replace(env, queue=troubled)):  # type: ignore[arg-type]
        await eventually(lambda: handling.in_flight == 1, what="the message in work")
        troubled.is_full = True
        await clock.advance(20)
        assert troubled.refused >= 1
        troubled.is_full = False
        for _ in range(5):
            await clock.advance(20)
        assert await status(env, "m1") is MessageStatus.LEASED
        handling.gate.set()


async def test_lease_lost_under_a_running_handler_is_counted__the_message_is_another_workers(
    env: WorkerEnv, handling: Handling, clock: FakeClock
) -> None:
    troubled = Troubled(env)
    handling.gate.clear()
    await send(env, "m1")
    async with running_loop(replace(env, queue=troubled)):  # type: ignore[arg-type]
        await eventually(lambda: handling.in_flight == 1, what="the message in work")
        troubled.is_full = True
        await clock.advance(61)
        [other] = await env.queue.receive(QUEUE, max_messages=1, lease_s=600)
        troubled.is_full = False
        await clock.advance(20)
        handling.gate.set()
        await eventually(lambda: handling.in_flight == 0, what="the handler done")
    assert other.attempts == 2
    assert await status(env, "m1") is MessageStatus.LEASED
    assert (await hour_metrics(env)).get("leaseLost", 0) == 0  # counted with the next settlement, which never came


class StoppingQueue:
    """A queue that stops the loop at the very moment at which it has pulled something."""

    def __init__(self, env: WorkerEnv) -> None:
        self._queue = env.queue
        self.loop: ConsumerLoop | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._queue, name)

    async def exchange(self, *arguments: object, **options: object) -> Exchange:
        done = await self._queue.exchange(*arguments, **options)  # type: ignore[arg-type]
        if done.messages and self.loop is not None:
            self.loop.stop()
        return done


async def test_stop_releases_what_was_just_pulled__when_there_is_no_grace_time(
    engine: Engine, clock: FakeClock, tmp_path: Path, handling: Handling
) -> None:
    """The batch is cancelled before its first step; nothing but the loop can give its message back."""
    shape = {"batches_in_flight": 1, "batch_size": 1, "drain_grace_s": 0}
    env = make_env(engine, clock=clock, folder=tmp_path, process=handling, **shape)
    queue = StoppingQueue(env)
    await send(env, "m1")
    queue.loop = ConsumerLoop(replace(env, queue=queue))  # type: ignore[arg-type]
    await queue.loop.run()
    assert handling.started == []
    info = (await env.queue.find([MessageId("m1")]))[MessageId("m1")]
    assert (info.status, info.attempts) == (MessageStatus.WAITING, 0)


async def test_stop_releases_a_suspect_that_waits_for_its_turn__no_attempt_burnt(
    env: WorkerEnv, handling: Handling, clock: FakeClock
) -> None:
    await received(env, "suspect")
    handling.gate.clear()
    await send(env, "busy")
    await env.queue.requeue([MessageId("busy")])
    async with running_loop(env) as loop:
        await eventually(lambda: handling.started == ["busy"], what="the other message in work")
        clock.shift(61)
        await clock.advance(5)
        await eventually(lambda: loop.state.has_suspect, what="the suspect held back")
        assert handling.started == ["busy"]
        loop.stop()
        await eventually(lambda: loop.state.is_draining, what="draining")
        handling.gate.set()
    assert await _attempts(env, "suspect") == 1


async def test_loop_survives_a_store_in_trouble__and_settles_when_it_is_back(
    env: WorkerEnv, handling: Handling, clock: FakeClock
) -> None:
    troubled = Troubled(env)
    handling.gate.clear()
    await send(env, "m1")
    async with running_loop(replace(env, queue=troubled)):  # type: ignore[arg-type]
        await eventually(lambda: handling.in_flight == 1, what="the message in work")
        troubled.is_full = True
        handling.gate.set()
        await eventually(lambda: troubled.refused >= 1, what="the settlement refused")
        assert await status(env, "m1") is MessageStatus.LEASED
        troubled.is_full = False
        for _ in range(3):
            await clock.advance(1)
        await _settled(env, "m1")
    assert await status(env, "m1") is MessageStatus.GONE
    assert handling.started == ["m1"]


async def test_handler_that_breaks_retries_its_batch__the_loop_goes_on(env: WorkerEnv, clock: FakeClock) -> None:
    calls = 0

    async def handler(batch: MessageBatch, env: WorkerEnv) -> object:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise RuntimeError("a bug in the handler")
        return await handle_submission_queue(batch, env)

    await send(env, "m1")
    loop = ConsumerLoop(env, handler=handler)  # type: ignore[arg-type]
    task = asyncio.create_task(loop.run())
    await becomes(env, "m1", MessageStatus.GONE)
    loop.stop()
    await task
    assert calls == 2


async def test_batch_starts_from_an_empty_context__nothing_of_the_loop_leaks_in(env: WorkerEnv) -> None:
    seen: list[object] = []

    async def process(message: Message) -> None:
        seen.append(get_worker_env())

    watched = replace(env, process=process)
    await send(env, "m1")
    outer = replace(env)

    async def run_loop_inside_another_scope() -> None:
        async with running_loop(watched):
            await eventually(lambda: bool(seen), what="the message worked on")

    await inside(outer, run_loop_inside_another_scope)
    assert seen == [watched]
    assert get_worker_env() is None


async def test_cancelled_loop_gives_back_what_it_has__no_attempt_burnt(env: WorkerEnv, handling: Handling) -> None:
    handling.gate.clear()
    await send(env, "m1", "m2", "m3", "m4")
    task = asyncio.create_task(ConsumerLoop(env).run())
    await eventually(lambda: handling.in_flight == 4, what="all in work")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    assert handling.in_flight == 0
    assert (await env.queue.stats(QUEUE))[:4] == (4, 0, 0, 0)
    assert [await _attempts(env, id) for id in ("m1", "m2", "m3", "m4")] == [0, 0, 0, 0]


async def test_settlement_that_is_refused_becomes_a_retry__not_a_lost_lease(env: WorkerEnv) -> None:
    async def process(message: Message) -> None:
        message.retry(error="odd", delay_s=float("nan"))

    await send(env, "m1")
    async with running_loop(replace(env, process=process)):

        async def is_dead() -> bool:
            return await status(env, "m1") is MessageStatus.DEAD

        await eventually(is_dead, what="four attempts")
    info = (await env.queue.find([MessageId("m1")]))[MessageId("m1")]
    assert (info.attempts, (info.error or "").split(":")[0]) == (4, "invalid_input")


async def test_counter_that_cannot_be_added_to_does_not_hold_up_the_queue(env: WorkerEnv, handling: Handling) -> None:
    await env.writes.commit([Put("metric:2026-02-21T10", b"junk")])
    await send(env, *IDS)
    async with running_loop(env):
        await eventually(lambda: len(handling.started) == 30, what="all messages worked on")
        await empties(env)


async def test_unreadable_pause_is_a_pause__and_what_has_ended_is_still_settled(
    env: WorkerEnv, handling: Handling, clock: FakeClock
) -> None:
    handling.gate.clear()
    await send(env, "m1")
    async with running_loop(env):
        await eventually(lambda: handling.in_flight == 1, what="the message in work")
        await env.writes.commit([Put("queue:paused", b"junk")])
        await send(env, "m2")
        handling.gate.set()
        await becomes(env, "m1", MessageStatus.GONE)
        await clock.advance(5)
        assert handling.started == ["m1"]


async def test_wait_for_a_message_ends__though_the_clock_is_set_back(env: WorkerEnv, clock: FakeClock) -> None:
    waiting = asyncio.create_task(env.queue.receive(QUEUE, max_messages=1, lease_s=60, wait_s=10))
    await eventually(lambda: clock.sleepers >= 1, what="waiting")
    clock.shift(-86_400)
    for _ in range(4):
        await clock.advance(86_400)
    assert await asyncio.wait_for(waiting, timeout=10) == []


async def test_extending_nothing_swallows_no_arrival(env: WorkerEnv, clock: FakeClock) -> None:
    waiting = asyncio.create_task(env.queue.receive(QUEUE, max_messages=1, lease_s=60, wait_s=3600))
    await eventually(lambda: clock.sleepers >= 1, what="waiting")
    await asyncio.gather(send(env, "m1"), env.queue.extend([], lease_s=1))
    assert [message.id for message in await asyncio.wait_for(waiting, timeout=10)] == ["m1"]
