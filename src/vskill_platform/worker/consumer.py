"""The queue consumer's handler: one batch, in its own env, its messages side by side.

Each message settles its own failure: one that raises, hangs or is malformed changes nothing for its batch mates. What is
decided early is settled early; what the batch ends with is left to the loop, which settles it with the next pull.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from vskill_platform import metrics
from vskill_platform.domain.delivery import retry_delay_s
from vskill_platform.domain.errors import LeaseLost, MalformedMessage, TimeLimitExceeded, VskillError
from vskill_platform.ports.commit import Ack, Committed, Release, Retry, Settlement
from vskill_platform.ports.env import ProcessMessage, WorkerEnv
from vskill_platform.ports.queue import Message, MessageBatch
from vskill_platform.stores.pause import is_paused
from vskill_platform.worker_context import current_env, run_with_worker_env

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class BatchReport:
    """What became of a batch: fields for the hour's metrics."""

    counts: Counter[str] = field(default_factory=Counter)


async def handle_submission_queue(
    batch: MessageBatch, env: WorkerEnv, *, process: ProcessMessage | None = None
) -> BatchReport:
    """Work on every message of the batch with this env in scope, and decide each. While paused, release them all."""
    work = env.process if process is None else process
    return await run_with_worker_env(env, lambda: _handle_batch(batch, work))


async def _handle_batch(batch: MessageBatch, work: ProcessMessage) -> BatchReport:
    report = BatchReport()
    if await is_paused():
        for message in batch.messages:
            message.release()
        report.counts["released"] += len(batch.messages)
        return report
    tasks = {asyncio.create_task(_handle_message(message, work, report)): message for message in batch.messages}
    try:
        await _settle_as_they_end(batch, set(tasks))
    except BaseException:
        await _release_unfinished(tasks, report)
        raise
    return report


async def _release_unfinished(tasks: dict[asyncio.Task[None], Message], report: BatchReport) -> None:
    """The batch is being given up: stop what still runs and give its messages back."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for task, message in tasks.items():
        if task.cancelled():
            message.release()
            report.counts["released"] += 1


async def _settle_as_they_end(batch: MessageBatch, running: set[asyncio.Task[None]]) -> None:
    """Wait for all messages; settle those that end while others still run."""
    while running:
        ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            task.result()
        if running:
            await settle_decided(batch)


async def settle_decided(batch: MessageBatch) -> None:
    """Carry out what has been decided so far. A store that is down is tried again with the rest of the batch."""
    decided = unsettled(batch.messages)
    if not decided:
        return
    commits = [[settlement] for _, settlement in decided]
    try:
        exchange = await current_env("queue").queue.exchange(batch.queue, commits, max_messages=0, lease_s=1)
    except VskillError as error:
        _log.warning("settle_postponed", queue=batch.queue, messages=len(decided), error=error.message)
        return
    note_settled([message for message, _ in decided], exchange.outcomes)


def note_settled(messages: Sequence[Message], outcomes: Sequence[Committed | VskillError]) -> int:
    """Mark the messages as settled, and count those whose lease was lost: they are another worker's now.

    A settlement that was refused for any other reason becomes a plain retry, to be carried out the next time.
    """
    lost = 0
    for message, outcome in zip(messages, outcomes, strict=True):
        if isinstance(outcome, LeaseLost):
            lost += 1
            metrics.LEASES_LOST.inc()
            _log.warning("lease_lost", message=message.id, attempt=message.attempts)
        elif isinstance(outcome, VskillError):
            _log.error("settlement_refused", message=message.id, code=outcome.code, error=outcome.message)
            message.settlement = Retry(message.lease, f"{outcome.code}: {outcome.message}")
            continue
        message.is_settled = True
    return lost


def unsettled(messages: Sequence[Message]) -> list[tuple[Message, Settlement]]:
    """The messages that are decided and not yet settled, each with its decision."""
    return [(m, m.settlement) for m in messages if m.settlement is not None and not m.is_settled]


async def _handle_message(message: Message, work: ProcessMessage, report: BatchReport) -> None:
    """Work on one message within its time limit and decide it. Raises nothing but cancellation."""
    env = current_env("clock")
    started_ms = env.clock.now_ms()
    limit_s = env.settings.message_time_limit_s
    try:
        try:
            async with env.clock.timeout(limit_s) as limit:
                await work(message)
        except TimeoutError as exc:
            if not limit.expired():
                raise
            raise TimeLimitExceeded(f"Work on the message took longer than {limit_s:g} seconds.") from exc
        message.ack()
        _count_decision(message, report)
    except Exception as error:  # a failure of one message is that message's alone
        _decide_failure(message, error)
        report.counts["failed"] += 1
        report.counts[f"failed.{_code(error)}"] += 1
    elapsed_ms = env.clock.now_ms() - started_ms
    report.counts["totalMs"] += elapsed_ms
    metrics.MESSAGE_SECONDS.observe(max(elapsed_ms, 0) / 1000)


def _count_decision(message: Message, report: BatchReport) -> None:
    match message.settlement:
        case Ack():
            report.counts["processed"] += 1
        case Release():
            report.counts["released"] += 1
        case _:
            report.counts["failed"] += 1


def _decide_failure(message: Message, error: Exception) -> None:
    reason = f"{_code(error)}: {error}"
    _log.warning("message_failed", message=message.id, attempt=message.attempts, error=reason)
    if isinstance(error, MalformedMessage):
        message.bury(error=reason)
    elif isinstance(error, LeaseLost):
        message.mark_settled()
    else:
        message.retry(error=reason, delay_s=retry_delay_s(message.attempts))


def _code(error: Exception) -> str:
    return error.code if isinstance(error, VskillError) else type(error).__name__
