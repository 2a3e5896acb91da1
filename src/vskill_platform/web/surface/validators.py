"""Validators of whole answers: a strong ETag from the bytes, and whether a client has those bytes already."""

from __future__ import annotations

import hashlib

_TAG_BYTES = 12
_GZIP = b"-gzip"


def make_tag(body: bytes) -> bytes:
    """The strong ETag of a body."""
    return b'"%s"' % hashlib.blake2b(body, digest_size=_TAG_BYTES).hexdigest().encode()


def gzip_tag(tag: bytes) -> bytes:
    """The ETag of the same body compressed: other bytes, so another tag."""
    return tag[:-1] + _GZIP + b'"'


def is_known(tag: bytes, if_none_match: bytes) -> bool:
    """Whether a client that sends this If-None-Match has the body of the tag, compressed or not."""
    wanted = _plain(tag)
    return any(_plain(given) in (wanted, b"*") for given in if_none_match.split(b","))


def _plain(tag: bytes) -> bytes:
    return tag.strip().removeprefix(b"W/").replace(_GZIP + b'"', b'"')
