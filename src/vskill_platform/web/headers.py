"""Headers that every answer has, whatever made it: pages, errors and answers of the framework itself."""

from __future__ import annotations

from litestar.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
_POLICY = b"content-security-policy"
_NOTHING = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


def with_security_headers(app: ASGIApp) -> ASGIApp:
    """The application, with strict headers. A page that needs more says so in a policy of its own."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", []))
                names = {name.lower() for name, _ in headers}
                policy = [] if _POLICY in names else [(_POLICY, _NOTHING)]
                message["headers"] = [*headers, *_HEADERS, *policy]
            await send(message)

        await app(scope, receive, send_with_headers)

    return guarded
