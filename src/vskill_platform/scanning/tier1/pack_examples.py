"""Holds the rules of a pack to their examples, as the tests hold the bundled ones: a rule that says it hits a text must."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.domain.errors import InvalidRules
from vskill_platform.domain.scan import Finding, Severity
from vskill_platform.scanning.tier1.analysers import CHECK_NAMES
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.rules import Rule, Ruleset
from vskill_platform.scanning.tier1.scan import scan_content

FENCE = "---\n"
HEAD = f"{FENCE}name: sample\ndescription: A sample for one rule.\n{FENCE}"
PATH_OF_KIND = {
    FileKind.ANY: "notes.md",
    FileKind.MARKDOWN: "notes.md",
    FileKind.SCRIPT: "tool.py",
    FileKind.CONFIG: "config.json",
    FileKind.FRONTMATTER: "SKILL.md",
}
_SHOWN = 60


class _Trial(NamedTuple):
    """A text in a file of this name, and whether the rule is to hit it."""

    rule: Rule
    path: str
    text: str
    hits: bool
    is_prose: bool


def try_examples(rules: Sequence[Rule]) -> None:
    """Scan every example of these rules. Raises InvalidRules for one that does not do what it says, and for a lost check."""
    unknown = next((rule for rule in rules if rule.check is not None and rule.check not in CHECK_NAMES), None)
    if unknown is not None:
        raise InvalidRules(_told(unknown, f"there is no check '{unknown.check}'"), rule=unknown.id)
    # A quotation is told from a statement only where that would make a difference, so all are tried as grave ones.
    grave = {rule.id: msgspec.structs.replace(rule, severity=Severity.HIGH) for rule in rules}
    ruleset = Ruleset(rules=grave, version="")
    for trial in _trials(rules):
        if not _goes_right(trial, ruleset):
            does = "does not hit a text of its matches" if trial.hits else "hits a text of its ignores"
            shown = f"'{trial.text[:_SHOWN]}', as {trial.path}"
            raise InvalidRules(_told(trial.rule, f"it {does}: {shown}"), rule=trial.rule.id)


def _trials(rules: Iterable[Rule]) -> Iterator[_Trial]:
    for rule in rules:
        for kind, path in _paths(rule):
            is_prose = kind in (FileKind.ANY, FileKind.MARKDOWN)
            yield from (_Trial(rule, path, text, hits=True, is_prose=is_prose) for text in rule.matches)
            yield from (_Trial(rule, path, text, hits=False, is_prose=is_prose) for text in rule.ignores)


def _paths(rule: Rule) -> Iterator[tuple[FileKind, str]]:
    """The kinds that a rule looks at, each with a file of that kind; parts of files have none."""
    if rule.example_path:
        yield FileKind.ANY, rule.example_path
    elif rule.check is None:
        yield from ((kind, PATH_OF_KIND[kind]) for kind in sorted(rule.applies_to) if kind in PATH_OF_KIND)


def _goes_right(trial: _Trial, ruleset: Ruleset) -> bool:
    """Whether the rule does what the example says. A text for readers may quote what nothing else may say."""
    is_hit = any(not finding.context for finding in _findings(trial, ruleset))
    if is_hit is trial.hits:
        return True
    if trial.hits or trial.is_prose:
        return False
    return any(finding.context for finding in _findings(trial._replace(path=PATH_OF_KIND[FileKind.ANY]), ruleset))


def _findings(trial: _Trial, ruleset: Ruleset) -> list[Finding]:
    is_head = trial.path == "SKILL.md" and not trial.text.startswith(FENCE)
    texts = {"SKILL.md": HEAD, trial.path: f"{FENCE}{trial.text}\n{FENCE}" if is_head else trial.text}
    files = [SkillFile(path=path, content=text.encode()) for path, text in texts.items()]
    report = scan_content(make_content(files), ruleset=ruleset)
    return [finding for finding in report.findings if finding.rule_id == trial.rule.id]


def _told(rule: Rule, problem: str) -> str:
    return f"Rule {rule.id} in {rule.origin} is broken: {problem}."
