"""The versions of a skill: all of them, and what differs between two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from litestar import Response, get

from vskill_platform.domain.skill import SkillVersion
from vskill_platform.stores.versions import get_versions
from vskill_platform.web.api.skill_lookup import published_version
from vskill_platform.web.api.versions import compare_versions
from vskill_platform.web.pages.rendering import PageRequest, page
from vskill_platform.web.pages.skill_frame import SKILL_PATH, load_frame

_KINDS = {"+": "added", "-": "removed", "@": "hunk", "\\": "hunk"}


class VersionLine(NamedTuple):
    """A version in the list, and the one before it, with which it is compared."""

    version: SkillVersion
    before: str


class DiffLine(NamedTuple):
    """One line of a difference, and what kind of line it is."""

    kind: str
    text: str


@get(f"{SKILL_PATH}/versions")
async def list_skill_versions(request: PageRequest) -> Response[str]:
    """Every version, newest first, with what each can do that the one before could not."""
    frame = await load_frame(request)
    versions = await get_versions(frame.skill.slug)
    before = [*(version.version for version in versions[1:]), ""]
    lines = [VersionLine(version, number) for version, number in zip(versions, before, strict=True)]
    return page(request, "skill_versions.html", frame=frame, lines=lines)


@get(f"{SKILL_PATH}/compare")
async def compare_skill_versions(request: PageRequest) -> Response[str]:
    """What differs between two versions; without names, between the newest and the one before it."""
    frame = await load_frame(request)
    numbers = [version.version for version in await get_versions(frame.skill.slug)]
    target = request.query_params.get("to", "") or frame.skill.version
    source = request.query_params.get("from", "") or _before(target, numbers)
    after = await published_version(frame.skill, target)
    comparison = await compare_versions(await published_version(frame.skill, source), after)
    return page(
        request,
        "skill_compare.html",
        frame=frame,
        numbers=numbers,
        comparison=comparison,
        files=[(change, list(diff_lines(change.diff or ""))) for change in comparison.files],
    )


def _before(version: str, numbers: list[str]) -> str:
    """The version before another in a list from the newest on; itself where there is none."""
    later = numbers[numbers.index(version) + 1 :] if version in numbers else []
    return later[0] if later else version


def diff_lines(diff: str) -> Iterator[DiffLine]:
    """The lines of a unified difference, each with its kind."""
    for line in diff.splitlines():
        yield DiffLine(_KINDS.get(line[:1], "same"), line)
