"""Examples of what goes over the wire: records of the very types that routes answer with, so that they cannot be wrong."""

from __future__ import annotations

from vskill_platform.domain.blocklist import BlockKind
from vskill_platform.domain.judgement import Judgement
from vskill_platform.domain.records import HistoryEntry
from vskill_platform.domain.scan import Verdict
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.pipeline.intake import Answer
from vskill_platform.stores.health import Health, QueueHealth
from vskill_platform.stores.submissions import SubmissionRow
from vskill_platform.web.views import BlockView, SubmissionAnswer, SubmissionRequest, SubmissionView

ID = "sub_3f2b8c1d9e4a4f60b7a1c5d2e8f90134"
REPOSITORY = "https://github.com/acme/skills"
COMMIT = "9c1f0b7a5d3e2c4b6a8f7e1d0c9b8a7f6e5d4c3b"
DIGEST = "sha256:" + "5f" * 32
_THEN, _NOW = "2026-02-21T10:00:00.000Z", "2026-02-21T10:00:01.250Z"

SUBMISSION_REQUEST = SubmissionRequest(repo_url=REPOSITORY, skill_name="pdf-forms")
SUBMISSION_ANSWER = SubmissionAnswer(
    status=Answer.CREATED,
    id=ID,
    submission_id=ID,
    state=SubmissionState.RECEIVED,
    run=1,
    repo_url=REPOSITORY,
    skill_name="pdf-forms",
    created_at=_THEN,
    updated_at=_THEN,
    duplicate=False,
    already_verified=False,
    blocked=False,
    skill_id=None,
    reason=None,
)
SUBMISSION_ROW = SubmissionRow(
    id=ID,
    repo_url=REPOSITORY,
    skill_name="pdf-forms",
    state=SubmissionState.PUBLISHED,
    created_at=_THEN,
    updated_at=_NOW,
    run=1,
    slug="acme/skills/pdf-forms",
    version="1.0.0",
    verdict="PASS",
    score=97,
)
REJECTED_ROW = SubmissionRow(
    id=ID,
    repo_url=REPOSITORY,
    skill_name="pdf-forms",
    state=SubmissionState.TIER1_FAILED,
    created_at=_THEN,
    updated_at=_NOW,
    run=1,
    reason="tier1_failed",
    verdict="FAIL",
    score=25,
)
SUBMISSION_VIEW = SubmissionView(
    id=ID,
    skill_name="pdf-forms",
    skill_path="skills/pdf-forms",
    state=SubmissionState.PUBLISHED,
    run=1,
    reason=None,
    verdict="PASS",
    score=97,
    slug="acme/skills/pdf-forms",
    version="1.0.0",
    repo_url=REPOSITORY,
    tree_path="",
    parent_id=None,
    commit=COMMIT,
    content_digest=DIGEST,
    created_at=_THEN,
    updated_at=_NOW,
    timings={"fetch": 420, "scan": 61, "publish": 12},
    published_skill_name="acme/skills/pdf-forms",
    history=[
        HistoryEntry(
            number=1,
            run=1,
            source=None,
            state=SubmissionState.RECEIVED,
            trigger=Trigger.SUBMITTED,
            actor=Actor.SUBMITTER,
            timestamp=_THEN,
            message="Received.",
        )
    ],
    scan=None,
    lint=None,
    judgement=Judgement(
        model="judge-8b", prompt_version="1.0123456789", verdict=Verdict.PASS, score=93, tokens=2400, tokens_out=90
    ),
    children=[],
)
BLOCK = BlockView(
    key="block:digest:" + DIGEST,
    kind=BlockKind.DIGEST,
    digest=DIGEST,
    skill_name="",
    repo_url="",
    reason="Reads credentials and sends them away.",
    actor=Actor.SYSTEM,
    created_at=_NOW,
)
QUEUE = QueueHealth(waiting=12, delayed=1, leased=3, dead=0, oldest_age_ms=840, paused=None)
CATEGORIES = {"active": 16, "review": 4, "published": 1803, "rejected": 120, "blocked": 6, "total": 1949}
HEALTH = Health(status="ok", version="0.1.0", queue=QUEUE, submissions=CATEGORIES)
