"""What publishers do with their skills: take a version back, give it back, and the same with a whole skill."""

from __future__ import annotations

from litestar import post
from litestar.params import JSONBody

from vskill_platform.accounts.ownership import require_manager
from vskill_platform.domain.access import Caller
from vskill_platform.domain.errors import Conflict, IllegalTransition, NotAllowed, NotFound
from vskill_platform.pipeline.intake import submit_again
from vskill_platform.pipeline.withdrawal import withdraw_skill
from vskill_platform.pipeline.yanking import Yanked, restore_version, yank_version
from vskill_platform.stores.skills import find_skill
from vskill_platform.stores.versions import get_version
from vskill_platform.web.access import caller_of
from vskill_platform.web.api import examples
from vskill_platform.web.api.own_views import ReasonRequest, Told
from vskill_platform.web.api.owning import Handle, Repo, SkillPart, Version, owned
from vskill_platform.web.api.submissions import submitter_of, view_intake
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.surface.rate_limits import SUBMISSIONS, limited
from vskill_platform.web.views import SubmissionAnswer

TAGS = ["publishers"]
OWN_SKILL = "/api/v1/publishers/{name:str}/skills/{repo:str}/{skill:str}"
_BY_PUBLISHER = "publisher:"
_WHY = ReasonRequest(reason="It deletes what it should keep")
_ERRORS = (NotFound, Conflict, IllegalTransition)


@post(
    f"{OWN_SKILL}/versions/{{version:str}}/yank",
    status_code=200,
    summary="Yank a version",
    tags=TAGS,
    opt=owned(Told(detail="acme/tools/lint 1.2.0 is yanked."), body=_WHY, errors=_ERRORS),
)
async def yank_own_version(
    request: PageRequest,
    *,
    name: Handle,
    repo: Repo,
    skill: SkillPart,
    version: Version,
    data: JSONBody[ReasonRequest],
) -> Told:
    """Hand a version out no more. Its page says why; people get the highest version that is left."""
    slug = await _own_slug(caller_of(request), name, repo, skill)
    yanked = await yank_version(slug, version, reason=data.reason, by=by_publisher(name))
    return _tell(yanked, "yanked")


@post(
    f"{OWN_SKILL}/versions/{{version:str}}/restore",
    status_code=200,
    summary="Restore a version",
    tags=TAGS,
    opt=owned(Told(detail="acme/tools/lint 1.2.0 is handed out again."), body=_WHY, errors=_ERRORS),
)
async def restore_own_version(
    request: PageRequest,
    *,
    name: Handle,
    repo: Repo,
    skill: SkillPart,
    version: Version,
    data: JSONBody[ReasonRequest],
) -> Told:
    """Hand out again what the publisher has yanked. What the operator has yanked, the operator restores."""
    slug = await _own_slug(caller_of(request), name, repo, skill)
    restored = await restore_for_publisher(slug, version, reason=data.reason, handle=name)
    return _tell(restored, "handed out again")


def by_publisher(handle: str) -> str:
    """What a yank by a publisher is marked with."""
    return f"{_BY_PUBLISHER}{handle}"


async def restore_for_publisher(slug: str, version: str, *, reason: str, handle: str) -> Yanked:
    """Hand a version out again for its publisher. Raises NotAllowed for one that the operator has yanked."""
    found = await get_version(slug, version)
    if found is not None and found.is_yanked and not found.yanked_by.startswith(_BY_PUBLISHER):
        raise NotAllowed(f"{slug} {version} was yanked by the operator, who alone restores it. Appeal if it is wrong.")
    return await restore_version(slug, version, reason=reason, by=by_publisher(handle))


@post(
    f"{OWN_SKILL}/withdraw",
    status_code=200,
    summary="Withdraw a skill",
    tags=TAGS,
    opt=owned(Told(detail="acme/tools/lint is withdrawn."), body=_WHY, errors=_ERRORS),
)
async def withdraw_own_skill(
    request: PageRequest, name: Handle, repo: Repo, skill: SkillPart, data: JSONBody[ReasonRequest]
) -> Told:
    """Take a skill off the registry. Nobody but its publisher brings it in again."""
    slug = await _own_slug(caller_of(request), name, repo, skill)
    await withdraw_skill(slug, reason=data.reason)
    return Told(detail=f"{slug} is withdrawn.")


@post(
    f"{OWN_SKILL}/publish-again",
    summary="Bring a withdrawn skill in again",
    tags=TAGS,
    guards=[limited(SUBMISSIONS)],
    status_code=200,
    opt=owned(examples.SUBMISSION_ANSWER, errors=_ERRORS, rate=SUBMISSIONS),
)
async def publish_own_skill_again(request: PageRequest, name: Handle, repo: Repo, skill: SkillPart) -> SubmissionAnswer:
    """Have a skill that was withdrawn fetched, scanned and decided on anew. It is back once it passes."""
    caller = caller_of(request)
    found = await find_skill(await _own_slug(caller, name, repo, skill))
    if found is None:
        raise NotFound(f"There is no skill '{name}/{repo}/{skill}', and there was none.")
    return view_intake(await submit_again(found.skill.submission_id, submitter=submitter_of(caller)))


async def _own_slug(caller: Caller, *segments: str) -> str:
    """The slug, if the caller may manage what is under it. Raises NotAllowed."""
    slug = "/".join(segments)
    await require_manager(caller, slug)
    return slug


def _tell(done: Yanked, what: str) -> Told:
    left = "No version is left: the skill is gone." if done.latest is None else f"People get {done.latest}."
    return Told(detail=f"{done.slug} {done.version} is {what}. {left}")


OWN_SKILL_ROUTES = [yank_own_version, restore_own_version, withdraw_own_skill, publish_own_skill_again]
