"""Skills and versions in the words of ClawHub: times in milliseconds, and a licence only where it is the one its clients take."""

from __future__ import annotations

from vskill_platform.domain.skill import PublishedSkillSummary, Skill, SkillVersion
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.stores.counts import SkillCounts
from vskill_platform.web.clients.clawhub.naming import Named, owner_of_slug, short_name

PLATFORM_LICENCE = "MIT-0"
"""The only word that clients accept in `license`. What a skill's licence really is stands in `spdxLicense`."""


def view_row(row: PublishedSkillSummary) -> dict[str, object]:
    """A skill as lists have it."""
    published_ms, updated_ms = _ms(row.published_at), _ms(row.updated_at)
    return {
        "slug": short_name(row.slug),
        "ownerHandle": owner_of_slug(row.slug),
        "displayName": row.name,
        "summary": row.description or None,
        "topics": [row.category] if row.category else [],
        "tags": {"latest": row.version},
        "stats": {"downloads": row.installs, "installsAllTime": row.installs, "installsCurrent": row.installs},
        "createdAt": published_ms,
        "updatedAt": updated_ms,
        "latestVersion": {"version": row.version, "createdAt": updated_ms, "changelog": "", "license": None},
        "owner": view_owner(owner_of_slug(row.slug)),
        "canonicalSlug": row.slug,
    }


def view_hit(row: PublishedSkillSummary, *, place: int) -> dict[str, object]:
    """A skill as a search finds it; what stands first has the highest score."""
    return {
        "score": round(1 / (1 + place), 4),
        "slug": short_name(row.slug),
        "ownerHandle": owner_of_slug(row.slug),
        "displayName": row.name,
        "summary": row.description or None,
        "version": row.version,
        "downloads": row.installs,
        "updatedAt": _ms(row.updated_at),
        "owner": view_owner(owner_of_slug(row.slug)),
        "canonicalSlug": row.slug,
    }


def view_owner(handle: str) -> dict[str, object]:
    """Whoever publishes a skill."""
    return {"handle": handle, "displayName": handle, "image": None}


def view_skill(named: Named, counts: SkillCounts) -> dict[str, object]:
    """A skill by itself, under the slug that it was asked for by."""
    skill = named.skill
    return {
        "slug": named.asked,
        "displayName": skill.name,
        "summary": skill.description or None,
        "topics": [skill.category] if skill.category else [],
        "tags": {"latest": skill.version},
        "stats": {
            "downloads": counts.downloads,
            "installsAllTime": counts.installs,
            "installsCurrent": counts.installs,
            "stars": counts.stars,
        },
        "createdAt": _ms(skill.published_at),
        "updatedAt": _ms(skill.updated_at),
        "canonicalSlug": skill.slug,
        "spdxLicense": skill.license or None,
    }


def view_version(version: SkillVersion, skill: Skill) -> dict[str, object]:
    """A version by itself."""
    return {
        "version": version.version,
        "createdAt": _ms(version.published_at),
        "changelog": "",
        "changelogSource": None,
        "license": PLATFORM_LICENCE if skill.license == PLATFORM_LICENCE else None,
        "contentDigest": version.content_digest,
        "zipDigest": version.zip_digest,
    }


def view_files(version: SkillVersion) -> list[dict[str, object]]:
    """The files of a version."""
    return [{"path": file.path, "size": file.size, "sha256": file.sha256} for file in version.files]


def _ms(moment: str) -> int:
    """A time of a record; 0 for records of old that have none."""
    return ms_from_iso(moment) if moment else 0
