"""How fast one web process answers, with everything of ours around each route, beside a bare route of the framework.

One process serves a registry of 100,000 skills and 100,000 submissions, another one route that says hello. Fifty connections ask
as fast as they are answered, one figure after the other and in turns, so that a machine that slows down slows both. The rate that
is held is then asked for at an even pace, and the slowest hundredth of those answers is the p99.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import statistics
import sys
import time
from collections.abc import AsyncIterator, Iterator
from itertools import cycle
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.fixtures import folder, load
from benchmarks.machine import cpu_seconds, load_note
from benchmarks.report import Row, at_least, at_most, told
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.commit import Operation
from vskill_platform.testing.submissions import putting_skill, putting_submission, submission_at

RECORDS = 100_000
CONNECTIONS = 50
SECONDS = 6.0
TURNS = 3
PAGES = 400
_COMMAND = str(Path(sys.executable).with_name("vskill-platform"))
_SETTINGS = {"VSKILL_PLATFORM_REQUESTS_PER_MINUTE": "1000000000", "VSKILL_PLATFORM_LOG_LEVEL": "error"}
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
_PACES = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
_HELD = 0.98
"""The share of a pace that has to be kept for it to count as held."""


class Server(NamedTuple):
    """A process that serves, and where."""

    address: str
    pid: int


class Figure(NamedTuple):
    """What was measured of some addresses: requests a second as fast as possible, the processor time of one, the pace held and
    its p99."""

    rate: float
    cpu_us: float
    held: float
    p99_ms: float


async def run() -> list[Row]:
    """Bare, the API, the marketplace, and pages of the API that nobody has asked for before."""
    with folder() as path:
        await _load(path)
        async with (
            _serving(_bare_command(), ready=rb"running on (http://\S+)") as bare,
            _serving(_registry_command(path), ready=rb"is up at (http://\S+),") as ours,
        ):
            return await _measure(bare, ours)


async def _measure(bare: Server, ours: Server) -> list[Row]:
    many = [f"/api/v1/skills?limit=20&offset={20 * number}" for number in range(PAGES)]
    asked = {
        "bare": (bare, ["/hello"]),
        "api": (ours, ["/api/v1/skills"]),
        "marketplace": (ours, ["/skills"]),
        "distinct": (ours, many),
    }
    paces = {name: await _find_pace(*target) for name, target in asked.items()}
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in asked}
    for _ in range(TURNS):
        for name, (server, paths) in asked.items():
            rates[name].append(await _rate(server, paths))
    figures = {}
    for name, found in rates.items():
        rate, cpu_us = (statistics.median(values) for values in zip(*found, strict=True))
        figures[name] = Figure(rate, cpu_us, *paces[name])
    return _rows(figures)


def _rows(figures: dict[str, Figure]) -> list[Row]:
    how = f"one process, {CONNECTIONS} connections, {RECORDS:,} skills and submissions; {load_note()}"
    bare, api, pages, distinct = (figures[name] for name in ("bare", "api", "marketplace", "distinct"))
    by_cpu = f"/api/v1/skills against the bare route; by processor time {bare.cpu_us / api.cpu_us:.2f}"
    return [
        told("http_bare_rate", bare.rate, unit="/s", detail=f"a bare Litestar route, {bare.cpu_us:.0f} us each; {how}"),
        told(
            "http_api_rate",
            api.rate,
            unit="/s",
            detail=f"/api/v1/skills, 50 rows, the same page; {api.cpu_us:.0f} us each",
        ),
        at_least("http_api_ratio", api.rate / bare.rate, target=0.4, detail=by_cpu),
        at_most(
            "http_api_p99", api.p99_ms, target=100, unit="ms", detail=f"at {api.held:,.0f}/s, the highest pace held"
        ),
        told(
            "http_distinct_rate",
            distinct.rate,
            unit="/s",
            detail=f"{PAGES} pages of 20 in turn; {distinct.cpu_us:.0f} us each",
        ),
        told("http_marketplace_rate", pages.rate, unit="/s", detail=f"/skills as a page; {pages.cpu_us:.0f} us each"),
        at_most(
            "http_marketplace_p99",
            pages.p99_ms,
            target=100,
            unit="ms",
            detail=f"at {pages.held:,.0f}/s, the highest held",
        ),
    ]


async def _load(path: Path) -> None:
    now_ms = SystemClock().now_ms()

    def operations(number: int) -> list[Operation]:
        submission = submission_at(
            SubmissionState.PUBLISHED if number % 10 else SubmissionState.NEEDS_REVIEW,
            updated_ms=now_ms - number * 1000,
            identity=f"sub_{number:032x}",
            repo_url=f"https://github.com/owner-{number % 5000}/repository-{number}",
            skill_name=f"skill-number-{number}",
        )
        skill = putting_skill(
            f"owner-{number % 5000}/repository-{number}/skill-number-{number}",
            description="Reads the files of a project and writes a summary of what each of them is for. " * 2,
            publisher=f"owner-{number % 5000}",
            category=("writing", "data", "code")[number % 3],
            version="1.0.4",
            score=60 + number % 41,
            updated_at="2026-02-21T10:00:00.000Z",
            published_at="2026-02-21T10:00:00.000Z",
        )
        return [*putting_submission(submission), *skill]

    await load(path, RECORDS, operations, what="skills and submissions")


def _registry_command(path: Path) -> list[str]:
    return [_COMMAND, "up", "--data", str(path), "--port", "0"]


def _bare_command() -> list[str]:
    return [sys.executable, "-m", "benchmarks.bare_server"]


@contextlib.asynccontextmanager
async def _serving(command: list[str], *, ready: bytes) -> AsyncIterator[Server]:
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **_SETTINGS, "COLUMNS": "200"}, stderr=asyncio.subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        found = None
        while found is None:
            line = await process.stderr.readline()
            if not line:
                raise RuntimeError(f"{command[0]} ended before it served anything")
            found = re.search(ready, line)
        yield Server(found[1].decode(), process.pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.communicate()


async def _rate(server: Server, paths: list[str]) -> tuple[float, float]:
    """Requests a second as fast as they are answered, and the microseconds of processor time that one takes the server."""
    used_s = cpu_seconds([server.pid])
    count = len(await _ask(server.address, paths, seconds=SECONDS))
    return count / SECONDS, (cpu_seconds([server.pid]) - used_s) / count * 1e6


async def _find_pace(server: Server, paths: list[str]) -> tuple[float, float]:
    """The highest pace that is held, and the p99 in milliseconds at it."""
    rate = len(await _ask(server.address, paths, seconds=SECONDS)) / SECONDS
    for share in _PACES:
        pace = rate * share
        took = sorted(await _ask(server.address, paths, seconds=SECONDS, pace=pace))
        if len(took) >= pace * SECONDS * _HELD:
            break
    return len(took) / SECONDS, took[int(len(took) * 0.99) - 1] * 1000


async def _ask(address: str, paths: list[str], *, seconds: float, pace: float | None = None) -> list[float]:
    """Ask over every connection until the time is up. With a pace, a request is due at its moment, however late the last came."""
    parts = urlsplit(address)
    requests = cycle([_request(path, parts.netloc) for path in paths])
    began = time.perf_counter()
    due = _even(began, pace) if pace else None
    took: list[float] = []

    async def connection() -> None:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        while (moment := next(due) if due else time.perf_counter()) < began + seconds:
            ahead = moment - time.perf_counter()
            if ahead > 0:
                await asyncio.sleep(ahead)
            writer.write(next(requests))
            await _read_answer(reader)
            took.append(time.perf_counter() - moment)
        writer.close()

    await asyncio.gather(*(connection() for _ in range(CONNECTIONS)))
    return took


def _even(began: float, pace: float) -> Iterator[float]:
    number = 0
    while True:
        yield began + number / pace
        number += 1


def _request(path: str, host: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: gzip\r\n\r\n".encode()


async def _read_answer(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    if not head.startswith(b"HTTP/1.1 200 ") or length is None:
        raise RuntimeError(f"an answer that is none: {head[:200]!r}")
    await reader.readexactly(int(length[1]))
