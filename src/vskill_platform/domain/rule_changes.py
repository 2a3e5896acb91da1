"""What operators change of the rules while the registry runs: a rule is off, or graver or less grave than it says of itself.

A change is a word for a rule: a severity, or `off`. The rules that a process was started with are the base; changes lie on top.
"""

from __future__ import annotations

import msgspec

from vskill_platform.domain.records import Record
from vskill_platform.domain.scan import Severity

OFF = "off"
WORDS = (*(severity.value for severity in Severity), OFF)


class RuleChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The word for one rule, and who said it, when and why."""

    word: str
    by: str
    at: str
    reason: str


class RuleChanges(Record, frozen=True, kw_only=True, rename="camel"):
    """Every change that is in force, by rule. `count` has how many were ever made."""

    in_force: dict[str, RuleChange] = msgspec.field(default_factory=dict)
    count: int = 0

    @property
    def words(self) -> dict[str, str]:
        """The word for each rule that has one, which is all that a scan needs."""
        return {rule: change.word for rule, change in self.in_force.items()}


class PastChange(Record, frozen=True, kw_only=True, rename="camel"):
    """One change as the history of a rule keeps it. Without a `word` the rule went back to what the base says."""

    number: int
    rule: str
    word: str | None
    before: str | None
    by: str
    at: str
    reason: str


def after_change(changes: RuleChanges, rule: str, change: RuleChange | None) -> RuleChanges:
    """The changes with this one for a rule in place of the one before; None takes it back."""
    others = {name: kept for name, kept in changes.in_force.items() if name != rule}
    in_force = others if change is None else {**others, rule: change}
    return msgspec.structs.replace(changes, in_force=dict(sorted(in_force.items())), count=changes.count + 1)
