"""Durable commits by thirty writers: how many share an fsync, and what that is worth."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from uuid import uuid4

from benchmarks.fixtures import folder, open_engine
from benchmarks.report import Row, at_least, told
from vskill_platform.domain.ids import MessageId, submission_id
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE, ProcessSubmission, encode_message
from vskill_platform.domain.records import receive_submission
from vskill_platform.domain.submission import Actor
from vskill_platform.ports.commit import Operation, Send
from vskill_platform.stores.submissions import creating
from vskill_platform.testing.vfs import DiskHooks, hooked_vfs

WRITERS = 30
SLOW_SYNC_S = 0.002


@dataclass(slots=True)
class SlowDisk(DiskHooks):
    """A disk whose every sync takes two milliseconds more."""

    def on_sync(self) -> None:
        """Wait, without holding up other threads."""
        time.sleep(SLOW_SYNC_S)


@dataclass(frozen=True, slots=True)
class Measured:
    """Commits a second, and commits a sync."""

    rate: float
    per_sync: float


async def run() -> list[Row]:
    """Grouped and ungrouped, on the bare disk and on one with slow syncs."""
    bare = await _measure(DiskHooks(), group_limit=256, commits_each=150)
    bare_alone = await _measure(DiskHooks(), group_limit=1, commits_each=40)
    slow = await _measure(SlowDisk(), group_limit=256, commits_each=60)
    slow_alone = await _measure(SlowDisk(), group_limit=1, commits_each=15)
    what = f"record + claim + history + catalog + event + message, {WRITERS} writers"
    return [
        at_least(
            "commits_per_fsync", bare.per_sync, target=8, unit="commits", detail=f"{what}; syncs counted by a VFS"
        ),
        at_least(
            "group_commit_with_slow_fsync",
            slow.rate / slow_alone.rate,
            target=4,
            detail=f"2 ms added to each sync: {slow.rate:,.0f}/s against {slow_alone.rate:,.0f}/s ungrouped",
        ),
        told(
            "group_commit_bare",
            bare.rate / bare_alone.rate,
            unit="x",
            detail=f"{bare.rate:,.0f}/s against {bare_alone.rate:,.0f}/s ungrouped",
        ),
    ]


async def _measure(hooks: DiskHooks, *, group_limit: int, commits_each: int) -> Measured:
    with folder() as path, hooked_vfs(hooks) as vfs:
        async with open_engine(path, vfs=vfs, group_limit=group_limit) as engine:
            work = [[new_submission() for _ in range(commits_each)] for _ in range(WRITERS)]
            syncs = hooks.syncs
            started = time.perf_counter()

            async def write(commits: list[list[Operation]]) -> None:
                for operations in commits:
                    await engine.writes.commit(operations)

            await asyncio.gather(*(write(commits) for commits in work))
            elapsed = time.perf_counter() - started
            count = WRITERS * commits_each
            return Measured(count / elapsed, count / (hooks.syncs - syncs))


def new_submission() -> list[Operation]:
    """What a new submission writes."""
    identity = submission_id(uuid4())
    message = MessageId(f"msg_{identity}")
    step = receive_submission(
        identity,
        repo_url=f"https://github.com/acme/{identity}",
        skill_name="skill",
        skill_path="skills/skill",
        message_id=message,
        actor=Actor.SUBMITTER,
        now_ms=1_771_668_000_000,
    )
    body = encode_message(ProcessSubmission(submission_id=identity, run=1))
    return [*creating(step), Send(SUBMISSIONS_QUEUE, message, body)]
