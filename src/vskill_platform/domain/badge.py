"""A badge: two words beside each other, drawn as SVG that needs no font, no style and no script."""

from __future__ import annotations

from enum import StrEnum
from html import escape
from typing import NamedTuple

_HEIGHT = 20
_PADDING = 6
_WIDTHS = {
    "i": 3,
    "l": 3,
    "j": 4,
    "t": 4.3,
    "f": 4,
    "r": 4.7,
    "1": 7,
    " ": 3.9,
    ".": 4,
    "·": 5,
    "m": 10.7,
    "w": 9,
    "%": 11,
}
_WIDTH = 6.9
"""How wide a letter of Verdana is at 11 pixels, about; the text is then fitted to the sum."""


class BadgeColour(StrEnum):
    """What a badge's colour means, as shields.io calls it."""

    GOOD = "brightgreen"
    FAIR = "yellow"
    BAD = "red"
    NONE = "lightgrey"


_FILLS = {
    BadgeColour.GOOD: "#2b7a0b",
    BadgeColour.FAIR: "#8a6100",
    BadgeColour.BAD: "#b3261e",
    BadgeColour.NONE: "#5c5c5c",
}
"""White text has a contrast of 4.5 or more on each of these."""


class Badge(NamedTuple):
    """What a badge says, and how it is coloured."""

    label: str
    message: str
    colour: BadgeColour


def draw_badge(badge: Badge) -> str:
    """The badge as an SVG image with its words as a text alternative."""
    left, right = _width(badge.label), _width(badge.message)
    words = escape(f"{badge.label}: {badge.message}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img" '
        f'aria-label="{words}"><title>{words}</title>'
        f'<rect width="{left + right}" height="{_HEIGHT}" rx="4" fill="#3b3b3b"/>'
        f'<path d="M{left} 0h{right - 4}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4h-{right - 4}z" fill="{_FILLS[badge.colour]}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f"{_text(badge.label, start=0, width=left)}{_text(badge.message, start=left, width=right)}</g></svg>\n"
    )


def _width(text: str) -> int:
    return round(sum(_WIDTHS.get(letter, _WIDTH) for letter in text)) + 2 * _PADDING


def _text(text: str, *, start: int, width: int) -> str:
    middle = start + width / 2
    return f'<text x="{middle:g}" y="14" textLength="{width - 2 * _PADDING}">{escape(text)}</text>'
