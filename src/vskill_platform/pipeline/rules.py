"""The rules in force here: those that the process was started with, and on top what operators have changed since."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import structlog

from vskill_platform.domain.errors import InvalidInput, NotFound
from vskill_platform.domain.rule_changes import OFF, WORDS, RuleChanges
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.tier1.changes import with_changes
from vskill_platform.scanning.tier1.packs import SEVERITIES_NAME, load_rules
from vskill_platform.scanning.tier1.rules import Rule, Ruleset
from vskill_platform.stores.rule_changes import get_rule_changes, put_rule_change
from vskill_platform.worker_context import current_env

_log = structlog.get_logger(__name__)


class RulesInForce(NamedTuple):
    """The rules of the base, the same with all changes, and the changes."""

    base: Ruleset
    ruleset: Ruleset
    changes: RuleChanges

    def all_rules(self) -> list[Rule]:
        """Every rule, also those that are off, in the order of their ids."""
        return sorted([*self.ruleset.rules.values(), *self.ruleset.off.values()], key=lambda rule: rule.id)

    def word(self, rule: str) -> str:
        """How grave a rule is at present, or `off`."""
        return OFF if rule in self.ruleset.off else self.ruleset.rules[rule].severity.value

    def base_word(self, rule: str) -> str:
        """How grave it is without what was changed at run time."""
        return OFF if rule in self.base.off else self.base.rules[rule].severity.value

    @property
    def critical_off(self) -> list[str]:
        """The critical rules that a change has switched off, which nobody should forget about."""
        off = set(self.ruleset.off) - set(self.base.off)
        return sorted(rule for rule in off if self.base.rules[rule].severity is Severity.CRITICAL)


async def rules_in_force() -> RulesInForce:
    """What a scan that begins now is by."""
    base = await asyncio.to_thread(load_rules, current_env("settings").settings.rules_folder)
    return _with(base, await get_rule_changes())


def find_rule(rules: RulesInForce, name: str) -> Rule:
    """The rule of this id, in any case. Raises NotFound."""
    found = next((rule for rule in rules.all_rules() if rule.id.upper() == name.upper()), None)
    if found is None:
        raise NotFound(f"There is no rule '{name}'. List them with: vskill-platform rules list", rule=name)
    return found


def checked_change(rules: RulesInForce, name: str, word: str | None) -> str:
    """The id of the rule that this word can be for. Raises NotFound, and InvalidInput where it cannot."""
    rule = find_rule(rules, name)
    if word is not None and word not in WORDS:
        raise InvalidInput(f"'{word}' is no severity. Take one of {', '.join(WORDS)}, or none for the rule's own.")
    if rule.id in rules.base.off and word is not None:
        raise InvalidInput(
            f"{rule.id} is off by {SEVERITIES_NAME} in the rules folder, below what can be changed here. Change it there.",
            rule=rule.id,
        )
    return rule.id


async def change_rule(name: str, *, word: str | None, by: str, reason: str) -> RulesInForce:
    """Switch a rule off, change how grave it is, or with None go back to the base, in every process at once."""
    before = await rules_in_force()
    rule = checked_change(before, name, word)
    if not reason.strip():
        raise InvalidInput("Say why: a change of the rules needs a reason, which the rule's history keeps.")
    after = _with(before.base, await put_rule_change(rule, word=word, by=by, reason=reason.strip()))
    told = {"rule": rule, "before": before.word(rule), "now": after.word(rule), "by": by}
    _log.info("rule_changed", **told, ruleset_version=after.ruleset.version)
    if rule in after.critical_off:
        _log.warning("critical_rule_switched_off", **told)
    return after


def _with(base: Ruleset, changes: RuleChanges) -> RulesInForce:
    return RulesInForce(base, with_changes(base, changes.words), changes)
