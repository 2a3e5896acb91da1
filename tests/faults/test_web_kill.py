"""`kill -9` of the web process between a request and its answer: who tries again finds the same submission, and there is one."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.acceptance.test_processes import submit as submit_over_http
from tests.faults.doom import Doom, When
from tests.faults.engines import ENGINES, EngineKind
from tests.faults.figures import Tell
from tests.faults.fleet import QUICK, submit_if_answered
from tests.faults.offspring import Nursery, Offspring, nursery
from vskill_platform.domain.ids import SUBMISSION_PREFIX, claim_key
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.ports.clock import SystemClock
from vskill_platform.stores.pause import pause_queue
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.waits import until
from vskill_platform.worker_context import run_with_worker_env

CLIENTS = 4
LATEST_S = 0.06
COMMIT = "writes.commit RECEIVED"
COUNTS = {"sqlite": {"steps": 10, "at_random": 30}, "postgres": {"steps": 24, "at_random": 78}}
"""210 in all; a process on SQLite has to be started twice for each."""


@dataclass
class Door:
    """A registry that takes submissions and does not work on them, and what was said to whom."""

    kind: EngineKind
    location: str
    data: Path
    nursery: Nursery
    chance: random.Random
    answered: dict[str, str | None] = field(default_factory=dict)
    """By address: what the request that was cut off heard."""
    found: dict[str, str] = field(default_factory=dict)
    """By address: the submission that trying again found."""

    async def open(self, doom: Doom | None) -> Offspring:
        role = "web" if self.kind.is_shared else "up"
        settings = {**QUICK, **self.kind.environment(self.location), "VSKILL_PLATFORM_DATA": str(self.data)}
        started = self.nursery.begin(role, settings, doom=doom)
        await until(lambda: started.address != "" or not started.is_alive, what=started.explain)
        assert started.is_alive, started.explain()
        return started

    async def try_again(self, web: Offspring) -> None:
        """Every request that a death came upon is made once more."""
        for url in set(self.answered) - set(self.found):
            self.found[url] = await asyncio.to_thread(submit_over_http, web.address, url)

    async def submit_and_kill(self, web: Offspring) -> None:
        """Requests from several sides; the process dies of its doom or at some moment."""
        urls = [f"http://127.0.0.1:1/acme/many-{len(self.answered) + number}" for number in range(CLIENTS)]
        clients = [asyncio.create_task(asyncio.to_thread(submit_if_answered, web.address, url)) for url in urls]
        if not web.is_doomed:
            await asyncio.sleep(self.chance.uniform(0, LATEST_S))
            web.kill()
        self.answered.update(zip(urls, await asyncio.gather(*clients), strict=True))
        await until(lambda: not web.is_alive, what=web.explain)

    async def faults(self) -> dict[str, object]:
        """What is wrong: other submissions than were found, more or fewer messages, claims of somebody else."""
        engine = await self.kind.open(self.location, SystemClock())
        there = {
            key.removeprefix(SUBMISSION_PREFIX) async for chunk in engine.kv.scan(SUBMISSION_PREFIX) for key, _ in chunk
        }
        claims = {url: await engine.kv.get(claim_key(url, "")) for url in self.found}
        waiting = (await engine.queue.stats(SUBMISSIONS_QUEUE)).waiting
        await engine.close()
        found = {
            "lost": set(self.found.values()) - there,
            "unexpected": there - set(self.found.values()),
            "another": {url for url, one in self.answered.items() if one is not None and one != self.found[url]},
            "claims": {
                url for url, entry in claims.items() if entry is None or entry.value.decode() != self.found[url]
            },
            "messages": waiting - len(self.found),
        }
        return {name: value for name, value in found.items() if value}


@asynccontextmanager
async def door(folder: Path, engine: str, chance: random.Random) -> AsyncIterator[Door]:
    kind = ENGINES[engine]
    data = folder / "data"
    with kind.make_store(data) as location, nursery(folder / "logs") as grown:
        opened = await kind.open(location, SystemClock())
        env = make_env(opened, clock=SystemClock(), folder=data)
        await run_with_worker_env(env, lambda: pause_queue(seconds=86_400, reason="only the door is tested"))
        await opened.close()
        yield Door(kind, location, data, grown, chance)


async def kill_often(folder: Path, engine: str, dooms: Sequence[Doom | None], *, seed: int, tell: Tell) -> None:
    async with door(folder, engine, random.Random(seed)) as registry:
        other = await registry.open(None) if registry.kind.is_shared else None
        for doom in dooms:
            web = await registry.open(doom)
            await registry.submit_and_kill(web)
            after = other or await registry.open(None)
            await registry.try_again(after)
            if other is None:
                after.kill()
        assert await registry.faults() == {}, f"seed {seed}"
    unanswered = sum(one is None for one in registry.answered.values())
    assert unanswered > 0
    tell(
        f"kill -9 of web, {engine}: {len(dooms)} kills, {dooms.count(None)} of them at random and the others before, in and "
        f"after the commit; {len(registry.answered)} requests, {unanswered} without an answer; each tried again and found "
        f"its submission: {len(registry.found)} submissions, claims and messages, none twice"
    )


def choose_dooms(*, steps: int, at_random: int, seed: int) -> list[Doom | None]:
    chance = random.Random(seed)
    dooms: list[Doom | None] = [None] * at_random
    dooms += [Doom(COMMIT, when, chance.randint(1, CLIENTS)) for when in [*When] * steps]
    chance.shuffle(dooms)
    return dooms


@pytest.mark.parametrize("engine", ENGINES)
async def test_retry_finds_the_same_submission__when_web_is_killed(tmp_path: Path, engine: str, tell: Tell) -> None:
    await kill_often(tmp_path, engine, choose_dooms(steps=1, at_random=2, seed=1), seed=1, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("engine", ENGINES)
async def test_retry_finds_the_same_submission__when_web_is_killed_many_times(
    tmp_path: Path, engine: str, tell: Tell
) -> None:
    await kill_often(tmp_path, engine, choose_dooms(**COUNTS[engine], seed=2), seed=2, tell=tell)
