"""Rounds of looks: each repository once, when it is due, at a host's pace, through restarts."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tests.health.conftest import Registry
from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.domain.repo_health import RepoStatus, repository_key
from vskill_platform.domain.slug import skill_slug
from vskill_platform.engines.memory import open_memory
from vskill_platform.pipeline.repo_looks import look_now
from vskill_platform.ports.commit import Delete, Put
from vskill_platform.stores.repo_health import RepoHealth, get_repo_health, put_repo_health
from vskill_platform.testing.clock import START_MS
from vskill_platform.testing.git_repos import SKILL_MD, BareRepository
from vskill_platform.testing.git_server import serve_repositories
from vskill_platform.testing.hostile_servers import answer, hostile_server, redirect
from vskill_platform.testing.probe import PlainProbe

DAY_S = 86_400
YOUNG_S = START_MS // 1000 - 3600
OLD_S = START_MS // 1000 - 366 * DAY_S


def repository(folder: Path, name: str, *, made_s: int = YOUNG_S) -> tuple[BareRepository, str]:
    path = folder / f"{name}.git"
    path.parent.mkdir(parents=True, exist_ok=True)
    made = BareRepository(path)
    return made, made.commit({"SKILL.md": SKILL_MD}, made_s=made_s)


async def publish(registry: Registry, repo_url: str, *names: str, commit: str = "") -> list[str]:
    """Skills of a repository under the slugs that they would have."""
    slugs = [skill_slug(repo_url, name) for name in names]
    for slug in slugs:
        await registry.publish(slug, repo_url, commit=commit, content_digest="sha256:0")
    return slugs


async def test_round_looks_once_at_a_repository_of_many_skills__and_tells_all_of_them(
    registry: Registry, tmp_path: Path
) -> None:
    async with hostile_server(redirect("/new/home/info/refs?service=git-upload-pack")) as server:
        url = f"http://127.0.0.1:{server.port}/acme/tools"
        slugs = await publish(registry, url, *(f"skill-{n}" for n in range(50)))
        assert await registry.round() == {"new": 1, "looked": 1, "changed": 1, "failed": 0, "hostsWaiting": 0}
        assert server.connections == 1
    assert sorted(event.subject for event in await registry.events()) == sorted(slugs)
    told = msgspec.json.decode((await registry.events())[0].data)
    assert told == {
        "status": "MOVED",
        "previous": None,
        "repoUrl": url,
        "movedTo": f"http://127.0.0.1:{server.port}/new/home",
    }
    for slug in slugs:
        shown = await registry.inside(lambda slug=slug: get_repo_health(slug))
        assert shown is not None
        assert (shown.slug, shown.status) == (slug, RepoStatus.MOVED)


async def test_round_finds_online_stale_and_gone__each_when_it_is_due(registry: Registry, tmp_path: Path) -> None:
    served = tmp_path / "served"
    _, young = repository(served, "acme/young")
    _, old = repository(served, "acme/old", made_s=OLD_S)
    async with serve_repositories(served) as address:
        for name, commit in (("young", young), ("old", old)):
            await publish(registry, f"{address}/acme/{name}", "a", commit=commit)
        await registry.round()
        assert (await registry.health(f"{address}/acme/young")).status is RepoStatus.ONLINE
        assert (await registry.health(f"{address}/acme/old")).status is RepoStatus.STALE
        shutil.rmtree(served / "acme" / "young.git")
        registry.clock.shift(DAY_S * 0.8)
        assert (await registry.round())["looked"] == 0, "nothing is due yet"
        registry.clock.shift(DAY_S * 0.4)
        assert (await registry.round())["looked"] == 2
        waiting = await registry.health(f"{address}/acme/young")
        assert (waiting.status, waiting.known_status) == (RepoStatus.UNKNOWN, RepoStatus.ONLINE)
        registry.clock.shift(6 * 3600)
        assert (await registry.round())["changed"] == 1
        assert (await registry.health(f"{address}/acme/young")).status is RepoStatus.GONE
        registry.clock.shift(7 * 3600)
        assert (await registry.round())["changed"] == 0
    told = [msgspec.json.decode(event.data) for event in await registry.events()]
    assert [(event["status"], event["previous"]) for event in told] == [("STALE", None), ("GONE", "ONLINE")]


@pytest.mark.parametrize("more_settings", [{"repo_health_per_host": 3}])
async def test_round_asks_a_host_so_often_a_minute__and_others_meanwhile(registry: Registry) -> None:
    async with hostile_server(answer(500)) as busy, hostile_server(answer(500)) as idle:
        for number in range(10):
            await publish(registry, f"http://127.0.0.1:{busy.port}/acme/r{number}", "a")
        await publish(registry, f"http://127.0.0.1:{idle.port}/zebra/last", "a")
        found = await registry.round()
        assert (found["looked"], found["hostsWaiting"]) == (4, 1)
        assert (busy.connections, idle.connections) == (3, 1)
        assert (await registry.round())["looked"] == 0
        for expected in (6, 9, 10):
            registry.clock.shift(60)
            await registry.round()
            assert busy.connections == expected


async def test_host_that_rate_limits_is_left_alone__for_as_long_as_it_says(registry: Registry) -> None:
    async with hostile_server(answer(429, head=b"Retry-After: 600\r\n")) as server:
        for number in range(5):
            await publish(registry, f"http://127.0.0.1:{server.port}/acme/r{number}", "a")
        limited = replace(
            registry.env, settings=msgspec.structs.replace(registry.env.settings, repo_health_in_flight=1)
        )
        one_by_one = Registry(limited, registry.clock)
        await one_by_one.round()
        assert server.connections == 1
        registry.clock.shift(599)
        assert (await one_by_one.round())["hostsWaiting"] == 1
        assert server.connections == 1
        registry.clock.shift(1)
        await one_by_one.round()
        assert server.connections == 2
        asked = server.requests[0].split()[1].decode().removesuffix("/info/refs?service=git-upload-pack")
        health = await registry.health(f"http://127.0.0.1:{server.port}{asked}")
    assert (health.status, health.reason) == (RepoStatus.UNKNOWN, "rate_limited")
    assert await registry.events() == []


async def test_round_goes_on_where_the_last_one_stopped__after_a_restart(registry: Registry, tmp_path: Path) -> None:
    """Nothing is remembered by a process: another env over the same store walks on."""
    async with hostile_server(answer(500)) as server:
        for number in range(7):
            await publish(registry, f"http://127.0.0.1:{server.port}/acme/r{number}", "a")
        tight = msgspec.structs.replace(registry.env.settings, repo_health_per_host=2)
        for _ in range(4):
            await Registry(replace(registry.env, settings=tight), registry.clock).round()
            registry.clock.shift(60)
        assert server.connections == 7
        asked = {request.split()[1] for request in server.requests}
    assert len(asked) == 7


async def test_round_takes_up_every_skill__however_many_pages_there_are(registry: Registry) -> None:
    async with hostile_server(answer(500)) as server:
        operations = [f"http://127.0.0.1:{server.port}/acme/r{number}" for number in range(1500)]
        for url in operations:
            await publish(registry, url, "a")
        settings = msgspec.structs.replace(registry.env.settings, repo_health_per_host=1)
        walking = Registry(replace(registry.env, settings=settings), registry.clock)
        assert [(await walking.round())["new"] for _ in range(3)] == [1000, 500, 0]


async def test_time_box_ends_a_round__before_what_is_due_does(registry: Registry) -> None:
    settings = msgspec.structs.replace(registry.env.settings, repo_health_time_box_s=10, repo_health_in_flight=1)

    class Slow:
        """A source that takes six seconds by the registry's clock for each look."""

        async def look(self, repo_url: str, **known: object) -> object:
            registry.clock.shift(6)
            return await registry.env.source.look(repo_url)

    slow = Registry(replace(registry.env, source=Slow(), settings=settings), registry.clock)  # type: ignore[arg-type]
    async with hostile_server(answer(500)) as server:
        for number in range(5):
            await publish(registry, f"http://127.0.0.1:{server.port}/acme/r{number}", "a")
        assert [(await slow.round())["looked"] for _ in range(4)] == [2, 2, 1, 0]


