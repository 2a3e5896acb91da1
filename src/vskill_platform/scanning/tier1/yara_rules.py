"""YARA rules as rules of ours: their `meta` says how grave a match is and what it means; what it leaves out has a default."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from vskill_platform.domain.errors import InvalidRules
from vskill_platform.domain.scan import Owasp, Severity, Threat
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.rules import Rule
from vskill_platform.scanning.tier1.yara import YaraRule

YARA_PREFIX = "YR-"
DEFAULT_SEVERITY = Severity.HIGH
"""Whoever adds a rule wants to hear of its matches: without a word on how grave they are, a person looks."""
DEFAULT_CATEGORY = Threat.COMMAND_EXECUTION
DEFAULT_OWASP = Owasp.MALICIOUS_SKILL

E = TypeVar("E", bound=StrEnum)


def yara_rule_id(name: str) -> str:
    """The id of the rule that has this name in its file."""
    return f"{YARA_PREFIX}{name}"


def rule_of(given: YaraRule) -> Rule:
    """The rule as everyone else sees it. Raises InvalidRules for a `meta` that means nothing."""
    message = _text(given, "description") or f"The file matches the YARA rule {given.name}."
    return Rule(
        id=yara_rule_id(given.name),
        title=_text(given, "title") or f"Matches the YARA rule {given.name}",
        severity=_word(given, "severity", DEFAULT_SEVERITY),
        category=_word(given, "category", DEFAULT_CATEGORY),
        owasp=_word(given, "owasp", DEFAULT_OWASP),
        message=message,
        why=_text(given, "why") or "The operator of this registry looks for it.",
        fix=_text(given, "fix") or "Remove what the rule matches, or ask the operator of the registry.",
        applies_to=frozenset({FileKind.ANY}),
        pattern=None,
        unless=None,
        check=None,
        matches=(),
        ignores=(),
        origin=given.file,
    )


def _text(given: YaraRule, key: str) -> str:
    value = given.metadata.get(key, "")
    return value.strip() if isinstance(value, str) else str(value)


def _word(given: YaraRule, key: str, default: E) -> E:
    """What one of our words says; spelled in capitals it says the same."""
    words = {word.value.casefold(): word for word in type(default)}
    value = _text(given, key).casefold()
    if not value:
        return default
    if value not in words:
        known = ", ".join(word.value for word in type(default))
        raise InvalidRules(
            f"The YARA rule {given.name} in {given.file} has {key} = '{value}'. Take one of {known}.",
            rule=yara_rule_id(given.name),
            file=given.file,
        )
    return words[value]
