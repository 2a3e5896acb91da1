"""How pages put values into words: numbers, sizes, dates, and the names of things. Pure functions, used as filters."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

_UNITS = ("KB", "MB", "GB")
_DIGEST_CHARS = 12
CAPABILITY_WORDS = {
    "network_hosts": ("network", "Reaches the network", "globe"),
    "commands": ("commands", "Runs commands", "terminal"),
    "files_written": ("files", "Writes files", "file"),
    "environment": ("environment", "Reads environment variables", "sliders"),
    "secrets": ("secrets", "Reads secrets", "key"),
    "packages": ("packages", "Installs packages", "package"),
    "remote_instructions": ("remote instructions", "Follows instructions from elsewhere", "link"),
}
"""What a capability is called in a list, on a page of its own, and which icon it has; in the order pages show them."""


def number(value: int) -> str:
    """A number with a comma between thousands."""
    return f"{value:,}"


def size(count: int) -> str:
    """Bytes as people say them: 812 B, 4.1 KB."""
    if count < 1024:
        return f"{count} B"
    power = min((count.bit_length() - 1) // 10, len(_UNITS))
    return f"{count / 1024**power:.1f} {_UNITS[power - 1]}"


def _moment(iso: str) -> datetime | None:
    try:
        return datetime.fromisoformat(iso).astimezone(UTC)
    except ValueError:
        return None


def date(iso: str) -> str:
    """The day of a moment, 16 Nov 2026; what is no moment stays as it is."""
    moment = _moment(iso)
    return iso if moment is None else f"{moment.day} {moment:%b %Y}"


def moment(iso: str) -> str:
    """A moment to the second: 16 Nov 2026, 11:08:23 UTC."""
    found = _moment(iso)
    return iso if found is None else f"{found.day} {found:%b %Y, %H:%M:%S} UTC"


def short_digest(digest: str) -> str:
    """The beginning of a digest or commit, enough to tell it from others."""
    return digest.removeprefix("sha256:")[:_DIGEST_CHARS]


def words(name: str) -> str:
    """A state, a code or a category as words: NEEDS_REVIEW is Needs review."""
    return name.replace("_", " ").replace("-", " ").strip().capitalize()


def host(url: str) -> str:
    """Host and path of an address without protocol and .git: what people recognise."""
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}".removesuffix(".git").rstrip("/") or url


def path_quote(text: str) -> str:
    """A path as a part of an address; slashes stay."""
    return quote(text, safe="/")


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun: 1 skill, 2,041 skills."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def safe_link(url: str) -> str:
    """An address that a page may link to: http or https, else nothing."""
    return url if urlsplit(url).scheme in ("http", "https") else ""


FILTERS: dict[str, Callable[..., str]] = {
    "number": number,
    "size": size,
    "date": date,
    "moment": moment,
    "short_digest": short_digest,
    "words": words,
    "host": host,
    "path_quote": path_quote,
    "plural": plural,
    "safe_link": safe_link,
}
