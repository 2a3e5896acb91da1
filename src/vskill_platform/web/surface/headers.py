"""Headers that every answer has, whatever made it: pages, errors and answers of the framework itself."""

from __future__ import annotations

Header = tuple[bytes, bytes]

_ALWAYS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
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


STANDING: dict[tuple[bool, bool], tuple[Header, ...]] = {
    (has_policy, is_shared): (
        *_ALWAYS,
        *(() if has_policy else (_POLICY,)),
        *(_FOR_ALL if is_shared else (_FOR_US,)),
    )
    for has_policy in (False, True)
    for is_shared in (False, True)
}
"""Strict headers by whether an answer has a policy of its own, as pages do, and whether it is shared.

What is shared may be read by scripts and shown by pages of any origin.
"""
POLICY = _POLICY[0]
