"""Two thousand event streams on one web process: idle, then a hundred events a second for ten seconds, all to everybody."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import msgspec

from benchmarks.fixtures import postgres_server
from benchmarks.machine import cpu_seconds, load_note, resident_mb
from benchmarks.report import Row, at_least, told
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.ports.commit import Emit

STREAMS = 2000
RATE = 100
SECONDS = 10
EVENTS = RATE * SECONDS
IDLE_S = 10
PATIENCE_S = 60
SAMPLE = 10
"""Of so many events a client notes the delay of one: the clients must not be what takes the time."""
_PATH = b"GET /api/v1/submissions/stream HTTP/1.1\r\nHost: registry\r\n\r\n"
_COMMAND = str(Path(sys.executable).with_name("vskill-platform"))
_SETTINGS = {
    "VSKILL_PLATFORM_STREAMS_PER_ADDRESS": "100000",
    "VSKILL_PLATFORM_LOG_LEVEL": "info",
    "VSKILL_PLATFORM_HEALTH_ADDRESS": "0",
}


async def run() -> list[Row]:
    """One web process on PostgreSQL; the events come from a process of its own, as they would from a worker."""
    with postgres_server() as server, tempfile.TemporaryDirectory() as folder:
        url = server.url(server.create_database())
        await (await open_postgres(url)).close()  # makes the tables
        async with _web(url, folder) as (pid, place):
            return await _measure(url, pid, place)


@asynccontextmanager
async def _web(url: str, folder: str) -> AsyncIterator[tuple[int, tuple[str, int]]]:
    process = await asyncio.create_subprocess_exec(
        _COMMAND, "web", "--data", folder, "--port", "0", stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **_SETTINGS, "VSKILL_PLATFORM_DATABASE_URL": url, "COLUMNS": "200"},
    )  # fmt: skip
    try:
        assert process.stderr is not None
        found = None
        while found is None:
            found = re.search(rb"is up at http://([\d.]+):(\d+),", await process.stderr.readline())
        reading = asyncio.create_task(process.stderr.read())
        yield process.pid, (found[1].decode(), int(found[2]))
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()
    await reading


class Listener(asyncio.Protocol):
    """One stream's client. It notes whether each event came, in order and once, and how long after it was written."""

    def __init__(self) -> None:
        self.is_open = asyncio.get_running_loop().create_future()
        self.count = 0
        self.is_in_order = True
        self.delays_s: list[float] = []
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(_PATH)

    def data_received(self, data: bytes) -> None:
        """Take events; numbers and times stand in them as they were written."""
        now = time.time()
        if not self.is_open.done():
            self.is_open.set_result(data.split(b" ", 2)[1])
        data = self._rest + data
        end = data.rfind(b"\n\n") + 2 if b"\n\n" in data else 0
        for number, written_us in _EVENT.findall(data, 0, end):
            self.is_in_order &= int(number) == self.count
            self.count += 1
            if self.count % SAMPLE == 0:
                self.delays_s.append(now - int(written_us) / 1_000_000)
        self._rest = data[end:]


_EVENT = re.compile(rb'"run":(\d+),"repoUrl":"[^"]*","skillName":"","reason":"(\d+)"')


async def _measure(url: str, pid: int, place: tuple[str, int]) -> list[Row]:
    loop = asyncio.get_running_loop()
    first = await _open(loop, place, 1)  # what the first stream starts is no cost of the others
    before_mb = resident_mb(pid)
    listeners = [*first, *await _open(loop, place, STREAMS - 1)]
    stream_kb = (resident_mb(pid) - before_mb) * 1024 / (STREAMS - 1)
    idle_s = cpu_seconds([pid])
    await asyncio.sleep(IDLE_S)
    idle_share = (cpu_seconds([pid]) - idle_s) / IDLE_S
    began_s, began = cpu_seconds([pid]), time.perf_counter()
    written_rate = await _write_elsewhere(url)
    await _wait_for_all(listeners)
    took_s = time.perf_counter() - began
    busy_share = (cpu_seconds([pid]) - began_s) / took_s
    peak_mb = resident_mb(pid)
    complete = sum(listener.is_in_order and listener.count == EVENTS for listener in listeners)
    delays = sorted(delay for listener in listeners for delay in listener.delays_s)
    for listener in listeners:
        listener.transport.abort()
    detail = (
        f"{EVENTS} events at {written_rate:.0f}/s ({RATE}/s wanted) to {STREAMS} streams of one web process on "
        f"PostgreSQL, each in order and once; "
        f"the last had come {took_s:.1f} s after the first was written; {busy_share:.0%} of a core; "
        f"{peak_mb:.0f} MB; {load_note()}"
    )
    idle = f"{STREAMS} idle streams; {idle_share:.1%} of a core while idle"
    return [
        at_least("event_streams_complete", complete, target=STREAMS, unit="streams", detail=detail),
        told("event_stream_memory", stream_kb, unit="KB", detail=idle),
        told(
            "event_stream_delay_p50",
            delays[len(delays) // 2] * 1000,
            unit="ms",
            detail="from before the commit to the client",
        ),
        told("event_stream_delay_p99", delays[int(len(delays) * 0.99)] * 1000, unit="ms", detail="the same"),
    ]


async def _open(loop: asyncio.AbstractEventLoop, place: tuple[str, int], count: int) -> list[Listener]:
    listeners = []
    for _ in range(count):
        _, listener = await loop.create_connection(Listener, *place)
        if await listener.is_open != b"200":
            raise RuntimeError("A stream was refused.")
        listeners.append(listener)
    return listeners


async def _write_elsewhere(url: str) -> float:
    """Have a process of its own write the events. Gives the rate that it held."""
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.event_streams", url, stdout=asyncio.subprocess.PIPE
    )
    told_rate, _ = await writer.communicate()
    return float(told_rate)


async def write_events(url: str) -> float:
    """Write events at a steady rate: whatever is due, in one commit, so that a slow commit does not slow the rate."""
    engine = await open_postgres(url)
    try:
        began, number = time.perf_counter(), 0
        while number < EVENTS:
            due = min(EVENTS, int((time.perf_counter() - began) * RATE) + 1)
            await engine.writes.commit([_event(which) for which in range(number, due)])
            number = due
            await asyncio.sleep(max(0.0, began + number / RATE - time.perf_counter()))
        return EVENTS / (time.perf_counter() - began)
    finally:
        await engine.close()


def _event(number: int) -> Emit:
    written_us = str(int(time.time() * 1_000_000))
    data = {"id": "sub_x", "state": "RECEIVED", "from": "RECEIVED", "run": number, "repoUrl": "https://example.org/r"}
    return Emit("submission.state_changed", "sub_x", msgspec.json.encode({**data, "reason": written_us}))


async def _wait_for_all(listeners: list[Listener]) -> None:
    deadline = time.perf_counter() + PATIENCE_S
    for listener in listeners:
        while listener.count < EVENTS and time.perf_counter() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


if __name__ == "__main__":
    print(asyncio.run(write_events(sys.argv[1])))
