"""Operators' own rules: a folder with rules in our format, YARA rules, and severities that differ from ours.

A pack is read when a process starts and never again, and it is checked as strictly as the bundled rules. A scanning process
is handed the files as its owner has read them, so that both have the same rules whatever happens to the folder meanwhile.
Only the operator names the folder: nothing in a skill is a pack, whatever it is called.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec
import tomli

from vskill_platform.domain.errors import InvalidRules
from vskill_platform.domain.rule_changes import OFF, WORDS
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.tier1.rules import PackFile, Rule, Ruleset, read_rule_file, read_ruleset, try_patterns
from vskill_platform.scanning.tier1.yara import YaraRules, YaraSource
from vskill_platform.scanning.tier1.yara_rules import YARA_PREFIX, rule_of

SEVERITIES_NAME = "severities.toml"
MAX_PACK_BYTES = 32 * 1024 * 1024
OWN_PREFIX = "X"
"""No bundled rule has a prefix that begins with this letter, and none ever will."""
_YARA_SUFFIXES = (".yar", ".yara")
_SUFFIXES = (".toml", *_YARA_SUFFIXES)


def load_rules(folder: str = "") -> Ruleset:
    """The bundled rules, and with a folder those of the operator, which are all tried. Raises InvalidRules.

    The folder is read once in the life of a process.
    """
    return _load_once(str(Path(folder).resolve())) if folder else read_ruleset()


@cache
def _load_once(folder: str) -> Ruleset:
    # All analysers come with it, and who owns a pool of processes has no other use for them.
    from vskill_platform.scanning.tier1.pack_examples import try_examples

    bundled = read_ruleset()
    ruleset = with_pack(bundled, read_pack(Path(folder)))
    own = [rule for rule in _all_rules(ruleset) if rule.origin]
    try_patterns(own)
    try_examples(own)
    return ruleset


def read_pack(folder: Path) -> tuple[PackFile, ...]:
    """The files of a rules folder that mean something, by name. Raises InvalidRules where there is none."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES and path.is_file())
        files = tuple(PackFile(path.name, path.read_bytes()) for path in paths)
    except OSError as exc:
        raise InvalidRules(f"The rules folder '{folder}' cannot be read: {exc.strerror}.", folder=str(folder)) from exc
    if not files:
        raise InvalidRules(
            f"The rules folder '{folder}' has no file that ends with {', '.join(_SUFFIXES)}. Name another, or none.",
            folder=str(folder),
        )
    size = sum(len(file.content) for file in files)
    if size > MAX_PACK_BYTES:
        raise InvalidRules(f"The rules in '{folder}' have {size:,} bytes; they may have {MAX_PACK_BYTES:,}.")
    return files


def with_pack(bundled: Ruleset, pack: Sequence[PackFile]) -> Ruleset:
    """The bundled rules together with those of a pack, at the severities that the pack says. Raises InvalidRules."""
    if not pack:
        return bundled
    sources = [YaraSource(file.name, file.content) for file in pack if file.name.endswith(_YARA_SUFFIXES)]
    yara = YaraRules(sources) if sources else None
    rules = _joined(bundled, [*_toml_rules(pack), *(rule_of(found) for found in (yara.rules if yara else ()))])
    severities = _read_severities(next((file for file in pack if file.name == SEVERITIES_NAME), None), rules)
    return Ruleset(
        rules={name: _at(rule, severities.get(name)) for name, rule in rules.items() if severities.get(name) != OFF},
        version=f"{bundled.version}.{_digest(pack)[:8]}",
        off={name: rule for name, rule in rules.items() if severities.get(name) == OFF},
        pack=tuple(pack),
        yara=yara,
    )


def _digest(pack: Iterable[PackFile]) -> str:
    digest = hashlib.sha256()
    for file in pack:
        digest.update(f"{len(file.name.encode())} {len(file.content)} {file.name}".encode() + file.content)
    return digest.hexdigest()


def _all_rules(ruleset: Ruleset) -> Iterator[Rule]:
    yield from ruleset.rules.values()
    yield from ruleset.off.values()


def _toml_rules(pack: Iterable[PackFile]) -> Iterator[Rule]:
    for file in pack:
        if file.name.endswith(".toml") and file.name != SEVERITIES_NAME:
            for rule in read_rule_file(file.name, file.content):
                yield msgspec.structs.replace(rule, origin=file.name)


def _joined(bundled: Ruleset, own: Iterable[Rule]) -> dict[str, Rule]:
    prefixes = {_prefix(name) for name in bundled.rules}
    joined = dict(bundled.rules)
    known = {name.upper(): rule for name, rule in joined.items()}
    for rule in own:
        problem = _clash(rule, taken=known.get(rule.id.upper()), prefixes=prefixes)
        if problem:
            raise InvalidRules(f"Rule {rule.id} in {rule.origin} {problem}", rule=rule.id, file=rule.origin)
        joined[rule.id] = known[rule.id.upper()] = rule
    return dict(sorted(joined.items()))


def _clash(rule: Rule, *, taken: Rule | None, prefixes: set[str]) -> str | None:
    """Why a rule of a pack cannot have its id. Case does not tell ids apart: people type them."""
    if taken is not None and taken.origin:
        return f"has the id of {taken.id} in {taken.origin}. Give one of them another."
    is_yara = rule.origin.endswith(_YARA_SUFFIXES)
    if not is_yara and _prefix(rule.id) in {*prefixes, _prefix(YARA_PREFIX)}:
        return (
            f"has a prefix that belongs to the scanner's own rules. Take one that begins with {OWN_PREFIX}, such as "
            f"{OWN_PREFIX}{_prefix(rule.id)[:2]}-001: those are kept for operators. To change how grave a bundled rule "
            f"is, name it in {SEVERITIES_NAME}."
        )
    return None


def _prefix(rule_id: str) -> str:
    return rule_id.partition("-")[0]


def _read_severities(file: PackFile | None, rules: dict[str, Rule]) -> dict[str, str]:
    if file is None:
        return {}
    try:
        given = tomli.loads(file.content.decode())
    except (tomli.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise InvalidRules(f"{file.name} cannot be read: {exc}.", file=file.name) from exc
    for name, word in given.items():
        problem = _severity_problem(name, word, rules)
        if problem:
            raise InvalidRules(f"{file.name}: {problem}", file=file.name, rule=name)
    return given


def _severity_problem(name: str, word: object, rules: dict[str, Rule]) -> str | None:
    if name not in rules:
        return f"there is no rule '{name}'. `vskill-platform explain` lists them."
    return None if word in WORDS else f"'{word}' is no severity for {name}. Take one of {', '.join(WORDS)}."


def _at(rule: Rule, word: str | None) -> Rule:
    if word is None or word == rule.severity:
        return rule
    return msgspec.structs.replace(rule, severity=Severity(word), given_severity=rule.severity)
