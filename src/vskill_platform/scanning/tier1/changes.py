"""Changes that an operator makes while the registry runs, laid on top of the rules that a process was started with.

Analysers look by the rules of the base; the words for rules are applied where hits become findings. So no process has to be
started anew, each job of a scanning process says which words are for it, and no report is by a mixture.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

import msgspec

from vskill_platform.domain.rule_changes import OFF
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.tier1.rules import Rule, Ruleset


def with_changes(base: Ruleset, words: Mapping[str, str]) -> Ruleset:
    """The rules with these words in force, under a version that stands for both. Words that change nothing are left out."""
    changed = effective_words(base, words)
    if not changed:
        return base
    return replace(
        base,
        rules={name: _at(rule, changed.get(name)) for name, rule in base.rules.items() if changed.get(name) != OFF},
        off={**base.off, **{name: base.rules[name] for name, word in changed.items() if word == OFF}},
        version=f"{base.version}.{_digest(changed)}",
    )


def effective_words(base: Ruleset, words: Mapping[str, str]) -> dict[str, str]:
    """The words that make a difference here: not those for rules that are not there, are off already, or say so themselves."""
    return {
        name: words[name] for name in sorted(words) if name in base.rules and words[name] != base.rules[name].severity
    }


def _digest(words: Mapping[str, str]) -> str:
    return hashlib.sha256(msgspec.json.encode(sorted(words.items()))).hexdigest()[:8]


def _at(rule: Rule, word: str | None) -> Rule:
    return (
        rule
        if word is None
        else msgspec.structs.replace(rule, severity=Severity(word), given_severity=rule.own_severity)
    )
