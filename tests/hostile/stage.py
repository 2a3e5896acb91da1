"""The stage that all cases are played on: one registry, one git server, one scanner, and traps all around.

The home folder, the working folder and the folder for temporary files are private to the stage, and everything in the
surroundings that could make git run a program or take another way does so into a trap.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tests.pipeline.journey import Journey
from vskill_platform.engines.memory import open_memory
from vskill_platform.ingest.git import GitSource
from vskill_platform.ingest.public_addresses import Judge
from vskill_platform.ingest.url_guard import Resolve
from vskill_platform.pipeline.process import process_message
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.settings import convert_settings
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.git_repos import Entry, Files, executable
from vskill_platform.testing.git_server import serve_repositories
from vskill_platform.testing.hostile_repos import RawRepository
from vskill_platform.testing.hostile_servers import HostileServer, canary

T = TypeVar("T")
LOOPBACK: Mapping[str, object] = {
    "allow_private_addresses": True,
    "git_protocols": "http",
    "scan_processes": 1,
    "fetch_time_limit_s": 60,
}


@dataclass(frozen=True)
class Traps:
    """What must stay untouched: folders, a file that only a payload would make, and a listener."""

    home: Path
    work: Path
    temporary: Path
    proof: Path
    listener: HostileServer

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where nothing may be written."""
        return (self.home, self.work, self.temporary, self.proof.parent)

    @property
    def command(self) -> str:
        """A shell command that leaves its mark and calls the listener."""
        return f"touch {self.proof}; (: < /dev/tcp/127.0.0.1/{self.listener.port}) 2>/dev/null"

    def payload(self) -> Entry:
        """A program that leaves its mark when anybody runs it."""
        return executable(f"#!/bin/sh\n{self.command}\n".encode())


@dataclass
class Stage:
    """One case's view of the stage. What it opens with `keep` is closed when the case is over."""

    journey: Journey
    clock: FakeClock
    scanner: ScannerPool
    traps: Traps
    folder: Path
    name: str
    stack: AsyncExitStack
    listeners: list[HostileServer] = field(default_factory=list)
    pools: list[ScannerPool] = field(default_factory=list)

    @property
    def scanner_pids(self) -> list[int]:
        """The scanning processes that there are now."""
        return [pid for pool in (self.scanner, *self.pools) for pid in pool.pids]

    @property
    def reached(self) -> int:
        """How often somebody came to a listener that nobody should reach."""
        return sum(listener.connections for listener in (self.traps.listener, *self.listeners))

    @property
    def url(self) -> str:
        """The address of the case's own repository."""
        return self.journey.url(f"hostile/{self.name}")

    def repository(self, files: Files | None = None, *, suffix: str = "") -> RawRepository:
        """The case's own repository, with a commit of these files if there are any."""
        repository = RawRepository(self.journey.repositories / f"hostile/{self.name}{suffix}.git")
        if files is not None:
            repository.commit(files)
        return repository

    def skill_md(self, body: str = "Greet the user by name.", *, name: str | None = None, more: str = "") -> bytes:
        """A SKILL.md that nothing is wrong with, and that no other case has."""
        head = f"---\nname: {name or self.name}\ndescription: Greets people politely.\n{more}---\n"
        return f"{head}\n# Greeting for {self.name}\n\n{body}\n".encode()

    async def keep(self, opening: AbstractAsyncContextManager[T]) -> T:
        """Open something for as long as the case lasts."""
        return await self.stack.enter_async_context(opening)

    async def keep_pool(self, **settings: object) -> ScannerPool:
        """A scanner of the case's own, with these settings."""
        pool = await self.keep(ScannerPool(convert_settings({**LOOPBACK, **settings})))
        self.pools.append(pool)
        return pool

    async def source(
        self, *, resolve: Resolve | None = None, judge: Judge | None = None, **settings: object
    ) -> dict[str, object]:
        """A binding: a source with these settings over those of loopback."""
        chosen = convert_settings({**LOOPBACK, **settings})
        source = GitSource(chosen, folder=self.folder / "fetched", resolve=resolve, judge=judge)
        return {"source": await self.keep(source), "settings": chosen}

    async def public_source(self, *, resolve: Resolve | None = None) -> dict[str, object]:
        """A binding: a source as a public registry has it, which reaches nothing private."""
        return await self.source(
            resolve=resolve, allow_private_addresses=False, git_protocols="http,https", fetch_time_limit_s=10
        )


@asynccontextmanager
async def open_stage(folder: Path) -> AsyncIterator[Stage]:
    """A stage without a case."""
    clock = FakeClock()
    engine = await open_memory(clock=clock)
    repositories = folder / "repositories"
    repositories.mkdir()
    settings = convert_settings(LOOPBACK)
    async with (
        canary() as listener,
        serve_repositories(repositories) as address,
        GitSource(settings, folder=folder / "fetched") as source,
        ScannerPool(settings) as scanner,
    ):
        env = make_env(
            engine, clock=clock, folder=folder, source=source, scanner=scanner, process=process_message, **LOOPBACK
        )
        journey = Journey(env=env, repositories=repositories, address=address)
        with trapped(folder / "traps", listener) as traps:
            yield Stage(journey, clock, scanner, traps, folder, "", AsyncExitStack())
    await engine.close()


@asynccontextmanager
async def on_stage(stage: Stage, name: str) -> AsyncIterator[Stage]:
    """The stage for one case."""
    folder = stage.folder / "cases" / name
    folder.mkdir(parents=True)
    async with AsyncExitStack() as stack:
        yield Stage(stage.journey, stage.clock, stage.scanner, stage.traps, folder, name, stack)


@contextmanager
def trapped(folder: Path, listener: HostileServer) -> Iterator[Traps]:
    """Private surroundings that run or reach a trap wherever git or a library believes them."""
    places = [folder / name for name in ("home", "work", "temporary", "proofs")]
    for place in places:
        place.mkdir(parents=True)
    home, work, temporary, proofs = places
    traps = Traps(home, work, temporary, proofs / "ran", listener)
    _set_traps(traps)
    proxy = f"http://127.0.0.1:{listener.port}"
    evil = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "TMPDIR": str(temporary),
        "GIT_ASKPASS": str(home / "payload"),
        "SSH_ASKPASS": str(home / "payload"),
        "GIT_SSH_COMMAND": str(home / "payload"),
        "GIT_PROXY_COMMAND": str(home / "payload"),
        **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), proxy),
    }
    with _surroundings(evil, work):
        yield traps


def _set_traps(traps: Traps) -> None:
    program = traps.home / "payload"
    program.write_bytes(traps.payload().content)
    program.chmod(0o755)
    hooks = traps.home / "hooks"
    hooks.mkdir()
    for hook in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc"):
        (hooks / hook).write_bytes(traps.payload().content)
        (hooks / hook).chmod(0o755)
    lines = (
        f"[core]\n\thooksPath = {hooks}\n\tfsmonitor = {program}\n\tgitProxy = {program}\n\tsshCommand = {program}\n"
    )
    lines += f"[credential]\n\thelper = !{program}\n[uploadpack]\n\tpackObjectsHook = {program}\n"
    (traps.home / ".gitconfig").write_text(lines)
    (traps.work / "SKILL.md").write_text("not to be read\n")


@contextmanager
def _surroundings(variables: Mapping[str, str], folder: Path) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    was_in, was_temporary = Path.cwd(), tempfile.tempdir
    os.environ.update(variables)
    os.chdir(folder)
    tempfile.tempdir = variables["TMPDIR"]
    try:
        yield
    finally:
        os.chdir(was_in)
        tempfile.tempdir = was_temporary
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
