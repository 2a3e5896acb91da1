"""Sending one webhook: resolve, check, and connect to the very address that was checked, under the right name.

Nothing of the web's conveniences takes part: no redirects, cookies, proxies, kept connections or decompression. Whatever goes
wrong is an answer like any other, because it is kept and shown; what a receiver says is read up to a few characters.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import NamedTuple

import httpx

from vskill_platform import __version__
from vskill_platform.domain.errors import VskillError
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.public_addresses import Judge, judge_any, judge_public
from vskill_platform.ingest.resolver import SystemResolver
from vskill_platform.ingest.url_guard import RepositoryAddress, Resolve, check_receiver, resolve_checked
from vskill_platform.settings import Settings

EXCERPT_CHARACTERS = 300
_EXCERPT_BYTES = 2048
_ADDRESSES_TRIED = 2
_FIXED = {
    "Content-Type": "application/json",
    "User-Agent": f"vskill-platform/{__version__}",
    "Accept-Encoding": "identity",
    "Connection": "close",
}


class Sent(NamedTuple):
    """What a try came to: a status with the beginning of the answer, or the reason why there is none."""

    status: int | None
    excerpt: str
    error: str
    duration_ms: int


class Sender:
    """Sends webhooks as the settings allow. Call `close` when no more is sent."""

    def __init__(self, settings: Settings, *, resolve: Resolve | None = None) -> None:
        self._settings = settings
        self._system = SystemResolver() if resolve is None else None
        self._resolve = resolve or self._system
        self._transport = httpx.AsyncHTTPTransport(
            verify=_trust(settings),
            trust_env=False,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        )

    async def close(self) -> None:
        """Close what is open."""
        await self._transport.aclose()
        if self._system is not None:
            self._system.close()

    async def send(self, url: str, *, body: bytes, headers: Mapping[str, str]) -> Sent:
        """Post the body. Raises nothing but cancellation."""
        started, limit_s = perf_counter(), self._settings.webhook_time_limit_s
        status, excerpt, error = None, "", ""
        try:
            async with asyncio.timeout(limit_s):
                status, excerpt = await self._post(url, body, headers)
        except TimeoutError:
            error = f"There was no whole answer within {limit_s:g} s."
        except VskillError as refused:
            error = refused.message
        except (httpx.HTTPError, OSError, ValueError) as failed:
            error = f"The connection failed: {printable(str(failed) or type(failed).__name__)}"
        return Sent(status, excerpt, error, round((perf_counter() - started) * 1000))

    async def _post(self, url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
        address = check_receiver(url, protocols=self._settings.webhook_protocols)
        assert self._resolve is not None
        reachable = await resolve_checked(address, resolve=self._resolve, judge=judge_of(self._settings))
        response = await self._connect(address, reachable[:_ADDRESSES_TRIED], body, headers)
        try:
            return response.status_code, await _read_excerpt(response)
        finally:
            await response.aclose()

    async def _connect(
        self, address: RepositoryAddress, reachable: Sequence[str], body: bytes, headers: Mapping[str, str]
    ) -> httpx.Response:
        """The answer of the first address that takes a connection. Once connected, no other is tried."""
        for place in reachable[:-1]:
            try:
                return await self._ask(address, place, body, headers)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._ask(address, reachable[-1], body, headers)

    async def _ask(
        self, address: RepositoryAddress, place: str, body: bytes, headers: Mapping[str, str]
    ) -> httpx.Response:
        target = address._replace(host=place)
        limits = httpx.Timeout(self._settings.webhook_time_limit_s).as_dict()
        request = httpx.Request(
            "POST",
            target.url,
            headers={"Host": _host_header(address), **_FIXED, **headers},
            content=body,
            extensions={"timeout": limits, "sni_hostname": address.host},
        )
        return await self._transport.handle_async_request(request)


def judge_of(settings: Settings) -> Judge:
    """Which addresses webhooks may be sent to."""
    return judge_any if settings.webhook_private_addresses else judge_public


def _trust(settings: Settings) -> ssl.SSLContext:
    if settings.webhook_ca_file:
        return ssl.create_default_context(cafile=settings.webhook_ca_file)
    return httpx.create_ssl_context(trust_env=False)


def _host_header(address: RepositoryAddress) -> str:
    return address.url.split("/", 3)[2]


async def _read_excerpt(response: httpx.Response) -> str:
    """The beginning of what the receiver says; the rest is not waited for."""
    found = b""
    async for chunk in response.aiter_raw():
        found += chunk[:_EXCERPT_BYTES]
        if len(found) >= _EXCERPT_BYTES:
            break
    return printable(found[:_EXCERPT_BYTES], limit=EXCERPT_CHARACTERS)
