"""Signing in with an OpenID provider: authorization code with PKCE, bound to the browser that began, and used once.

An account belongs to the provider's pair of issuer and subject, which never change; a name or an e-mail address that somebody
has elsewhere gives no access to an account here. Where the settings map groups to roles, the role follows them at each sign-in.
"""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
import structlog
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jws, jwt
from joserfc.errors import JoseError

from vskill_platform.accounts.auditing import audited_as
from vskill_platform.accounts.managing import set_role
from vskill_platform.accounts.oidc_provider import exchange_code, find_endpoints, find_keys
from vskill_platform.accounts.signing_in import Browser, enter
from vskill_platform.domain.access import Role
from vskill_platform.domain.account import Account, Provider, login_from, parse_role_map
from vskill_platform.domain.errors import Conflict, LastAdministrator, NameTaken, SignInFailed
from vskill_platform.domain.records import Record
from vskill_platform.domain.secrets import equal_secrets, hash_secret
from vskill_platform.ports.commit import ABSENT, Delete, Put
from vskill_platform.settings import Settings
from vskill_platform.stores.accounts import create_account, find_provided
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.stores.sessions import OpenedSession
from vskill_platform.worker_context import current_env

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
"""What an ID token may be signed with: by keys that only the provider has. `none` and shared secrets are not among them."""
LASTS_S = 600.0
LEEWAY_S = 60
_MAX_GROUPS = 1000
_log = structlog.get_logger(__name__)


class Begun(NamedTuple):
    """A sign-in that has begun: where the browser goes, and the secret that it brings back."""

    address: str
    state: str


class _Pending(Record, frozen=True, kw_only=True, rename="camel"):
    """What has to be the same when the browser comes back."""

    nonce: str
    verifier: str
    redirect_uri: str
    next: str


class _Person(msgspec.Struct, frozen=True, kw_only=True):
    """What an ID token says of somebody, as far as we ask."""

    sub: str
    name: str = ""
    preferred_username: str = ""
    email: str = ""


class Finished(NamedTuple):
    """Somebody who is signed in, and where they wanted to go."""

    opened: OpenedSession
    next: str


_pending = msgspec.json.Decoder(_Pending)


async def begin(*, redirect_uri: str, wanted: str) -> Begun:
    """Begin a sign-in. Raises ProviderUnreachable."""
    env = current_env("writes")
    endpoints = await find_endpoints(env.settings)
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    kept = _Pending(nonce=nonce, verifier=verifier, redirect_uri=redirect_uri, next=wanted)
    await env.writes.commit([Put(_key(state), encode_record(kept), if_version=ABSENT, ttl_s=LASTS_S)])
    address = prepare_grant_uri(
        endpoints.authorization_endpoint,
        client_id=env.settings.oidc_client_id,
        response_type="code",
        redirect_uri=redirect_uri,
        scope="openid profile email",
        state=state,
        nonce=nonce,
        code_challenge=create_s256_code_challenge(verifier),
        code_challenge_method="S256",
    )
    return Begun(str(address), state)


async def finish(*, state: str, brought: str, code: str, browser: Browser) -> Finished:
    """Sign in who came back with a code. `brought` is the state that the browser was given. Raises SignInFailed."""
    if not state or not equal_secrets(state, brought):
        raise SignInFailed("This sign-in was not begun in this browser. Try again from the start.")
    pending = await _take(state)
    settings = current_env("settings").settings
    token = await exchange_code(settings, code, redirect_uri=pending.redirect_uri, verifier=pending.verifier)
    claims = await read_id_token(token, nonce=pending.nonce, settings=settings)
    account = await _account_of(claims, settings)
    opened = await enter(account, browser, reason=f"Signed in with {urlsplit(settings.oidc_issuer).netloc}.")
    return Finished(opened, pending.next)


async def _take(state: str) -> _Pending:
    """What was kept under a state, which is used up by this."""
    env, key = current_env("writes"), _key(state)
    entry = await env.kv.get(key)
    try:
        if entry is not None:
            await env.writes.commit([Delete(key, if_version=entry.version)])
            return decode_record(key, entry.value, decoder=_pending)
    except Conflict:
        pass
    raise SignInFailed("This sign-in took too long, or was used already. Try again from the start.")


