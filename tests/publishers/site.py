"""A registry as people who publish meet it: over its API, signed in, with repositories on a real git server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import httpx

from tests.pipeline.journey import LOOPBACK, skill_md
from vskill_platform.domain.access import Role
from vskill_platform.domain.account import Account
from vskill_platform.domain.ids import claim_key, sha256_digest
from vskill_platform.domain.publisher import Publisher, PublisherKind, place_of
from vskill_platform.domain.scan import Capabilities, Verdict
from vskill_platform.domain.skill import CertTier, SkillVersion
from vskill_platform.domain.slug import owner_handle, skill_slug
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ingest.git import GitSource
from vskill_platform.ports.commit import Operation, Put
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.settings import convert_settings
from vskill_platform.stores.fresh import commit_fresh
from vskill_platform.stores.publishers import granting
from vskill_platform.stores.versions import putting_version
from vskill_platform.testing.accounts import in_request, make_account, make_session, sign_in
from vskill_platform.testing.builders import collect_keys
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.git_repos import BareRepository, Files
from vskill_platform.testing.git_server import serve_repositories
from vskill_platform.testing.submissions import putting_skill, putting_submission, submission_at
from vskill_platform.web.app import create_control_app, create_web_app

T = TypeVar("T")


@dataclass
class Person:
    """Somebody with an account and a browser that is signed in; nobody has neither."""

    client: httpx.AsyncClient
    account: Account | None = None

    @property
    def id(self) -> str:
        """The account's id."""
        assert self.account is not None
        return self.account.id

    async def ask(self, method: str, path: str, body: object = None) -> httpx.Response:
        """Send a request as a program does."""
        return await self.client.request(method, path, json=body if body is not None or method == "GET" else {})

    async def post(self, path: str, body: object = None) -> Any:
        """Have something done that works; gives what was answered."""
        answer = await self.ask("POST", path, body)
        assert answer.is_success, (path, answer.status_code, answer.text)
        return answer.json()

    async def get(self, path: str) -> Any:
        """Read something that is there."""
        answer = await self.ask("GET", path)
        assert answer.status_code == 200, (path, answer.text)
        return answer.json()


@dataclass
class Site:
    """The registry, its git server, and ways to bring people and skills into being."""

    env: WorkerEnv
    clock: FakeClock
    repositories: Path
    address: str
    stack: AsyncExitStack
    known: dict[str, Person] = field(default_factory=dict)

    @cached_property
    def web(self) -> object:
        """The public application. Making one takes longer than most requests, so all share it."""
        return create_web_app(self.env)

    @cached_property
    def control(self) -> object:
        """The application of the control socket."""
        return create_control_app(self.env)

    async def person(self, name: str, role: Role = Role.SUBMITTER, *, email: str | None = None) -> Person:
        """The account of this name, signed in; made where there is none."""
        if name not in self.known:
            account = await make_account(self.env, name, role, email=email)
            client = await self._client(self.web)
            sign_in(client, await make_session(self.env, account))
            self.known[name] = Person(client, account)
        return self.known[name]

    async def nobody(self) -> Person:
        """Somebody who has not signed in."""
        return Person(await self._client(self.web))

    async def operator(self) -> Person:
        """The operator, on the control socket."""
        return Person(await self._client(self.control))

    async def _client(self, app: object) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=cast("Any", app), client=("192.0.2.1", 1))
        return await self.stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="https://registry"))

    async def inside(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await the work with the env in scope, as for a request."""
        return await in_request(self.env, work)

    def url(self, name: str) -> str:
        """Where a repository of the server is."""
        return f"{self.address}/{name}"

    def repository(self, name: str, files: Files | None = None) -> BareRepository:
        """A repository `owner/name` that the server serves, with a commit of these files."""
        path = self.repositories / f"{name}.git"
        path.parent.mkdir(parents=True, exist_ok=True)
        repository = BareRepository(path)
        repository.commit(files or {"SKILL.md": skill_md()})
        return repository

    async def publish(self, repo_url: str, *, skill: str = "greeting", versions: tuple[str, ...] = ("1.0.0",)) -> str:
        """Have a skill of a repository published, as the pipeline leaves it; gives its slug."""
        slug = skill_slug(repo_url, skill)
        now_ms = self.clock.now_ms()
        submission = submission_at(
            SubmissionState.PUBLISHED,
            updated_ms=now_ms,
            repo_url=repo_url,
            skill_name=skill,
            slug=slug,
            version=versions[-1],
        )
        newest = make_version(slug, versions[-1], repo_url=repo_url, submission_id=submission.id)
        operations = [
            Put(claim_key(repo_url, skill), submission.id.encode()),
            *putting_submission(submission),
            *putting_skill(
                slug,
                name=skill,
                repo_url=repo_url,
                publisher=owner_handle(repo_url),
                submission_id=submission.id,
                version=versions[-1],
                content_digest=newest.content_digest,
                updated_at=iso_from_ms(now_ms),
                published_at=iso_from_ms(now_ms),
            ),
            *(
                putting_version(make_version(slug, number, repo_url=repo_url, submission_id=submission.id))
                for number in versions
            ),
        ]
        await self.env.writes.commit(operations)
        return slug

    async def own(self, owner: Person, repo_url: str = "") -> str:
        """Have somebody own what is published from a repository; gives the handle."""
        url = repo_url or self.url("acme/greeting")
        handle = owner_handle(url)

        async def prepare() -> tuple[Publisher, list[Operation]]:
            return await granting(handle, place=place_of(url), kind=PublisherKind.PERSON, account=owner.id)

        await self.inside(lambda: commit_fresh(prepare))
        return handle

    async def everything(self) -> dict[str, bytes]:
        """Every key and value of the store."""
        entries = {key: await self.env.kv.get(key) for key in await collect_keys(self.env.kv, "")}
        return {key: entry.value for key, entry in entries.items() if entry is not None}


def make_version(slug: str, number: str, *, repo_url: str, submission_id: str) -> SkillVersion:
    """A version of a skill, with digests of its own."""
    moment = "2026-02-21T09:00:00.000Z"
    return SkillVersion(
        slug=slug,
        version=number,
        name=slug.rsplit("/", 1)[-1],
        description="Greets people politely.",
        repo_url=repo_url,
        skill_path="",
        commit="a" * 40,
        content_digest=sha256_digest(f"{slug} {number}".encode()),
        zip_digest=sha256_digest(f"zip {slug} {number}".encode()),
        zip_size=1,
        tar_digest=sha256_digest(f"tar {slug} {number}".encode()),
        tar_size=1,
        files=(),
        tier=CertTier.SCANNED,
        verdict=Verdict.PASS,
        score=100,
        ruleset_version="1",
        scanner_version="1",
        capabilities=Capabilities(),
        submission_id=submission_id,
        run=1,
        published_at=moment,
        updated_at=moment,
    )


@asynccontextmanager
async def open_site(engine: Engine, clock: FakeClock, folder: Path) -> AsyncIterator[Site]:
    """A registry over this engine, with a git server and a source of its own."""
    repositories = folder / "repositories"
    repositories.mkdir()
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(serve_repositories(repositories))
        source = await stack.enter_async_context(GitSource(convert_settings(LOOPBACK), folder=folder / "fetched"))
        env = make_env(engine, clock=clock, folder=folder, source=source, **LOOPBACK)
        yield Site(env, clock, repositories, address, stack)
