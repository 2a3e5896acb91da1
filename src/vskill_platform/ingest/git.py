"""Repositories over the network, fetched by git in a process with limits, through our own proxy, into a private folder.

A fetch is bare and one commit deep. Files larger than a skill's may be are not asked for, so that the size of a
repository does not count against the small skill in it. Nothing is checked out, ever.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from vskill_platform.domain.errors import (
    AddressForbidden,
    BranchNotFound,
    FetchTimedOut,
    RepositoryEmpty,
    RepositoryMalformed,
    RepositoryMoved,
    RepositoryNotFound,
    RepositoryTooLarge,
    SourceRefused,
    SourceUnreachable,
)
from vskill_platform.domain.repo_health import NO_HEAD, Head, LookAnswer, LookReason, SourceLook
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ingest.git_commands import FETCHED, Git, Job, find_git
from vskill_platform.ingest.git_errors import Asked, make_error
from vskill_platform.ingest.limits import REPO_MAX_DEPTH, proxy_limits, skill_limits
from vskill_platform.ingest.objects import ObjectReader
from vskill_platform.ingest.proxy import FetchProxy
from vskill_platform.ingest.public_addresses import Judge, judge_any, judge_public
from vskill_platform.ingest.ref_advertisement import trusted_certificates
from vskill_platform.ingest.refs import HEAD, Ref, choose_ref, head_of
from vskill_platform.ingest.remote_look import RemoteLook
from vskill_platform.ingest.resolver import SystemResolver
from vskill_platform.ingest.snapshot import GitSnapshot
from vskill_platform.ingest.tree_listing import ListingBroken, ListingTooLarge, Stretch, TreeListing
from vskill_platform.ingest.url_guard import Resolve, check_address
from vskill_platform.ingest.workspace import fetch_workspace
from vskill_platform.settings import Settings

T = TypeVar("T")
COMMIT_MAX_BYTES = 16 * 1024 * 1024
"""What may come over the network for a commit's date: a few hundred bytes, or more from a server that cannot leave files out."""
ASKING_LIMIT_S = 5.0
MOST_ASKING = 8
"""How long somebody waits to hear of a newest commit, and how many are asked for side by side: it holds up a request."""


