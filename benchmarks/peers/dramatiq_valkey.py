"""dramatiq on Valkey, as a child process of the harness.

Tried: when its prefetch is full the consumer sleeps, at the default (twice the threads) for most of a no-op run; 100 gives
1.7 times as much in one process and 2.7 times in two, 1000 no more. A process a core, as its command line starts them,
gives 1.7 times one process. Of the default middleware only retries stay, for an eighth more: our queue retries too, and
the others watch for limits that no job here has.
"""

from __future__ import annotations

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import Middleware, Retries

from benchmarks.peers.tally import Tally, obey

PREFETCH = 100


class CountAcknowledgements(Middleware):
    """Tells the tally of each acknowledgement that the server has taken."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def after_ack(self, broker: dramatiq.Broker, message: dramatiq.MessageProxy) -> None:
        self._tally.count_acknowledgement()


def open_queue(store: str, tally: Tally) -> tuple[RedisBroker, dramatiq.Actor[[], None]]:
    broker = RedisBroker(url=store, middleware=[Retries(), CountAcknowledgements(tally)])

    @dramatiq.actor(broker=broker)
    def job() -> None:
        tally.count_start()

    return broker, job


def enqueue(store: str, jobs: int) -> None:
    _, job = open_queue(store, Tally())
    for _ in range(jobs):
        job.send()


def work(store: str, concurrency: int, tally: Tally) -> None:
    broker, _ = open_queue(store, tally)
    worker = dramatiq.Worker(broker, worker_threads=concurrency)
    worker.queue_prefetch = PREFETCH
    worker.start()
    tally.stop.wait()
    worker.stop()


def count_left(store: str) -> int:
    broker, job = open_queue(store, Tally())
    return int(broker.do_qsize(job.queue_name))


if __name__ == "__main__":
    obey(enqueue=enqueue, work=work, count_left=count_left)
