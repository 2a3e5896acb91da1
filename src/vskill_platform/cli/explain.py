"""`vskill-platform explain`: what a rule looks for, why, and what to do about it."""

from __future__ import annotations

from enum import StrEnum

import typer
from rich.console import Console

from vskill_platform.cli.options import RULES, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json, print_table
from vskill_platform.cli.rule_text import force_text, print_rule, public_rule, word_in_force
from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.rule_changes import OFF
from vskill_platform.domain.scan import Severity, Threat
from vskill_platform.scanning.tier1.packs import load_rules
from vskill_platform.scanning.tier1.rules import Rule, Ruleset, read_ruleset

HELP = "Explain a rule, or list them all."


class Format(StrEnum):
    """How rules are printed."""

    TEXT = "text"
    JSON = "json"


class InForce(StrEnum):
    """How grave a rule is here, or that it is not used."""

    CRITICAL = Severity.CRITICAL.value
    HIGH = Severity.HIGH.value
    MEDIUM = Severity.MEDIUM.value
    LOW = Severity.LOW.value
    INFO = Severity.INFO.value
    OFF = OFF


def explain(
    rule: str = typer.Argument("", help="The rule's id, such as DX-001. Without one: all rules.", show_default=False),
    category: Threat | None = typer.Option(None, "--category", help="Only rules of this category.", show_default=False),
    severity: InForce | None = typer.Option(
        None, "--severity", help="Only rules as grave as this.", show_default=False
    ),
    rules: str | None = RULES,
    fmt: Format = typer.Option(Format.TEXT, "--format", help="How to print."),
    as_json: bool = AS_JSON,
) -> None:
    """Say what a rule looks for, why that matters, how to mend it, and what it does and does not match."""
    folder = settings_from(rules_folder=rules).rules_folder
    ruleset = load_rules(folder) if folder else read_ruleset()
    as_json = as_json or fmt is Format.JSON
    if not rule:
        _print_all(ruleset, _chosen(ruleset, category, severity), as_json=as_json)
        return
    found = _find(ruleset, rule)
    if as_json:
        print_json(public_rule(found, ruleset))
    else:
        print_rule(found, ruleset, console=Console(highlight=False, emoji=False))


def _find(ruleset: Ruleset, name: str) -> Rule:
    by_name = {rule.id.upper(): rule for rule in _all_rules(ruleset)}
    if name.upper() not in by_name:
        raise NotFound(f"There is no rule '{name}'. List them with: vskill-platform explain", rule=name)
    return by_name[name.upper()]


def _all_rules(ruleset: Ruleset) -> list[Rule]:
    return sorted([*ruleset.rules.values(), *ruleset.off.values()], key=lambda rule: rule.id)


def _chosen(ruleset: Ruleset, category: Threat | None, severity: InForce | None) -> list[Rule]:
    return [
        rule
        for rule in _all_rules(ruleset)
        if category in (None, rule.category) and severity in (None, word_in_force(rule, ruleset))
    ]


def _print_all(ruleset: Ruleset, rules: list[Rule], *, as_json: bool) -> None:
    if as_json:
        print_json({"rulesetVersion": ruleset.version, "rules": [public_rule(rule, ruleset) for rule in rules]})
        return
    rows = [
        [rule.id, force_text(rule, ruleset), rule.category.value, rule.owasp.value, plain(rule.title)] for rule in rules
    ]
    title = f"{len(rows)} rules, version {ruleset.version}"
    print_table(title, ["rule", "severity", "category", "OWASP", ""], rows, nothing="There are no such rules.")