async def test_repository_is_forgotten__when_nothing_is_published_from_it(registry: Registry) -> None:
    async with hostile_server(answer(500)) as server:
        url = f"http://127.0.0.1:{server.port}/acme/tools"
        (slug,) = await publish(registry, url, "a")
        await registry.round()
        await registry.env.writes.commit([Delete(f"skill:{slug}")])
        registry.clock.shift(2 * 3600)
        await registry.round()
        assert server.connections == 1
    assert await registry.env.kv.get(repository_key(url)) is None


async def test_record_that_cannot_be_read_holds_up_nobody(registry: Registry) -> None:
    async with hostile_server(answer(500)) as server:
        await registry.env.writes.commit([Put("repository:broken", b"{", due_ms=0)])
        await publish(registry, f"http://127.0.0.1:{server.port}/acme/tools", "a")
        found = await registry.round()
    assert (found["looked"], found["failed"]) == (1, 1)


async def test_pushed_skills_have_no_repository_to_look_at(registry: Registry) -> None:
    await registry.publish("acme/registry/pushed", "")
    assert await registry.round() == {"new": 0, "looked": 0, "changed": 0, "failed": 0, "hostsWaiting": 0}


@pytest.mark.parametrize("more_settings", [{"repo_health_checks": False}])
async def test_nothing_is_asked__when_the_operator_switched_looks_off(registry: Registry) -> None:
    async with hostile_server(answer(500)) as server:
        await publish(registry, f"http://127.0.0.1:{server.port}/acme/tools", "a")
        assert await registry.round() == {}
        assert server.connections == 0


async def test_round_is_an_error__when_the_store_cannot_say_what_is_due(registry: Registry) -> None:
    plain = replace(registry.env, kv=PlainProbe(await open_memory(clock=registry.clock)))
    with pytest.raises(StoreUnavailable):
        await Registry(plain, registry.clock).round()


async def test_look_of_one_skill_alone_is_shown__until_there_is_a_later_one(registry: Registry) -> None:
    async with hostile_server(answer(500)) as server:
        url = f"http://127.0.0.1:{server.port}/acme/tools"
        (slug,) = await publish(registry, url, "a")
        own = RepoHealth(slug=slug, status=RepoStatus.STALE, checked_at="2020-01-01T00:00:00.000Z")
        await registry.inside(lambda: put_repo_health(own))
        assert await registry.inside(lambda: get_repo_health(slug)) == own
        await registry.inside(lambda: look_now(url))
        shown = await registry.inside(lambda: get_repo_health(slug))
    assert shown is not None
    assert shown.status is RepoStatus.UNKNOWN
