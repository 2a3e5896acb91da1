"""What is asked of the OpenID provider: where its endpoints are, its keys, and the exchange of a code for an ID token.

Answers are bounded in size and time, and redirects are not followed. Endpoints and keys are kept for an hour; a key that nobody
knows makes us ask for the keys again, once a minute at most, so that a token with a made-up key id costs the provider nothing.
"""

from __future__ import annotations

import ssl
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
import msgspec
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_token_request
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from vskill_platform.domain.errors import ProviderUnreachable, SignInFailed
from vskill_platform.settings import Settings
from vskill_platform.worker_context import current_env

MAX_ANSWER_BYTES = 256 * 1024
MAX_KEYS = 100
LIMIT_S = 10.0
KEPT_MS = 3600_000
KEYS_AGAIN_MS = 60_000
_MOST_PROVIDERS = 8


class Endpoints(msgspec.Struct, frozen=True, kw_only=True):
    """What discovery tells."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    id_token: str


class _Kept(NamedTuple):
    at_ms: int
    endpoints: Endpoints
    keys_at_ms: int
    keys: KeySet


_kept: dict[str, _Kept] = {}


async def find_endpoints(settings: Settings) -> Endpoints:
    """Where the provider of the settings is reached. Raises ProviderUnreachable."""
    return (await _look(settings)).endpoints


async def find_keys(settings: Settings, *, key_id: str | None) -> KeySet:
    """The provider's keys, asked for again where none has this id. Raises ProviderUnreachable."""
    kept, now_ms = await _look(settings), _now_ms()
    is_known = key_id is None or any(key.kid == key_id for key in kept.keys.keys)
    if not is_known and now_ms - kept.keys_at_ms >= KEYS_AGAIN_MS:
        keys = await _fetch_keys(kept.endpoints)
        kept = _keep(settings.oidc_issuer, kept._replace(keys=keys, keys_at_ms=now_ms))
    return kept.keys


async def exchange_code(settings: Settings, code: str, *, redirect_uri: str, verifier: str) -> str:
    """The ID token that a code is good for. Raises SignInFailed where the provider refuses the code."""
    endpoints = await find_endpoints(settings)
    body = prepare_token_request("authorization_code", code=code, redirect_uri=redirect_uri, code_verifier=verifier)
    auth = ClientAuth(
        settings.oidc_client_id,
        settings.oidc_client_secret,
        "client_secret_basic" if settings.oidc_client_secret else "none",
    )
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    _, headers, body = auth.prepare("POST", endpoints.token_endpoint, headers, body)
    status, content = await _ask("POST", endpoints.token_endpoint, headers=headers, content=body)
    if 400 <= status < 500:
        raise SignInFailed("The provider did not accept the sign-in. Try again from the start.")
    return str(_read(content, _Answer, status=status).id_token)


async def _look(settings: Settings) -> _Kept:
    issuer, now_ms = settings.oidc_issuer, _now_ms()
    kept = _kept.get(issuer)
    if kept is not None and 0 <= now_ms - kept.at_ms < KEPT_MS:
        return kept
    status, content = await _ask("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    endpoints = _read(content, Endpoints, status=status)
    _check_endpoints(endpoints, issuer=issuer)
    return _keep(issuer, _Kept(now_ms, endpoints, now_ms, await _fetch_keys(endpoints)))


def _keep(issuer: str, found: _Kept) -> _Kept:
    if len(_kept) >= _MOST_PROVIDERS:
        _kept.clear()
    _kept[issuer] = found
    return found


def _check_endpoints(endpoints: Endpoints, *, issuer: str) -> None:
    """What is discovered speaks for this issuer and for no other, and no less safely than it."""
    if endpoints.issuer != issuer:
        raise ProviderUnreachable("The provider calls itself by another address than the setting oidc_issuer does.")
    scheme = urlsplit(issuer).scheme
    for url in (endpoints.authorization_endpoint, endpoints.token_endpoint, endpoints.jwks_uri):
        if urlsplit(url).scheme not in ("https", scheme):
            raise ProviderUnreachable("The provider names an address that is not HTTPS.")


async def _fetch_keys(endpoints: Endpoints) -> KeySet:
    status, content = await _ask("GET", endpoints.jwks_uri)
    told = _read(content, dict[str, Any], status=status)
    # Keys that we cannot read are of no use to us, and no reason to turn everybody away: providers publish kinds of all sorts.
    keys = [key for one in list(told.get("keys", []))[:MAX_KEYS] if (key := _import_key(one)) is not None]
    return KeySet([key for found in keys for key in found.keys])


def _import_key(told: Any) -> KeySet | None:
    try:
        return KeySet.import_key_set({"keys": [told]})
    except (JoseError, ValueError, TypeError, KeyError, AttributeError):
        return None


async def _ask(method: str, url: str, **options: Any) -> tuple[int, bytes]:
    content = b""
    try:
        async with (
            httpx.AsyncClient(timeout=LIMIT_S, verify=_trusted(), trust_env=False, follow_redirects=False) as client,
            client.stream(method, url, **options) as answer,
        ):
            async for piece in answer.aiter_bytes():
                content += piece
                if len(content) > MAX_ANSWER_BYTES:
                    raise ProviderUnreachable("The provider answers with more than anybody could need.")
            return answer.status_code, content
    except httpx.HTTPError as exc:
        raise ProviderUnreachable(
            f"The OpenID provider does not answer ({type(exc).__name__}). Try again, or sign in with a password."
        ) from exc


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed, read once: the usual ones, or those that SSL_CERT_FILE names."""
    return httpx.create_ssl_context()


def _read(content: bytes, kind: Any, *, status: int) -> Any:
    try:
        if status != 200:
            raise msgspec.ValidationError(f"status {status}")
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError as exc:
        raise ProviderUnreachable(f"The OpenID provider answers what no provider should (status {status}).") from exc


def _now_ms() -> int:
    return current_env("clock").clock.now_ms()
