"""Two registries in one process, side by side: each with its own scanners, judge and limits, and none ever meets the other's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.faults.figures import Tell
from vskill_platform.domain.content import SkillContent, SkillFile, content_digest, make_content
from vskill_platform.domain.external_scan import ExternalReport, ExternalScanStatus
from vskill_platform.domain.judgement import Judgement
from vskill_platform.domain.messages import EXTERNAL_SCANS_QUEUE
from vskill_platform.domain.scan import ScanReport, Verdict
from vskill_platform.domain.submission import Actor, SubmissionState
from vskill_platform.engines.memory import open_memory
from vskill_platform.pipeline.pinning import pin_content
from vskill_platform.pipeline.process import process_message
from vskill_platform.pipeline.runs import starting_first_run
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.scanner import NO_CHANGES
from vskill_platform.stores.external_scans import list_external_scans
from vskill_platform.stores.scans import get_judgement, get_scan
from vskill_platform.stores.submissions import get_submissions_fresh
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.waits import until
from vskill_platform.worker.external import external_loop
from vskill_platform.worker.loop import ConsumerLoop
from vskill_platform.worker_context import current_env, run_with_worker_env

LIMIT = 30
"""How many scans the second registry gives its scanner in an hour."""


@dataclass
class House:
    """What belongs to one registry. Each part of it says whose it is, and counts whenever it is asked by another."""

    name: str
    digests: set[str] = field(default_factory=set)
    ids: list[str] = field(default_factory=list)
    asked: int = 0
    crossings: int = 0
    env: WorkerEnv | None = None

    async def notice(self, content: SkillContent) -> None:
        """Note that a part was asked, by whom and about what; and let the others run in between."""
        self.asked += 1
        for _ in range(3):
            await asyncio.sleep(0)
            is_ours = current_env("settings") is self.env and content_digest(content) in self.digests
            self.crossings += not is_ours


@dataclass
class HouseScanner:
    """Tier 1 of one house."""

    house: House

    async def scan(self, content: SkillContent, *, changes: Mapping[str, str] = NO_CHANGES) -> ScanReport:
        """A PASS by the rules of the house."""
        await self.house.notice(content)
        return ScanReport(
            name="",
            verdict=Verdict.PASS,
            score=100,
            flagged=False,
            content_digest=content_digest(content),
            ruleset_version=f"rules of {self.house.name}",
            scanner_version="1",
        )


@dataclass
class HouseJudge:
    """The judge of one house."""

    house: House
    prompt_version: str = "1"

    @property
    def model(self) -> str:
        """Whose it is."""
        return f"model of {self.house.name}"

    async def judge(self, content: SkillContent, report: ScanReport) -> Judgement:
        """A PASS by the model of the house."""
        await self.house.notice(content)
        self.house.crossings += report.ruleset_version != f"rules of {self.house.name}"
        return Judgement(model=self.model, prompt_version=self.prompt_version, verdict=Verdict.PASS, score=95)


@dataclass
class HouseExternal:
    """An external scanner of one house."""

    house: House
    name: str
    runs: int = 0

    async def scan(self, content: SkillContent) -> ExternalReport:
        """A PASS by the version of the house."""
        await self.house.notice(content)
        self.runs += 1
        version = f"version of {self.house.name}"
        return ExternalReport(provider=self.name, provider_version=version, status=ExternalScanStatus.PASS, score=100)

    async def unavailable_because(self) -> str:
        """It can always be asked."""
        self.house.crossings += current_env("settings") is not self.house.env
        return ""


@asynccontextmanager
async def open_house(name: str, folder: Path, *scanners: str, **settings: object) -> AsyncIterator[House]:
    """A registry with everything of its own, and both of its loops running."""
    house = House(name)
    engine = await open_memory(clock=SystemClock())
    bare = make_env(
        engine,
        clock=SystemClock(),
        folder=folder / name,
        scanner=HouseScanner(house),
        process=process_message,
        external_scanners=",".join(scanners),
        **settings,
    )
    external = {scanner: HouseExternal(house, scanner) for scanner in scanners}
    house.env = replace(bare, judge=HouseJudge(house), external=external)
    loops = [ConsumerLoop(house.env), external_loop(house.env)]
    tasks = [asyncio.create_task(loop.run()) for loop in loops]
    try:
        yield house
    finally:
        for loop in loops:
            loop.stop()
        await asyncio.gather(*tasks)
        await engine.close()


async def submit(house: House, number: int) -> None:
    """A submission whose bytes are here already. Both houses have skills of the same names, with other bytes."""
    assert house.env is not None
    text = f"---\nname: skill-{number}\ndescription: Greets people politely.\n---\n\n# {house.name} {number}\n"
    content = make_content([SkillFile(path="SKILL.md", content=text.encode())])
    house.digests.add(content_digest(content))
    pinned = await pin_content(content, commit="c" * 40)
    submission, operations = starting_first_run(
        "https://github.com/acme/skills",
        skill_name=f"skill-{number}",
        skill_path=f"skills/skill-{number}",
        actor=Actor.SUBMITTER,
        pin=pinned.pin,
    )
    house.ids.append(submission.id)
    await house.env.writes.commit(operations)


async def fill(house: House, count: int) -> None:
    assert house.env is not None
    for number in range(count):
        await run_with_worker_env(house.env, lambda number=number: submit(house, number))


async def is_settled(house: House, *, left: int) -> bool:
    """Whether everything is published and all scans have run but so many that have to wait."""
    assert house.env is not None
    submissions = await run_with_worker_env(house.env, lambda: get_submissions_fresh(house.ids))
    stats = await house.env.queue.stats(EXTERNAL_SCANS_QUEUE)
    is_published = all(one.state is SubmissionState.PUBLISHED for one in submissions)
    return is_published and (stats.waiting, stats.leased, stats.delayed) == (0, 0, left)


async def foreign_words(house: House) -> list[str]:
    """Everything in a house's records that does not say its name where it has to."""
    wrong: list[str] = []
    for submission in await get_submissions_fresh(house.ids):
        scan, judged = await get_scan(submission), await get_judgement(submission)
        said = [scan.report.ruleset_version if scan else "", judged.judgement.model if judged else ""]
        opinions = await list_external_scans(submission.slug or "")
        said += [one.provider_version for one in opinions if one.status is ExternalScanStatus.PASS]
        wrong += [word for word in said if not word.endswith(f" of {house.name}")]
        wrong += [one.content_digest for one in opinions if one.content_digest not in house.digests]
    return wrong


