"""What git is run for here: to list a repository's refs, to fetch one commit, to list its tree, and to tell a commit's date."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import NamedTuple

from vskill_platform.children.processes import Ended, ProcessLimits
from vskill_platform.domain.errors import (
    FetchTimedOut,
    RepositoryMalformed,
    RepositoryTooLarge,
    SourceUnreachable,
    VskillError,
)
from vskill_platform.ingest.git_environment import (
    REPOSITORY_CONFIG,
    Network,
    fetching_environment,
    reading_environment,
)
from vskill_platform.ingest.git_errors import Asked, explain, is_harmless_fault, make_error
from vskill_platform.ingest.limits import (
    GIT_MEMORY_BYTES,
    GIT_OPEN_FILES,
    LISTING_BYTES_PER_FILE,
    REFS_MAX_BYTES,
)
from vskill_platform.ingest.passage import Passage, Refusal
from vskill_platform.ingest.processes import run
from vskill_platform.ingest.refs import parse_refs
from vskill_platform.settings import Settings

FETCHED = "refs/fetched/it"
"""Where the fetched commit is to be found afterwards."""
_COMMIT_LINE_BYTES = 1024
_FETCH = (
    "fetch",
    "--quiet",
    "--depth=1",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
)


class Job(NamedTuple):
    """One fetch on its way: where it may write, what it may reach and how, and what it was asked for."""

    folder: Path
    passage: Passage
    proxy_url: str
    asked: Asked

    @property
    def repository(self) -> Path:
        """The bare repository that is fetched into."""
        return self.folder / "repository"

    @property
    def url(self) -> str:
        """The repository's address, as it was checked."""
        return self.passage.address.url


class Git:
    """The git of this machine, under the limits of the settings."""

    def __init__(self, program: Path, *, settings: Settings) -> None:
        self.program = program
        self._settings = settings

    async def list_refs(self, job: Job, *, options: tuple[str, ...] = (), only: str = "") -> list[tuple[str, str]]:
        """Name and id of the refs that the server lists."""
        listing = job.folder / "refs"
        patterns = [only] if only else []
        with listing.open("wb") as stdout:
            ended = await run(
                [str(self.program), "ls-remote", "--quiet", *options, "--", job.url, *patterns],
                limits=self.limits(REFS_MAX_BYTES),
                environment=self._fetching(job),
                folder=job.folder,
                stdout=stdout,
            )
        _check(ended, job)
        return await asyncio.to_thread(_read_refs, listing)

    async def fetch(self, job: Job, ref: str) -> None:
        """Fetch what a ref stands at, without its history and without files that no skill may have."""
        ended = await self._try_fetch(job, ref, f"--filter=blob:limit={self._settings.file_max_bytes + 1}")
        if ended.status != 0 and job.passage.refusal is None and is_harmless_fault(ended):
            # Before git 2.45 a fetch with a filter cannot be told which faults are harmless; one without can.
            ended = await self._try_fetch(job, ref, "--no-filter")
        _check(ended, job)
        (job.repository / "config").write_text(REPOSITORY_CONFIG)

    async def fetch_bare_commit(self, job: Job, ref: str) -> None:
        """Fetch the commit that a ref stands at, and nothing of what is in it where the server can leave that out."""
        _check(await self._try_fetch(job, ref, "--filter=tree:0"), job)
        (job.repository / "config").write_text(REPOSITORY_CONFIG)

    async def commit_time(self, job: Job) -> tuple[str, int]:
        """Id of the fetched commit, and when it was made, in seconds since 1970."""
        listing = job.folder / "commit"
        with listing.open("wb") as stdout:
            ended = await run(
                [str(self.program), "log", "-1", "--no-show-signature", "--format=%H %ct", FETCHED],
                limits=self.limits(_COMMIT_LINE_BYTES),
                environment=self.reading(job),
                folder=job.folder,
                stdout=stdout,
            )
        words = listing.read_bytes()[:_COMMIT_LINE_BYTES].decode("ascii", "replace").split()
        if ended.status != 0 or len(words) != 2 or not words[1].isdigit():
            raise make_error(RepositoryMalformed, asked=job.asked)
        return words[0], int(words[1])

    async def list_tree(self, job: Job, tree: str) -> Path:
        """A file with everything that is in a fetched tree, as `TreeListing` reads it."""
        listing = job.folder / "listing"
        with listing.open("wb") as stdout:
            ended = await run(
                [str(self.program), "ls-tree", "-r", "-t", "-z", "--full-tree", tree],
                limits=self.limits(LISTING_BYTES_PER_FILE * self._settings.repo_max_files),
                environment=self.reading(job),
                folder=job.folder,
                stdout=stdout,
            )
        if ended.status != 0:
            error = explain(ended, asked=job.asked)
            raise error if isinstance(error, RepositoryTooLarge) else make_error(RepositoryMalformed, asked=job.asked)
        return listing

    def reading(self, job: Job) -> dict[str, str]:
        """The environment of a process that reads what was fetched."""
        return reading_environment(self.program, job.folder)

    def limits(self, file_bytes: int) -> ProcessLimits:
        """The limits of a git process that writes no file larger than this."""
        return ProcessLimits(
            file_bytes=file_bytes,
            cpu_s=int(self._settings.fetch_time_limit_s) + 1,
            memory_bytes=GIT_MEMORY_BYTES,
            open_files=GIT_OPEN_FILES,
        )

    async def _try_fetch(self, job: Job, ref: str, filtering: str) -> Ended:
        _lay_out(job.repository)
        return await run(
            [str(self.program), *_FETCH, filtering, "--", job.url, f"{ref}:{FETCHED}"],
            limits=self.limits(self._settings.fetch_max_bytes),
            environment=self._fetching(job),
            folder=job.folder,
        )

    def _fetching(self, job: Job) -> dict[str, str]:
        network = Network(
            proxy_url=job.proxy_url,
            protocol=job.passage.address.scheme,
            ca_file=self._settings.git_ca_file,
            too_slow_s=max(1, int(self._settings.fetch_time_limit_s / 2)),
        )
        return fetching_environment(self.program, job.folder, network=network)


def find_git() -> Path:
    """The git on the PATH. Raises SourceUnreachable where there is none."""
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


def _check(ended: Ended, job: Job) -> None:
    """Raise what a failed process means; what the proxy saw counts before what git says about it."""
    if ended.status != 0:
        raise _refusal(job) or explain(ended, asked=job.asked)


def _refusal(job: Job) -> VskillError | None:
    passage = job.passage
    if passage.refusal is Refusal.OVER_BUDGET:
        return make_error(RepositoryTooLarge, asked=job.asked, limit="bytes", allowed=passage.max_bytes)
    if passage.refusal is Refusal.IDLE:
        return make_error(FetchTimedOut, asked=job.asked)
    if passage.refusal is not None:
        return make_error(SourceUnreachable, asked=job.asked, reason=str(passage.refusal))
    return None


def _read_refs(listing: Path) -> list[tuple[str, str]]:
    with listing.open("rb") as lines:
        return list(parse_refs(lines))
