"""Feeds, maps of the site, and the files that programs look for."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tests.api.skills.registry import SLUG, Registry, client_of
from tests.pipeline.journey import skill_md
from vskill_platform.domain.skill import Skill
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.ports.commit import Index
from vskill_platform.settings import convert_settings
from vskill_platform.stores.skills import index_skill
from vskill_platform.web.app import create_web_app
from vskill_platform.web.feeds.sitemap import part_starts

pytestmark = pytest.mark.asyncio(loop_scope="package")
ATOM = "{http://www.w3.org/2005/Atom}"
MAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


async def test_feeds_are_valid_and_stable__and_told_apart_by_version(registry: Registry) -> None:
    empty = ElementTree.fromstring((await registry.get("/feeds/new.atom")).content)
    assert empty.findall(f"{ATOM}entry") == []
    await registry.journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    first = await registry.get("/feeds/updated.atom")
    assert first.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    again = await registry.client.get("/feeds/updated.atom", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    (before,) = _entries(first.content)
    await registry.update("acme/greeting", {"SKILL.md": skill_md(body="Wave.")})
    (after,) = _entries((await registry.get("/feeds/updated.atom")).content)
    assert before["id"] != after["id"]
    assert (after["title"], after["link"]) == ("greeting 1.0.1", f"http://registry/skills/{SLUG}")
    (new,) = _entries((await registry.get("/feeds/new.atom")).content)
    assert new["updated"] == before["updated"] or ms_from_iso(new["updated"]) <= ms_from_iso(after["updated"])


def _entries(document: bytes) -> list[dict[str, str]]:
    """What each entry says, once the feed has all that RFC 4287 asks for."""
    feed = ElementTree.fromstring(document)
    for name in ("id", "title", "updated"):
        assert feed.findtext(f"{ATOM}{name}"), name
    assert {link.get("rel") for link in feed.findall(f"{ATOM}link")} == {"self", "alternate"}
    found = []
    for entry in feed.findall(f"{ATOM}entry"):
        told = {name: entry.findtext(f"{ATOM}{name}") or "" for name in ("id", "title", "updated", "summary")}
        assert told["id"].startswith("urn:uuid:")
        assert ms_from_iso(told["updated"]) > 0
        assert entry.findtext(f"{ATOM}author/{ATOM}name")
        link = entry.find(f"{ATOM}link")
        assert link is not None
        found.append({**told, "link": link.get("href", "")})
    return found


async def test_feed_holds_hostile_text__as_text(registry: Registry) -> None:
    hostile = '</summary><script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>\x01\x0b\ufffe & "quoted" <b>'
    await _index(registry, "acme/a/b", description=hostile, name=hostile)
    (entry,) = _entries((await registry.get("/feeds/new.atom")).content)
    assert entry["summary"] == hostile.replace("\x01\x0b\ufffe", "")


async def test_map_names_every_skill_once__in_parts(registry: Registry) -> None:
    slugs = [f"acme/many/s{number:03d}" for number in range(25)]
    await _index(registry, *slugs)
    starts = await registry.journey.inside(lambda: part_starts(most_urls=10))
    assert starts == ["", "acme/many/s009", "acme/many/s019"]
    index = ElementTree.fromstring((await registry.get("/sitemap.xml")).content)
    places = [place.text or "" for place in index.iter(f"{MAP}loc")]
    assert places == ["http://registry/sitemap-pages.xml", "http://registry/sitemap-skills.xml?after="]
    found = []
    for place in places:
        part = await registry.get(place)
        assert part.headers["Content-Type"] == "application/xml; charset=utf-8"
        found += [url.text or "" for url in ElementTree.fromstring(part.content).iter(f"{MAP}loc")]
    assert [url for url in found if "/skills/" in url] == [f"http://registry/skills/{slug}" for slug in slugs]
    rest = await registry.get("/sitemap-skills.xml", after="acme/many/s019")
    assert rest.text.count("<loc>") == 5


async def test_texts_name_the_site_as_the_settings_do__and_the_contact_where_there_is_one(registry: Registry) -> None:
    missing = await registry.get("/.well-known/security.txt")
    assert missing.status_code == 404
    assert "VSKILL_PLATFORM_SECURITY_CONTACT" in missing.json()["detail"]
    settings = convert_settings(
        {"public_url": "https://skills.example.com/", "security_contact": "mailto:a@example.com"}
    )
    env = replace(registry.journey.env, settings=settings)
    async with client_of(create_web_app(env)) as client:
        contact = (await client.get("/.well-known/security.txt")).text
        assert "Contact: mailto:a@example.com\n" in contact
        assert "Canonical: https://skills.example.com/.well-known/security.txt\n" in contact
        expires = next(line for line in contact.splitlines() if line.startswith("Expires: "))
        assert 170 < (ms_from_iso(expires.removeprefix("Expires: ")) - env.clock.now_ms()) / 86_400_000 < 181
        robots = await client.get("/robots.txt")
        assert "Sitemap: https://skills.example.com/sitemap.xml" in robots.text
        assert robots.headers["Content-Type"] == "text/plain; charset=utf-8"
        agents = (await client.get("/llms.txt")).text
        assert "https://skills.example.com/api/v1/skills" in agents
        assert "{" in agents
        page = (await client.get("/")).text
        for feed in ("new", "updated", "blocked"):
            assert f'href="/feeds/{feed}.atom"' in page, "pages tell of every feed"
            assert f"https://skills.example.com/feeds/{feed}.atom" in agents
            assert f"https://skills.example.com/feeds/{feed}.atom" in (await client.get(f"/feeds/{feed}.atom")).text


async def _index(registry: Registry, *slugs: str, **fields: str) -> None:
    now = "2026-02-21T10:00:00.000Z"
    for slug in slugs:
        skill = Skill(
            **{"slug": slug, "name": slug, "updated_at": now, "published_at": now, "publisher": "acme", **fields}
        )
        await registry.journey.env.writes.commit([Index(index_skill(skill))])