async def read_id_token(token: str, *, nonce: str, settings: Settings) -> dict[str, Any]:
    """The claims of an ID token that the provider signed, for us, now, in answer to this very sign-in. Raises SignInFailed."""
    now_s = current_env("clock").clock.now_ms() // 1000
    registry = jwt.JWTClaimsRegistry(
        now=now_s,
        leeway=LEEWAY_S,
        iss={"essential": True, "value": settings.oidc_issuer},
        aud={"essential": True, "value": settings.oidc_client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
        nonce={"essential": True},
    )
    try:
        key_id = jws.extract_compact(token.encode()).headers().get("kid")
        keys = await find_keys(settings, key_id=key_id if isinstance(key_id, str) else None)
        claims = jwt.decode(token, keys, algorithms=list(ALGORITHMS)).claims
        registry.validate(claims)
    except (JoseError, ValueError, TypeError) as exc:
        _log.warning("id_token_refused", error=type(exc).__name__)
        raise _refused() from exc
    if not equal_secrets(str(claims["nonce"]), nonce) or not _is_for_us(claims, settings.oidc_client_id):
        _log.warning("id_token_refused", error="nonce or authorized party")
        raise _refused()
    return dict(claims)


def _is_for_us(claims: dict[str, Any], client_id: str) -> bool:
    """A token for several readers says which of them asked for it."""
    audience = claims.get("aud")
    is_alone = isinstance(audience, str) or (isinstance(audience, list) and len(audience) == 1)
    return claims.get("azp", client_id if is_alone else None) == client_id


async def _account_of(claims: dict[str, Any], settings: Settings) -> Account:
    """The account of whom the claims are about, made where there is none, with the role that their groups give."""
    try:
        person = msgspec.convert(claims, _Person)
    except msgspec.ValidationError as exc:
        raise _refused() from exc
    provider = Provider(issuer=settings.oidc_issuer, subject=person.sub[:255])
    role = role_of(claims, settings)
    account = await find_provided(provider) or await _make_account(person, provider, role or Role.SUBMITTER)
    if account.is_disabled:
        raise SignInFailed("This account is disabled. Ask an administrator.")
    if role is None or role is account.role:
        return account
    try:
        return await audited_as(
            account.name,
            "account.role",
            reason=f"Groups at the provider ({account.role} to {role}).",
            account=account,
            run=lambda: set_role(account, role),
        )
    except LastAdministrator:
        _log.warning("last_administrator_kept", account=account.id)
        return account


def role_of(claims: dict[str, Any], settings: Settings) -> Role | None:
    """The highest role that the groups in the claims give; None where the settings map no groups, and roles are set here."""
    mapped = parse_role_map(settings.oidc_role_map)
    if not mapped:
        return None
    told = claims.get(settings.oidc_groups_claim, [])
    groups = told if isinstance(told, list) else [told]
    roles = {mapped[group] for group in groups[:_MAX_GROUPS] if isinstance(group, str) and group in mapped}
    return next((role for role in Role if role in roles), Role.SUBMITTER)


async def _make_account(person: _Person, provider: Provider, role: Role) -> Account:
    """An account with the name that somebody has at the provider, or with another where that is taken here."""
    wanted = login_from(person.preferred_username or person.email.partition("@")[0] or person.name)
    mark = hash_secret(f"{provider.issuer} {provider.subject}")[:6]
    for name in (wanted, f"{wanted[:33]}-{mark}"):
        try:
            return await _create(name, person, provider, role)
        except NameTaken:
            continue
    raise SignInFailed("No free name was found for this account. Ask an administrator.")


async def _create(name: str, person: _Person, provider: Provider, role: Role) -> Account:
    return await audited_as(
        name,
        "account.create",
        reason="The first sign-in with the provider.",
        run=lambda: create_account(name, role=role, display_name=_printable(person.name), provider=provider),
    )


def _printable(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable())[:80]


def _refused() -> SignInFailed:
    return SignInFailed("What the provider said of you cannot be trusted. Try again, or tell an administrator.")


def _key(state: str) -> str:
    return f"oidc-state:{hash_secret(state)}"
