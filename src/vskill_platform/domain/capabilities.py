"""What a version of a skill can do that the one before could not, and the other way round.

A comparison accuses nobody and blocks nothing. It says where to look when a skill that people trust is updated.
"""

from __future__ import annotations

import msgspec

from vskill_platform.domain.scan import Capabilities

NOTABLE = ("network_hosts", "commands", "secrets", "remote_instructions")
"""The lists that an operator is told about when a new version adds to them."""
KINDS = {
    "network": "network_hosts",
    "commands": "commands",
    "files": "files_written",
    "environment": "environment",
    "secrets": "secrets",
    "packages": "packages",
    "instructions": "remote_instructions",
}
"""What a skill can be filtered by, and the list of capabilities that each kind stands for."""
_WORDS = {
    "network_hosts": "reaches",
    "commands": "runs",
    "secrets": "reads the secrets",
    "remote_instructions": "follows what is said at",
}
_TOLD = 5
_LONGEST = 80


class CapabilityChanges(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a version gained and lost since another.

    `has_same_rules` says whether both were scanned by the same rules. Where not, the scanner may have learnt to see what
    was there before.
    """

    since: str
    has_same_rules: bool = True
    added: Capabilities = msgspec.field(default_factory=Capabilities)
    removed: Capabilities = msgspec.field(default_factory=Capabilities)

    @property
    def gained(self) -> dict[str, tuple[str, ...]]:
        """What was added to the notable lists, by list."""
        return {name: found for name in NOTABLE if (found := getattr(self.added, name))}


def kinds_of(capabilities: Capabilities) -> tuple[str, ...]:
    """The kinds of things that a skill can do, sorted."""
    return tuple(sorted(kind for kind, name in KINDS.items() if getattr(capabilities, name)))


def compare(before: Capabilities, after: Capabilities, *, since: str, has_same_rules: bool = True) -> CapabilityChanges:
    """What was added and removed, list by list; `since` is the version before."""
    return CapabilityChanges(
        since=since,
        has_same_rules=has_same_rules,
        added=_beyond(after, before),
        removed=_beyond(before, after),
    )


def _beyond(these: Capabilities, those: Capabilities) -> Capabilities:
    """What these have and those have not."""
    left = {
        name: tuple(sorted(set(getattr(these, name)) - set(getattr(those, name))))
        for name in Capabilities.__struct_fields__
    }
    return Capabilities(**left)


def gained_in_words(changes: CapabilityChanges | None) -> str:
    """A sentence on the notable gains, empty where there are none."""
    if changes is None or not changes.gained:
        return ""
    told = "; ".join(f"{_WORDS[name]} {_some(found)}" for name, found in changes.gained.items())
    doubt = "" if changes.has_same_rules else " Other rules looked at that version, so not all of it may be new."
    return f"Unlike {changes.since}, it {told}.{doubt}"


def _some(found: tuple[str, ...]) -> str:
    told = ", ".join(one[:_LONGEST] for one in found[:_TOLD])
    rest = len(found) - _TOLD
    return f"{told} and {rest} more" if rest > 0 else told
