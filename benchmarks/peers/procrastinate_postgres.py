"""procrastinate on PostgreSQL, as a child process of the harness. Finished jobs are deleted, which is its fastest way."""

from __future__ import annotations

from asyncio import CancelledError, create_task, to_thread
from contextlib import suppress

from procrastinate import App, PsycopgConnector

from benchmarks.peers.event_loop import obey_async
from benchmarks.peers.tally import Tally

_CHUNK = 500


def _app(store: str) -> App:
    return App(connector=PsycopgConnector(conninfo=store))


async def _enqueue(store: str, jobs: int) -> None:
    app = _app(store)

    @app.task(name="job")
    async def job() -> None:
        pass

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        for start in range(0, jobs, _CHUNK):
            await job.batch_defer_async(*({} for _ in range(start, min(start + _CHUNK, jobs))))


async def _work(store: str, concurrency: int, tally: Tally) -> None:
    app = _app(store)

    @app.task(name="job")
    async def job() -> None:
        tally.count_start()
        tally.count_acknowledgement()

    async with app.open_async():
        running = create_task(
            app.run_worker_async(
                concurrency=concurrency, delete_jobs="always", install_signal_handlers=False, listen_notify=True
            )
        )
        await to_thread(tally.stop.wait)
        running.cancel()  # it ends what is under way, then lets itself be cancelled
        with suppress(CancelledError):
            await running


async def _count_left(store: str) -> int:
    app = _app(store)
    async with app.open_async():
        return len(list(await app.job_manager.list_jobs_async()))


if __name__ == "__main__":
    obey_async(enqueue=_enqueue, work=_work, count_left=_count_left)
