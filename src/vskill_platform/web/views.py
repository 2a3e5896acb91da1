"""What goes over the wire, in and out: plain records that the routes fill and the commands read."""

from __future__ import annotations

from typing import Annotated

import msgspec

from vskill_platform.domain.blocklist import Block, BlockKind
from vskill_platform.domain.capabilities import CapabilityChanges
from vskill_platform.domain.judgement import Judgement
from vskill_platform.domain.lint import Lint
from vskill_platform.domain.problem import Problem as Problem
from vskill_platform.domain.records import HistoryEntry
from vskill_platform.domain.scan import Capabilities, ScanReport
from vskill_platform.domain.skill import PublishedSkillSummary
from vskill_platform.domain.submission import Actor, SubmissionState
from vskill_platform.pipeline.intake import Answer
from vskill_platform.stores.positions import Position
from vskill_platform.stores.submissions import SubmissionRow
from vskill_platform.web.opinions import Opinions

MAX_IDS = 1000


class SubmissionRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a submitter sends. `email` is kept apart, shown to nobody but its owner and the operator, and can be erased."""

    repo_url: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
    skill_name: Annotated[str, msgspec.Meta(max_length=200)] = ""
    email: Annotated[str, msgspec.Meta(max_length=254)] = ""


class SubmissionAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a submitter gets: `status` says what became of the wish, the rest is the submission it is about."""

    status: Answer
    id: str
    submission_id: str
    state: SubmissionState
    run: int
    repo_url: str
    skill_name: str
    created_at: str
    updated_at: str
    duplicate: bool
    already_verified: bool
    blocked: bool
    skill_id: str | None
    reason: str | None


class ChildView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a repository's page shows of one of its skills."""

    id: str
    skill_name: str
    skill_path: str
    state: SubmissionState
    run: int
    reason: str | None
    verdict: str | None
    score: int | None
    slug: str | None
    version: str | None


class SubmissionView(ChildView, frozen=True, kw_only=True, rename="camel"):
    """All that is public of a submission: how it stands, how it came there, and what the scan found.

    `stageTimings` has the milliseconds that each stage of its newest run took. `published_skill_name` is the slug that it is
    published under, `position` its place in the line while it waits. `judgement` is what tier 2 said, if it was asked.
    `capability_changes` is there while its newest run has
    published a version that had one before it.
    """

    repo_url: str
    tree_path: str
    parent_id: str | None
    commit: str | None
    content_digest: str | None
    created_at: str
    updated_at: str
    timings: dict[str, int] = msgspec.field(name="stageTimings")
    history: list[HistoryEntry]
    scan: ScanReport | None
    lint: Lint | None
    children: list[ChildView]
    judgement: Judgement | None = None
    capability_changes: CapabilityChanges | None = None
    published_skill_name: str | None = None
    position: Position | None = None
    opinions: Opinions | None = None


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A message that was given up."""

    id: str
    submission_id: str | None
    attempts: int
    sent_at: str
    error: str | None


class DeadLetterPage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Dead letters in the order they were sent; `cursor` is null at the end."""

    messages: list[DeadLetter]
    cursor: str | None


class SkillPage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One page of published skills, and how many there are."""

    skills: list[PublishedSkillSummary]
    total: int


class VersionView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One version of a skill: what the scan said of it, what it can do, and what it can do that the one before could not."""

    version: str
    published_at: str
    tier: str
    verdict: str
    score: int
    commit: str
    content_digest: str
    ruleset_version: str
    capabilities: Capabilities
    capability_changes: CapabilityChanges | None
    yanked_at: str
    yank_reason: str


class SkillView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A skill and its versions, the newest first. `slug` is its present one, whichever was asked for."""

    slug: str
    name: str
    description: str
    repo_url: str
    is_withdrawn: bool
    versions: list[VersionView]


class SubmissionPage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One page of submissions, and how many there are."""

    submissions: list[SubmissionRow]
    total: int


class Ids(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What to act on, and why."""

    ids: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MAX_IDS)]
    reason: str = ""


class Decide(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A person's decision about a submission, and why."""

    id: str
    reason: str


class BlockRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What to block, and why: a digest, or a name, a repository, or both."""

    digest: str = ""
    skill_name: str = ""
    repo_url: str = ""
    reason: str = ""


class RebuildRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The next slice of the catalog to look at, and why; without a cursor, the first."""

    cursor: str | None = None
    is_dry_run: bool = False
    reason: str = ""


class Unblock(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The entry to take off the blocklist, and why."""

    key: str
    reason: str = ""


class BlockView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An entry of the blocklist."""

    key: str
    kind: BlockKind
    digest: str
    skill_name: str
    repo_url: str
    reason: str
    actor: Actor
    created_at: str


def view_block(block: Block, *, key: str) -> BlockView:
    """An entry as it goes over the wire. What its submission was stays with us."""
    return BlockView(
        key=key,
        kind=block.kind,
        digest=block.digest,
        skill_name=block.skill_name,
        repo_url=block.repo_url,
        reason=block.reason,
        actor=block.actor,
        created_at=block.created_at,
    )


class Blocked(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The entry that was made or removed, and the submissions that this stopped or released."""

    key: str
    submissions: list[str]
    detail: str = ""