class GitSource:
    """Repositories by git. Use it as `async with GitSource(settings) as source`.

    `folder` is where fetched repositories lie while they are looked at; without one, the system's folder for temporary
    files. `resolve` and `judge` say how hosts are looked up and which addresses will do.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        folder: Path | None = None,
        resolve: Resolve | None = None,
        judge: Judge | None = None,
    ) -> None:
        self._settings = settings
        self._workspace = fetch_workspace(folder)
        self._resolver = SystemResolver()
        self._proxy = FetchProxy(
            limits=proxy_limits(settings),
            resolve=resolve or self._resolver,
            judge=judge or (judge_any if settings.allow_private_addresses else judge_public),
        )
        self._git = Git(Path("git"), settings=settings)
        self._trust: ssl.SSLContext | None = None
        self._asking = asyncio.Semaphore(MOST_ASKING)
        self._opening = asyncio.Lock()
        self._is_open = False

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Find git, make the folder, start the proxy. Raises SourceUnreachable where this machine cannot fetch at all."""
        self._git = Git(find_git(), settings=self._settings)
        await self._workspace.open()
        await self._proxy.open()
        self._is_open = True

    async def close(self) -> None:
        """Stop the proxy and remove what is left of the folder."""
        await self._proxy.close()
        await self._workspace.close()
        self._resolver.close()

    async def _open_once(self) -> None:
        """Open where nobody has: a process that hardly ever asks need not have a proxy all the time."""
        async with self._opening:
            if not self._is_open:
                await self.open()

    @asynccontextmanager
    async def fetch(self, repo_url: str, *, tree_path: str = "") -> AsyncIterator[GitSnapshot]:
        """The newest commit of the default branch, or of the branch or tag in `tree_path`."""
        async with AsyncExitStack() as stack:
            yield await _first_found(
                repo_url, lambda url: stack.enter_async_context(self._fetch_at(url, tree_path=tree_path))
            )

    async def look(self, repo_url: str, *, known: Head = NO_HEAD) -> SourceLook:
        """How the repository is. Whatever goes wrong is an answer, too: an unclear one."""
        try:
            async with self._time_limit(repo_url, at_most_s=self._settings.repo_health_look_limit_s):
                await self._open_once()
                look, answered = await self._remote().ask(repo_url)
            if look.answer is not LookAnswer.HERE or not look.head.commit:
                return look
            return look._replace(head=await self._date(answered, look.head.commit, known))
        except FetchTimedOut:
            return SourceLook(LookAnswer.UNCLEAR, LookReason.TIMED_OUT)
        except AddressForbidden:
            return SourceLook(LookAnswer.UNCLEAR, LookReason.NOT_ALLOWED)
        except SourceUnreachable:
            return SourceLook(LookAnswer.UNCLEAR, LookReason.UNREACHABLE)

    async def newest_commit(self, repo_url: str, *, tree_path: str = "") -> str:
        """The id of the commit that `fetch` would pin now."""
        return await _first_found(repo_url, lambda url: self._newest_at(url, tree_path=tree_path))

    def _remote(self) -> RemoteLook:
        if self._trust is None:
            self._trust = trusted_certificates(self._settings)
        return RemoteLook(self._proxy, settings=self._settings, trust=self._trust)

    async def _date(self, repo_url: str, commit: str, known: Head) -> Head:
        """The head with its date. A commit never changes its date; one that cannot be had now stays unknown for now."""
        if commit == known.commit and known.committed_at is not None:
            return known
        try:
            async with (
                self._time_limit(repo_url, at_most_s=self._settings.repo_health_look_limit_s),
                self._workspace.folder() as folder,
                self._job(repo_url, folder, branch="", max_bytes=COMMIT_MAX_BYTES) as job,
            ):
                await self._git.fetch_bare_commit(job, HEAD)
                fetched, made_s = await self._git.commit_time(job)
                return Head(fetched, iso_from_ms(made_s * 1000))
        except (SourceRefused, SourceUnreachable, OverflowError, ValueError):
            return Head(commit)

    @asynccontextmanager
    async def _fetch_at(self, repo_url: str, *, tree_path: str) -> AsyncIterator[GitSnapshot]:
        await self._open_once()
        async with AsyncExitStack() as stack:
            async with self._time_limit(repo_url):
                folder = await stack.enter_async_context(self._workspace.folder())
                async with self._job(repo_url, folder, branch=tree_path) as job:
                    ref = await self._choose(job, tree_path) if tree_path.strip("/") else Ref(HEAD, "", "")
                    await self._git.fetch(job, ref.name)
                snapshot = await self._look(job, ref.folder, stack)
            yield snapshot

    async def _newest_at(self, repo_url: str, *, tree_path: str) -> str:
        await self._open_once()
        async with (
            self._time_limit(repo_url, at_most_s=ASKING_LIMIT_S),
            self._asking,
            self._workspace.folder() as folder,
            self._job(repo_url, folder, branch=tree_path) as job,
        ):
            if tree_path.strip("/"):
                return (await self._choose(job, tree_path)).commit
            head = head_of(await self._git.list_refs(job, only=HEAD))
            if head is None:
                raise make_error(RepositoryEmpty, asked=job.asked)
            return head

    @asynccontextmanager
    async def _time_limit(self, repo_url: str, *, at_most_s: float = float("inf")) -> AsyncIterator[None]:
        limit_s = min(self._settings.fetch_time_limit_s, at_most_s)
        try:
            async with asyncio.timeout(limit_s):
                yield
        except TimeoutError as exc:
            raise make_error(FetchTimedOut, asked=Asked(repo_url), limit_s=limit_s) from exc

    @asynccontextmanager
    async def _job(
        self, repo_url: str, folder: Path, *, branch: str, max_bytes: int | None = None
    ) -> AsyncIterator[Job]:
        address = check_address(repo_url, settings=self._settings)
        async with self._proxy.passage(address, max_bytes=max_bytes or self._settings.fetch_max_bytes) as passage:
            yield Job(folder, passage, self._proxy.url(passage), Asked(address.url, branch))

    async def _choose(self, job: Job, tree_path: str) -> Ref:
        chosen = choose_ref(await self._git.list_refs(job, options=("--heads", "--tags")), tree_path)
        if chosen is None:
            raise make_error(BranchNotFound, asked=job.asked)
        return chosen

    async def _look(self, job: Job, folder: str, stack: AsyncExitStack) -> GitSnapshot:
        objects = ObjectReader(self._git, job=job, stack=stack)
        commit, tree = await objects.headers([f"{FETCHED}^{{commit}}", f"{FETCHED}^{{tree}}"])
        if commit is None or tree is None:
            raise make_error(RepositoryMalformed, asked=job.asked)
        listing = TreeListing(await self._git.list_tree(job, tree.id), root_tree=tree.id)
        stack.callback(listing.close)
        skills = await asyncio.to_thread(self._find_skills, job, listing, folder.encode("utf-8", "surrogateescape"))
        return GitSnapshot(
            commit.id,
            listing=listing,
            skills=skills,
            asked_for=folder,
            objects=objects,
            limits=skill_limits(self._settings),
        )

    def _find_skills(self, job: Job, listing: TreeListing, folder: bytes) -> list[Stretch]:
        try:
            skills = listing.find_skills(max_files=self._settings.repo_max_files, max_depth=REPO_MAX_DEPTH)
        except ListingTooLarge as exc:
            raise make_error(RepositoryTooLarge, asked=job.asked, limit=str(exc)) from exc
        except ListingBroken as exc:
            raise make_error(RepositoryMalformed, asked=job.asked) from exc
        if not listing.has_folder(folder):
            raise make_error(BranchNotFound, asked=job.asked)
        return skills


async def _first_found(repo_url: str, attempt: Callable[[str], Awaitable[T]]) -> T:
    """What the address gives, or the same with `.git`: the normal form has none, and some servers want it, or send there."""
    try:
        return await attempt(repo_url)
    except (RepositoryNotFound, RepositoryMoved) as missing:
        try:
            return await attempt(f"{repo_url}.git")
        except (RepositoryNotFound, RepositoryMoved):
            raise missing from None
