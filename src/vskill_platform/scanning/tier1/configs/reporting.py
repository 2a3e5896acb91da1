"""How readers of configuration report what they saw: a check's name, a file, a line, and what stood there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from vskill_platform.scanning.limits import CONFIG_LIMIT
from vskill_platform.scanning.tier1.configs.commands import Deed, Judgement
from vskill_platform.scanning.tier1.configs.shell_words import LONGEST
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.skill import Fact, FactKind, LimitHit, Sighting

LAYER = "config"
SHOWN_LAYER = "raw"
"""What a text shows stands in it as it is, and is excused by what excuses any other place of the text."""
LONGEST_VALUE = 300
Seen = Sighting | Fact | LimitHit


class Source(NamedTuple):
    """Where values come from. What is only shown in a text, such as a fenced block, is weighed less than what is obeyed."""

    file: str
    entries: tuple[Entry, ...]
    is_shown: bool = False
    line_offset: int = 0
    about: str = ""
    """What the skill says of itself."""

    def sighting(self, check: str, entry: Entry, *, shown: str = "", detail: str = "") -> Sighting:
        """The check hit at this entry. `shown` is what stands there, `detail` what is known about it."""
        excerpt = make_excerpt(shown or f"{entry.key}: {entry.value}")
        layer = SHOWN_LAYER if self.is_shown else LAYER
        return Sighting(check, self.file, entry.line + self.line_offset, 1, excerpt, layer, detail)

    def fact(self, kind: FactKind, entry: Entry, value: str) -> Fact:
        """Something that is done at this entry."""
        return Fact(kind, self.file, entry.line + self.line_offset, value[:LONGEST_VALUE], LAYER)


def report_command(source: Source, entry: Entry, judgement: Judgement, *, kind: str) -> Iterator[Seen]:
    """What a command that starts by itself does, under the checks of its kind: `hook`, `server`, `editor`, `lifecycle`."""
    if Deed.ATTACKS in judgement.deeds:
        yield source.sighting(f"{kind}_attacks", entry, detail=judgement.why)
    else:
        counted = (Deed.NETWORK,) if source.is_shown else (Deed.NETWORK, Deed.INLINE, Deed.UNCLEAR)
        deed = next((deed for deed in counted if deed in judgement.deeds), None)
        if deed is not None:
            yield source.sighting(f"{kind}_{deed}", entry)
    if len(entry.value) > LONGEST:
        yield LimitHit(CONFIG_LIMIT)
    yield from (source.fact(FactKind.EXECUTES, entry, path) for path in judgement.files)
