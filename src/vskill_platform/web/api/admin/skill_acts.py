"""Taking versions and skills out of people's hands, and giving them back."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import IllegalTransition, NotFound
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.slug import is_pushed
from vskill_platform.pipeline.intake import submit_again
from vskill_platform.pipeline.repo_looks import ask_again
from vskill_platform.pipeline.source_changes import SYSTEM
from vskill_platform.pipeline.yanking import (
    Yanked,
    quarantine_skill,
    restore_skill,
    restore_version,
    yank_version,
)
from vskill_platform.stores.skills import alias_end, find_skill
from vskill_platform.web.access import caller_of, needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest

TAGS = ["admin"]
_SLUG = "acme/skills/pdf-forms"
Slug = Annotated[str, msgspec.Meta(min_length=1, max_length=400)]


class VersionAct(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A version of a skill, and why. Everybody who meets a yank is told the reason."""

    slug: Slug
    version: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    reason: str


class SkillAct(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A skill, and why. Everybody who meets a quarantine is told the reason."""

    slug: Slug
    reason: str


class SkillActed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What became of it. `latest` is the version that people get now, null where they get none."""

    slug: str
    latest: str | None
    detail: str


_YANK = VersionAct(slug=_SLUG, version="1.0.1", reason="It sends the form to the wrong host.")
_SKILL = SkillAct(slug=_SLUG, reason="Somebody reports that it is not theirs.")
_ERRORS = (NotFound, IllegalTransition)
_MODERATE = needs(Permission.MODERATE)
_STEER = needs(Permission.STEER_QUEUE)


@post(
    "/api/v1/admin/skills/yank",
    summary="Yank a version",
    tags=TAGS,
    status_code=200,
    opt=described(
        SkillActed(slug=_SLUG, latest="1.0.0", detail="1.0.1 is yanked. People get 1.0.0 now."),
        body=_YANK,
        errors=_ERRORS,
        access=_MODERATE,
    ),
)
async def yank(request: PageRequest, data: JSONBody[VersionAct]) -> SkillActed:
    """Hand a version out no more. Its record stays; its archives answer 410 with the reason."""
    by = caller_of(request).id
    yanked = await act(
        request,
        "skills.yank",
        subject=f"{data.slug}@{data.version}",
        reason=data.reason,
        run=lambda: yank_version(data.slug, data.version, reason=data.reason, by=by),
    )
    return _acted(yanked, "is yanked")


@post(
    "/api/v1/admin/skills/restore-version",
    summary="Give a yanked version back",
    tags=TAGS,
    status_code=200,
    opt=described(
        SkillActed(slug=_SLUG, latest="1.0.1", detail="1.0.1 is handed out again. People get 1.0.1 now."),
        body=_YANK,
        errors=_ERRORS,
        access=_MODERATE,
    ),
)
async def unyank(request: PageRequest, data: JSONBody[VersionAct]) -> SkillActed:
    """Hand a yanked version out again, unless the blocklist or a later scan stands against its bytes."""
    by = caller_of(request).id
    restored = await act(
        request,
        "skills.restore_version",
        subject=f"{data.slug}@{data.version}",
        reason=data.reason,
        run=lambda: restore_version(data.slug, data.version, reason=data.reason, by=by),
    )
    return _acted(restored, "is handed out again")


def _acted(yanked: Yanked, what: str) -> SkillActed:
    people = "The skill is withdrawn." if yanked.latest is None else f"People get {yanked.latest} now."
    return SkillActed(slug=yanked.slug, latest=yanked.latest, detail=f"{yanked.version} {what}. {people}")


@post(
    "/api/v1/admin/skills/quarantine",
    summary="Put a skill into quarantine",
    tags=TAGS,
    status_code=200,
    opt=described(
        SkillActed(slug=_SLUG, latest=None, detail="It is out of lists and installs."),
        body=_SKILL,
        errors=_ERRORS,
        access=_MODERATE,
    ),
)
async def quarantine(request: PageRequest, data: JSONBody[SkillAct]) -> SkillActed:
    """Out of lists and installs at once, until it is restored. Its page says so, and why."""
    by = caller_of(request).id
    skill = await act(
        request,
        "skills.quarantine",
        subject=data.slug,
        reason=data.reason,
        run=lambda: quarantine_skill(data.slug, reason=data.reason, by=by),
    )
    return SkillActed(slug=skill.slug, latest=None, detail="It is out of lists and installs until it is restored.")


@post(
    "/api/v1/admin/skills/restore",
    summary="End a quarantine",
    tags=TAGS,
    status_code=200,
    opt=described(
        SkillActed(slug=_SLUG, latest="1.0.1", detail="It is published again as 1.0.1."),
        body=_SKILL,
        errors=_ERRORS,
        access=_MODERATE,
    ),
)
async def restore(request: PageRequest, data: JSONBody[SkillAct]) -> SkillActed:
    """Publish a skill in quarantine again, unless the blocklist or a later scan stands against it."""
    by = caller_of(request).id
    skill = await act(
        request,
        "skills.restore",
        subject=data.slug,
        reason=data.reason,
        run=lambda: restore_skill(data.slug, reason=data.reason, by=by),
    )
    return SkillActed(slug=skill.slug, latest=skill.version, detail=f"It is published again as {skill.version}.")


@post(
    "/api/v1/admin/skills/look",
    summary="Have a skill's repository looked at",
    tags=TAGS,
    status_code=200,
    opt=described(
        SkillActed(slug=_SLUG, latest="1.0.1", detail="Its repository is looked at in the next round."),
        body=SkillAct(slug=_SLUG, reason="Its owner says that it is back."),
        errors=_ERRORS,
        access=_STEER,
    ),
)
async def look_again(request: PageRequest, data: JSONBody[SkillAct]) -> SkillActed:
    """Do not wait until it is due: the next round, within a minute or so, looks at the repository."""
    skill = await _from_repository(data.slug)
    await act(request, "skills.look", subject=data.slug, reason=data.reason, run=lambda: ask_again(skill.repo_url))
    return SkillActed(slug=skill.slug, latest=skill.version, detail="Its repository is looked at in the next round.")


@post(
    "/api/v1/admin/skills/submit-again",
    summary="Have a skill's source verified as it is now",
    tags=TAGS,
    status_code=200,
    opt=described(
        SkillActed(slug=_SLUG, latest="1.0.1", detail="created: its source is fetched, scanned and decided on."),
        body=SkillAct(slug=_SLUG, reason="The source has changed since it was verified."),
        errors=_ERRORS,
        access=_STEER,
    ),
)
async def submit_skill_again(request: PageRequest, data: JSONBody[SkillAct]) -> SkillActed:
    """Submit once more what a skill comes from. What is published stays so until the new run has passed."""
    skill = await _from_repository(data.slug)
    intake = await act(
        request,
        "skills.submit_again",
        subject=data.slug,
        reason=data.reason,
        run=lambda: submit_again(skill.submission_id, submitter=SYSTEM),
    )
    return SkillActed(
        slug=skill.slug, latest=skill.version, detail=f"{intake.answer.value}: see submission {intake.submission.id}."
    )


async def _from_repository(slug: str) -> Skill:
    """A published skill that comes from a repository. Raises NotFound, or IllegalTransition for one that was pushed."""
    found = await find_skill(await alias_end(slug))
    if found is None or found.is_withdrawn:
        raise NotFound(f"There is no skill '{slug}'.", slug=slug)
    if not found.skill.repo_url or is_pushed(found.skill.repo_url):
        raise IllegalTransition(f"'{slug}' was pushed: it comes from no repository.", slug=slug)
    return found.skill


SKILL_ACT_ROUTES = [yank, unyank, quarantine, restore, look_again, submit_skill_again]
