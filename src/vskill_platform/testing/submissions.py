"""Submissions and skills for tests, written the way the stores write them."""

from __future__ import annotations

from uuid import uuid4

import msgspec

from vskill_platform.domain.ids import message_id, skill_key, submission_id, submission_key
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE, ProcessSubmission, encode_message
from vskill_platform.domain.records import Submission, receive_submission
from vskill_platform.domain.recovery import due_ms
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.submission import Actor, SubmissionState
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import Index, Operation, Put, Send
from vskill_platform.stores.records import encode_record
from vskill_platform.stores.skills import index_skill
from vskill_platform.stores.submissions import creating, index_submission
from vskill_platform.worker_context import current_env


async def submit(skill_name: str, *, repo_url: str = "https://github.com/acme/skills", priority: int = 0) -> Submission:
    """Bring a submission into being, with its message, as intake does."""
    env = current_env("writes")
    message = message_id(env.random_id())
    step = receive_submission(
        submission_id(env.random_id()),
        repo_url=repo_url,
        skill_name=skill_name,
        skill_path=f"skills/{skill_name}",
        message_id=message,
        actor=Actor.SUBMITTER,
        now_ms=env.clock.now_ms(),
    )
    body = encode_message(ProcessSubmission(submission_id=step.submission.id, run=step.submission.run))
    await env.writes.commit([*creating(step), Send(SUBMISSIONS_QUEUE, message, body, priority=priority)])
    return step.submission


def submission_at(
    state: SubmissionState, *, updated_ms: int, identity: str | None = None, **fields: object
) -> Submission:
    """A submission in any state, last touched at a moment."""
    moment = iso_from_ms(updated_ms)
    fresh = Submission(
        id=identity or submission_id(uuid4()),
        repo_url="https://github.com/acme/skills",
        skill_name="demo",
        skill_path="skills/demo",
        state=state,
        created_at=moment,
        updated_at=moment,
    )
    return msgspec.structs.replace(fresh, **fields)


def putting_submission(submission: Submission) -> list[Operation]:
    """The operations that store a submission as it is, due index and catalog included."""
    due = due_ms(submission.state, updated_ms=submission.updated_ms)
    return [
        Put(submission_key(submission.id), encode_record(submission), due_ms=due),
        Index(index_submission(submission)),
    ]


def putting_skill(slug: str, **fields: object) -> list[Operation]:
    """The operations that store a published skill."""
    given = {"name": slug.rsplit("/", 1)[-1], "repo_url": "https://github.com/acme/skills", **fields}
    skill = msgspec.structs.replace(Skill(slug=slug), **given)
    return [Put(skill_key(slug), encode_record(skill)), Index(index_skill(skill))]
