"""What pages of other origins may do here: read the API and the feeds, and nothing else.

Reading needs no login, so any origin may. A write is refused where a browser says that another site has set it off, and a
preflight for one is answered without leave. What is personal is nobody's but its owner's.
"""

from __future__ import annotations

from collections.abc import Mapping

from vskill_platform.domain.errors import CrossSiteRefused
from vskill_platform.web.surface.headers import Header
from vskill_platform.web.surface.personal import has_session, is_personal_place

READS = frozenset({"GET", "HEAD"})
_SAFE = frozenset({*READS, "OPTIONS", "TRACE"})
_SHARED_PREFIXES = ("/api/v1/", "/api/search", "/feeds/")
_SHARED_PARTS = ("/.well-known/", "/.claude-plugin/")
"""What clients look for below the address of any page."""
_SHARED_PATHS = frozenset({"/llms.txt", "/robots.txt", "/sitemap.xml", "/sitemap-pages.xml", "/sitemap-skills.xml"})
_OWN_SITE = frozenset({b"same-origin", b"none"})
_LEAVE: tuple[Header, ...] = (
    (b"access-control-allow-methods", b"GET, HEAD"),
    (b"access-control-allow-headers", b"Accept, Content-Type, If-None-Match, Last-Event-ID, Range"),
    (b"access-control-max-age", b"86400"),
)


def is_shared(method: str, path: str) -> bool:
    """Whether any origin may have the answer."""
    is_public = (
        path.startswith(_SHARED_PREFIXES) or path in _SHARED_PATHS or any(part in path for part in _SHARED_PARTS)
    )
    return method in READS and is_public and not is_personal_place(path)


def is_preflight(method: str, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser asks what it may do before it does it."""
    return method == "OPTIONS" and b"origin" in headers and b"access-control-request-method" in headers


def preflight_headers(path: str, headers: Mapping[bytes, bytes]) -> tuple[Header, ...]:
    """The leave that a preflight is given: to read, never to write."""
    wanted = headers[b"access-control-request-method"].decode("latin-1").upper()
    return _LEAVE if is_shared(wanted, path) else ()


def refuse_other_sites(method: str, headers: Mapping[bytes, bytes], *, scheme: str) -> None:
    """Raise CrossSiteRefused for a write that another site's page has set off, or may have.

    Every browser of today says where a write comes from. Programs say nothing and have no cookies; a session without a word
    about its origin is neither.
    """
    if method in _SAFE:
        return
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    if site is None and origin is not None:
        own = scheme.encode() + b"://" + headers.get(b"host", b"")
        site = b"same-origin" if origin == own else b"cross-site"
    if site is not None and site not in _OWN_SITE:
        raise CrossSiteRefused(
            "A page of another site may read here and not write. Send this from a page of this site."
        )
    if site is None and has_session(headers) and b"authorization" not in headers:
        raise CrossSiteRefused(
            "A session without the header Origin or Sec-Fetch-Site cannot write: nobody could tell who has set it off. "
            "Programs send an API token as `Authorization: Bearer`."
        )
