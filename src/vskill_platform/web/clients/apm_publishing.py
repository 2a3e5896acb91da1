"""Publishing by apm: a package is sent as a zip, and the skill in it is pushed under the owner's handle.

The protocol answers 201 when a package is taken, and knows no pending one. We take it and verify it before anybody can have
it: the answer says `pending` and leaves `published_at` empty, and `/versions` has the version once it is published.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import msgspec
from litestar import Request, Response, put
from litestar.datastructures import State
from litestar.params import FromPath

from vskill_platform.domain.access import Permission
from vskill_platform.domain.archives import build_zip
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import (
    BodyTooLarge,
    InvalidInput,
    NotAllowed,
    PushPending,
    SourceRefused,
    ValueTooLarge,
    VersionTaken,
)
from vskill_platform.domain.slug import PUSHED_REPO
from vskill_platform.ingest.limits import skill_limits
from vskill_platform.ingest.zip_packages import read_skill_package
from vskill_platform.pipeline.intake import Answer, Intake
from vskill_platform.pipeline.pushing import check_pushed_name, check_pushed_version, push_skill
from vskill_platform.stores.pushed_handles import claiming_handle
from vskill_platform.web.access import ACCESS, caller_of, needs
from vskill_platform.web.api.submissions import submitter_of
from vskill_platform.web.clients.apm_packages import skills_of_repository
from vskill_platform.web.clients.request_body import ClientGone, read_body
from vskill_platform.web.surface.problems import PROBLEM_TYPE, make_problem
from vskill_platform.web.surface.rate_limits import SUBMISSIONS, limited
from vskill_platform.web.views import Problem
from vskill_platform.worker_context import current_env

ZIP_OVERHEAD_BYTES = 1024 * 1024
"""What a zip may have beside the files in it: their names, twice each, and a package's papers."""
LOCKED = 423


class ApmPublished(msgspec.Struct, frozen=True, kw_only=True):
    """A package that was taken. The digest is that of the archive that everybody will get."""

    package: str
    version: str
    digest: str
    published_at: str | None = None
    status: str = "pending"
    submission_id: str
    detail: str


def tell_pending(request: Request[Any, Any, State], error: Exception) -> Response[bytes]:
    """409 means to this client that a version exists for good, so that another push is in work is told as 423."""
    assert isinstance(error, PushPending)
    problem = msgspec.json.decode(make_problem(error).body, type=Problem)
    body = msgspec.json.encode(msgspec.structs.replace(problem, status=LOCKED))
    return Response(body, status_code=LOCKED, media_type=PROBLEM_TYPE, headers={"Retry-After": "10"})


@put(
    ["/apm/v1/packages/{owner:str}/{repo:str}/versions/{version:str}"],
    guards=[limited(SUBMISSIONS)],
    opt={ACCESS: needs(Permission.OWN)},
    exception_handlers={PushPending: tell_pending},
    request_max_body_size=None,
)
async def publish_apm_version(
    request: Request[Any, Any, State], owner: FromPath[str], repo: FromPath[str], version: FromPath[str]
) -> Response[ApmPublished]:
    """Take a version of a package in."""
    submitter = submitter_of(caller_of(request))
    check_pushed_name(repo)
    check_pushed_version(version)
    await claiming_handle(owner, account=submitter.account or "")
    await _refuse_repository(owner, repo)
    content = await _read_package(request)
    intake = await push_skill(content, handle=owner, name=repo, version=version, submitter=submitter)
    _refuse_unless_taken(intake, version=version)
    digest = await asyncio.to_thread(_zip_digest, content)
    return Response(
        ApmPublished(
            package=f"{owner}/{repo}",
            version=version,
            digest=digest,
            submission_id=intake.submission.id,
            detail=f"It is being verified and listed when it has passed. See /submissions/{intake.submission.id}.",
        ),
        status_code=201,
    )


async def _refuse_repository(owner: str, name: str) -> None:
    """A short name that means a repository's skill today must not mean another one tomorrow."""
    if name == PUSHED_REPO or await skills_of_repository(owner, name):
        raise NotAllowed(
            f"{owner}/{name} is a repository here, and its versions come from there. Publish under another name."
        )


async def _read_package(request: Request[Any, Any, State]) -> SkillContent:
    limits = skill_limits(current_env("settings").settings)
    most = limits.total_bytes + ZIP_OVERHEAD_BYTES
    try:
        archive = await read_body(request.receive, is_gzipped=False, max_bytes=most)
    except ValueTooLarge as exc:
        raise BodyTooLarge(f"A package has at most {most} bytes. Leave out what the skill does not need.") from exc
    except ClientGone as exc:
        raise InvalidInput("The package did not arrive whole. Send it again.") from exc
    return await asyncio.to_thread(read_skill_package, archive, limits=limits)


def _refuse_unless_taken(intake: Intake, *, version: str) -> None:
    slug, submission = intake.submission.slug, intake.submission.id
    match intake.answer:
        case Answer.VERIFIED:
            raise VersionTaken(f"{slug} {version} is published already, and versions do not change.", version=version)
        case Answer.BLOCKED:
            raise SourceRefused(
                f"These bytes are on the blocklist and are not published. See /submissions/{submission}."
            )
        case Answer.REJECTED:
            raise SourceRefused(f"A person has turned these bytes down. See /submissions/{submission} for the reason.")


def _zip_digest(content: SkillContent) -> str:
    return f"sha256:{hashlib.sha256(build_zip(content)).hexdigest()}"
