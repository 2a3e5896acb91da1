"""What a request is addressed to, as it came over the wire: held to one spelling before anything is made of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes

from vskill_platform.domain.errors import AddressTooLong, InvalidInput, NotFound, UnsupportedContentType

MAX_PATH_BYTES = 4096
MAX_QUERY_BYTES = 32_768
_JSON_ONLY = ("/api/", "/vskill/")
_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_PLAIN = re.compile(rb"[!-$&-~]*")
"""Visible ASCII without a percent sign: nothing to decode, and nothing that could be wrong."""
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DOTS = re.compile(rb"/(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)


def check_target(path: bytes, query: bytes) -> None:
    """Raise InvalidInput for a path or query that is no text, or AddressTooLong for one that is too much of it."""
    if len(path) > MAX_PATH_BYTES or len(query) > MAX_QUERY_BYTES:
        raise AddressTooLong(
            f"A path has at most {MAX_PATH_BYTES} bytes and a query {MAX_QUERY_BYTES}; "
            f"these have {len(path)} and {len(query)}."
        )
    _check_text(path, "path")
    _check_text(query.replace(b"+", b""), "query")
    if b"/." in path or b"%2" in path:
        _check_dots(path)
    if b"//" in path:
        raise NotFound("There is nothing at an address with two slashes in a row.")


def _check_text(given: bytes, what: str) -> None:
    if _PLAIN.fullmatch(given):
        return
    if _BROKEN_ESCAPE.search(given):
        raise InvalidInput(
            f"The {what} has a percent sign without two hexadecimal digits. Write a percent sign as %25."
        )
    try:
        text = unquote_to_bytes(given).decode()
    except UnicodeDecodeError:
        raise InvalidInput(
            f"The {what} is not valid UTF-8. Write other characters as the %XX of their UTF-8 bytes."
        ) from None
    if _CONTROL.search(text):
        raise InvalidInput(f"The {what} has a control character. Only printable text is allowed there.")


def _check_dots(path: bytes) -> None:
    if _DOTS.search(path):
        raise InvalidInput("The path has a segment of dots. Write the address in full.")


def address_without_slash(path: bytes, query: bytes) -> bytes | None:
    """Where a path with a slash at its end really is; None where it has none. `/` is itself."""
    if len(path) < 2 or not path.endswith(b"/"):
        return None
    return path.rstrip(b"/") + (b"?" + query if query else b"")


def check_content_type(method: str, path: str, headers: Mapping[bytes, bytes]) -> None:
    """Raise UnsupportedContentType for a body that the API cannot read. A request without a body needs no type."""
    if method not in _WITH_BODY or not path.startswith(_JSON_ONLY):
        return
    has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if has_body and kind != b"application/json":
        raise UnsupportedContentType("The API takes application/json. Send the body as JSON with that Content-Type.")
    if has_body and headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise UnsupportedContentType("The API takes bodies as they are. Send the body without a Content-Encoding.")
