"""What belongs to one submitter, and another who reaches for it: every route about somebody's own things, from the table."""

from __future__ import annotations

import re

import httpx
import msgspec
from litestar.types import ASGIApp

from tests.access.conftest import client_of
from tests.access.route_table import Route, routes_of
from tests.faults.figures import Tell
from vskill_platform.domain.access import Permission
from vskill_platform.domain.account import Account, session_id
from vskill_platform.domain.collection import Collection
from vskill_platform.domain.publisher import PublisherKind
from vskill_platform.domain.secrets import hash_secret
from vskill_platform.domain.webhook import publisher_owner
from vskill_platform.notify.webhooks import create_webhook
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.collections import create_collection
from vskill_platform.stores.private_paths import open_path
from vskill_platform.stores.publishers import granting
from vskill_platform.stores.tokens import create_token
from vskill_platform.testing.accounts import in_request, make_account, make_session, sign_in
from vskill_platform.web.api.describing import DESCRIBED
from vskill_platform.web.app import create_web_app

OWN = (Permission.OWN, Permission.CHANGE_ACCOUNT)
OTHER_WIRES = ("/clawhub/", "/apm/", "/vskill/")
"""What clients of other makes speak names things in its own way; tests/clients asks there for what is somebody else's."""
BUILT = re.compile(
    r".*/(sessions/\{session\}|tokens/\{token\}|paths|paths/\{identity\})"
    r"|/api/v1/publishers/\{name\}(/members|/webhooks|/webhooks/\{identity\}(/rotate|/deliveries)?)?"
    r"|/api/v1/collections/\{name\}(/\{collection\})?"
    r"|/account/publishers/\{name\}(/collections/\{collection\})?"
)
"""Routes whose thing is there: its owner has to be let in, or the refusals of others would say nothing."""
NAMES = {
    "name": "sue-lab",
    "collection": "tools",
    "login": "sue",
    "repo": "skills",
    "skill": "demo",
    "version": "1.0.0",
}


async def build(env: WorkerEnv, sue: Account) -> dict[str, str]:
    """One of everything that a submitter can have; by the parameter, or the end of the path, that names it."""
    publisher, operations = await granting(
        "sue-lab", place="github.com/sue-lab", kind=PublisherKind.PERSON, account=sue.id
    )
    await env.writes.commit(operations)
    await create_collection(
        Collection(publisher="sue-lab", name="tools", is_public=False, created_at="", updated_at="")
    )
    path = await open_path("sue-lab", "tools", label="a test", account=sue.id)
    hook = await create_webhook("https://hooks.example.com/x", kinds=["skill.*"], owner=publisher_owner(publisher))
    token = await create_token(sue, name="robot", scopes=("read",))  # type: ignore[arg-type]
    return {"path": path.path.id, "webhook": hook.webhook.id, "token": token.token.id}


def address_of(route: Route, ids: dict[str, str]) -> str:
    """The address of sue's own thing at a route."""
    identity = ids["path"] if "/paths/" in route.path else ids["webhook"] if "/webhooks/" in route.path else "x"
    named = {**NAMES, "identity": identity, "token": ids["token"], "session": ids["session"], "number": "1"}
    return re.sub(r"\{([^}:]*)[^}]*\}", lambda found: named[found[1]], route.path)


async def ask(app: ASGIApp, route: Route, address: str, secret: str) -> httpx.Response:
    description = route.handler.opt.get(DESCRIBED)
    body = description.body if description is not None else None
    async with client_of(app) as client:
        sign_in(client, secret)
        if route.method == "GET":
            return await client.get(address)
        content = b"" if body is None else msgspec.json.encode(body)
        kind = {"Content-Type": "application/json"} if content else {}
        return await client.request(route.method, address, content=content, headers=kind)


async def test_nobody_reaches_what_belongs_to_another_submitter(env: WorkerEnv, tell: Tell) -> None:
    app, cells, wrong, number = create_web_app(env), 0, list[str](), 0
    sue, other, _ = [await make_account(env, name) for name in ("sue", "other", "grace")]
    ids = await in_request(env, lambda: build(env, sue))
    routes = [
        route
        for route in routes_of(app)
        if route.access is not None
        and route.access.permission in OWN
        and "{" in route.path
        and not route.path.startswith(OTHER_WIRES)
    ]
    routes.sort(
        key=lambda route: (("DELETE", "PUT", "POST", "GET").index(route.method), len(route.path)), reverse=True
    )  # what removes comes last, and what is within before what it is in
    for route in routes:
        session = await make_session(env, sue)
        address = address_of(route, ids | {"session": session_id(hash_secret(session))})
        refused = await ask(app, route, address, await make_session(env, other))
        if refused.status_code not in (403, 404):
            wrong.append(
                f"{route.method} {route.path}: another submitter got {refused.status_code} {refused.text[:200]}"
            )
        cells += 1
        if BUILT.fullmatch(route.path):
            answer = await ask(app, route, address, session)
            number += 1
            if answer.status_code in (401, 403, 404):
                wrong.append(f"{route.method} {route.path}: its owner got {answer.status_code} {answer.text[:200]}")
    tell(
        f"ownership: {cells + number} cells of {len(routes)} routes about somebody's things checked, {len(wrong)} wrong"
    )
    assert wrong == []
    assert cells > 30
    assert number > 15
