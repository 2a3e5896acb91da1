"""Published skills: enumerating them, listing them, finding one by its slug or an older one, and moving old slugs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import structlog

from vskill_platform.domain.catalog import SKILLS, Document
from vskill_platform.domain.errors import Conflict, InvalidInput, MalformedRecord
from vskill_platform.domain.ids import ALIAS_PREFIX, SKILL_PREFIX, alias_key, skill_key, withdrawn_key
from vskill_platform.domain.relevance import skill_weight
from vskill_platform.domain.search_terms import titled_terms
from vskill_platform.domain.skill import PublishedSkillSummary, Skill
from vskill_platform.domain.slug import is_current_slug, skill_slug
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.domain.tombstone import Departure
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.ports.commit import ABSENT, Delete, Emit, Index, Operation, Put, Unindex
from vskill_platform.stores.catalog import query_rows
from vskill_platform.stores.fan_out import settle_each
from vskill_platform.stores.reads import Settled, list_keys, read_keys, read_prefix, scan_prefix
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.stores.tombstones import marking_renamed, marking_withdrawn, unmarking
from vskill_platform.worker_context import current_env

_log = structlog.get_logger(__name__)
_MIGRATIONS_IN_FLIGHT = 16
_MOST_RENAMES = 100


class _Summary(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The fields of a skill's record that an enumeration needs; older records may lack any of them."""

    name: str | None = None
    repo_url: str | None = None
    description: str = ""
    version: str = ""
    tier: str = "SCANNED"
    score: int = 0
    updated_at: str = ""
    published_at: str = ""
    publisher: str = ""
    category: str = ""
    verdict: str = ""
    capabilities: tuple[str, ...] = ()
    installs: int = 0
    yanked_versions: tuple[str, ...] = ()


_summaries = msgspec.json.Decoder(_Summary)
_skills = msgspec.json.Decoder(Skill)
_rows = msgspec.json.Decoder(PublishedSkillSummary)


class SlugMigration(NamedTuple):
    """What a migration of slugs did."""

    examined: int
    moved: int
    conflicts: int
    unmovable: int
    failed: int


async def enumerate_published_skills() -> Settled[PublishedSkillSummary]:
    """Every published skill, by slug. Aliases are never read; what is malformed or failing is left out and counted."""
    return await read_prefix(SKILL_PREFIX, _decode_summary, exclude=ALIAS_PREFIX)


def iter_published_skills() -> AsyncIterator[Settled[PublishedSkillSummary]]:
    """The same as a stream of chunks, so that memory does not grow with the registry."""
    return scan_prefix(SKILL_PREFIX, _decode_summary, exclude=ALIAS_PREFIX)


class SkillPart(NamedTuple):
    """Some published skills, by slug, and where the next ones begin; None at the end."""

    skills: Settled[Skill]
    cursor: str | None


async def read_published_part(cursor: str | None, *, limit: int) -> SkillPart:
    """The next of all published skills, at most so many, for walks that go on another time."""
    page = await current_env("kv").kv.list(SKILL_PREFIX, cursor=cursor, limit=limit)
    keys = [key for key in page.keys if not key.startswith(ALIAS_PREFIX)]
    return SkillPart(await read_keys(keys, decode_published), None if page.complete else page.cursor)


def decode_published(key: str, value: bytes) -> Skill:
    """The published skill under a key, with the slug that the key has. Raises MalformedRecord."""
    return msgspec.structs.replace(decode_skill(key, value), slug=key.removeprefix(SKILL_PREFIX))


async def get_summaries(slugs: Sequence[str]) -> Settled[PublishedSkillSummary]:
    """The skills that are published under these slugs, in their order; the others are left out and counted."""
    return await read_keys([skill_key(slug) for slug in slugs], _decode_summary)


def _decode_summary(key: str, value: bytes) -> PublishedSkillSummary:
    summary = decode_record(key, value, decoder=_summaries)
    slug = key.removeprefix(SKILL_PREFIX)
    return PublishedSkillSummary(
        slug=slug,
        name=slug if summary.name is None else summary.name,
        repo_url=summary.repo_url or "",
        description=summary.description,
        version=summary.version,
        tier=summary.tier,
        score=summary.score,
        updated_at=summary.updated_at,
        published_at=summary.published_at,
        publisher=summary.publisher,
        category=summary.category,
        verdict=summary.verdict,
        capabilities=summary.capabilities,
        installs=summary.installs,
        yanked_versions=summary.yanked_versions,
    )


