"""The few words of HTTP that the proxy speaks: the head of a request to it, and heads rewritten for the other side."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from typing import NamedTuple

HEAD_MAX_BYTES = 16 * 1024
_REQUEST_LINE = re.compile(rb"([A-Z]{3,7}) ([!-~]{1,4096}) HTTP/1\.[01]")
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] [0-9]{3}(?: [ -~\x80-\xff]*)?")
_BETWEEN_NEIGHBOURS = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"upgrade"})


class BadHead(Exception):
    """What came is not the head of an HTTP message, or too long for one."""


class RequestHead(NamedTuple):
    """A request to the proxy. `target` is `host:port` for CONNECT and a whole address for anything else."""

    method: str
    target: str
    fields: tuple[tuple[bytes, bytes], ...]

    def credentials(self) -> tuple[str, str]:
        """Name and secret of the proxy's basic authentication; both empty if there are none."""
        given = next((value for name, value in self.fields if name.lower() == b"proxy-authorization"), b"")
        scheme, _, encoded = given.partition(b" ")
        if scheme.lower() != b"basic":
            return "", ""
        try:
            name, _, secret = base64.b64decode(encoded.strip(), validate=True).decode("ascii").partition(":")
        except (binascii.Error, UnicodeError):
            return "", ""
        return name, secret

    def for_origin(self, path: str) -> bytes:
        """The same request as the origin server reads it, for one exchange on a connection of its own."""
        kept = _kept(self.fields)
        return _assembled(f"{self.method} {path} HTTP/1.1".encode(), kept)


async def read_request(reader: asyncio.StreamReader) -> RequestHead:
    """The head of the next request. Raises BadHead."""
    first, fields = await _read_head(reader)
    found = _REQUEST_LINE.fullmatch(first)
    if found is None:
        raise BadHead
    return RequestHead(found[1].decode(), found[2].decode(), fields)


async def read_response(reader: asyncio.StreamReader) -> bytes:
    """The head of a response, told to end its connection. Raises BadHead."""
    first, fields = await _read_head(reader)
    if not _STATUS_LINE.fullmatch(first):
        raise BadHead
    return _assembled(first, _kept(fields))


def _kept(fields: tuple[tuple[bytes, bytes], ...]) -> list[tuple[bytes, bytes]]:
    return [
        (name, value)
        for name, value in fields
        if name.lower() not in _BETWEEN_NEIGHBOURS and not name.lower().startswith(b"proxy-")
    ]


def _assembled(first: bytes, fields: list[tuple[bytes, bytes]]) -> bytes:
    lines = [first, *(name + b": " + value for name, value in fields), b"Connection: close"]
    return b"\r\n".join(lines) + b"\r\n\r\n"


async def _read_head(reader: asyncio.StreamReader) -> tuple[bytes, tuple[tuple[bytes, bytes], ...]]:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as exc:
        raise BadHead from exc
    if len(head) > HEAD_MAX_BYTES:
        raise BadHead
    first, *lines = head[:-4].split(b"\r\n")
    return first, tuple(_field(line) for line in lines)


def _field(line: bytes) -> tuple[bytes, bytes]:
    name, colon, value = line.partition(b":")
    if not colon or not name or name != name.strip() or b"\n" in line or b"\r" in line:
        raise BadHead
    return name, value.strip()
