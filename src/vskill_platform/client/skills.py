"""Skills of a registry as a client asks for them: by words, by name, by version, and with every byte of one checked."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from vskill_platform.client.answers import (
    BlockAnswer,
    BlockEntry,
    CollectedSkill,
    CollectionAnswer,
    ComparisonAnswer,
    SearchAnswer,
    SecurityAnswer,
    SkillAnswer,
    SubmittedAnswer,
    UpdateAnswer,
    UpdateListAnswer,
    VersionAnswer,
    VersionListAnswer,
)
from vskill_platform.client.connection import PRIVATE_PREFIX, RegistryClient, Tell, open_connection, parse_server
from vskill_platform.client.unpacking import most_archive_bytes, unpack
from vskill_platform.domain.content import SkillContent, content_digest, listed_digest
from vskill_platform.domain.errors import (
    ArchiveRefused,
    InvalidInput,
    NotFound,
    SkillBlocked,
    SkillMoved,
    VersionYanked,
)
from vskill_platform.domain.ids import sha256_digest
from vskill_platform.domain.skill import PublishedSkillSummary, VersionFile
from vskill_platform.domain.slug import is_current_slug, slugify
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.limits import SkillLimits

SKILLS = "/api/v1/skills"
MOST_CHECKED = 500
_MOST_TOLD = 10
_MOST_MOVES = 5
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,64}")


class Wish(NamedTuple):
    """The skill that somebody asks for: a slug or a name, and a version where one is wanted."""

    skill: str
    version: str = ""


def parse_wish(text: str) -> Wish:
    """`owner/repo/skill`, or its last part alone, with `@` and a version or without. Raises InvalidInput."""
    skill, at, version = text.strip().partition("@")
    parts = skill.split("/")
    if len(parts) not in (1, 3) or not all(slugify(part) for part in parts) or (at and not _VERSION.fullmatch(version)):
        raise InvalidInput(
            f"'{printable(text)}' names no skill. Write owner/repo/skill, or owner/repo/skill@1.2.0; "
            "vskill-platform find WORDS searches for one."
        )
    return Wish(skill, version)


class Skills:
    """The skills of one registry, or those behind one private path of it."""

    def __init__(self, client: RegistryClient, *, secret: str = "") -> None:
        self._client = client
        self._secret = secret

    @property
    def server(self) -> str:
        """The registry's address, without any secret."""
        return self._client.place

    @property
    def is_private(self) -> bool:
        """Whether only what is behind a private path is looked at."""
        return bool(self._secret)

    async def search(self, words: str, *, limit: int) -> SearchAnswer:
        """Skills that match, the best first."""
        if self._secret:
            return _search_among(await self._collected(), words, limit=limit)
        return await self._client.get(f"{SKILLS}/search", SearchAnswer, q=words, limit=limit)

    async def resolve(self, wish: Wish) -> Wish:
        """The wish with a whole slug, and the version that a private path pins. Raises NotFound or InvalidInput."""
        if self._secret:
            return _resolve_among(await self._collected(), wish)
        if is_current_slug(wish.skill):
            return wish
        found = (await self.search(wish.skill, limit=50)).skills
        return Wish(_the_one(wish.skill, [skill.slug for skill in found]), wish.version)

    async def show(self, slug: str) -> SkillAnswer:
        """One skill, under its present slug whichever was asked for. Raises NotFound or SkillWithdrawn."""
        for _ in range(_MOST_MOVES):
            try:
                return await self._client.get(_place(slug), SkillAnswer)
            except SkillMoved as moved:
                slug = _slug_of(str(moved.fields.get("location", "")))
        raise NotFound(f"'{printable(slug)}' leads from one skill to the next and never to one.")

    async def versions(self, slug: str) -> VersionListAnswer:
        """Every version of a skill, the newest first."""
        return await self._client.get(f"{_place(slug)}/versions", VersionListAnswer)

    async def version(self, slug: str, number: str) -> VersionAnswer:
        """One version. Raises NotFound, or ArchiveRefused where what the registry says of it does not agree with itself."""
        found = await self._client.get(f"{_place(slug)}/versions/{quote(number, safe='')}", VersionAnswer)
        if (found.slug, found.version) != (slug, number) or digest_of(found.files) != found.content_digest:
            raise ArchiveRefused(
                f"{self.server} contradicts itself about {slug} {number}: its files do not come to the digest that it states. "
                "Nothing was installed. Tell the registry's operator."
            )
        return found

    async def security(self, slug: str, *, version: str = "") -> SecurityAnswer:
        """How a version was judged, the newest where none is named."""
        return await self._client.get(f"{_place(slug)}/security", SecurityAnswer, version=version)

    async def compare(self, slug: str, source: str, target: str) -> ComparisonAnswer:
        """Which files differ between two versions."""
        way = f"{_place(slug)}/versions/compare"
        return await self._client.get(way, ComparisonAnswer, **{"from": source, "to": target})

    async def blocks(self, slug: str, *, name: str, digest: str, repo_url: str) -> list[BlockEntry]:
        """What stands against a skill by its name, its bytes or its repository."""
        names = dict.fromkeys(slugify(one) for one in (name, slug.rsplit("/", 1)[-1]))
        found: list[BlockEntry] = []
        for one in names:
            asked: dict[str, Any] = {"name": one, "hash": digest, "repoUrl": repo_url}
            answer = await self._client.get("/api/v1/blocklist/check", BlockAnswer, **asked)
            found += [entry for entry in answer.entries if entry not in found]
        return found

    async def offered(self, wish: Wish) -> VersionAnswer:
        """The version that would be installed. Raises NotFound, SkillWithdrawn, VersionYanked or SkillBlocked."""
        wish = await self.resolve(wish)
        skill = await self.show(wish.skill)
        version = await self.version(skill.slug, wish.version or skill.version)
        if version.yanked_at:
            raise VersionYanked(
                f"{version.slug} {version.version} was yanked: {printable(version.yank_reason, limit=500)} "
                f"Take {skill.version} instead."
            )
        blocks = await self.blocks(
            version.slug, name=version.name, digest=version.content_digest, repo_url=version.repo_url
        )
        if blocks:
            raise SkillBlocked(
                f"{version.slug} {version.version} is blocked {told_blocks(blocks)} Nothing was installed."
            )
        return version

    async def fetch(self, version: VersionAnswer, *, limits: SkillLimits, tell: Tell) -> SkillContent:
        """The bytes of a version, each of them held to the registry's word. Raises ArchiveRefused or VersionYanked."""
        size = version.tar.size
        if not 0 < size <= most_archive_bytes(limits):
            raise ArchiveRefused(
                f"The archive of {version.slug} has {size} bytes, which is over a limit of this client."
            )
        way = f"{_place(version.slug)}/versions/{quote(version.version, safe='')}/archive.tar"
        archive = await self._client.download(way, size=size, tell=tell)
        if sha256_digest(archive) != version.tar.digest:
            raise _other_bytes(version, "the archive has another digest")
        content = unpack(archive, limits=limits)
        if content_digest(content) != version.content_digest:
            raise _other_bytes(version, "its files have another digest")
        return content

    async def updates(self, installed: Sequence[dict[str, str]]) -> list[UpdateAnswer]:
        """How installed skills stand, in their order; each has `slug`, `version` and `contentDigest`."""
        found: list[UpdateAnswer] = []
        for start in range(0, len(installed), MOST_CHECKED):
            body = {"skills": installed[start : start + MOST_CHECKED]}
            found += (await self._client.post(f"{SKILLS}/check-updates", UpdateListAnswer, body)).skills
        return found

    async def pinned(self) -> dict[str, str]:
        """The versions that a private path has of its skills; empty without one."""
        collected = await self._collected() if self._secret else []
        return {skill.slug: skill.version or "" for skill in collected}

    async def report_install(self, slug: str) -> None:
        """Have an install counted."""
        await self._client.post(f"{_place(slug)}/installs", dict, {})

    async def submit(self, repo_url: str, *, skill: str = "") -> SubmittedAnswer:
        """Have a repository verified."""
        return await self._client.post(
            "/api/v1/submissions", SubmittedAnswer, {"repoUrl": repo_url, "skillName": skill}
        )

    async def _collected(self) -> list[CollectedSkill]:
        found = await self._client.get(f"{PRIVATE_PREFIX}{quote(self._secret, safe='')}/skills.json", CollectionAnswer)
        return [skill for skill in found.skills if skill.version]