@dataclass(frozen=True, slots=True)
class SkillQuery:
    """Published skills that match the search and each filter that is not empty (any of its values), one page of them.

    `sort` is one of `updated published score installs name`; without one, a search orders by relevance, and a list by the newest
    change. `counts` names facets to be counted: `tier category publisher capability`.
    """

    search: str = ""
    tier: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    publisher: tuple[str, ...] = ()
    capability: tuple[str, ...] = ()
    sort: str | None = None
    descending: bool = True
    limit: int = 50
    offset: int = 0
    counts: tuple[str, ...] = ()


class SkillRows(NamedTuple):
    """One page of skills, how many match in all, and how many have each value of the facets that were to be counted."""

    rows: list[PublishedSkillSummary]
    total: int
    counts: dict[str, dict[str, int]]


async def search_skills(query: SkillQuery) -> SkillRows:
    """The skills that a query asks for, the total and the counts, of one moment. Raises InvalidQuery."""
    chosen = {facet: getattr(query, facet) for facet in SKILLS.facets}
    found = await query_rows(
        CatalogQuery(
            SKILLS,
            where={facet: values for facet, values in chosen.items() if values},
            search=query.search,
            sort=query.sort,
            descending=query.descending,
            limit=query.limit,
            offset=query.offset,
            counts=query.counts,
        ),
        decoder=_rows,
    )
    return SkillRows(*found)


async def get_published_skills_list(
    *, search: str = "", tier: str | None = None, limit: int = 50, offset: int = 0
) -> SkillRows:
    """One page of published skills from the catalog: what a search finds best first, else the newest change first."""
    wanted = () if tier is None else (tier,)
    return await search_skills(SkillQuery(search=search, tier=wanted, limit=limit, offset=offset))


async def resolve_slug(slug: str) -> str | None:
    """The slug under which a skill is published: the slug itself, or what aliases say. None if there is no such skill."""
    kv = current_env("kv").kv
    for _ in range(_MOST_RENAMES):
        if await kv.get(skill_key(slug)) is not None:
            return slug
        target = await find_alias(slug)
        if target is None:
            return None
        slug = target
    return None


async def alias_end(slug: str) -> str:
    """Where the aliases that begin at a slug lead to in the end, whether or not anything is published there."""
    for _ in range(_MOST_RENAMES):
        target = await find_alias(slug)
        if target is None:
            break
        slug = target
    return slug


async def find_alias(slug: str) -> str | None:
    """The slug that an older one points to, or None."""
    alias = await current_env("kv").kv.get(alias_key(slug))
    if alias is None:
        return None
    try:
        return alias.value.decode()
    except UnicodeDecodeError as exc:
        raise MalformedRecord(f"The alias '{slug}' cannot be read.", key=alias_key(slug)) from exc


class FoundSkill(NamedTuple):
    """A skill as it was read: the record, its bytes and version, and whether it has been withdrawn."""

    skill: Skill
    value: bytes
    version: int
    is_withdrawn: bool


async def find_skill(slug: str) -> FoundSkill | None:
    """The skill that is or was published under this very slug, or None."""
    kv = current_env("kv").kv
    for key, is_withdrawn in ((skill_key(slug), False), (withdrawn_key(slug), True)):
        entry = await kv.get(key)
        if entry is not None:
            return FoundSkill(decode_skill(key, entry.value), entry.value, entry.version, is_withdrawn)
    return None


def decode_skill(key: str, value: bytes) -> Skill:
    """The skill in a value. Raises MalformedRecord."""
    return decode_record(key, value, decoder=_skills)


def putting_published(skill: Skill, *, found: FoundSkill | None) -> list[Operation]:
    """The operations that publish a skill's record in place of what was found under its slug."""
    key = skill_key(skill.slug)
    shown = [Index(index_skill(skill)), unmarking(skill.slug)]
    if found is None:
        return [Put(key, encode_record(skill), if_version=ABSENT), *shown]
    value = encode_changed(skill, key=key, previous=found.value)
    if not found.is_withdrawn:
        return [Put(key, value, if_version=found.version), *shown]
    gone = Delete(withdrawn_key(skill.slug), if_version=found.version)
    return [gone, Put(key, value, if_version=ABSENT), *shown]


def withdrawing(
    found: FoundSkill, *, reason: str, kind: Departure = Departure.WITHDRAWN, by: str = ""
) -> list[Operation]:
    """The operations that take a skill off the registry; its record is kept, and its versions are."""
    slug = found.skill.slug
    told = "skill.quarantined" if kind is Departure.QUARANTINED else "skill.withdrawn"
    return [
        Delete(skill_key(slug), if_version=found.version),
        Put(withdrawn_key(slug), found.value),
        marking_withdrawn(slug, reason=reason, kind=kind, by=by),
        Unindex(SKILLS, slug),
        Emit(told, slug, msgspec.json.encode({"reason": reason})),
    ]


