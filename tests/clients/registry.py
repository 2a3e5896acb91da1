"""A registry that clients of other makes are run against: a real server on loopback, a worker beside it, and real publishing."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import httpx

from tests.acceptance.running import running_loop
from tests.clients.wire import Wire
from tests.pipeline.journey import Journey, open_journey, skill_md
from vskill_platform.app import serving
from vskill_platform.domain.access import Role, Scope
from vskill_platform.domain.blocklist import Block, BlockKind
from vskill_platform.domain.records import Submission
from vskill_platform.domain.skill import Skill, SkillVersion
from vskill_platform.domain.submission import CATEGORY_OF, Actor, Category
from vskill_platform.domain.vendor import read_source
from vskill_platform.pipeline.blocking import block_and_stop
from vskill_platform.pipeline.yanking import quarantine_skill, yank_version
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.scanner import Scanner
from vskill_platform.stores.publishers import now_iso
from vskill_platform.stores.skills import find_skill
from vskill_platform.stores.vendors import add_vendor
from vskill_platform.stores.versions import get_version
from vskill_platform.testing.accounts import make_account, make_token
from vskill_platform.testing.waits import until
from vskill_platform.web.app import create_web_app

T = TypeVar("T")
HOST_PREFIX = "127-0-0-1-"
"""What the slugs of skills from the loopback git server begin with."""


@dataclass
class LiveRegistry:
    """The registry, where it is, and the wire that leads to it."""

    journey: Journey
    address: str
    wire: Wire
    http: httpx.AsyncClient
    repositories: dict[str, dict[str, bytes]] = field(default_factory=dict)

    @property
    def env(self) -> WorkerEnv:
        """What the server and its worker run on."""
        return self.journey.env

    async def inside(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await the work with the env in scope."""
        return await self.journey.inside(work)

    async def publish(self, slug: str, files: Mapping[str, bytes] | None = None, *, version: str = "") -> Skill:
        """Publish a skill the whole way: `owner/repository/skill` is a folder of a repository on the git server.

        Again with the same slug is the next version. With `version`, a SKILL.md that names none gets it as its
        `metadata.version`. The slug that the registry gives it stands in the answer.
        """
        repository, _, name = slug.rpartition("/")
        chosen = dict(files or {"SKILL.md": skill_md(name)})
        if version:
            chosen["SKILL.md"] = _with_version(chosen["SKILL.md"], version)
        kept = self.repositories.setdefault(repository, {})
        for path in [path for path in kept if path.startswith(f"{name}/")]:
            del kept[path]
        kept |= {f"{name}/{path}": content for path, content in chosen.items()}
        self.journey.repository(repository, kept)
        submission = await self.submit(repository, skill=name)
        assert submission.state == "PUBLISHED", (submission.state, submission.reason)
        skill = await self.skill(str(submission.slug))
        assert version in ("", skill.version), skill.version
        return skill

    async def submit(self, repository: str, *, skill: str) -> Submission:
        """Submit a repository of the git server, and wait for what the worker decides about one of its skills."""
        intake = await self.journey.submit(repository, skill=skill)
        parent = await self.until_decided(intake.submission.id)
        children = [await self.until_decided(child) for child in parent.children]
        return next((child for child in children if child.skill_name == skill), parent)

    async def until_decided(self, identity: str) -> Submission:
        """A submission, once the worker is done with it."""

        async def decided() -> Submission | None:
            submission = await self.journey.read(identity)
            return None if CATEGORY_OF[submission.state] is Category.ACTIVE else submission

        return await until(decided, what=f"{identity} is decided")

    async def skill(self, slug: str) -> Skill:
        """A skill as it is kept."""
        found = await self.inside(lambda: find_skill(slug))
        assert found is not None, slug
        return found.skill

    async def version(self, slug: str, version: str) -> SkillVersion:
        """A version as it is kept."""
        found = await self.inside(lambda: get_version(slug, version))
        assert found is not None, (slug, version)
        return found

    async def block(self, skill: Skill, *, reason: str = "It steals credentials.") -> None:
        """Have a person block the bytes of a skill everywhere."""
        version = await self.version(skill.slug, skill.version)
        block = Block(
            kind=BlockKind.DIGEST,
            digest=version.content_digest,
            reason=reason,
            actor=Actor.ADMIN,
            created_at=await self.inside(_now),
        )
        stopped = await self.inside(lambda: block_and_stop(block))
        assert stopped, "nothing was blocked"

    async def yank(self, slug: str, version: str, *, reason: str = "It leaks names.") -> None:
        """Have a person yank a version."""
        await self.inside(lambda: yank_version(slug, version, reason=reason, by="user_1"))

    async def quarantine(self, slug: str, *, reason: str = "Somebody has to look.") -> None:
        """Have a person hold a skill back."""
        await self.inside(lambda: quarantine_skill(slug, reason=reason, by="user_1"))

    async def trust(self, owner: str) -> None:
        """Trust an owner of repositories: what is published of theirs from now on is certified."""
        source = read_source(self.journey.url(owner))
        await self.inside(lambda: add_vendor(source, reason="Known to us.", by="user_1"))

    async def command_on_page(self, path: str, client: str) -> str:
        """The command that a skill's page has for a client."""
        shown = (await self.http.get(path, headers={"Accept": "text/html"})).text
        found = re.search(rf'<code id="client-{client}-command">(.*?)</code>', shown, re.DOTALL)
        assert found is not None, (path, client)
        return html.unescape(found[1])

    async def token(self, name: str, role: Role = Role.SUBMITTER, *scopes: Scope) -> str:
        """The token of a new account."""
        return await make_token(self.env, await make_account(self.env, name, role), *scopes)


async def _now() -> str:
    return now_iso()


def _with_version(document: bytes, version: str) -> bytes:
    if b"version:" in document:
        return document
    return document.replace(b"---\n", f'---\nmetadata:\n  version: "{version}"\n'.encode(), 1)


@asynccontextmanager
async def open_registry(
    engine: Engine, folder: Path, *, scanner: Scanner, **settings: object
) -> AsyncIterator[LiveRegistry]:
    """A registry over this engine, served on a free loopback port, with a worker, until the block ends."""
    chosen = {"data": str(folder / "data"), "submissions_per_hour": 100_000, "discovery_root": "certified", **settings}
    async with open_journey(engine, folder, scanner=scanner, **chosen) as journey, running_loop(journey.env):
        wire = Wire(create_web_app(journey.env))
        async with serving(wire) as address, httpx.AsyncClient(base_url=address) as http:
            yield LiveRegistry(journey, address, wire, http)
