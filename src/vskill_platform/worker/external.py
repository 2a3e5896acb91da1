"""The consumer of the external-scans queue: a loop of its own, so that slow scanners do not hold up submissions."""

from __future__ import annotations

from collections import Counter

from vskill_platform.domain.messages import EXTERNAL_SCANS_QUEUE
from vskill_platform.pipeline.external_scanning import run_external_message
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import MessageBatch
from vskill_platform.worker.consumer import BatchReport, handle_submission_queue
from vskill_platform.worker.loop import ConsumerLoop


async def handle_external_queue(batch: MessageBatch, env: WorkerEnv) -> BatchReport:
    """Work on a batch of external scans. Its counts have names of their own: they say nothing about submissions."""
    report = await handle_submission_queue(batch, env, process=run_external_message)
    return BatchReport(Counter({f"external.{name}": count for name, count in report.counts.items()}))


def external_loop(env: WorkerEnv) -> ConsumerLoop:
    """The loop that runs external scans, each by itself and several side by side."""
    return ConsumerLoop(
        env,
        queue=EXTERNAL_SCANS_QUEUE,
        handler=handle_external_queue,
        batches_in_flight=env.settings.external_scans_in_flight,
        batch_size=1,
    )