@asynccontextmanager
async def open_skills(server: str, *, token: str = "") -> AsyncIterator[Skills]:
    """The skills of the registry at an address, or of the private path in it."""
    address = parse_server(server)
    async with open_connection(address.url, token=token) as client:
        yield Skills(client, secret=address.secret)


def digest_of(files: Sequence[VersionFile]) -> str:
    """The digest that a list of files comes to."""
    return listed_digest((file.path, file.executable, file.sha256) for file in files)


def told_blocks(blocks: Sequence[BlockEntry]) -> str:
    """By what entries of the blocklist stand against a skill, and why."""
    return " ".join(f"by its {printable(one.kind)}: {printable(one.reason, limit=500)}" for one in blocks)


def _place(slug: str) -> str:
    return f"{SKILLS}/{quote(slug)}"


def _slug_of(location: str) -> str:
    """The slug in the address that a registry leads on to. Only the path counts: no other host is asked."""
    slug = unquote(urlsplit(location).path).partition(f"{SKILLS}/")[2]
    if not is_current_slug(slug):
        raise NotFound("The skill has moved, and the registry does not say where to.")
    return slug


def _the_one(name: str, slugs: Sequence[str]) -> str:
    """The only slug that ends in this name. Raises NotFound, or InvalidInput where several do."""
    found = [slug for slug in slugs if slug == name or slug.rsplit("/", 1)[-1] == slugify(name)]
    if not found:
        raise NotFound(f"There is no skill '{printable(name)}'. Search for it: vskill-platform find {printable(name)}")
    if len(found) > 1:
        told = ", ".join(found[:_MOST_TOLD])
        raise InvalidInput(f"Several skills are called '{printable(name)}': {told}. Name one of them whole.")
    return found[0]


def _resolve_among(skills: Sequence[CollectedSkill], wish: Wish) -> Wish:
    slug = _the_one(wish.skill, [skill.slug for skill in skills])
    pinned = next(skill.version for skill in skills if skill.slug == slug)
    return Wish(slug, wish.version or pinned or "")


def _search_among(skills: Sequence[CollectedSkill], words: str, *, limit: int) -> SearchAnswer:
    wanted = words.casefold().split()
    found = [
        PublishedSkillSummary(
            slug=skill.slug, name=skill.name, repo_url="", description=skill.description, version=skill.version or ""
        )
        for skill in skills
        if all(word in f"{skill.slug} {skill.name} {skill.description}".casefold() for word in wanted)
    ]
    return SearchAnswer(skills=found[:limit], total=len(found))


def _other_bytes(version: VersionAnswer, why: str) -> ArchiveRefused:
    return ArchiveRefused(
        f"What came for {version.slug} {version.version} is not what the registry says it published: {why}. Nothing was "
        "installed. Something on the way has changed it, or the registry has; tell its operator."
    )
