"""Repositories over the network, fetched by git in a process with limits, through our own proxy, into a private folder.

A fetch is bare and one commit deep. Files larger than a skill's may be are not asked for, so that the size of a
repository does not count against the small skill in it. Nothing is checked out, ever.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from vskill_platform.domain.errors import (
    BranchNotFound,
    FetchTimedOut,
    RepositoryEmpty,
    RepositoryMalformed,
    RepositoryNotFound,
    RepositoryTooLarge,
    SourceUnreachable,
    VskillError,
)
from vskill_platform.ingest import limits as limits_of
from vskill_platform.ingest.git_environment import (
    REPOSITORY_CONFIG,
    Network,
    fetching_environment,
    reading_environment,
)
from vskill_platform.ingest.git_errors import Asked, explain, is_harmless_fault, make_error
from vskill_platform.ingest.objects import ObjectReader
from vskill_platform.ingest.processes import Ended, ProcessLimits, run
from vskill_platform.ingest.proxy import FetchProxy, Passage, Refusal
from vskill_platform.ingest.refs import HEAD, Ref, choose_ref, head_of, parse_refs
from vskill_platform.ingest.resolver import SystemResolver
from vskill_platform.ingest.snapshot import GitSnapshot
from vskill_platform.ingest.tree_listing import ListingBroken, ListingTooLarge, Stretch, TreeListing
from vskill_platform.ingest.url_guard import Judge, Resolve, check_address, judge_any, judge_public
from vskill_platform.ingest.workspace import Workspace
from vskill_platform.settings import Settings

T = TypeVar("T")
_FETCHED = "refs/fetched/it"
_FETCH = (
    "fetch",
    "--quiet",
    "--depth=1",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
)


class _Job(NamedTuple):
    """One fetch on its way: where it may write, what it may reach, and what it was asked for."""

    folder: Path
    passage: Passage
    asked: Asked

    @property
    def repository(self) -> Path:
        return self.folder / "repository"


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
        self._workspace = Workspace(folder)
        self._resolver = SystemResolver()
        self._proxy = FetchProxy(
            limits=limits_of.proxy_limits(settings),
            resolve=resolve or self._resolver,
            judge=judge or (judge_any if settings.allow_private_addresses else judge_public),
        )
        self._git = Path("git")

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Find git, make the folder, start the proxy. Raises SourceUnreachable where this machine cannot fetch at all."""
        self._git = _find_git()
        await self._workspace.open()
        await self._proxy.open()

    async def close(self) -> None:
        """Stop the proxy and remove what is left of the folder."""
        await self._proxy.close()
        await self._workspace.close()
        self._resolver.close()

    @asynccontextmanager
    async def fetch(self, repo_url: str, *, tree_path: str = "") -> AsyncIterator[GitSnapshot]:
        """The newest commit of the default branch, or of the branch or tag in `tree_path`."""
        async with AsyncExitStack() as stack:
            yield await _first_found(
                repo_url, lambda url: stack.enter_async_context(self._fetch_at(url, tree_path=tree_path))
            )

    async def newest_commit(self, repo_url: str, *, tree_path: str = "") -> str:
        """The id of the commit that `fetch` would pin now."""
        return await _first_found(repo_url, lambda url: self._newest_at(url, tree_path=tree_path))

    @asynccontextmanager
    async def _fetch_at(self, repo_url: str, *, tree_path: str) -> AsyncIterator[GitSnapshot]:
        async with AsyncExitStack() as stack:
            folder = await stack.enter_async_context(self._workspace.folder())
            async with self._time_limit(repo_url):
                async with self._job(repo_url, folder, branch=tree_path) as job:
                    ref = await self._choose(job, tree_path) if tree_path.strip("/") else Ref(HEAD, "", "")
                    await self._fetch(job, ref.name)
                snapshot = await self._look(job, ref.folder, stack)
            yield snapshot

    async def _newest_at(self, repo_url: str, *, tree_path: str) -> str:
        async with (
            self._workspace.folder() as folder,
            self._time_limit(repo_url),
            self._job(repo_url, folder, branch=tree_path) as job,
        ):
            if tree_path.strip("/"):
                return (await self._choose(job, tree_path)).commit
            head = head_of(await self._list_refs(job, HEAD))
            if head is None:
                raise make_error(RepositoryEmpty, asked=job.asked)
            return head

    @asynccontextmanager
    async def _job(self, repo_url: str, folder: Path, *, branch: str) -> AsyncIterator[_Job]:
        address = check_address(repo_url, settings=self._settings)
        async with self._proxy.passage(address, max_bytes=self._settings.fetch_max_bytes) as passage:
            job = _Job(folder, passage, Asked(address.url, branch))
            _lay_out(job.repository)
            yield job

    @asynccontextmanager
    async def _time_limit(self, repo_url: str) -> AsyncIterator[None]:
        limit_s = self._settings.fetch_time_limit_s
        try:
            async with asyncio.timeout(limit_s):
                yield
        except TimeoutError as exc:
            raise make_error(FetchTimedOut, asked=Asked(repo_url), limit_s=limit_s) from exc

    async def _choose(self, job: _Job, tree_path: str) -> Ref:
        chosen = choose_ref(await self._list_refs(job, "--heads", "--tags"), tree_path)
        if chosen is None:
            raise make_error(BranchNotFound, asked=job.asked)
        return chosen

    async def _list_refs(self, job: _Job, *which: str) -> list[tuple[str, str]]:
        options = [argument for argument in which if argument.startswith("--")]
        patterns = [argument for argument in which if not argument.startswith("--")]
        listing = job.folder / "refs"
        with listing.open("wb") as stdout:
            ended = await run(
                [str(self._git), "ls-remote", "--quiet", *options, "--", job.passage.address.url, *patterns],
                limits=self._limits(limits_of.REFS_MAX_BYTES),
                environment=self._fetching(job),
                folder=job.folder,
                stdout=stdout,
            )
        self._check(ended, job)
        return await asyncio.to_thread(_read_refs, listing)

    async def _fetch(self, job: _Job, ref: str) -> None:
        ended = await self._try_fetch(job, ref, f"--filter=blob:limit={self._settings.file_max_bytes + 1}")
        if ended.status != 0 and job.passage.refusal is None and is_harmless_fault(ended):
            # Before git 2.45 a fetch with a filter cannot be told which faults are harmless; one without can.
            _lay_out(job.repository)
            ended = await self._try_fetch(job, ref, "--no-filter")
        self._check(ended, job)
        (job.repository / "config").write_text(REPOSITORY_CONFIG)

    async def _try_fetch(self, job: _Job, ref: str, filtering: str) -> Ended:
        return await run(
            [str(self._git), *_FETCH, filtering, "--", job.passage.address.url, f"{ref}:{_FETCHED}"],
            limits=self._limits(self._settings.fetch_max_bytes),
            environment=self._fetching(job),
            folder=job.folder,
        )

    async def _look(self, job: _Job, folder: str, stack: AsyncExitStack) -> GitSnapshot:
        objects = ObjectReader(
            self._git,
            folder=job.folder,
            environment=reading_environment(self._git, job.folder),
            limits=self._limits(limits_of.REFS_MAX_BYTES),
            stack=stack,
        )
        commit, tree = await objects.headers([f"{_FETCHED}^{{commit}}", f"{_FETCHED}^{{tree}}"])
        if commit is None or tree is None:
            raise make_error(RepositoryMalformed, asked=job.asked)
        listing = await self._list_tree(job, tree.id)
        stack.callback(listing.close)
        skills = await asyncio.to_thread(self._find_skills, job, listing, folder.encode("utf-8", "surrogateescape"))
        return GitSnapshot(
            commit.id,
            listing=listing,
            skills=skills,
            objects=objects,
            limits=limits_of.skill_limits(self._settings),
        )

    async def _list_tree(self, job: _Job, tree: str) -> TreeListing:
        listing = job.folder / "listing"
        with listing.open("wb") as stdout:
            ended = await run(
                [str(self._git), "ls-tree", "-r", "-t", "-z", "--full-tree", tree],
                limits=self._limits(limits_of.LISTING_BYTES_PER_FILE * self._settings.repo_max_files),
                environment=reading_environment(self._git, job.folder),
                folder=job.folder,
                stdout=stdout,
            )
        if ended.status != 0:
            error = explain(ended, asked=job.asked)
            raise error if isinstance(error, RepositoryTooLarge) else make_error(RepositoryMalformed, asked=job.asked)
        return TreeListing(listing, root_tree=tree)

    def _find_skills(self, job: _Job, listing: TreeListing, folder: bytes) -> dict[bytes, Stretch]:
        try:
            skills = listing.find_skills(max_files=self._settings.repo_max_files, max_depth=limits_of.REPO_MAX_DEPTH)
        except ListingTooLarge as exc:
            raise make_error(RepositoryTooLarge, asked=job.asked, limit=str(exc)) from exc
        except ListingBroken as exc:
            raise make_error(RepositoryMalformed, asked=job.asked) from exc
        if not listing.has_folder(folder):
            raise make_error(BranchNotFound, asked=job.asked)
        return {path: found for path, found in skills.items() if path == folder or path.startswith(_below(folder))}

    def _check(self, ended: Ended, job: _Job) -> None:
        """Raise what a failed process means; what the proxy saw counts before what git says about it."""
        if ended.status != 0:
            raise self._refusal(job) or explain(ended, asked=job.asked)

    def _refusal(self, job: _Job) -> VskillError | None:
        passage = job.passage
        if passage.refusal is Refusal.OVER_BUDGET:
            return make_error(RepositoryTooLarge, asked=job.asked, limit="bytes", allowed=passage.max_bytes)
        if passage.refusal is Refusal.IDLE:
            return make_error(FetchTimedOut, asked=job.asked)
        if passage.refusal is not None:
            return make_error(SourceUnreachable, asked=job.asked, reason=str(passage.refusal))
        return None

    def _fetching(self, job: _Job) -> dict[str, str]:
        network = Network(
            proxy_url=self._proxy.url(job.passage),
            protocol=job.passage.address.scheme,
            ca_file=self._settings.git_ca_file,
            too_slow_s=max(1, int(self._settings.fetch_time_limit_s / 2)),
        )
        return fetching_environment(self._git, job.folder, network=network)

    def _limits(self, file_bytes: int) -> ProcessLimits:
        return ProcessLimits(
            file_bytes=file_bytes,
            cpu_s=int(self._settings.fetch_time_limit_s) + 1,
            memory_bytes=limits_of.GIT_MEMORY_BYTES,
            open_files=limits_of.GIT_OPEN_FILES,
        )


def _find_git() -> Path:
    found = shutil.which("git")
    if found is None:
        raise SourceUnreachable("git is not installed, or not on the PATH. Install git 2.34 or newer.")
    return Path(found).absolute()


def _lay_out(repository: Path) -> None:
    """What `git init --bare` would make, less everything that a fetch does not need, without a process."""
    shutil.rmtree(repository, ignore_errors=True)
    (repository / "objects").mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "HEAD").write_text("ref: refs/heads/none\n")
    (repository / "config").write_text(REPOSITORY_CONFIG)


def _read_refs(listing: Path) -> list[tuple[str, str]]:
    with listing.open("rb") as lines:
        return list(parse_refs(lines))


def _below(folder: bytes) -> bytes:
    return folder + b"/" if folder else b""


async def _first_found(repo_url: str, attempt: Callable[[str], Awaitable[T]]) -> T:
    """What the address gives, or the same with `.git`: the normal form has none, and some servers want it."""
    try:
        return await attempt(repo_url)
    except RepositoryNotFound as missing:
        try:
            return await attempt(f"{repo_url}.git")
        except RepositoryNotFound:
            raise missing from None
