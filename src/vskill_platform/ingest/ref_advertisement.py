"""Asking a host for a repository as git begins to, once: what it answers before any object is asked for.

The request goes through the proxy that git uses, so it reaches checked addresses only and is cut after a few bytes. It asks by
the oldest of git's protocols, in which the first line of the answer names the head of the default branch: one short answer
says whether a repository is there and whether it has changed. Nothing is followed.
"""

from __future__ import annotations

import re
import ssl
from email.utils import parsedate_to_datetime
from typing import NamedTuple

import httpx

from vskill_platform import __version__
from vskill_platform.domain.errors import SourceUnreachable
from vskill_platform.ingest.passage import Refusal
from vskill_platform.ingest.proxy import FetchProxy
from vskill_platform.ingest.url_guard import RepositoryAddress
from vskill_platform.settings import Settings

REFS_PATH = "/info/refs"
ANSWER_MAX_BYTES = 256 * 1024
_READ_BYTES = 8 * 1024
_HEADERS = {
    # Some hosts serve git only to what calls itself so.
    "User-Agent": f"git/2 (vskill-platform/{__version__})",
    "Accept": "*/*",
    "Accept-Encoding": "identity",
    "Pragma": "no-cache",
}
_FIRST_REF = re.compile(
    rb"001[ef]# service=git-upload-pack\n(?:0000)?(?:[0-9a-f]{4}version 1\n)?[0-9a-f]{4}([0-9a-f]{40}|[0-9a-f]{64}) ([!-~]+)\0"
)
_NO_REFS = b"001e# service=git-upload-pack\n00000000"


class Advertised(NamedTuple):
    """What a host answered. `head` is None where the answer is not a git server's, and empty where there is no commit."""

    status: int
    location: str = ""
    retry_after_s: float = 0.0
    is_rate_limit: bool = False
    head: str | None = None


async def ask_refs(proxy: FetchProxy, address: RepositoryAddress, *, trust: ssl.SSLContext) -> Advertised:
    """What the host answers. Raises AddressForbidden, or SourceUnreachable where there is no answer."""
    url = f"{address.url}{REFS_PATH}?service=git-upload-pack"
    async with proxy.passage(address, max_bytes=ANSWER_MAX_BYTES) as passage:
        transport = httpx.AsyncHTTPTransport(
            verify=trust, trust_env=False, proxy=httpx.Proxy(proxy.url(passage)), limits=_ONE_USE
        )
        try:
            async with transport:
                response = await transport.handle_async_request(httpx.Request("GET", url, headers=_HEADERS))
                try:
                    answer = _read(response, await _beginning(response))
                finally:
                    await response.aclose()
        except (httpx.HTTPError, OSError, ValueError) as exc:
            raise SourceUnreachable(f"The host of {address.url} does not answer: {type(exc).__name__}.") from exc
        if passage.refusal is Refusal.CONNECT_FAILED:  # then the answer is the proxy's own
            raise SourceUnreachable(f"The host of {address.url} takes no connection.")
        return answer


def trusted_certificates(settings: Settings) -> ssl.SSLContext:
    """Whom to believe to be a host: the same as git does."""
    return ssl.create_default_context(cafile=settings.git_ca_file or None)


_ONE_USE = httpx.Limits(max_connections=1, max_keepalive_connections=0)


async def _beginning(response: httpx.Response) -> bytes:
    found = b""
    async for chunk in response.aiter_raw():
        found += chunk
        if len(found) >= _READ_BYTES:
            break
    return found[:_READ_BYTES]


def _read(response: httpx.Response, body: bytes) -> Advertised:
    headers = response.headers
    retry_after_s = _seconds(headers.get("retry-after", ""), now=headers.get("date", ""))
    has_none_left = headers.get("x-ratelimit-remaining", "").strip() == "0"
    return Advertised(
        status=response.status_code,
        location=headers.get("location", ""),
        retry_after_s=retry_after_s,
        is_rate_limit=response.status_code == 429
        or (response.status_code == 403 and (has_none_left or retry_after_s > 0)),
        head=_head(body) if response.status_code == 200 else None,
    )


def _head(body: bytes) -> str | None:
    """The commit that HEAD stands at; empty where the repository has none, None where this is no git server."""
    if body == _NO_REFS:
        return ""
    found = _FIRST_REF.match(body)
    if found is None:
        return None
    return found[1].decode() if found[2] == b"HEAD" else ""


def _seconds(text: str, *, now: str) -> float:
    """How long a host asks to be left alone: a number of seconds, or a time by its own clock."""
    if text.isascii() and text.isdigit():
        return float(min(int(text[:9]), 10**8))
    try:
        return max(0.0, (parsedate_to_datetime(text) - parsedate_to_datetime(now)).total_seconds())
    except (TypeError, ValueError):
        return 0.0
