"""Trusted publishers: owners of repositories, or single repositories, whose skills are certified where the scan lets them pass.

Trust never replaces the scan. It raises the tier of what has passed, and of nothing else.
"""

from __future__ import annotations

from vskill_platform.domain.errors import InvalidInput
from vskill_platform.domain.records import Record
from vskill_platform.domain.repository import repository_identity

VENDOR_PREFIX = "vendor:"
MAX_SOURCE_CHARS = 300
_LEAST_SEGMENTS = 2


class Vendor(Record, frozen=True, kw_only=True, rename="camel"):
    """One trusted publisher. `source` is `host/owner` or `host/owner/repository`; `by` is the account that trusts it."""

    source: str
    reason: str
    since: str
    by: str
    name: str = ""


def vendor_key(source: str) -> str:
    """The key of a vendor."""
    return f"{VENDOR_PREFIX}{source}"


def read_source(text: str) -> str:
    """A source as people write it (`github.com/anthropics`, with or without protocol), in the form that vendors are kept by.

    Raises InvalidInput for a host alone: whoever may make an account there would be trusted.
    """
    source = repository_identity(text.strip()).rstrip("/").removesuffix(".git")
    segments = source.split("/")
    is_plain = source.isprintable() and not any(sign in source for sign in " ?#@\\*")
    if len(segments) < _LEAST_SEGMENTS or not all(segments) or not is_plain or len(source) > MAX_SOURCE_CHARS:
        raise InvalidInput(
            "A vendor is an owner, such as github.com/anthropics, or a repository, such as github.com/anthropics/skills.",
            source=text[:MAX_SOURCE_CHARS],
        )
    return source


def sources_of(repo_url: str) -> list[str]:
    """The sources that a repository belongs to, the nearest first: itself, and every owner above it."""
    segments = repository_identity(repo_url).split("/")
    return ["/".join(segments[:count]) for count in range(len(segments), _LEAST_SEGMENTS - 1, -1)]
