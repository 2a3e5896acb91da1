"""The loop around the handler: pulls, keeps leases alive, settles, drains.

One pull at a time for all free places, with the settlements of what has ended in the same round trip. A suspect (a message
whose last worker died with it) runs alone: everything else ends first and nothing else is pulled meanwhile, so that it
cannot take others with it twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Protocol

import structlog

from vskill_platform import metrics
from vskill_platform.domain.errors import VskillError
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.times import hour_of
from vskill_platform.ports.commit import Add, Committed, Operation
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import Exchange, Message, MessageBatch
from vskill_platform.stores.pause import is_paused
from vskill_platform.worker.consumer import BatchReport, handle_submission_queue, note_settled, unsettled
from vskill_platform.worker.pulse import Pulse
from vskill_platform.worker_context import run_with_worker_env

IDLE_WAIT_S = 5.0
PAUSE_POLL_S = 1.0
TROUBLE_WAIT_S = 1.0
METRICS_KEPT_S = 48 * 3600.0
CANCEL_WAIT_S = 5.0
TURN_LIMIT_S = 120.0
"""A loop that has not come round for this long hangs: it waits a few seconds at most, and every call has a limit."""
_log = structlog.get_logger(__name__)


class Handler(Protocol):
    """Works on a batch and decides its messages."""

    def __call__(self, batch: MessageBatch, env: WorkerEnv) -> Awaitable[BatchReport]:
        """Work on the batch."""
        ...


@dataclass(slots=True)
class LoopState:
    """How the loop stands, for health checks and tests."""

    running: int
    is_paused: bool
    is_draining: bool
    has_suspect: bool


class ConsumerLoop:
    """Consumes one queue until it is told to stop. How much at a time is by the settings unless it is said here."""

    def __init__(
        self,
        env: WorkerEnv,
        *,
        queue: str = SUBMISSIONS_QUEUE,
        handler: Handler = handle_submission_queue,
        batches_in_flight: int | None = None,
        batch_size: int | None = None,
    ) -> None:
        self._env = env
        self._queue = queue
        self._handler = handler
        self._batches_in_flight = batches_in_flight or env.settings.batches_in_flight
        self._batch_size = batch_size or env.settings.batch_size
        self._running: dict[asyncio.Task[None], MessageBatch] = {}
        self._suspect: MessageBatch | None = None
        self._is_alone = False
        self._ended: list[Message] = []
        self._counts: Counter[str] = Counter()
        self._changed = asyncio.Event()
        self.pulse = Pulse(limit_s=TURN_LIMIT_S)
        self._is_stopping = False
        self._is_draining = False
        self._is_paused = False

    @property
    def state(self) -> LoopState:
        """How the loop stands now."""
        return LoopState(len(self._running), self._is_paused, self._is_draining, self._suspect is not None)

    def stop(self) -> None:
        """Receive nothing more, let running work end within the grace time, release the rest, and return from `run`."""
        self._is_stopping = True
        self._changed.set()

    async def run(self) -> None:
        """Consume until stopped."""
        async with asyncio.TaskGroup() as group:
            extender = group.create_task(self._extend_leases())
            try:
                while not self._is_stopping:
                    await self._turn()
                await self._drain(grace_s=self._env.settings.drain_grace_s)
            except asyncio.CancelledError:
                await self._drain(grace_s=0)
                raise
            finally:
                extender.cancel()

    async def _turn(self) -> None:
        """One look at what can be done, and a wait where nothing can."""
        self._changed.clear()
        self.pulse.beat()
        try:
            self._is_paused = await run_with_worker_env(self._env, is_paused)
            room = self._room()
            if room or self._ended:
                messages = await self._exchange(max_messages=room)
                self._start(messages)
                if len(messages) == room:
                    await self._wait(self._pause_s())
                else:
                    await self._wait_for_messages()
            else:
                await self._wait(self._pause_s())
        except VskillError as error:
            _log.error("consumer_trouble", queue=self._queue, code=error.code, error=error.message)
            await self._wait(TROUBLE_WAIT_S)

    def _room(self) -> int:
        """How many messages may be pulled now."""
        if self._suspect is not None and not self._running:
            self._start_alone(self._suspect)
        if self._is_paused or self._is_alone or self._suspect is not None:
            return 0
        return (self._batches_in_flight - len(self._running)) * self._batch_size

    def _pause_s(self) -> float:
        return PAUSE_POLL_S if self._is_paused else IDLE_WAIT_S

    async def _exchange(self, *, max_messages: int) -> list[Message]:
        """Settle what has ended and pull, in one round trip. What could not be settled stays for the next time."""
        ended, counts = unsettled(self._ended), dict(self._counts)
        commits: list[Sequence[Operation]] = [[settlement] for _, settlement in ended]
        if counts:
            commits.append([self._counting(counts)])
        call = self._env.queue.exchange(
            self._queue, commits, max_messages=max_messages, lease_s=self._env.settings.lease_s
        )
        task = asyncio.ensure_future(call)
        try:
            with metrics.EXCHANGE_SECONDS.time():
                exchange = await asyncio.shield(task)
        except asyncio.CancelledError:
            await self._give_back(task, [message for message, _ in ended], counts)
            raise
        self._note_exchange(exchange, [message for message, _ in ended], counts)
        return exchange.messages

    async def _give_back(self, task: asyncio.Future[Exchange], ended: list[Message], counts: dict[str, int]) -> None:
        """We were cancelled in the middle of an exchange: let it end, and release what it has pulled."""
        try:
            exchange = await task
        except VskillError as error:
            _log.error("consumer_trouble", queue=self._queue, code=error.code, error=error.message)
            return
        self._note_exchange(exchange, ended, counts)
        for message in exchange.messages:
            message.release()
        self._ended.extend(exchange.messages)

    def _note_exchange(self, exchange: Exchange, ended: list[Message], counts: dict[str, int]) -> None:
        lost = note_settled(ended, exchange.outcomes[: len(ended)])
        self._ended = [message for message in self._ended if not message.is_settled]
        if self._ended:
            self._changed.set()  # what ended meanwhile, or was refused, is settled at once
        self._note_counted(counts, exchange.outcomes[len(ended) :])
        if lost:
            self._counts["leaseLost"] += lost

    def _note_counted(self, counts: dict[str, int], outcomes: Sequence[Committed | VskillError]) -> None:
        """Take off what was counted. A counter that cannot be added to is told of, and does not hold up the queue."""
        self._counts.subtract(counts)
        self._counts = +self._counts
        for outcome in outcomes:
            if isinstance(outcome, VskillError):
                _log.error("metrics_lost", code=outcome.code, error=outcome.message, **counts)

    def _counting(self, counts: dict[str, int]) -> Add:
        return Add(f"metric:{hour_of(self._env.clock.now_ms())}", counts, ttl_s=METRICS_KEPT_S)

    def _start(self, messages: list[Message]) -> None:
        if messages and messages[0].is_suspect:
            self._suspect = MessageBatch(self._queue, messages)
            self._changed.set()
            return
        size = self._batch_size
        for start in range(0, len(messages), size):
            self._start_batch(MessageBatch(self._queue, messages[start : start + size]))

    def _start_alone(self, batch: MessageBatch) -> None:
        self._suspect, self._is_alone = None, True
        self._start_batch(batch)

    def _start_batch(self, batch: MessageBatch) -> None:
        """Begin in an empty context, so that nothing of this loop leaks into the batch."""
        task = asyncio.get_running_loop().create_task(self._run_batch(batch), context=Context())
        self._running[task] = batch
        metrics.BATCHES.inc()
        task.add_done_callback(self._end_batch)

    async def _run_batch(self, batch: MessageBatch) -> None:
        """The platform's half of the handler's contract: what it leaves open is acked if it returns, retried if it raises."""
        try:
            report = await self._handler(batch, self._env)
        except Exception as error:  # a handler that breaks must not end the loop
            _log.exception("batch_failed", queue=self._queue, messages=len(batch.messages))
            batch.close(error)
            self._count(Counter(failed=len(batch.messages)))
        else:
            batch.close()
            self._count(report.counts)

    def _count(self, counts: Counter[str]) -> None:
        """Count for the hour, which the store keeps, and for this process, which whoever watches it asks."""
        self._counts.update(counts)
        for outcome in ("processed", "released", "failed"):
            metrics.MESSAGES.labels(outcome).inc(counts[outcome])

    def _end_batch(self, task: asyncio.Task[None]) -> None:
        batch = self._running.pop(task)
        metrics.BATCHES.dec()
        self._is_alone = False
        if task.cancelled():  # perhaps before its first step, so that only we can give its messages back
            for message in batch.messages:
                message.release()
        self._ended.extend(message for message in batch.messages if not message.is_settled)
        self._changed.set()

    async def _wait(self, seconds: float) -> None:
        """Wait for a batch to end, for `stop`, or for this long."""
        try:
            async with self._env.clock.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            pass

    async def _wait_for_messages(self) -> None:
        """Wait as above, or until there may be something to pull."""
        ready = asyncio.create_task(self._env.queue.wait_ready(self._queue, wait_s=IDLE_WAIT_S))
        changed = asyncio.create_task(self._changed.wait())
        try:
            await asyncio.wait({ready, changed}, return_when=asyncio.FIRST_COMPLETED)
            if ready.done():
                ready.result()
        finally:
            for task in (ready, changed):
                task.cancel()
            await asyncio.gather(ready, changed, return_exceptions=True)

    async def _extend_leases(self) -> None:
        """Keep every message alive that is being worked on or waiting for its turn here."""
        lease_s = self._env.settings.lease_s
        while True:
            await self._env.clock.sleep(lease_s / 3)
            held = [message for message in self._held() if not message.is_settled]
            if not held:
                continue
            try:
                live = await self._env.queue.extend([message.lease for message in held], lease_s=lease_s)
            except VskillError as error:
                _log.error("extend_failed", queue=self._queue, messages=len(held), error=error.message)
                continue
            for message, is_live in zip(held, live, strict=True):
                if not is_live and not message.is_settled:
                    _log.warning("lease_lost", message=message.id, attempt=message.attempts)

    def _held(self) -> list[Message]:
        batches = [*self._running.values(), *([self._suspect] if self._suspect else [])]
        return [*(message for batch in batches for message in batch.messages), *self._ended]

    async def _drain(self, *, grace_s: float) -> None:
        """Let running work end in its grace time, release the rest without burning an attempt, settle everything."""
        self._is_draining = True
        self.pulse.rest()
        if self._suspect is not None:
            for message in self._suspect.messages:
                message.release()
            self._ended.extend(self._suspect.messages)
            self._suspect = None
        if self._running and grace_s > 0:
            try:
                async with self._env.clock.timeout(grace_s):
                    await asyncio.wait(set(self._running))
            except TimeoutError:
                _log.warning("drain_grace_over", queue=self._queue, batches=len(self._running))
        unfinished = set(self._running)
        for task in unfinished:
            task.cancel()
        if unfinished:
            _, stubborn = await asyncio.wait(unfinished, timeout=CANCEL_WAIT_S)
            for task in stubborn:
                _log.error(
                    "handler_ignores_cancellation", queue=self._queue, messages=len(self._running[task].messages)
                )
        try:
            await self._exchange(max_messages=0)
        except VskillError as error:
            _log.error("drain_unsettled", queue=self._queue, messages=len(self._ended), error=error.message)
