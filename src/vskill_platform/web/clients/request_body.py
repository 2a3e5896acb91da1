"""The body of a request, whole and within bounds, also where it comes compressed."""

from __future__ import annotations

import zlib

from litestar.types import Receive

from vskill_platform.domain.errors import InvalidInput, ValueTooLarge

_GZIP = 16 + zlib.MAX_WBITS


class ClientGone(Exception):
    """The client went away; there is nobody left to answer."""


async def read_body(receive: Receive, *, is_gzipped: bool, max_bytes: int) -> bytes:
    """The body as it was meant. Raises ValueTooLarge, InvalidInput for a broken gzip stream, or ClientGone."""
    received = bytearray()
    decoder = zlib.decompressobj(_GZIP) if is_gzipped else None
    is_complete = False
    while not is_complete:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        piece = message.get("body", b"")
        received += _inflate(decoder, piece, max_bytes=max_bytes - len(received)) if decoder else piece
        if len(received) > max_bytes:
            raise ValueTooLarge(f"The request has more than {max_bytes} bytes. Fetch with --depth=1, or clone anew.")
        is_complete = not message.get("more_body", False)
    if decoder and not decoder.eof:
        raise InvalidInput("The request's gzip stream ends too early. Send it again.")
    return bytes(received)


def _inflate(decoder: zlib._Decompress, piece: bytes, *, max_bytes: int) -> bytes:
    """What the piece expands to, but never more than one byte over the bound, whatever it claims to be."""
    try:
        inflated = decoder.decompress(piece, max_bytes + 1)
    except zlib.error as exc:
        raise InvalidInput(f"The request is no gzip stream ({exc}). Send it again.") from exc
    if decoder.unused_data:
        raise InvalidInput("The request goes on after its gzip stream. Send one stream.")
    return inflated
