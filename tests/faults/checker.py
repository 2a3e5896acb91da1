"""Judges a store after a fault, in the manner of Jepsen's checkers: what was attempted, what was acknowledged, what is there.

Pure: it knows neither engines nor processes. A fault run fills a `Journal` from what the load reports and a `Sighting`
from what the store holds afterwards, and asks `judge`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import NamedTuple


class Write(NamedTuple):
    """The n-th write of an item. The first one also sends the item's message."""

    item: str
    number: int


class Done(NamedTuple):
    """The one effect of an item's message."""

    item: str


Deed = Write | Done


@dataclass
class Journal:
    """What the load says that it did. An acknowledgement comes with the version of its commit.

    Refused is what was said not to be there, and unknown what nobody could tell.
    """

    attempted: set[Deed] = field(default_factory=set)
    acknowledged: dict[Deed, int] = field(default_factory=dict)
    refused: set[Deed] = field(default_factory=set)
    unknown: set[Deed] = field(default_factory=set)


@dataclass
class Sighting:
    """What the store holds. Numbers are those of the writes that were seen, in the order in which they were."""

    records: dict[str, int] = field(default_factory=dict)
    history: dict[str, list[int]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    events: dict[str, list[int]] = field(default_factory=dict)
    queued: set[str] = field(default_factory=set)
    effects: dict[str, int] = field(default_factory=dict)
    versions: dict[Deed, int] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)

    @property
    def deeds(self) -> set[Deed]:
        """Everything that happened, by what is there."""
        writes = {Write(item, number) for item, numbers in self.history.items() for number in numbers}
        return writes | {Done(item) for item in self.effects}


@dataclass
class Verdict:
    """What is wrong. `recovered` is not: it was done, and the load did not live to hear of it."""

    lost: set[Deed]
    unexpected: set[Deed]
    refused_and_there: set[Deed]
    lost_messages: set[str]
    returned_messages: set[str]
    double_effects: dict[str, int]
    drift: set[str]
    reused_versions: set[int]
    changed_versions: set[Deed]
    damage: list[str]
    recovered: set[Deed] = field(default_factory=set)

    @property
    def faults(self) -> dict[str, object]:
        """Every kind of fault that was found. Empty is a pass."""
        found = {part.name: getattr(self, part.name) for part in fields(self) if part.name != "recovered"}
        return {name: value for name, value in found.items() if value}


def judge(journal: Journal, seen: Sighting) -> Verdict:
    """Compare what was said with what is there."""
    deeds = seen.deeds
    acknowledged = set(journal.acknowledged)
    sent = {deed.item for deed in deeds if isinstance(deed, Write)}
    return Verdict(
        lost=acknowledged - deeds,
        unexpected=deeds - journal.attempted,
        refused_and_there=deeds & journal.refused,
        lost_messages=sent - seen.queued - set(seen.effects),
        returned_messages=(seen.queued & set(seen.effects)) | (seen.queued - sent),
        double_effects={item: times for item, times in seen.effects.items() if times != 1},
        drift=_find_drift(seen),
        reused_versions=_find_reused(journal, seen),
        changed_versions={deed for deed in acknowledged & deeds if seen.versions[deed] != journal.acknowledged[deed]},
        damage=seen.damage,
        recovered=deeds - acknowledged,
    )


def _find_drift(seen: Sighting) -> set[str]:
    """Items whose record, history, catalog row and events do not tell the same story."""
    items = {*seen.records, *seen.history, *seen.rows, *seen.events}
    return {item for item in items if not _is_whole(seen, item)}


def _is_whole(seen: Sighting, item: str) -> bool:
    numbers = list(range(1, seen.records.get(item, 0) + 1))
    is_told_alike = seen.history.get(item) == numbers == seen.events.get(item)
    return is_told_alike and seen.rows.get(item) == len(numbers)


def _find_reused(journal: Journal, seen: Sighting) -> set[int]:
    """Versions that stand for two commits, there or as they were acknowledged."""
    counts = Counter(seen.versions.values()) + Counter(
        version for deed, version in journal.acknowledged.items() if deed not in seen.versions
    )
    return {version for version, count in counts.items() if count > 1}
