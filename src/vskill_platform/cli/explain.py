"""`vskill-platform explain`: what a rule looks for, why, and what to do about it."""

from __future__ import annotations

import typer
from rich.console import Console

from vskill_platform.cli.printing import AS_JSON, plain, print_json, print_table, severity_text
from vskill_platform.domain.errors import NotFound
from vskill_platform.scanning.tier1.rules import Rule, Ruleset, read_ruleset

HELP = "Explain a rule, or list them all."


def explain(
    rule: str = typer.Argument("", help="The rule's id, such as DX-001. Without one: all rules.", show_default=False),
    as_json: bool = AS_JSON,
) -> None:
    """Say what a rule looks for, why that matters, how to mend it, and what it does and does not match."""
    ruleset = read_ruleset()
    if not rule:
        _print_all(ruleset, as_json=as_json)
        return
    found = ruleset.rules.get(rule.upper())
    if found is None:
        raise NotFound(f"There is no rule '{rule}'. List them with: vskill-platform explain", rule=rule)
    if as_json:
        print_json(_public(found))
    else:
        _print_rule(found)


def _public(rule: Rule) -> dict[str, object]:
    return {
        "ruleId": rule.id,
        "title": rule.title,
        "category": rule.category,
        "owasp": rule.owasp,
        "severity": rule.severity,
        "message": rule.message,
        "why": rule.why,
        "fix": rule.fix,
        "appliesTo": sorted(rule.applies_to),
        "pattern": rule.pattern,
        "unless": rule.unless,
        "check": rule.check,
        "matches": rule.matches,
        "ignores": rule.ignores,
    }


def _print_all(ruleset: Ruleset, *, as_json: bool) -> None:
    if as_json:
        print_json({"rulesetVersion": ruleset.version, "rules": [_public(rule) for rule in ruleset.rules.values()]})
        return
    rows = [
        [rule.id, severity_text(rule.severity), rule.category.value, rule.owasp.value, plain(rule.title)]
        for rule in ruleset.rules.values()
    ]
    title = f"{len(rows)} rules, version {ruleset.version}"
    print_table(title, ["rule", "severity", "category", "OWASP", ""], rows, nothing="There are no rules.")


def _print_rule(rule: Rule) -> None:
    console = Console(highlight=False, emoji=False)
    console.print(f"[bold]{rule.id}[/] {plain(rule.title)}")
    console.print(f"{severity_text(rule.severity)}  [dim]{rule.category.value}, {rule.owasp.value}[/]\n")
    for label, text in (("what", rule.message), ("why", rule.why), ("fix", rule.fix)):
        console.print(f"[dim]{label:5}[/]{plain(text)}")
    for label, examples in (("matches", rule.matches), ("does not match", rule.ignores)):
        if examples:
            console.print(f"\n[dim]{label}[/]")
        for example in examples:
            console.print("\n".join(f"  {plain(line)}" for line in example.splitlines()))
