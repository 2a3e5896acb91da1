"""From a submission to PUBLISHED, over HTTP and loopback git: how long one takes, and how many a machine holds."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import httpx

from benchmarks.report import Row, at_most, told
from vskill_platform.domain.content import SkillFile
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.testing.git_server import serve_repositories_in_thread
from vskill_platform.web.clients.bare_repository import write_bare_repository

ONE_BY_ONE = 60
WARM_UP = 5
TOGETHER = 300
SUBMITTERS = 8
_LOOK_S = 0.01
_COMMAND = str(Path(sys.executable).with_name("vskill-platform"))
_SETTINGS = {
    "VSKILL_PLATFORM_ALLOW_PRIVATE_ADDRESSES": "true",
    "VSKILL_PLATFORM_GIT_PROTOCOLS": "http",
    "VSKILL_PLATFORM_SUBMISSIONS_PER_HOUR": "1000000",
    "VSKILL_PLATFORM_REQUESTS_PER_MINUTE": "1000000",
    "VSKILL_PLATFORM_LOG_LEVEL": "error",
}


async def run() -> list[Row]:
    """One at a time on an idle registry; then as many as it takes, with the stage that limits it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = WARM_UP + ONE_BY_ONE + TOGETHER
        await asyncio.to_thread(_write_repositories, folder / "repositories", count)
        with serve_repositories_in_thread(folder / "repositories") as source:
            async with _registry(folder / "data") as client:
                single = [await _publish(client, f"{source}/acme/r{number}") for number in range(WARM_UP + ONE_BY_ONE)]
                began = time.perf_counter()
                together = await _publish_together(client, source, range(WARM_UP + ONE_BY_ONE, count))
                seconds = time.perf_counter() - began
    return [*_latency_rows(single[WARM_UP:]), *_rate_rows(together, seconds)]


def _write_repositories(folder: Path, count: int) -> None:
    script = SkillFile(path="scripts/greet.py", content=b"import sys\n\nprint('hello', sys.argv[1])\n", executable=True)
    for number in range(count):
        text = (
            f"---\nname: greeting-{number}\ndescription: Greets people, number {number}.\n---\n\n" + "Be kind.\n" * 200
        )
        files = [SkillFile(path="SKILL.md", content=text.encode()), script]
        write_bare_repository(folder / "acme" / f"r{number}.git", files, message="a skill")


@contextlib.asynccontextmanager
async def _registry(data: Path) -> AsyncIterator[httpx.AsyncClient]:
    process = await asyncio.create_subprocess_exec(
        _COMMAND, "up", "--data", str(data), "--port", "0",
        env={**os.environ, **_SETTINGS, "COLUMNS": "200"}, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        address = None
        while address is None:
            found = re.search(rb"is up at (http://\S+),", await process.stderr.readline())
            address = found and found[1].decode()
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            yield client
    finally:
        process.terminate()
        await process.communicate()


async def _publish(client: httpx.AsyncClient, url: str) -> dict[str, object]:
    """Submit one repository and wait for its skill. Gives the child's view with the milliseconds in `took`."""
    answer = (await client.post("/api/v1/submissions", json={"repoUrl": url})).raise_for_status().json()
    while True:
        parent = (await client.get(f"/api/v1/submissions/{answer['id']}")).json()
        if parent["children"] and parent["children"][0]["state"] == "PUBLISHED":
            child = (await client.get(f"/api/v1/submissions/{parent['children'][0]['id']}")).json()
            took = ms_from_iso(child["updatedAt"]) - ms_from_iso(parent["createdAt"])
            return {"took": took, "timings": Counter(parent["stageTimings"]) + Counter(child["stageTimings"])}
        if parent["state"] not in ("RECEIVED", "TIER1_SCANNING", "EXPANDED"):
            raise RuntimeError(f"{url} became {parent['state']}: {parent['history'][-1]['message']}")
        await asyncio.sleep(_LOOK_S)


async def _publish_together(client: httpx.AsyncClient, source: str, numbers: range) -> list[dict[str, object]]:
    waiting = iter(numbers)
    done: list[dict[str, object]] = []

    async def submit_next() -> None:
        while (number := next(waiting, None)) is not None:
            done.append(await _publish(client, f"{source}/acme/r{number}"))

    await asyncio.gather(*(submit_next() for _ in range(SUBMITTERS)))
    return done


def _latency_rows(results: list[dict[str, object]]) -> list[Row]:
    took = sorted(float(str(result["took"])) / 1000 for result in results)
    p95 = took[int(len(took) * 0.95) - 1]
    detail = (
        f"median {statistics.median(took):.3f} s, slowest {took[-1]:.3f} s, {len(took)} one by one; {_stages(results)}"
    )
    return [at_most("submit_to_published_p95", p95, target=1, unit="s", detail=detail)]


def _rate_rows(results: list[dict[str, object]], seconds: float) -> list[Row]:
    detail = f"{len(results)} repositories by {SUBMITTERS} submitters at once, fetched, scanned and published; {_stages(results)}"
    return [told("sustained_submissions", len(results) / seconds, unit="/s", detail=detail)]


def _stages(results: list[dict[str, object]]) -> str:
    total: Counter[str] = Counter()
    for result in results:
        timings = result["timings"]
        assert isinstance(timings, Counter)
        total += timings
    told_stages = ", ".join(f"{stage} {ms / len(results):.0f}" for stage, ms in total.most_common())
    return f"mean ms by stage: {told_stages}; the longest limits it"