@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.full)])
async def test_registries_side_by_side_never_meet_each_others_scanners_judges_or_limits(
    tmp_path: Path, count: int, tell: Tell
) -> None:
    async with AsyncExitStack() as stack:
        patient = await stack.enter_async_context(
            open_house("patient", tmp_path, "words", "more", external_scans_when="before")
        )
        thrifty = await stack.enter_async_context(
            open_house("thrifty", tmp_path, "words", external_scans_per_hour=LIMIT)
        )
        await asyncio.gather(fill(patient, count), fill(thrifty, count))
        await until(lambda: is_settled(patient, left=0), what="the patient one is done")
        await until(lambda: is_settled(thrifty, left=count - LIMIT), what="the thrifty one is done")
        wrong = [
            word
            for house in (patient, thrifty)
            for word in await run_with_worker_env(house.env, lambda house=house: foreign_words(house))  # type: ignore[arg-type]
        ]
        runs = {
            house.name: sum(one.runs for one in house.env.external.values())  # type: ignore[union-attr, attr-defined]
            for house in (patient, thrifty)
        }
    crossings = patient.crossings + thrifty.crossings + len(wrong)
    asked = patient.asked + thrifty.asked
    tell(f"two envs side by side: {count} submissions each, {asked} calls of their parts, {crossings} crossings")
    assert (crossings, wrong) == (0, [])
    assert runs == {"patient": 2 * count, "thrifty": LIMIT}
