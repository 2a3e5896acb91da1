"""A small OpenID provider on loopback, for tests: discovery, keys, authorization and token endpoint, with faults to plant.

    provider = FakeProvider(clock)
    async with provider.serve() as issuer: …

Whoever comes to `/authorize` is signed in as `provider.person` at once. `change` alters the claims of the next ID tokens.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode

import msgspec
from joserfc import jwt
from joserfc.jwk import ECKey
from litestar.enums import ScopeType
from litestar.types import Receive, Scope, Send

from vskill_platform.app import serving
from vskill_platform.ports.clock import Clock

CLIENT_ID, CLIENT_SECRET = "registry", "the secret of the registry"
Claims = dict[str, Any]


class FakeProvider:
    """A provider that knows one person, and does what a test wants with the tokens it signs.

    Its issuer has a part that no other has: ports come back, and whoever keeps a provider's keys keeps them by its issuer.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._codes: dict[str, dict[str, str]] = {}
        self._realm = f"/{secrets.token_hex(8)}"
        self.key = ECKey.generate_key("P-256", auto_kid=True)
        self.signed_by = self.key
        self.header: dict[str, Any] = {}
        self.issuer = ""
        self.person: Claims = {"sub": "248289761001", "preferred_username": "rita", "name": "Rita", "groups": []}
        self.change: Callable[[Claims], Claims] = lambda claims: claims
        self.asked: list[str] = []

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        """Serve until the block ends. Gives the issuer."""
        async with serving(self) as address:
            self.issuer = address + self._realm
            yield self.issuer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != ScopeType.HTTP:
            return
        path = scope["path"].removeprefix(self._realm)
        self.asked.append(path)
        query = _single(parse_qs(scope["query_string"].decode()))
        status, headers, body = 200, [(b"content-type", b"application/json")], Claims()
        match path:
            case "/.well-known/openid-configuration":
                body = self._endpoints()
            case "/keys":
                body = {"keys": [self.key.as_dict(private=False)]}
            case "/authorize":
                status, headers = 303, [(b"location", self._authorize(query).encode())]
            case "/token":
                sent: Any = await receive()
                status, body = self._exchange(_single(parse_qs(sent["body"].decode())), dict(scope["headers"]))
            case _:
                status = 404
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": msgspec.json.encode(body), "more_body": False})

    def _endpoints(self) -> Claims:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }

    def _authorize(self, query: dict[str, str]) -> str:
        code = secrets.token_urlsafe(16)
        self._codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def _exchange(self, given: dict[str, str], headers: dict[bytes, bytes]) -> tuple[int, Claims]:
        asked = self._codes.pop(given.get("code", ""), None)
        login = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(given.get("code_verifier", "").encode()).digest())
        is_right = (
            asked is not None
            and headers.get(b"authorization", b"").decode() == f"Basic {login}"
            and given.get("redirect_uri") == asked["redirect_uri"]
            and asked["code_challenge_method"] == "S256"
            and challenge.decode().rstrip("=") == asked["code_challenge"]
        )
        if asked is None or not is_right:
            return 400, {"error": "invalid_grant"}
        return 200, {"token_type": "Bearer", "access_token": "unused", "id_token": self._sign(asked["nonce"])}

    def _sign(self, nonce: str) -> str:
        now_s = self._clock.now_ms() // 1000
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "exp": now_s + 300,
            "iat": now_s,
            "nonce": nonce,
            **self.person,
        }
        header = {"alg": "ES256", "kid": self.key.kid, **self.header}
        if header["alg"] == "none":
            return ".".join([_part(header), _part(self.change(claims)), ""])
        return jwt.encode(header, self.change(claims), self.signed_by)


def _part(value: Claims) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(value)).decode().rstrip("=")


def _single(values: dict[str, list[str]]) -> dict[str, str]:
    return {name: value[0] for name, value in values.items()}
