"""Nobody does anything with what belongs to somebody else: every act, as nobody, as another submitter, as a mere member."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.publishers.site import Person, Site
from vskill_platform.domain.access import Scope
from vskill_platform.testing.accounts import make_token
from vskill_platform.testing.builders import collect_keys
from vskill_platform.web.api.collections import COLLECTION_ROUTES
from vskill_platform.web.api.owning import OWNED
from vskill_platform.web.api.routes import OWN_ROUTES

REASON = {"reason": "Because."}
P, C, S = "/api/v1/publishers/{handle}", "/api/v1/collections/{handle}", "/api/v1/account/submissions/{submission}"
K = P + "/skills/greeting/greeting"


class Deed(NamedTuple):
    """Something that is done with what belongs to a publisher, and whether it takes an owner."""

    method: str
    path: str
    body: object = None
    is_for_owners: bool = False


DEEDS = [
    Deed("PUT", P, {"title": "Taken", "kind": "person"}, is_for_owners=True),
    Deed("POST", f"{P}/members", {"login": "mel"}, is_for_owners=True),
    Deed("PUT", f"{P}/members/ada", {"role": "member"}, is_for_owners=True),
    Deed("DELETE", f"{P}/members/ada", is_for_owners=True),
    Deed("POST", f"{K}/versions/1.0.0/yank", REASON),
    Deed("POST", f"{K}/versions/1.0.0/restore", REASON),
    Deed("POST", f"{K}/withdraw", REASON),
    Deed("POST", f"{K}/publish-again"),
    Deed("POST", f"{S}/withdraw"),
    Deed("POST", f"{S}/retry"),
    Deed("POST", f"{S}/appeals", {"text": "It is wrong."}),
    Deed("POST", C, {"name": "mine"}),
    Deed("PUT", f"{C}/starter", {"title": "Taken"}),
    Deed("DELETE", f"{C}/starter"),
    Deed("GET", f"{C}/starter/paths"),
    Deed("POST", f"{C}/starter/paths", {"label": "mine"}),
    Deed("DELETE", f"{C}/starter/paths/{{path}}"),
    Deed("GET", "/account/publishers/{handle}"),
    Deed("GET", "/account/publishers/{handle}/collections/starter"),
]
HIDDEN = [
    Deed("GET", f"{C}/starter"),
    Deed("GET", "/collections/{handle}/starter"),
    Deed("POST", f"{P}/join"),
    Deed("POST", f"{P}/leave"),
    Deed("DELETE", "/api/v1/account/contact/{submission}"),
]


async def stock(site: Site) -> dict[str, str]:
    """A publisher of ada's with a skill, a private collection and a path to it: the names by which a deed finds them."""
    ada = await site.person("ada")
    slug = await site.publish(site.url("acme/greeting"))
    handle = await site.own(ada)
    await ada.post(f"/api/v1/collections/{handle}", {"name": "starter", "isPublic": False, "items": [slug]})
    path = await ada.post(f"/api/v1/collections/{handle}/starter/paths", {"label": "build"})
    submission = next(key for key in await collect_keys(site.env.kv, "sub:")).removeprefix("sub:")
    return {"handle": handle, "path": path["id"], "submission": submission}


async def test_nobody_and_no_other_submitter_does_anything__with_what_is_not_theirs(site: Site) -> None:
    names = await stock(site)
    mel, nobody = await site.person("mel"), await site.nobody()
    before = await site.everything()
    for deed in DEEDS:
        path = deed.path.format(**names)
        assert (await nobody.ask(deed.method, path, deed.body)).status_code == 401, deed
        assert (await mel.ask(deed.method, path, deed.body)).status_code == 403, deed
    for deed in HIDDEN:
        path = deed.path.format(**names)
        assert (await mel.ask(deed.method, path, deed.body)).status_code == 404, deed
    assert await site.everything() == before


async def test_member_does_not_do_what_is_for_owners(site: Site) -> None:
    names = await stock(site)
    ada, grace = await site.person("ada"), await site.person("grace")
    await ada.post(f"/api/v1/publishers/{names['handle']}/members", {"login": "grace"})
    await grace.post(f"/api/v1/publishers/{names['handle']}/join")
    before = await site.everything()
    for deed in DEEDS:
        if deed.is_for_owners:
            answer = await grace.ask(deed.method, deed.path.format(**names), deed.body)
            assert answer.status_code == 403, deed
    assert await site.everything() == before
    assert (await grace.get(f"/api/v1/collections/{names['handle']}/starter"))["size"] == 1


async def test_list_of_deeds_has_every_route__that_acts_on_what_is_somebodys() -> None:
    """So that a route that comes later cannot be left out of the tests above."""
    acting = {
        (str(method), route.path)
        for route in OWN_ROUTES.routes
        for method in route.methods
        if str(method) not in ("GET", "OPTIONS", "HEAD") and "{" in route.path and "claims" not in route.path
    }
    acting |= {
        ("any", path) for handler in COLLECTION_ROUTES for path in handler.paths if OWNED in handler.opt.values()
    }
    told = {
        deed.path.replace("{handle}", "{name:str}")
        .replace("{submission}", "{identity:str}")
        .replace("greeting/greeting", "{repo:str}/{skill:str}")
        .replace("1.0.0", "{version:str}")
        .replace("/ada", "/{login:str}")
        .replace("/starter", "/{collection:str}")
        .replace("{path}", "{identity:str}")
        for deed in [*DEEDS, *HIDDEN]
    }
    assert {path for _, path in acting} <= told


@pytest.mark.parametrize(("scopes", "expected"), [((Scope.READ, Scope.SUBMIT), 403), ((Scope.MANAGE,), 200)])
async def test_token_manages_only__with_the_scope_for_it(site: Site, scopes: tuple[Scope, ...], expected: int) -> None:
    names = await stock(site)
    ada = await site.person("ada")
    assert ada.account is not None
    program = Person((await site.nobody()).client)
    token = await make_token(site.env, ada.account, *scopes)
    program.client.headers["Authorization"] = f"Bearer {token}"
    path = f"/api/v1/publishers/{names['handle']}/skills/greeting/greeting/versions/1.0.0/yank"
    assert (await program.ask("POST", path, REASON)).status_code == expected


async def test_answers_about_somebodys_own_are_kept_by_nobody(site: Site) -> None:
    names = await stock(site)
    ada, nobody = await site.person("ada"), await site.nobody()
    for path in (
        "/api/v1/account/publishers",
        "/api/v1/account/submissions",
        "/account/publishers",
        "/account/submissions",
        f"/account/publishers/{names['handle']}",
        f"/account/publishers/{names['handle']}/collections/starter",
        f"/publishers/{names['handle']}",
        f"/collections/{names['handle']}/starter",
    ):
        answer = await ada.ask("GET", path)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store"), path
    public = await nobody.ask("GET", f"/publishers/{names['handle']}")
    assert (public.status_code, public.headers["Cache-Control"]) == (200, "no-cache")
    assert "starter" not in public.text
    assert "/account/publishers" not in public.text
