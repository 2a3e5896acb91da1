"""What pages of other origins may do here: read the API and the feeds, and nothing else.

Reading needs no login, so any origin may. A write is refused where a browser says that another site has set it off; a
preflight for one is answered without leave.
"""

from __future__ import annotations

from collections.abc import Mapping

from vskill_platform.domain.errors import CrossSiteRefused
from vskill_platform.web.surface.headers import Header

READS = frozenset({"GET", "HEAD"})
_SAFE = frozenset({*READS, "OPTIONS", "TRACE"})
_SHARED_PREFIXES = ("/api/v1/", "/feeds/", "/.well-known/")
_SHARED_PATHS = frozenset({"/llms.txt", "/robots.txt", "/sitemap.xml", "/sitemap-pages.xml", "/sitemap-skills.xml"})
_OWN_SITE = frozenset({b"same-origin", b"none"})
_LEAVE: tuple[Header, ...] = (
    (b"access-control-allow-methods", b"GET, HEAD"),
    (b"access-control-allow-headers", b"Accept, Content-Type, If-None-Match, Last-Event-ID, Range"),
    (b"access-control-max-age", b"86400"),
)


def is_shared(method: str, path: str) -> bool:
    """Whether any origin may have the answer."""
    return method in READS and (path.startswith(_SHARED_PREFIXES) or path in _SHARED_PATHS)


def is_preflight(method: str, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser asks what it may do before it does it."""
    return method == "OPTIONS" and b"origin" in headers and b"access-control-request-method" in headers


def preflight_headers(path: str, headers: Mapping[bytes, bytes]) -> tuple[Header, ...]:
    """The leave that a preflight is given: to read, never to write."""
    wanted = headers[b"access-control-request-method"].decode("latin-1").upper()
    return _LEAVE if is_shared(wanted, path) else ()


def refuse_other_sites(method: str, headers: Mapping[bytes, bytes]) -> None:
    """Raise CrossSiteRefused for a write that another site's page has set off. Programs send neither header."""
    if method in _SAFE:
        return
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    if site is None and origin is not None:
        site = b"same-origin" if origin.partition(b"://")[2] == headers.get(b"host") else b"cross-site"
    if site is not None and site not in _OWN_SITE:
        raise CrossSiteRefused(
            "A page of another site may read here and not write. Send this from a page of this site."
        )