def changing(found: FoundSkill, skill: Skill) -> FoundSkill:
    """What was found, with another record of the same skill in its place."""
    key = withdrawn_key(skill.slug) if found.is_withdrawn else skill_key(skill.slug)
    return found._replace(skill=skill, value=encode_changed(skill, key=key, previous=found.value))


def putting_withdrawn(found: FoundSkill) -> Operation:
    """The operation that rewrites the record of a skill that is published no more, and leaves it so."""
    return Put(withdrawn_key(found.skill.slug), found.value, if_version=found.version)


def renaming_away(found: FoundSkill, *, to_slug: str) -> list[Operation]:
    """The operations that leave an alias where a skill was published that now has another slug."""
    slug = found.skill.slug
    key = withdrawn_key(slug) if found.is_withdrawn else skill_key(slug)
    return [
        Delete(key, if_version=found.version),
        Put(alias_key(slug), to_slug.encode()),
        marking_renamed(slug, to_slug=to_slug),
        Unindex(SKILLS, slug),
        Emit("skill.renamed", to_slug, msgspec.json.encode({"from": slug, "to": to_slug})),
    ]


async def migrate_skill_slugs(*, dry_run: bool = False) -> SlugMigration:
    """Move every skill whose slug is of an older form to its present one, and leave an alias behind.

    A slug that is taken stays where it is and counts as a conflict. Running it again moves nothing twice.
    """
    keys = [key async for page in list_keys(SKILL_PREFIX) for key in page if not key.startswith(ALIAS_PREFIX)]
    old = [key for key in keys if not is_current_slug(key.removeprefix(SKILL_PREFIX))]
    outcomes = await settle_each(old, lambda key: _move_skill(key, dry_run=dry_run), in_flight=_MIGRATIONS_IN_FLIGHT)
    for key, outcome in zip(old, outcomes, strict=True):
        if isinstance(outcome, Exception):
            _log.error("slug_migration_failed", key=key, error=str(outcome))
    return SlugMigration(
        examined=len(keys),
        moved=outcomes.count("moved"),
        conflicts=outcomes.count("conflict"),
        unmovable=outcomes.count("unmovable"),
        failed=sum(isinstance(outcome, Exception) for outcome in outcomes),
    )


async def _move_skill(key: str, *, dry_run: bool) -> str:
    env = current_env("kv")
    slug = key.removeprefix(SKILL_PREFIX)
    try:
        entry = await env.kv.get(key)
        if entry is None:
            return "gone"
        skill = decode_skill(key, entry.value)
        target = skill_slug(skill.repo_url, skill.name or slug)
        if not dry_run:
            await env.writes.commit(_moving(slug, target, skill, value=entry.value, version=entry.version))
    except Conflict:
        _log.warning("slug_taken", slug=slug)
        return "conflict"
    except (InvalidInput, MalformedRecord) as error:
        _log.warning("slug_unmovable", slug=slug, error=error.message)
        return "unmovable"
    return "moved"


def _moving(slug: str, target: str, skill: Skill, *, value: bytes, version: int) -> list[Operation]:
    moved = msgspec.structs.replace(skill, slug=target)
    return [
        Put(skill_key(target), encode_changed(moved, key=skill_key(slug), previous=value), if_version=ABSENT),
        *renaming_away(FoundSkill(msgspec.structs.replace(skill, slug=slug), value, version, False), to_slug=target),
        Index(index_skill(moved)),
        unmarking(target),
    ]


def index_skill(skill: Skill) -> Document:
    """The catalog's document for a published skill."""
    row = PublishedSkillSummary(
        slug=skill.slug,
        name=skill.name or skill.slug,
        repo_url=skill.repo_url,
        description=skill.description,
        version=skill.version,
        tier=skill.tier.value,
        score=skill.score,
        updated_at=skill.updated_at,
        published_at=skill.published_at,
        publisher=skill.publisher,
        category=skill.category,
        verdict=skill.verdict,
        capabilities=skill.capabilities,
        installs=skill.installs,
        yanked_versions=skill.yanked_versions,
    )
    return Document(
        collection=SKILLS,
        id=skill.slug,
        row=msgspec.json.encode(row),
        facets={
            "tier": skill.tier.value,
            "category": skill.category,
            "publisher": skill.publisher,
            "capability": tuple(sorted(set(skill.capabilities))),
        },
        sorts={
            "updated": ms_from_iso(skill.updated_at) if skill.updated_at else 0,
            "published": ms_from_iso(skill.published_at) if skill.published_at else 0,
            "score": skill.score,
            "installs": skill.installs,
            "name": row.name,
        },
        terms=titled_terms(row.name, path=skill.slug, text=skill.description),
        weight=skill_weight(skill.tier, skill.installs),
    )
