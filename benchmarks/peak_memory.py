"""How much memory a walk over a million records takes above an idle process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.fixtures import env_over, folder, load_skills, load_waiting, open_engine
from benchmarks.report import Row, at_most
from vskill_platform.stores.skills import iter_published_skills
from vskill_platform.worker.recovery import sweep_stuck_submissions
from vskill_platform.worker_context import run_with_worker_env

COUNT = 1_000_000
LIMIT_MB = 200


async def run() -> list[Row]:
    """Each walk in a process of its own."""
    with folder() as path:
        await load_waiting(path, COUNT)
        sweep = await asyncio.to_thread(_in_child, "sweep", path)
    with folder() as path:
        await load_skills(path, COUNT)
        skills = await asyncio.to_thread(_in_child, "skills", path)
    return [
        at_most(
            "sweep_peak_memory",
            sweep["peakMb"],
            target=LIMIT_MB,
            unit="MB",
            detail=f"{sweep['walked']:,} due submissions examined, none lost",
        ),
        at_most(
            "iter_published_skills_peak_memory",
            skills["peakMb"],
            target=LIMIT_MB,
            unit="MB",
            detail=f"{skills['walked']:,} skills streamed",
        ),
    ]


def _in_child(what: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.peak_memory", what, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
    return dict(json.loads(done.stdout.splitlines()[-1]))


async def _walk(what: str, path: Path) -> None:
    async with open_engine(path) as engine:
        env = env_over(engine, path, sweep_time_box_s=3600)
        idle_mb = status_mb("VmRSS")
        walked = await run_with_worker_env(env, _sweep if what == "sweep" else _stream)
        peak_mb = status_mb("VmHWM")
        print(json.dumps({"peakMb": round(peak_mb - idle_mb, 1), "walked": walked}))


async def _sweep() -> int:
    report = await sweep_stuck_submissions()
    assert report.left == report.examined
    return report.examined


async def _stream() -> int:
    walked = 0
    async for chunk in iter_published_skills():
        walked += len(chunk)
    return walked


def status_mb(name: str) -> float:
    """A figure of the kernel's about this process. (`ru_maxrss` would count what the parent had before the exec.)"""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{name}:")]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    asyncio.run(_walk(sys.argv[1], Path(sys.argv[2])))
