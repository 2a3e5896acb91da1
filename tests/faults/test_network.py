"""A network between the processes and PostgreSQL that cuts, stalls, crawls and refuses: every commit has a definite answer."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import pytest

from tests.faults.engines import ENGINES, safe_server
from tests.faults.figures import Tell
from tests.faults.fleet import SKILLS, fleet
from tests.faults.test_postgres_crash import stubborn_load
from vskill_platform.testing.tcp_proxy import Direction, TcpProxy, tcp_proxy
from vskill_platform.testing.waits import until

WORKERS = 2
LARGEST_CUT = 4000
"""Bytes: as much as a few commits and their answers have."""
LONGEST_S = 1.5


class Trouble(StrEnum):
    """What the network does."""

    CUT_REQUEST = "cut on the way to the database"
    CUT_ANSWER = "cut on the way back"
    CUT_ALL = "all cut"
    STALL = "stalled and went on"
    STALL_AND_CUT = "stalled and cut"
    SLOW = "slow"
    REFUSE = "cut, and no new ones for a while"


async def disturb(proxy: TcpProxy, trouble: Trouble, chance: random.Random) -> None:
    """Let one thing happen, and mend it."""
    way = chance.choice((proxy.to_server, proxy.to_client))
    wait_s = chance.uniform(0.1, LONGEST_S)
    match trouble:
        case Trouble.CUT_REQUEST | Trouble.CUT_ANSWER:
            way = proxy.to_server if trouble is Trouble.CUT_REQUEST else proxy.to_client
            await _cut(proxy, way, chance.randint(0, LARGEST_CUT))
        case Trouble.CUT_ALL:
            proxy.cut_all()
        case Trouble.STALL | Trouble.STALL_AND_CUT:
            way.stall()
            await asyncio.sleep(wait_s)
            if trouble is Trouble.STALL_AND_CUT:
                proxy.cut_all()
            way.resume()
        case Trouble.SLOW:
            way.pause_s = chance.uniform(0.005, 0.05)
            await asyncio.sleep(wait_s)
            way.pause_s = 0.0
        case Trouble.REFUSE:
            proxy.is_refusing = True
            proxy.cut_all()
            await asyncio.sleep(wait_s)
            proxy.is_refusing = False


async def _cut(proxy: TcpProxy, way: Direction, after: int) -> None:
    """Cut whichever connection carries the byte after so many more, and wait until that has happened."""
    cuts = proxy.cuts
    way.cut_after = way.passed + after
    await until(lambda: proxy.cuts != cuts, what="the proxy cuts a connection")


def through(proxy: TcpProxy, location: str) -> str:
    return location.replace(f":{safe_server().port}/", f":{proxy.port}/")


async def disturb_often(folder: Path, troubles: Sequence[Trouble], *, seed: int, tell: Tell) -> None:
    """Workers and a load of commits behind one bad network; the test itself submits and looks by a good one."""
    chance = random.Random(seed)
    kind = ENGINES["postgres"]
    with kind.make_store(folder) as location, kind.make_store(folder) as loaded:
        async with tcp_proxy(safe_server().port) as proxy:
            far = kind.environment(through(proxy, location))
            async with fleet(folder, kind, location, **far) as ships:
                workers = [await ships.start() for _ in range(WORKERS)]
                with stubborn_load(folder, through(proxy, loaded), seen_by=loaded) as load:
                    for trouble in troubles:
                        await asyncio.to_thread(load.hear_more)
                        await ships.submit(1)
                        await asyncio.sleep(chance.uniform(0, 0.3))
                        await disturb(proxy, trouble, chance)
                    await asyncio.to_thread(load.hear_more)
                    await ships.drain()
                    verdict = await load.end()
                assert verdict.faults == {}, f"seed {seed}"
                assert await ships.faults() == {}, f"seed {seed}"
                assert all(one.is_alive for one in workers)
    counts = Counter(troubles)
    tell(
        f"bad network: {len(troubles)} troubles ({', '.join(f'{counts[one]} {one}' for one in counts)}), {load.figures}, "
        f"0 lost, 0 unexpected, 0 half, 0 refused and there; {len(ships.submitted)} repositories, "
        f"{len(ships.submitted) * len(SKILLS)} skills published once each by the same workers"
    )


async def test_every_commit_is_answered_truly__when_the_network_is_bad(tmp_path: Path, tell: Tell) -> None:
    smoke = (Trouble.CUT_REQUEST, Trouble.CUT_ANSWER, Trouble.STALL_AND_CUT, Trouble.REFUSE)
    await disturb_often(tmp_path, smoke, seed=1, tell=tell)


@pytest.mark.faults
@pytest.mark.timeout(3600)
async def test_every_commit_is_answered_truly__when_the_network_is_bad_70_times(tmp_path: Path, tell: Tell) -> None:
    troubles = list(Trouble) * 10
    random.Random(2).shuffle(troubles)
    await disturb_often(tmp_path, troubles, seed=2, tell=tell)
