"""One skill installed by each client that is there: requests and bytes with 100,000 skills in the registry against 100.

The clients are the real programs, on a machine with nothing on it. A registry must not make an installation dearer by having
more skills, so what is held is the ratio of the two. A client that is not installed is told as left out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from benchmarks.fixtures import folder, open_engine
from benchmarks.report import Row, at_most, told
from tests.clients.apm import make_project
from tests.clients.own import OwnClient
from tests.clients.programs import Machine, Ran, make_machine, npm_program
from tests.clients.registry import LiveRegistry, open_registry
from vskill_platform.domain.ids import skill_key
from vskill_platform.domain.skill import Skill
from vskill_platform.ports.commit import Index, Put
from vskill_platform.ports.engine import Engine
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.settings import convert_settings
from vskill_platform.stores.skills import index_skill
from vskill_platform.testing.generated_skills import generated_skills

FEW, MANY = 100, 100_000
_CHUNK = 1000
_FILES = {"SKILL.md": b"---\nname: greeting\ndescription: Greets people politely.\n---\n\nGreet the user by name.\n"}

Install = Callable[[LiveRegistry, Skill, Machine], Awaitable[Ran]]


class Cost(NamedTuple):
    """What an installation took."""

    requests: int
    bytes: int


async def run() -> list[Row]:
    """Each client with few skills and with many."""
    few, many = await _measure(FEW), await _measure(MANY)
    rows = [row for name in CLIENTS if name in many for row in _rows(name, few[name], many[name])]
    left_out = [name for name in CLIENTS if name not in many]
    if left_out:
        detail = f"{', '.join(left_out)}: not installed; `make test-clients` installs them"
        rows.append(told("clients left out", len(left_out), unit="clients", detail=detail))
    return rows


def _rows(name: str, few: Cost, many: Cost) -> Iterator[Row]:
    requests = f"{many.requests} with {MANY:,} skills, {few.requests} with {FEW}"
    sent = f"{many.bytes:,} with {MANY:,} skills, {few.bytes:,} with {FEW}"
    yield at_most(f"{name}: requests", many.requests / few.requests, target=1, detail=requests)
    yield at_most(f"{name}: bytes sent", many.bytes / few.bytes, target=1.01, detail=sent)


async def _measure(count: int) -> dict[str, Cost]:
    """What an installation by each client takes in a registry of so many skills."""
    with folder() as path:
        async with open_engine(path, synchronous="OFF") as engine, ScannerPool(convert_settings({})) as scanner:
            await _load(engine, count)
            async with open_registry(engine, path, scanner=scanner) as registry:
                skill = await registry.publish("acme/tools/greeting", _FILES)
                costs = {name: await _install(install, registry, skill) for name, install in CLIENTS.items()}
    return {name: cost for name, cost in costs.items() if cost is not None}


async def _load(engine: Engine, count: int) -> None:
    skills = list(generated_skills(count))
    for start in range(0, count, _CHUNK):
        chunk = skills[start : start + _CHUNK]
        kept = [Put(skill_key(skill.slug), msgspec.json.encode(skill)) for skill in chunk]
        await engine.writes.commit([*kept, *(Index(index_skill(skill)) for skill in chunk)])


async def _install(install: Install, registry: LiveRegistry, skill: Skill) -> Cost | None:
    with _empty_machine() as machine:
        registry.wire.requests.clear()
        try:
            ran = await install(registry, skill, machine)
        except pytest.skip.Exception:
            return None
        _check_installed(ran, machine)
        seen = registry.wire.requests
        return Cost(len(seen), sum(request.sent_bytes for request in seen))


@contextmanager
def _empty_machine() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory(prefix="vskill-bench-machine-") as place:
        yield make_machine(Path(place) / "machine")


def _check_installed(ran: Ran, machine: Machine) -> None:
    """An installation that has not happened has no price."""
    arrived = [content for path, content in machine.files(machine.project).items() if path.endswith("SKILL.md")]
    assert ran.code == 0, ran.text
    assert _FILES["SKILL.md"] in arrived, ran.text


def _skills(version: str, node: int) -> Install:
    async def install(registry: LiveRegistry, skill: Skill, machine: Machine) -> Ran:
        program = npm_program("skills", version, node=node)
        page = f"{registry.address}/skills/{skill.slug}"
        return await machine.run([*program, "add", page, "--yes", "--agent", "claude-code", "--copy"])

    return install


def _clawhub(version: str, node: int) -> Install:
    async def install(registry: LiveRegistry, skill: Skill, machine: Machine) -> Ran:
        program = npm_program("clawhub", version, node=node)
        where = ["--registry", f"{registry.address}/clawhub", "--workdir", str(machine.project)]
        return await machine.run([*program, *where, "install", skill.slug.replace("/", "."), "--no-input"])

    return install


async def _apm(registry: LiveRegistry, skill: Skill, machine: Machine) -> Ran:
    project = make_project(machine.home.parent / "apm", f"{registry.address}/apm")
    project.depend_on(skill.slug)
    ran = await project.run("install")
    for path, content in project.installed().items():
        target = machine.project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return ran


async def _git(registry: LiveRegistry, skill: Skill, machine: Machine) -> Ran:
    address = f"{registry.address}/git/{skill.slug}.git"
    return await machine.run(["git", "clone", "--quiet", "--depth=1", address, "greeting"])


async def _own(registry: LiveRegistry, skill: Skill, machine: Machine) -> Ran:
    return await OwnClient(machine, registry.address).here("install", skill.slug)


CLIENTS: Mapping[str, Install] = {
    "skills 1.5.18": _skills("1.5.18", 20),
    "skills 1.7.4": _skills("1.7.4", 22),
    "clawhub 0.20.0": _clawhub("0.20.0", 20),
    "clawhub 0.23.3": _clawhub("0.23.3", 22),
    "apm-cli 0.35.0": _apm,
    "git clone (Claude Code)": _git,
    "our own client": _own,
}
