"""The page of the rules: a table of all, and for each what it finds, why, what to do, and a text of either kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vskill_platform.scanning.tier1.excerpts import show_invisible
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.layers import layers_of
from vskill_platform.scanning.tier1.rules import Rule

MOST_LINES = 12
LONGEST_LINE = 200
TABLE_HEAD = "| rule | severity | category | OWASP | what it finds |\n|---|---|---|---|---|"


def rule_rows(rules: Iterable[Rule]) -> list[str]:
    """A row of the table for each rule."""
    return [
        f"| [`{rule.id}`](#{_anchor(rule)}) | {rule.severity.value} | {rule.category.value} | {rule.owasp.value} | "
        f"{_in_table(rule.title)} |"
        for rule in rules
    ]


def rule_sections(rules: Iterable[Rule]) -> Iterator[str]:
    """The lines of a section for each rule."""
    for rule in rules:
        yield from ("", f"## {_heading(rule)}", "")
        kinds = "every file" if FileKind.ANY in rule.applies_to else ", ".join(sorted(rule.applies_to))
        yield f"{rule.severity.value}, {rule.category.value}, {rule.owasp.value} {rule.owasp.risk}. "
        yield f"Looks at {kinds}, by {', '.join(layers_of(rule))}."
        yield from (f"Counts as {less}." for less in rule.counts_less)
        yield from ("", rule.message, "", f"*Why:* {rule.why}", "", f"*Fix:* {rule.fix}")
        named = f" as `{rule.example_path}`" if rule.example_path else ""
        yield from _example(f"It hits{named}:", rule.matches)
        yield from _example(f"It does not hit{named}:", rule.ignores)


def without_fences(text: str) -> str:
    """A document without its fenced blocks: what stands there is quoted."""
    return re.sub(r"^(`{3,}).*?^\1`*$", "", text, flags=re.MULTILINE | re.DOTALL)


def _heading(rule: Rule) -> str:
    return f"{rule.id} {rule.title}"


def _anchor(rule: Rule) -> str:
    """The name that a heading has in links, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", _heading(rule).lower()).replace(" ", "-")


def _in_table(text: str) -> str:
    return text.replace("|", "\\|")


def _example(label: str, texts: tuple[str, ...]) -> Iterator[str]:
    if not texts:
        return
    lines = [show_invisible(line) for line in texts[0].strip("\n").split("\n")]
    shown = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines[:MOST_LINES]]
    longest = max((len(run) for run in re.findall("`+", "\n".join(shown))), default=0)
    fence = "`" * max(3, longest + 1)
    yield from ("", label, "", f"{fence}text", *shown, *(["…"] if len(lines) > MOST_LINES else []), fence)
