"""A rule as people and programs read it: what it finds, how grave that is here, where it looks, and what it does not count."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from vskill_platform.cli.printing import plain, severity_text
from vskill_platform.domain.rule_changes import OFF
from vskill_platform.scanning.tier1.exceptions import split_exceptions
from vskill_platform.scanning.tier1.excerpts import show_invisible
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.layers import layers_of
from vskill_platform.scanning.tier1.rules import Rule, Ruleset

_EXCEPTIONS = {
    "trusted": "where all its addresses go to",
    "form": "where there is (in prose on the line, elsewhere in the match)",
    "beginning": "on a line that begins with",
}


def word_in_force(rule: Rule, ruleset: Ruleset) -> str:
    """How grave the rule is here; `off` where the operator has switched it off."""
    return OFF if rule.id in ruleset.off else rule.severity.value


def force_text(rule: Rule, ruleset: Ruleset) -> str:
    """The same in its colour."""
    return f"[dim]{OFF}[/]" if rule.id in ruleset.off else severity_text(rule.severity)


def public_rule(rule: Rule, ruleset: Ruleset) -> dict[str, object]:
    """The rule as JSON has it."""
    return {
        "ruleId": rule.id,
        "title": rule.title,
        "category": rule.category,
        "owasp": rule.owasp,
        "owaspRisk": rule.owasp.risk,
        "severity": word_in_force(rule, ruleset),
        "ownSeverity": rule.own_severity,
        "origin": rule.origin or "bundled",
        "message": rule.message,
        "why": rule.why,
        "fix": rule.fix,
        "appliesTo": sorted(rule.applies_to),
        "layers": layers_of(rule),
        "pattern": rule.pattern,
        "unless": rule.unless,
        "exceptions": exceptions_of(rule),
        "says": rule.says,
        "unlessSays": rule.unless_says,
        "check": rule.check,
        "whenOrdinary": rule.when_ordinary,
        "whenAlone": rule.when_alone,
        "taught": rule.taught,
        "matches": rule.matches,
        "ignores": rule.ignores,
    }


def exceptions_of(rule: Rule) -> dict[str, str]:
    """The parts of the rule's `unless`, by what each of them asks for."""
    if rule.unless is None:
        return {}
    parts = split_exceptions(rule.unless)
    return {kind: part for kind in _EXCEPTIONS if (part := getattr(parts, kind)) is not None}


def print_rule(rule: Rule, ruleset: Ruleset, *, console: Console) -> None:
    """Everything about a rule."""
    console.print(f"[bold]{rule.id}[/] {plain(rule.title)}")
    place = f"{rule.category.value}, {rule.owasp.value} {rule.owasp.risk}"
    console.print(f"{force_text(rule, ruleset)}{_changed(rule, ruleset)}  [dim]{place}[/]\n")
    told = Table.grid(padding=(0, 2, 0, 0))
    told.add_column(style="dim", no_wrap=True)
    told.add_column(overflow="fold")
    for label, text in _lines(rule):
        told.add_row(label, plain(text))
    console.print(told)
    for label, examples in (("matches", rule.matches), ("does not match", rule.ignores)):
        _print_examples(label, examples, console)


def _changed(rule: Rule, ruleset: Ruleset) -> str:
    if word_in_force(rule, ruleset) == rule.own_severity:
        return ""
    return f" [dim](the operator's choice; it comes as {rule.own_severity.value})[/]"


def _lines(rule: Rule) -> Iterator[tuple[str, str]]:
    yield from (("what", rule.message), ("why", rule.why), ("fix", rule.fix))
    yield "from", f"{rule.origin}, the operator's" if rule.origin else "bundled"
    kinds = "every file" if FileKind.ANY in rule.applies_to else f"files of kind {', '.join(sorted(rule.applies_to))}"
    yield "looks at", f"{kinds}, by {', '.join(layers_of(rule))}"
    if rule.pattern is not None:
        yield "pattern", rule.pattern
    if rule.says:
        yield "says", ", ".join(rule.says)
    if rule.unless_says:
        yield "but not", f"beside {', '.join(rule.unless_says)}"
    for kind, part in exceptions_of(rule).items():
        yield "but not", f"{_EXCEPTIONS[kind]} {part}"
    if rule.check is not None:
        yield "check", rule.check
    yield from (("counts as", less) for less in rule.counts_less)


def _print_examples(label: str, examples: tuple[str, ...], console: Console) -> None:
    if examples:
        console.print(f"\n[dim]{label}[/]")
    for example in examples:
        shown = (plain(show_invisible(line)) for line in example.split("\n"))
        console.print("\n".join(f"  {line}" for line in shown), soft_wrap=True)
