"""External scans: what they cost beside the scan itself, and whether three scanners take as long as the slowest of them."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.report import Row, at_most
from vskill_platform.cli.logs import set_up_logs
from vskill_platform.domain.content import SkillContent, SkillFile, make_content
from vskill_platform.domain.external_provider import Carrier, Provider
from vskill_platform.domain.external_result import ReportedResult
from vskill_platform.domain.external_scan import ExternalReport, ExternalScanStatus
from vskill_platform.domain.messages import EXTERNAL_SCANS_QUEUE
from vskill_platform.domain.submission import Actor, SubmissionState
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.pipeline.external_scanning import run_external_message
from vskill_platform.pipeline.pinning import Pinned, pin_content
from vskill_platform.pipeline.process import process_message
from vskill_platform.pipeline.remote_scans import claim_remotely, complete_remotely, list_pending
from vskill_platform.pipeline.runs import starting_first_run
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.scanning.external import open_scanners
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.stores.external_dispatch import requesting
from vskill_platform.stores.submissions import get_submission
from vskill_platform.testing.envs import make_env
from vskill_platform.worker.external import external_loop
from vskill_platform.worker.loop import ConsumerLoop
from vskill_platform.worker_context import current_env, run_with_worker_env

SCANS = 300
DURATIONS_S = (1.0, 2.0, 3.0)
ROUNDS = 5
MAX_OVERHEAD_MS = 10.0
MAX_RATIO = 1.2
_REPORT = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "slow", "version": "1"}}, "results": []}]}
_LOOK_S = 0.005


class _Instant:
    """A scanner that takes no time: what is measured is everything else."""

    name = "instant"

    async def scan(self, content: SkillContent) -> ExternalReport:
        """Nothing is wrong."""
        return ExternalReport(provider=self.name, status=ExternalScanStatus.PASS, score=100)

    async def unavailable_because(self) -> str:
        """It can always be asked."""
        return ""


async def run() -> list[Row]:
    """Both figures, on SQLite that syncs every commit."""
    set_up_logs("warning")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        local, remote = await _overheads(folder / "overhead")
        alone = [await _wall_time(folder / f"alone{n}", DURATIONS_S[-1:]) for n in range(ROUNDS)]
        together = [await _wall_time(folder / f"together{n}", DURATIONS_S) for n in range(ROUNDS)]
    ratio = statistics.median(together) / statistics.median(alone)
    detail = (
        f"real programs of {', '.join(f'{one:g}' for one in DURATIONS_S)} s: {statistics.median(together):.2f} s from "
        f"submission to PUBLISHED, the slowest alone {statistics.median(alone):.2f} s, medians of {ROUNDS}"
    )
    return [
        _overhead_row("external_scan_overhead", local, "asked, pulled, claimed, its bytes read, stored"),
        _overhead_row("external_scan_overhead_remote", remote, "asked, listed, claimed, stored, without the network"),
        at_most("external_scans_wall_time", ratio, target=MAX_RATIO, unit="x the slowest", detail=detail),
    ]


def _overhead_row(name: str, took_ms: Sequence[float], what: str) -> Row:
    ordered = sorted(took_ms)
    detail = (
        f"{what}; p95 {ordered[int(len(ordered) * 0.95) - 1]:.2f} ms, {len(ordered)} scans one by one, SQLite synced"
    )
    return at_most(name, statistics.median(ordered), target=MAX_OVERHEAD_MS, unit="ms", detail=detail)


async def _overheads(folder: Path) -> tuple[list[float], list[float]]:
    async with _env(folder, external_scanners="instant,remote:farm", external_scans_per_hour=10 * SCANS) as bare:
        env = replace(bare, external={"instant": _Instant()})

        async def measure() -> tuple[list[float], list[float]]:
            pinned = await _pinned("overhead")
            local = [await _timed_local(pinned, number) for number in range(SCANS)]
            return local, [await _timed_remote(pinned, number) for number in range(SCANS)]

        return await run_with_worker_env(env, measure)


async def _timed_local(pinned: Pinned, number: int) -> float:
    env = current_env("queue")
    began = time.perf_counter()
    asked = requesting(f"acme/skills/s{number}", Provider("instant"), previous=None, pin=pinned.pin)
    await env.writes.commit(asked)
    (message,) = await env.queue.receive(EXTERNAL_SCANS_QUEUE, max_messages=1, lease_s=60)
    await run_external_message(message)
    assert message.is_settled
    return (time.perf_counter() - began) * 1000


async def _timed_remote(pinned: Pinned, number: int) -> float:
    began = time.perf_counter()
    farm = Provider("farm", Carrier.PULL)
    await current_env("writes").writes.commit(requesting(f"acme/skills/s{number}", farm, previous=None, pin=pinned.pin))
    (waiting,) = await list_pending("farm", limit=10)
    scan, secret = await claim_remotely("farm", waiting.id, worker="bench")
    result = ReportedResult(status=ExternalScanStatus.PASS, score=100)
    await complete_remotely("farm", scan.id, claim=secret, content_digest=scan.content_digest, result=result)
    return (time.perf_counter() - began) * 1000


async def _wall_time(folder: Path, durations_s: Sequence[float]) -> float:
    """Seconds from a submission to PUBLISHED, where it waits for programs that take so long."""
    programs = _programs(folder, durations_s)
    async with (
        _env(folder, external_programs=programs, external_scans_when="before", scan_processes=1) as bare,
        ScannerPool(bare.settings) as scanner,
        open_scanners(bare.settings) as external,
    ):
        env = replace(bare, scanner=scanner, external=external, process=process_message)
        for one in external.values():
            because = await one.unavailable_because()
            if because:
                raise RuntimeError(because)
        async with _running(env):
            return await run_with_worker_env(env, _submit_and_wait)


def _programs(folder: Path, durations_s: Sequence[float]) -> str:
    folder.mkdir(parents=True)
    (folder / "report.json").write_text(json.dumps(_REPORT))
    lines = []
    for number, seconds in enumerate(durations_s):
        script = folder / f"slow{number}.sh"
        script.write_text(f"#!/bin/sh\nsleep {seconds}\ncat {folder}/report.json\n")
        script.chmod(0o755)
        lines.append(f"slow{number}={script} {{folder}}")
    return "\n".join(lines)


async def _submit_and_wait() -> float:
    pinned = await _pinned(str(time.perf_counter_ns()))
    began = time.perf_counter()
    submission, operations = starting_first_run(
        "https://github.com/acme/skills", skill_name="greeting", actor=Actor.SUBMITTER, pin=pinned.pin
    )
    await current_env("writes").writes.commit(operations)
    while True:
        state = (await get_submission(submission.id)).submission.state
        if state is SubmissionState.PUBLISHED:
            return time.perf_counter() - began
        if state not in (SubmissionState.RECEIVED, SubmissionState.TIER1_SCANNING, SubmissionState.TIER2_SCANNING):
            raise RuntimeError(f"the submission became {state}")
        await asyncio.sleep(_LOOK_S)


async def _pinned(text: str) -> Pinned:
    body = f"---\nname: greeting\ndescription: Greets people politely.\n---\n\n# Greeting\n\nGreet {text}.\n"
    return await pin_content(make_content([SkillFile(path="SKILL.md", content=body.encode())]), commit="c" * 40)


@asynccontextmanager
async def _env(folder: Path, **settings: object) -> AsyncIterator[WorkerEnv]:
    folder.mkdir(parents=True, exist_ok=True)
    clock = SystemClock()
    engine = await open_sqlite(folder / "registry.db", clock=clock)
    try:
        yield make_env(engine, clock=clock, folder=folder, data=str(folder / "data"), **settings)
    finally:
        await engine.close()


@asynccontextmanager
async def _running(env: WorkerEnv) -> AsyncIterator[None]:
    loops = [ConsumerLoop(env), external_loop(env)]
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        for loop in loops:
            group.create_task(loop.run())
            stack.callback(loop.stop)
        yield
        for loop in loops:
            loop.stop()
