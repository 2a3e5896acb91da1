"""Headers that every answer has, whatever made it: pages, errors and answers of the framework itself."""

from __future__ import annotations

from collections.abc import Mapping

Header = tuple[bytes, bytes]

_ALWAYS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
_POLICY: Header = (
    b"content-security-policy",
    b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
)
_FOR_US: Header = (b"cross-origin-resource-policy", b"same-origin")
_FOR_ALL: tuple[Header, ...] = (
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"access-control-allow-origin", b"*"),
    (
        b"access-control-expose-headers",
        b"ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, "
        b"X-RateLimit-Reset, X-Request-Id",
    ),
)


def standing_headers(given: Mapping[bytes, bytes], *, is_shared: bool) -> tuple[Header, ...]:
    """Strict headers for an answer. A page that needs more says so in a policy of its own.

    What is shared may be read by scripts and shown by pages of any origin.
    """
    policy = () if _POLICY[0] in given else (_POLICY,)
    return (*_ALWAYS, *policy, *(_FOR_ALL if is_shared else (_FOR_US,)))
