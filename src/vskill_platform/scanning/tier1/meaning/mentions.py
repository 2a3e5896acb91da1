"""Where a text names a file of its skill, and the words right before and behind the name."""

from __future__ import annotations

import re

MOST_MENTIONS = 100
REACH = 80
"""Characters to each side of a name that are looked at."""


def is_named_beside(text: str, name: str, *, before: re.Pattern[str], behind: re.Pattern[str] | None = None) -> bool:
    """Whether such words stand before or behind the name anywhere; so it is taken where it is named too often to look."""
    at = text.find(name)
    for _ in range(MOST_MENTIONS):
        if at < 0:
            return False
        end = at + len(name)
        if before.search(text[max(0, at - REACH) : at]) or (behind and behind.match(text, end, end + REACH)):
            return True
        at = text.find(name, end)
    return at >= 0
