"""Rules as data: one TOML file a category, checked while it is read, so that a broken rule never becomes a silent one.

A rule hits by `pattern` (google-re2, matched over the whole text of a file) or by `check` (a named function of
`structure.py`). Nothing that a skill brings along can add, change or switch off a rule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated

import msgspec
import tomli
from msgspec import Meta

from vskill_platform.domain.errors import InvalidRules
from vskill_platform.domain.scan import Owasp, Severity, Threat
from vskill_platform.scanning.tier1.code.hosts import PUBLIC_ADDRESS
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.patterns import compile_pattern
from vskill_platform.scanning.tier1.yara import YaraRules

RULES_FOLDER = Path(__file__).with_name("rules")
RULESET_SERIES = "2026.11"
MIN_EXAMPLES = 2
LEANT_ON = ("toml", "tsv", "txt")
"""The kinds of files beside the rules whose data they lean on."""

Text = Annotated[str, Meta(min_length=1)]


class _GivenRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: Annotated[str, Meta(pattern=r"^[A-Z]{2,3}-[0-9]{3}\Z")]
    title: Text
    severity: Severity
    message: Text
    why: Text
    fix: Text
    category: Threat | None = None
    owasp: Owasp | None = None
    applies_to: tuple[FileKind, ...] = (FileKind.ANY,)
    pattern: Text | None = None
    unless: Text | None = None
    check: Text | None = None
    says: tuple[Text, ...] = ()
    unless_says: tuple[Text, ...] = ()
    within: Annotated[int, Meta(ge=1, le=3)] = 1
    when_ordinary: Severity | None = None
    when_alone: Severity | None = None
    taught: bool = False
    matches: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()
    example_path: Text | None = None


class _RuleFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    category: Threat
    owasp: Owasp
    rules: tuple[_GivenRule, ...]


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One thing the scanner looks for. It has a `pattern`, the name of a `check` or what sentences say, and only one of them.

    `says` names concepts (`meaning/concepts.toml`; `a|b` for either) that must come together in one sentence, or in as many
    as `within` says; the first is what is done, and does not count where it is negated. `unless_says` excuses.

    `when_ordinary` is its severity where the words around the place are those of ordinary advice (`meaning/ordinary.py`),
    and `when_alone` where no rule that is enough by itself found anything in the skill (`scanning/company.py`). What is `taught`
    is a hole in code that lessons about security show: in the blocks of such a skill it only informs.

    `matches` and `ignores` are texts in which it must and must not be found, as the file `example_path` where that matters.

    `origin` is the file of the operator's pack that it comes from, empty for a bundled rule. A YARA rule has neither of the
    three: its file has it. `given_severity` is what the rule says of itself where the operator has changed that.
    """

    id: str
    title: str
    severity: Severity
    category: Threat
    owasp: Owasp
    message: str
    why: str
    fix: str
    applies_to: frozenset[FileKind]
    pattern: str | None
    unless: str | None
    check: str | None
    matches: tuple[str, ...]
    ignores: tuple[str, ...]
    example_path: str | None = None
    says: tuple[str, ...] = ()
    unless_says: tuple[str, ...] = ()
    within: int = 1
    when_ordinary: Severity | None = None
    when_alone: Severity | None = None
    taught: bool = False
    origin: str = ""
    given_severity: Severity | None = None

    @property
    def own_severity(self) -> Severity:
        """The severity that the rule itself has, whatever the operator made of it."""
        return self.given_severity or self.severity

    @property
    def severity_when_ordinary(self) -> Severity:
        """The severity where a place reads like ordinary advice."""
        return self._no_graver(self.when_ordinary)

    @property
    def severity_when_alone(self) -> Severity:
        """The severity where nothing else that is grave was found; where the operator has set one, that holds."""
        return self.severity if self.given_severity else self._no_graver(self.when_alone)

    def _no_graver(self, other: Severity | None) -> Severity:
        """The other severity, where there is one that is not graver than the rule's own."""
        return max(self.severity, other or self.severity, key=list(Severity).index)

    @property
    def counts_less(self) -> list[str]:
        """When the rule counts for less than its severity says, in words."""
        found = {
            "where the words around it are those of ordinary advice": self.severity_when_ordinary,
            "in a skill where nothing else that is grave was found": self.severity_when_alone,
        }
        taught = ["info in code that a skill about security shows"] if self.taught else []
        return [f"{severity.value} {when}" for when, severity in found.items() if severity != self.severity] + taught


class PackFile(msgspec.Struct, frozen=True, array_like=True):
    """One file of an operator's pack, as it was when the process started."""

    name: str
    content: bytes


