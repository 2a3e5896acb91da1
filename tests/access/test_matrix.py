"""Every route for every kind of caller, held to what the code says and to what people wrote down here.

The table of routes comes from the applications themselves, so a new route is in the matrix the moment it exists. Who may use
it is said twice: by `domain/access.py`, and by hand below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import pytest
from litestar import get
from litestar.types import ASGIApp

from tests.access.asking import Heard, ask
from tests.access.route_table import Route, routes_of, undeclared_of
from tests.faults.figures import Tell
from vskill_platform.domain.access import Caller, CallerKind, Permission, Role, Scope
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.settings import Settings
from vskill_platform.stores.sessions import end_session
from vskill_platform.stores.tokens import list_tokens_of, revoke_token
from vskill_platform.testing.accounts import in_request, make_account, make_session, make_token
from vskill_platform.web.app import create_control_app, create_web_app
from vskill_platform.web.application import create_app
from vskill_platform.web.process_health import ProcessState, create_health_app
from vskill_platform.web.secure_sessions import SESSION_COOKIE

P = Permission
STAFF = frozenset({"REVIEWER", "AUDITOR", "SUPER_ADMIN"})
DECIDERS = frozenset({"REVIEWER", "SUPER_ADMIN"})
OVERSEERS = frozenset({"AUDITOR", "SUPER_ADMIN"})
BOSS = frozenset({"SUPER_ADMIN"})
SIGNED_IN = STAFF | {"submitter", "other submitter"}
WHO_MAY: dict[Permission | None, frozenset[str]] = {
    P.OWN: SIGNED_IN | {"manage token", "admin token"},
    P.CHANGE_ACCOUNT: SIGNED_IN,
    P.SEE_PANEL: STAFF | {"read token", "admin token"},
    P.STEER_QUEUE: DECIDERS | {"admin token"},
    P.REVIEW: DECIDERS | {"admin token"},
    P.BLOCK: DECIDERS | {"admin token"},
    P.MODERATE: DECIDERS | {"admin token"},
    P.SEE_AUDIT: OVERSEERS | {"read token", "admin token"},
    P.SEE_SETTINGS: OVERSEERS | {"read token", "admin token"},
    P.CHANGE_RULES: BOSS | {"admin token"},
    P.MANAGE_VENDORS: BOSS | {"admin token"},
    P.MANAGE_ACCOUNTS: BOSS | {"admin token"},
    P.MANAGE_ALERTS: BOSS | {"admin token"},
    P.RUN_SCANS: DECIDERS | {"admin token", "scan token"},
}
"""By hand, and on purpose not from `domain/access.py`. The tokens are those of a super administrator."""

OPEN_WRITES = frozenset(
    {
        "POST /submit",
        "POST /submit/skills",
        "POST /submissions/{identity}/again",
        "POST /api/v1/submissions",
        "POST /api/v1/submissions/discover",
        "POST /api/v1/submissions/{identity}/retry",
        "POST /api/v1/submissions/{identity}/appeals",
        "POST /api/v1/skills/{owner}/{repo}/{skill}/installs",
        "POST /api/v1/skills/installs",
        "POST /api/v1/skills/check-updates",
        "PUT /api/v1/skills/{owner}/{repo}/{skill}/star",
        "DELETE /api/v1/skills/{owner}/{repo}/{skill}/star",
        "POST /api/v1/skills/{owner}/{repo}/{skill}/reports",
        "POST /clawhub/api/v1/skills/-/security-verdicts",
        "POST /api/cli/device/code",
        "POST /api/cli/device/token",
        "POST /vskill/api/v1/submissions",
        "POST /vskill/api/v1/skills/installs",
        "POST /vskill/api/v1/skills/check-updates",
        "POST /vskill/api/v1/skills/{address}",
        "POST /vskill/api/v1/auth/github/exchange-for-vsk-token",
        "DELETE /vskill/api/v1/auth/sign-out-all",
        "POST /api/v1/webhooks/scan-results",
    }
)
"""What anybody may write. A route that is meant to be one of these has to be written down here."""
SIGN_IN_WRITES = re.compile(r"POST (/login|/logout|/setup|/api/v1/(login|account/sign-in|session))(/.*)?")
CLOSED_PLACES = re.compile(r"/(api/v1/)?admin(/.*)?")
PERSONAL_PLACES = re.compile(r"/(api/v1/)?account(/(?!menu$).*)?")
"""The menu is for everybody: it says `Sign in` to those who have not."""

NOBODY_REFUSED = (401, "sign_in_required")
DEAD_REFUSED = (401, "credential_refused")
KNOWN_REFUSED = (403, "not_allowed")


class Person(NamedTuple):
    """Somebody with a credential: what it is in a request, and whom the code must take them for."""

    headers: Mapping[str, str]
    caller: Caller | None
    """None for who comes with a credential that is worth nothing."""


def session(secret: str) -> dict[str, str]:
    return {"Cookie": f"{SESSION_COOKIE}={secret}", "Sec-Fetch-Site": "same-origin"}


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


async def make_people(env: WorkerEnv, number: int) -> dict[str, Person]:
    """Everybody, new: what one route does to an account must not be felt by the next."""
    people = {"nobody": Person({}, Caller(kind=CallerKind.NOBODY))}
    roles = {"submitter": Role.SUBMITTER, "other submitter": Role.SUBMITTER} | {
        role.value: role for role in (Role.REVIEWER, Role.AUDITOR, Role.SUPER_ADMIN)
    }
    for name, role in roles.items():
        account = await make_account(env, f"{name.replace(' ', '-').lower().replace('_', '-')}-{number}", role)
        signed_in = Caller(kind=CallerKind.SESSION, role=role)
        people[name] = Person(session(await make_session(env, account)), signed_in)
    expired = await make_session(env, account)
    await in_request(env, lambda: end_session(expired))
    revoked = await make_token(env, account)
    for token in await in_request(env, lambda: list_tokens_of(account.id)):
        await in_request(env, lambda token=token: revoke_token(token.id))
    people["expired session"] = Person(session(expired), None)
    people["revoked token"] = Person(bearer(revoked), None)
    for scope in (Scope.READ, Scope.MANAGE, Scope.SCAN, Scope.ADMIN):
        text = await make_token(env, account, scope)
        holder = Caller(kind=CallerKind.TOKEN, role=Role.SUPER_ADMIN, scopes=frozenset({scope}))
        people[f"{scope.value} token"] = Person(bearer(text), holder)
    return people


def is_let_in(heard: Heard) -> bool:
    """Whether the guard let somebody through. What a handler then says of the thing itself is no matter of access."""
    return not (
        (heard.status, heard.code) in (NOBODY_REFUSED, DEAD_REFUSED)
        or ((heard.status, heard.code) == KNOWN_REFUSED and "needs the permission" in heard.detail)
    )


def wrong_cell(route: Route, name: str, person: Person, heard: Heard) -> str | None:
    """What is wrong with how one caller was met at one route; None where it is as it has to be."""
    assert route.access is not None
    permission = route.access.permission
    by_hand = permission is None or name in WHO_MAY[permission]
    by_code = permission is None or (person.caller is not None and person.caller.may(permission))
    where = f"{route.method} {route.path} ({permission or 'anyone'}) for {name}"
    if by_hand is not by_code:
        return f"{where}: the code says {by_code}, people say {by_hand}"
    if is_let_in(heard) is not by_hand:
        return f"{where}: {'let in' if is_let_in(heard) else 'refused'} with {heard}"
    if by_hand:
        return None
    expected = {"nobody": NOBODY_REFUSED, "expired session": DEAD_REFUSED, "revoked token": DEAD_REFUSED}
    if (heard.status, heard.code) != expected.get(name, KNOWN_REFUSED):
        return f"{where}: refused with {heard}"
    return None


@pytest.fixture
def app(env: WorkerEnv) -> ASGIApp:
    return create_web_app(env)


async def test_every_cell_of_the_matrix_is_as_it_has_to_be(env: WorkerEnv, app: ASGIApp, tell: Tell) -> None:
    routes, cells, wrong = routes_of(app), 0, list[str]()
    for number, route in enumerate(routes):
        for name, person in (await make_people(env, number)).items():
            heard = await ask(app, route.method, route.address, person.headers)
            cells += 1
            found = wrong_cell(route, name, person, heard)
            wrong += [found] if found else []
    tell(f"access matrix: {cells} cells of {len(routes)} routes checked, {len(wrong)} wrong")
    assert wrong == []
    assert len(routes) > 140
    assert cells > 10 * len(routes)


async def test_operator_is_let_in_everywhere__but_to_what_only_an_account_can_have(env: WorkerEnv, tell: Tell) -> None:
    app, wrong = create_control_app(env), list[str]()
    routes = routes_of(app)
    for route in routes:
        assert route.access is not None
        heard = await ask(app, route.method, route.address, {})
        if is_let_in(heard) is (route.access.permission in (P.OWN, P.CHANGE_ACCOUNT)):
            wrong.append(f"{route.method} {route.path} ({route.access.permission}): {heard}")
    tell(f"access matrix: {len(routes)} cells of the operator checked, {len(wrong)} wrong")
    assert wrong == []


async def test_every_route_says_to_whom_it_is_open(env: WorkerEnv, app: ASGIApp) -> None:
    assert undeclared_of(app) == []
    assert undeclared_of(create_control_app(env)) == []
    assert undeclared_of(create_health_app(env, ProcessState("web", pulses=[]))) == []


async def test_route_that_says_nothing_is_found_and_closed__to_everybody(env: WorkerEnv) -> None:
    @get("/forgotten")
    async def forgotten() -> str:
        return "secret"

    for state in ({}, {"is_control": True}):
        planted = create_app(env, [forgotten], state=state)
        assert undeclared_of(planted) == ["GET /forgotten"]
        boss = (await make_people(env, len(state)))["SUPER_ADMIN"]
        heard = await ask(planted, "GET", "/forgotten", boss.headers)
        assert (heard.status, heard.code) == KNOWN_REFUSED


def test_places_of_staff_and_of_accounts_are_closed(app: ASGIApp) -> None:
    for route in routes_of(app):
        permission = route.access.permission if route.access else None
        if CLOSED_PLACES.fullmatch(route.path):
            assert permission is not None, route.path
            assert "submitter" not in WHO_MAY[permission], route.path
        elif PERSONAL_PLACES.fullmatch(route.path) and not SIGN_IN_WRITES.fullmatch(f"{route.method} {route.path}"):
            assert permission in (P.OWN, P.CHANGE_ACCOUNT), route.path


def test_writes_that_anybody_may_do_are_those_that_are_meant(app: ASGIApp) -> None:
    found = {
        f"{route.method} {route.path}"
        for route in routes_of(app)
        if route.method not in ("GET", "HEAD") and route.access is not None and route.access.permission is None
    }
    unforeseen = {name for name in found - OPEN_WRITES if not SIGN_IN_WRITES.fullmatch(name)}
    assert unforeseen == set()
    assert found >= OPEN_WRITES, "a list of what there is not protects nothing"


def test_every_permission_is_written_down_by_hand() -> None:
    assert set(WHO_MAY) == set(Permission)
    assert Settings().trusted_proxies == ""
