"""Looking at the repositories of published skills, again and again, a few at a time.

Each round takes up some of the published skills where the last one stopped, so that every repository gets a record, and then
looks at what is due. What is due is kept in the store, so a round that is cut short, by its time box or by a power cut, loses
nothing. A host is asked so often a minute and no more; one that asks to be left alone is.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from urllib.parse import urlsplit

import msgspec
import structlog

from vskill_platform.domain.errors import Conflict, InvalidInput, MalformedRecord, StoreUnavailable
from vskill_platform.domain.ids import skill_key
from vskill_platform.domain.records import Record
from vskill_platform.domain.repo_health import (
    REPOSITORY_PREFIX,
    Head,
    LookAnswer,
    LookReason,
    LookTimes,
    RepositoryHealth,
    SourceLook,
    is_news,
    judge_look,
    pause_host,
    repository_key,
)
from vskill_platform.domain.repository import repository_identity
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.slug import is_pushed, skill_slug
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.pipeline.source_changes import compare_with_source
from vskill_platform.ports.commit import ABSENT, Delete, Operation, Put
from vskill_platform.ports.kv import DueEntry, DueIndex
from vskill_platform.settings import Settings
from vskill_platform.stores.reads import list_keys, read_keys, require_complete
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.stores.repo_health import (
    FoundRepository,
    decode_repository,
    find_host_pause,
    find_repository,
    keep_host_pause,
    putting_repository,
    telling_health,
)
from vskill_platform.stores.skills import decode_published, read_published_part
from vskill_platform.worker_context import current_env

_WALK_KEY = "repo-health-walk"
_TAKEN_UP_AT_ONCE = 1000
_DUE_AT_ONCE = 200
_LOOKS_WINDOW_S = 60.0
_log = structlog.get_logger(__name__)


class _Walk(Record, frozen=True, kw_only=True, rename="camel"):
    """Where the walk through the published skills goes on; None begins anew."""

    cursor: str | None = None


_walks = msgspec.json.Decoder(_Walk)


async def look_at_repositories() -> dict[str, int]:
    """One round. Gives how many repositories are new, were looked at, have changed, and how many hosts must wait."""
    env = current_env("source")
    if not env.settings.repo_health_checks:
        return {}
    if not isinstance(env.kv, DueIndex):
        raise StoreUnavailable("This store has no index of what is due; looking at repositories needs one.")
    found = _Round(env.kv, end_ms=env.clock.now_ms() + int(env.settings.repo_health_time_box_s * 1000))
    found.counts["new"] = await _take_up_some()
    async with asyncio.TaskGroup() as group:
        for _ in range(env.settings.repo_health_in_flight):
            group.create_task(found.work())
    return {**found.counts, "hostsWaiting": len(found.full_hosts)}


async def ask_again(repo_url: str) -> None:
    """Have a repository looked at by the next round, whenever it would be due. Raises Conflict, or InvalidInput for none."""
    env = current_env("writes")
    found = await find_repository(repo_url)
    if found is None:
        operations = _taking_up([repo_url], now_ms=env.clock.now_ms())
    else:
        operations = [putting_repository(found, found.health, due_ms=env.clock.now_ms())]
    await env.writes.commit(operations)


async def look_now(repo_url: str) -> RepositoryHealth | None:
    """Look at one repository, whenever it is due. None where nothing is published from it."""
    if await find_repository(repo_url) is None:
        await current_env("writes").writes.commit(_taking_up([repo_url], now_ms=current_env("clock").clock.now_ms()))
    found = await find_repository(repo_url)
    return None if found is None else await _look_at(found)


class _Round:
    """What the workers of one round share: the due entries, which each get once, and the hosts that must wait."""

    def __init__(self, due: DueIndex, *, end_ms: int) -> None:
        self._due = due
        self._end_ms = end_ms
        self._waiting: list[DueEntry] = []
        self._cursor: str | None = None
        self._has_more = True
        self._turn = asyncio.Lock()
        self.full_hosts: set[str] = set()
        self._asked_hosts: set[str] = set()
        self.counts: Counter[str] = Counter(new=0, looked=0, changed=0, failed=0)

    async def work(self) -> None:
        """Look at one after the other until the time box or what is due ends."""
        while (entry := await self._next()) is not None:
            try:
                before = FoundRepository(decode_repository(entry.key, entry.entry.value), *entry.entry)
                after = await _look_at(before)
            except (Conflict, MalformedRecord) as error:
                self.counts["failed"] += 1
                _log.warning("repository_not_looked_at", key=entry.key, code=error.code, error=error.message)
            else:
                self.counts["looked"] += 1
                self.counts["changed"] += after is not None and is_news(before.health, after)
                if after is not None and after.reason == LookReason.RATE_LIMITED:
                    self.full_hosts.add(_host_of(after.repo_url))

    async def _next(self) -> DueEntry | None:
        async with self._turn:
            while current_env("clock").clock.now_ms() < self._end_ms:
                if not self._waiting and not await self._read_on():
                    return None
                entry = self._waiting.pop(0)
                if await self._may_ask(_host_of(_url_in(entry))):
                    return entry
        return None

    async def _read_on(self) -> bool:
        """Read further due entries. Says whether there were any."""
        now_ms = current_env("clock").clock.now_ms()
        while self._has_more and not self._waiting:
            page = await self._due.list_due(
                REPOSITORY_PREFIX, before_ms=now_ms, cursor=self._cursor, limit=_DUE_AT_ONCE
            )
            self._waiting, self._cursor, self._has_more = list(page.entries), page.cursor, not page.complete
        return bool(self._waiting)

    async def _may_ask(self, host: str) -> bool:
        """Whether a host may be asked once more; one that may not is passed over for the rest of the round."""
        env = current_env("limiter")
        if host in self.full_hosts:
            return False
        pause = None if host in self._asked_hosts else await find_host_pause(host)
        self._asked_hosts.add(host)
        is_open = pause is None or pause.until_ms <= env.clock.now_ms()
        limit = env.settings.repo_health_per_host
        if is_open and (await env.limiter.take(f"repo-look:{host}", limit=limit, window_s=_LOOKS_WINDOW_S)).allowed:
            return True
        self.full_hosts.add(host)
        return False


async def _look_at(found: FoundRepository) -> RepositoryHealth | None:
    """Look at a repository and keep what was found. None where nothing is published from it any more: it is forgotten."""
    env = current_env("source")
    before = found.health
    skills = await skills_of_repository(before.repo_url)
    if not skills:
        await env.writes.commit([Delete(repository_key(before.repo_url), if_version=found.version)])
        return None
    repo_url = skills[0].repo_url
    look = await env.source.look(repo_url, known=Head(before.head, before.last_commit_at))
    await _heed_host(repo_url, look)
    before = msgspec.structs.replace(before, repo_url=repo_url)
    after = judge_look(before, look, now_ms=env.clock.now_ms(), times=look_times(env.settings))
    operations: list[Operation] = [putting_repository(found, after, due_ms=ms_from_iso(after.next_look_at))]
    if is_news(before, after):
        operations += [telling_health(skill.slug, before, after) for skill in skills]
        _log.info("repository_health_changed", repo_url=repo_url, status=after.status, previous=before.known_status)
    await env.writes.commit(operations)
    if look.answer is LookAnswer.HERE:
        await compare_with_source(skills, head=after.head)
    return after


async def _heed_host(repo_url: str, look: SourceLook) -> None:
    if look.reason is LookReason.RATE_LIMITED:
        host = _host_of(repo_url)
        before, now_ms = await find_host_pause(host), current_env("clock").clock.now_ms()
        await keep_host_pause(pause_host(before, host=host, now_ms=now_ms, retry_after_s=look.retry_after_s))


async def skills_of_repository(repo_url: str) -> list[Skill]:
    """Every skill that is published from a repository. Their slugs begin alike, so no other is read."""
    prefix = skill_key(skill_slug(repo_url, "x")).removesuffix("x")
    keys = [key async for page in list_keys(prefix) for key in page]
    read = require_complete(await read_keys(keys, decode_published))
    identity = repository_identity(repo_url)
    return [skill for skill in read if repository_identity(skill.repo_url) == identity]


async def _take_up_some() -> int:
    """Go on through the published skills, and make records of the repositories that have none. Says of how many."""
    env = current_env("kv")
    entry = await env.kv.get(_WALK_KEY)
    walk = _Walk() if entry is None else decode_record(_WALK_KEY, entry.value, decoder=_walks)
    part = await read_published_part(walk.cursor, limit=_TAKEN_UP_AT_ONCE)
    urls = {repository_key(skill.repo_url): skill.repo_url for skill in part.skills if _can_be_looked_at(skill)}
    settled = await read_keys(list(urls), decode_repository)
    known = {repository_key(found.repo_url) for found in settled}
    new = [url for key, url in urls.items() if key not in known] if not settled.failed else []
    step = Put(
        _WALK_KEY, encode_record(_Walk(cursor=part.cursor)), if_version=ABSENT if entry is None else entry.version
    )
    try:
        await env.writes.commit([*_taking_up(new, now_ms=env.clock.now_ms()), step])
    except Conflict:
        return 0
    return len(new)


def _taking_up(repo_urls: Iterable[str], *, now_ms: int) -> list[Operation]:
    return [
        Put(repository_key(url), encode_record(RepositoryHealth(repo_url=url)), if_version=ABSENT, due_ms=now_ms)
        for url in repo_urls
    ]


def _can_be_looked_at(skill: Skill) -> bool:
    """Whether a skill comes from a repository at all, and not from somebody who pushed it."""
    try:
        return bool(skill.repo_url) and not is_pushed(skill.repo_url) and bool(skill_slug(skill.repo_url, "x"))
    except InvalidInput:
        return False


def look_times(settings: Settings) -> LookTimes:
    """How long looks hold, as the settings state it."""
    return LookTimes(
        online_s=settings.repo_health_online_s,
        unknown_s=settings.repo_health_unknown_s,
        gone_s=settings.repo_health_gone_s,
        confirm_s=settings.repo_health_confirm_s,
    )


def _url_in(entry: DueEntry) -> str:
    try:
        return decode_repository(entry.key, entry.entry.value).repo_url
    except MalformedRecord:
        return ""


def _host_of(repo_url: str) -> str:
    return urlsplit(repo_url).netloc or "?"
