"""How pages put values into words: numbers, sizes, dates, and the names of things. Pure functions, used as filters."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from markupsafe import Markup, escape

from vskill_platform.domain.capabilities import KINDS
from vskill_platform.domain.slug import is_pushed, split_repository_url

_UNITS = ("KB", "MB", "GB")
_DIGEST_CHARS = 12


class CapabilityWords(NamedTuple):
    """How a kind of capability is called in a row and in a heading, its icon, and its list in a report."""

    short: str
    title: str
    drawing: str
    field: str


_TOLD = {
    "network": ("network", "Reaches the network", "globe"),
    "commands": ("commands", "Runs commands", "terminal"),
    "files": ("files", "Writes files", "file"),
    "environment": ("environment", "Reads environment variables", "sliders"),
    "secrets": ("secrets", "Reads secrets", "key"),
    "packages": ("packages", "Installs packages", "package"),
    "instructions": ("remote instructions", "Follows instructions from elsewhere", "link"),
}
CAPABILITY_WORDS = {kind: CapabilityWords(*_TOLD[kind], field) for kind, field in KINDS.items()}
"""By kind, in the order that pages show them."""

_STATE_WORDS = {
    "TIER1_SCANNING": "Scanning",
    "TIER2_SCANNING": "Second opinions",
    "AUTO_APPROVED": "Approved",
    "VENDOR_APPROVED": "Approved",
    "TIER1_FAILED": "Failed the scan",
    "DEQUEUED": "Taken out",
}


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


def clock(iso: str) -> str:
    """A moment of these days, for lists: 16 Nov, 11:08:23."""
    found = _moment(iso)
    return iso if found is None else f"{found.day} {found:%b, %H:%M:%S}"


def duration(milliseconds: float) -> str:
    """A span of time in the unit that suits it: 240 ms, 1.4 s, 3 min."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def short_digest(digest: str) -> str:
    """The beginning of a digest or commit, enough to tell it from others."""
    return digest.removeprefix("sha256:")[:_DIGEST_CHARS]


def words(name: str) -> str:
    """A state, a code or a category as words: NEEDS_REVIEW is Needs review."""
    return name.replace("_", " ").replace("-", " ").strip().capitalize()


def state_words(name: str) -> str:
    """A submission's state as people say it: TIER1_FAILED is Failed the scan."""
    return _STATE_WORDS.get(name) or words(name)


def host(url: str) -> str:
    """Host and path of an address without protocol and .git: what people recognise. What was pushed says by whom."""
    if is_pushed(url):
        return f"pushed by {split_repository_url(url).owner}"
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


def with_code(text: str) -> Markup:
    """A sentence of ours in which what stands between backticks is code."""
    pieces = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if number % 2 and number < len(pieces) - 1 else escape(piece)
        for number, piece in enumerate(pieces)
    )


FILTERS: dict[str, Callable[..., str]] = {
    "number": number,
    "size": size,
    "date": date,
    "moment": moment,
    "clock": clock,
    "duration": duration,
    "short_digest": short_digest,
    "words": words,
    "state_words": state_words,
    "host": host,
    "path_quote": path_quote,
    "plural": plural,
    "with_code": with_code,
    "safe_link": safe_link,
}
