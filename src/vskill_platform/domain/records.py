"""The records that the registry keeps about submissions, as they are on disk: JSON with camel-case fields.

A record carries `v`, the version of its form. `advance` is the only way from one state to the next: it checks the table,
and it makes the new record and its history entry together, so that neither exists without the other.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from vskill_platform.domain.content import Omitted
from vskill_platform.domain.ids import SubmissionId
from vskill_platform.domain.scan import Verdict
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger, check_transition
from vskill_platform.domain.times import iso_from_ms, ms_from_iso

RECORD_VERSION = 1


class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What every record has: the version of its form."""

    v: int = RECORD_VERSION


class Claim(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which delivery works on the submission: the message, and which of its attempts."""

    message_id: str
    attempt: int


class Pin(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The bytes that a run is about: the commit they came from, their digest, and the archive that keeps them.

    What was pushed has no commit, and the version that it was pushed as.
    """

    commit: str
    content_digest: str
    tar_digest: str
    omitted: tuple[Omitted, ...] = ()
    version: str = ""


class Approval(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A person's approval that waits for another's: whose, why, and of which bytes in which run."""

    by: str
    name: str
    at: str
    reason: str
    content_digest: str
    run: int


class Submission(Record, frozen=True, kw_only=True, rename="camel"):
    """One skill of one repository, or a repository that is yet to be expanded, on its way through the registry.

    `pin` is there once bytes were read: a run that has one is about those bytes and fetches nothing. `commit` is what was
    looked at last. `timings` has the milliseconds that each stage of the last run took. `decided_digest` has the bytes that
    a person decided about; the decision stands for them in every later run. `first_approval` is one of two that are needed.
    `submitted_by` is the account that started the run, if anybody did who was signed in; it is told to nobody but them and the
    operator. What `is_taken_back` its publisher has withdrawn, and nobody else starts a run of it.
    """

    id: str
    repo_url: str
    skill_name: str
    skill_path: str = ""
    state: SubmissionState
    created_at: str
    updated_at: str
    run: int = 1
    message_id: str | None = None
    claim: Claim | None = None
    recoveries: int = 0
    history_length: int = 0
    priority: int = 0
    reason: str | None = None
    tree_path: str = ""
    parent_id: str | None = None
    children: tuple[str, ...] = ()
    pin: Pin | None = None
    commit: str | None = None
    verdict: Verdict | None = None
    score: int | None = None
    ruleset_version: str | None = None
    slug: str | None = None
    version: str | None = None
    timings: dict[str, int] = {}
    decided_digest: str | None = None
    is_approved_by_hand: bool = False
    first_approval: Approval | None = None
    submitted_by: str | None = None
    is_taken_back: bool = False

    @property
    def is_repository(self) -> bool:
        """Whether this stands for a whole repository (or a folder of it), to be expanded to its skills."""
        return not self.skill_name

    @property
    def claimed_name(self) -> str:
        """What it claims of its repository: the skill's name; for a whole repository the tree that was asked for."""
        return self.skill_name or (f"/{self.tree_path}" if self.tree_path else "")

    @property
    def updated_ms(self) -> int:
        """`updated_at` in milliseconds. Raises ValueError where it is no time."""
        return ms_from_iso(self.updated_at)


class HistoryEntry(Record, frozen=True, kw_only=True, rename="camel"):
    """One step of a submission. `from` is null only in the first."""

    number: int
    run: int
    source: SubmissionState | None = msgspec.field(name="from")
    state: SubmissionState
    trigger: Trigger
    actor: Actor
    timestamp: str
    message: str


class Step(NamedTuple):
    """A submission after a step, and the history entry of that step."""

    submission: Submission
    entry: HistoryEntry


def receive_submission(
    identity: SubmissionId,
    *,
    repo_url: str,
    skill_name: str,
    skill_path: str,
    message_id: str,
    actor: Actor,
    now_ms: int,
    **fields: object,
) -> Step:
    """The first step: a submission that did not exist is RECEIVED."""
    now = iso_from_ms(now_ms)
    fresh = Submission(
        id=identity,
        repo_url=repo_url,
        skill_name=skill_name,
        skill_path=skill_path,
        state=SubmissionState.RECEIVED,
        created_at=now,
        updated_at=now,
        message_id=message_id,
    )
    fresh = msgspec.structs.replace(fresh, **fields)
    check_transition(None, fresh.state, trigger=Trigger.SUBMITTED, actor=actor)
    return _step(fresh, None, trigger=Trigger.SUBMITTED, actor=actor, message="Received.")


def advance(
    submission: Submission,
    target: SubmissionState,
    *,
    trigger: Trigger,
    actor: Actor,
    now_ms: int,
    message: str,
    **changes: object,
) -> Step:
    """Take the submission one step on, with any other fields changed in the same step. Time never runs backwards."""
    check_transition(submission.state, target, trigger=trigger, actor=actor)
    now = iso_from_ms(max(now_ms, submission.updated_ms))
    moved = msgspec.structs.replace(submission, state=target, updated_at=now, **changes)
    return _step(moved, submission.state, trigger=trigger, actor=actor, message=message)


def _step(
    submission: Submission, source: SubmissionState | None, *, trigger: Trigger, actor: Actor, message: str
) -> Step:
    number = submission.history_length + 1
    entry = HistoryEntry(
        number=number,
        run=submission.run,
        source=source,
        state=submission.state,
        trigger=trigger,
        actor=actor,
        timestamp=submission.updated_at,
        message=message,
    )
    return Step(msgspec.structs.replace(submission, history_length=number), entry)
