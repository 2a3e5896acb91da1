"""What a scanner can know of a value in a running shell: its text, as far as it is fixed, and where it came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vskill_platform.scanning.tier1.code.hosts import UNKNOWN
from vskill_platform.scanning.tier1.code.origins import NOWHERE, Origin, Source

__all__ = ["LONGEST_TEXT", "NOTHING", "NOWHERE", "Origin", "Source", "Value", "bounded", "joined", "unknown"]
LONGEST_TEXT = 64 * 1024


@dataclass(slots=True)
class Value:
    """A text with `UNKNOWN` around the name of each piece that only the running shell knows, and its origins.

    It is never changed. A class that says so takes twice as long to make one, and a script has many.
    """

    text: str = ""
    origins: frozenset[Origin] = NOWHERE

    @property
    def is_known(self) -> bool:
        """Whether all of the text is fixed."""
        return UNKNOWN not in self.text

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing, if only because a variable is empty."""
        return not self.text and all(origin.source is Source.VARIABLE for origin in self.origins)

    def comes_from(self, source: Source) -> bool:
        """Whether some of it comes from there."""
        return bool(self.origins) and any(origin.source is source for origin in self.origins)

    def details(self, source: Source) -> list[str]:
        """What is known of the origins of one kind, in a fixed order."""
        return sorted([origin.detail for origin in self.origins if origin.source is source])

    def with_text(self, text: str) -> Value:
        """The same origins behind another text."""
        return Value(bounded(text), self.origins)

    def having(self, source: Source, detail: str) -> Value:
        """The same value with one more origin."""
        return Value(self.text, self.origins | {Origin(source, detail)})


NOTHING = Value()


def unknown(name: str, *, origins: Iterable[Origin] = ()) -> Value:
    """A value of which only the origins are known. Two of the same name are taken to be the same."""
    return Value(f"{UNKNOWN}{name.replace(UNKNOWN, '')[:100]}{UNKNOWN}", frozenset(origins))


def joined(values: Iterable[Value], *, by: str = "") -> Value:
    """One value of all texts and all origins."""
    kept = list(values)
    if len(kept) == 1:
        return kept[0]
    origins = NOWHERE.union(*[value.origins for value in kept])
    return Value(bounded(by.join([value.text for value in kept])), origins)


def bounded(text: str) -> str:
    """The text, or as much of it as is kept; what is cut off is unknown."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}{UNKNOWN}rest{UNKNOWN}"