@dataclass(frozen=True, eq=False)
class Ruleset:
    """All rules by id, in the order of their ids, and the version that stands for exactly these rules.

    `off` has the rules that the operator has switched off. `pack` has the operator's files, for a scanning process to make
    the same ruleset from, and `yara` the compiled YARA rules among them.
    """

    rules: dict[str, Rule]
    version: str
    off: dict[str, Rule] = field(default_factory=dict)
    pack: tuple[PackFile, ...] = ()
    yara: YaraRules | None = None

    @cached_property
    def pattern_rules(self) -> tuple[Rule, ...]:
        """The rules that hit by pattern."""
        return tuple(rule for rule in self.rules.values() if rule.pattern is not None)

    @cached_property
    def statement_rules(self) -> tuple[Rule, ...]:
        """The rules that hit by what sentences say."""
        return tuple(rule for rule in self.rules.values() if rule.says)

    @cached_property
    def check_rules(self) -> tuple[Rule, ...]:
        """The rules that hit by a named check."""
        return tuple(rule for rule in self.rules.values() if rule.check is not None)

    @cached_property
    def rules_by_check(self) -> dict[str, tuple[str, ...]]:
        """The ids of the rules that hit where a check reports something."""
        found: dict[str, tuple[str, ...]] = {}
        for rule in self.check_rules:
            found[rule.check or ""] = (*found.get(rule.check or "", ()), rule.id)
        return found


@cache
def load_ruleset(folder: Path = RULES_FOLDER) -> Ruleset:
    """The rules of every `*.toml` in the folder, with every pattern tried. Raises InvalidRules, naming the rule."""
    ruleset = _read_once(folder)
    try_patterns(ruleset.pattern_rules)
    return ruleset


def try_patterns(rules: Iterable[Rule]) -> None:
    """Compile the patterns of all these rules. Raises InvalidRules for the first that does not, or that hits everything."""
    for rule in rules:
        problem = _pattern_problem("pattern", rule.pattern) or _pattern_problem("unless", rule.unless)
        if problem:
            raise InvalidRules(f"Rule {rule.id} is broken: {problem}.", rule=rule.id)


def read_ruleset() -> Ruleset:
    """The rules that come with this software, without trying each pattern by itself: its tests have. Raises InvalidRules."""
    return _read_once(RULES_FOLDER)


@cache
def _read_once(folder: Path) -> Ruleset:
    """The rules of a folder, with a version of them and of the data they lean on, as the concepts and weights of `meaning/`."""
    rules: dict[str, Rule] = {}
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.toml")):
        data = path.read_bytes()
        digest.update(path.name.encode() + b"\0" + data + b"\0")
        for rule in read_rule_file(path.name, data):
            if rule.id in rules:
                raise InvalidRules(f"Rule {rule.id} in {path.name} is there twice. Give one of them an id of its own.")
            rules[rule.id] = rule
    for path in sorted(path for kind in LEANT_ON for path in Path(__file__).parent.glob(f"*/*.{kind}")):
        if path.parent != RULES_FOLDER:
            digest.update(path.read_bytes() + b"\0")
    if not rules:
        raise InvalidRules(f"There is no rule in {folder}. A scanner without rules would pass everything.")
    return Ruleset(rules=dict(sorted(rules.items())), version=f"{RULESET_SERIES}+{digest.hexdigest()[:8]}")


def read_rule_file(name: str, data: bytes) -> list[Rule]:
    """The rules in the bytes of a TOML file. Raises InvalidRules, naming the file."""
    try:
        given = msgspec.convert(tomli.loads(data.decode()), _RuleFile)
    except (tomli.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as exc:
        raise InvalidRules(f"The rule file {name} cannot be read: {exc}.", file=name) from exc
    return [_checked(name, rule, of=given) for rule in given.rules]


def _checked(name: str, given: _GivenRule, *, of: _RuleFile) -> Rule:
    problem = _problem_of(given)
    if problem:
        raise InvalidRules(f"Rule {given.id} in {name} is broken: {problem}.", file=name, rule=given.id)
    fields = msgspec.structs.asdict(given)
    fields["category"] = given.category or of.category
    fields["owasp"] = given.owasp or of.owasp
    fields["applies_to"] = frozenset(given.applies_to)
    fields["pattern"] = given.pattern and given.pattern.replace("{public_address}", PUBLIC_ADDRESS)
    return Rule(**fields)


def _problem_of(given: _GivenRule) -> str | None:
    if [given.pattern is not None, given.check is not None, bool(given.says)].count(True) != 1:
        return "it needs a pattern, a check or what it says, and only one of them"
    if not given.applies_to:
        return "applies_to is empty, so it would never be looked at"
    if given.pattern is None and given.unless:
        return "only a pattern has an unless"
    if given.check is not None:
        return None
    if min(len(given.matches), len(given.ignores)) < MIN_EXAMPLES:
        return f"it needs at least {MIN_EXAMPLES} texts in matches and {MIN_EXAMPLES} in ignores"
    return None


def _pattern_problem(field: str, source: str | None) -> str | None:
    if source is None:
        return None
    try:
        pattern = compile_pattern(source)
    except InvalidRules as exc:
        return f"its {field} does not compile ({exc.message.rstrip('.')})"
    return f"its {field} matches the empty text, so it would hit everywhere" if pattern.is_in(b"") else None
