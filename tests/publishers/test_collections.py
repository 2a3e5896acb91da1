"""Collections and private paths: who sees what, in which order, and until when."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.publishers.site import Site
from vskill_platform.domain.collection import path_hash, path_key
from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.redaction import hide_private_path
from vskill_platform.stores.private_paths import skills_of_path

URL = "https://github.com/acme/{}"


async def stock(site: Site, **fields: Any) -> str:
    """A collection of ada's with a skill pinned and one that is not, in this order; gives the path of its API."""
    ada = await site.person("ada")
    pinned = await site.publish(URL.format("two"), skill="two", versions=("1.0.0", "2.0.0"))
    newest = await site.publish(URL.format("one"), skill="one")
    handle = await site.own(ada, URL.format("one"))
    items = [{"slug": pinned, "version": "1.0.0"}, newest]
    await ada.post(f"/api/v1/collections/{handle}", {"name": "starter", "items": items, **fields})
    return f"/api/v1/collections/{handle}/starter"


@pytest.mark.parametrize("engine_name", ["memory", "sqlite"], indirect=True)
async def test_collection_shows_its_skills_in_order__with_pins_and_digests(site: Site) -> None:
    api = await stock(site, title="For a start")
    nobody = await site.nobody()
    shown = await nobody.get(api)
    assert [(one["slug"], one["version"], one["isPinned"]) for one in shown["skills"]] == [
        ("acme/two/two", "1.0.0", True),
        ("acme/one/one", "1.0.0", False),
    ]
    assert all(one["contentDigest"].startswith("sha256:") and one["zipDigest"] for one in shown["skills"])
    (listed,) = (await nobody.get("/api/v1/collections"))["collections"]
    assert (listed["name"], listed["size"]) == ("starter", 2)
    page = await nobody.client.get(api.replace("/api/v1", ""))
    assert page.status_code == 200
    assert page.text.index("acme/two/two") < page.text.index("acme/one/one")


async def test_collection_says_what_is_gone_or_yanked(site: Site) -> None:
    api = await stock(site)
    ada, nobody = await site.person("ada"), await site.nobody()
    await ada.post("/api/v1/publishers/acme/skills/one/one/withdraw", {"reason": "No more."})
    await ada.post("/api/v1/publishers/acme/skills/two/two/versions/1.0.0/yank", {"reason": "Old."})
    shown = (await nobody.get(api))["skills"]
    assert [(one["slug"], one["status"]) for one in shown] == [("acme/two/two", "yanked"), ("acme/one/one", "gone")]
    # What was in it may stay; what is new in it must be there.
    kept = {"title": "Anew", "items": ["acme/one/one"]}
    assert (await ada.ask("PUT", api, kept)).status_code == 200
    assert (await ada.ask("PUT", api, {"items": ["acme/two/two@9.9.9"]})).status_code == 400


MALFORMED: list[dict[str, object]] = [
    {"name": "Über"},
    {"name": "-a"},
    {"name": "a", "items": ["acme/one/one", "acme/one/one"]},
    {"name": "a", "items": ["no/such/skill"]},
    {"name": "a", "nonsense": 1},
]


async def test_collection_is_refused__when_it_is_malformed(site: Site) -> None:
    api = await stock(site)
    ada = await site.person("ada")
    for body in MALFORMED:
        assert (await ada.ask("POST", api.removesuffix("/starter"), body)).status_code == 400, body
    assert (await ada.ask("POST", api.removesuffix("/starter"), {"name": "starter"})).status_code == 409


async def test_private_collection_is_reached__by_members_and_private_paths_alone(site: Site) -> None:
    api = await stock(site, isPublic=False)
    ada, mel, nobody = await site.person("ada"), await site.person("mel"), await site.nobody()
    page = api.replace("/api/v1", "")
    for person in (mel, nobody):
        assert (await person.ask("GET", api)).status_code == 404
        assert (await person.ask("GET", page)).status_code == 404
    assert (await nobody.get("/api/v1/collections"))["total"] == 0
    assert (await ada.get(api))["size"] == 2
    opened = await ada.post(f"{api}/paths", {"label": "build machines"})
    secret = opened["secret"]
    assert opened["url"].endswith(f"/p/{secret}")
    behind = await nobody.client.get(f"/p/{secret}/skills.json")
    assert [one["slug"] for one in behind.json()["skills"]] == ["acme/two/two", "acme/one/one"]
    shown = await nobody.client.get(f"/p/{secret}")
    for answer in (behind, shown):
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
        assert answer.headers["X-Robots-Tag"] == "noindex"
    assert (await nobody.client.get(f"/p/{secret}x")).status_code == 404


@pytest.mark.parametrize("engine_name", ["memory", "sqlite"], indirect=True)
async def test_private_path_is_hashed_listed_and_revoked_at_once(site: Site) -> None:
    api = await stock(site, isPublic=False)
    ada, nobody = await site.person("ada"), await site.nobody()
    with capture_logs() as logs:
        first = await ada.post(f"{api}/paths", {"label": "one"})
        second = await ada.post(f"{api}/paths", {"label": "two"})
        site.clock.shift(90)
        assert (await nobody.client.get(f"/p/{first['secret']}/skills.json")).status_code == 200
        assert (await nobody.client.get("/p/nothing")).status_code == 404
    stored = await site.everything()
    assert path_key(path_hash(first["secret"])) in stored
    for one in (first, second):
        assert not [key for key, value in stored.items() if one["secret"].encode() in key.encode() + value]
        assert one["secret"] not in str(logs)
    listed = (await ada.get(f"{api}/paths"))["paths"]
    assert [(one["label"], one["lastUsedAt"]) for one in listed] == [
        ("one", "2026-02-21T10:01:30.000Z"),
        ("two", None),
    ]
    assert (await ada.ask("DELETE", f"{api}/paths/{first['id']}")).status_code == 200
    assert (await nobody.client.get(f"/p/{first['secret']}/skills.json")).status_code == 404
    assert (await nobody.client.get(f"/p/{second['secret']}/skills.json")).status_code == 200
    assert (await ada.ask("DELETE", api)).status_code == 200
    with pytest.raises(NotFound):
        await site.inside(lambda: skills_of_path(second["secret"]))
    assert not [key for key in await site.everything() if key.startswith(("private-path", "collection:"))]


def test_secret_of_a_private_path_is_hidden__where_paths_are_logged() -> None:
    assert hide_private_path("/p/vsp_abc/skills.json") == "/p/***/skills.json"
    assert hide_private_path("/publishers/p/x") == "/publishers/p/x"
