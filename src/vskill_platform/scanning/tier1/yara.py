"""A typed face of yara-x, for the YARA rules of operators. It knows bytes and offsets, and nothing of skills.

yara-x is an extra: it is imported when there are YARA rules, and not before. Rules are compiled without includes and with
few modules, so that what they say depends on the bytes alone. A search is bounded in time and in matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from vskill_platform.domain.errors import InvalidRules, YaraNotInstalled

if TYPE_CHECKING:
    import yara_x

MODULES = frozenset(["elf", "hash", "macho", "math", "pe", "string"])
"""Modules that rules may import: all they tell comes from the bytes of the file, whenever and wherever it is scanned."""
TIME_LIMIT_S = 5
"""Whole seconds that one search may take."""
MAX_MATCHES = 10_000
"""Matches of one pattern in one file. Further ones do not count, also not in conditions."""
RESERVED_BYTES = 192 * 1024 * 1024
"""Address space that yara-x sets aside without using it: for its virtual machine, and for the thread that keeps its time."""
LONGEST_NAME = 64
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_PRIVATE = re.compile(r"(?:^|\})\s*(?:private\s+(?:global\s+)?|global\s+private\s+)rule\s+(\w+)\s*[:{]", re.MULTILINE)
_IMPORT = re.compile(r'\bimport\s+"(\w+)"')

Metadata = Mapping[str, object]


class YaraSource(NamedTuple):
    """A file of YARA rules."""

    name: str
    content: bytes


class YaraRule(NamedTuple):
    """A rule that can match, and what its `meta` says."""

    name: str
    file: str
    metadata: Metadata


class YaraMatch(NamedTuple):
    """A rule that matched, and the places of the strings that it matched by, from left to right; there may be none."""

    name: str
    places: tuple[tuple[int, int], ...]


class YaraTimedOut(Exception):
    """A search took longer than it may."""


class YaraRules:
    """Compiled rules, for searches in one thread.

    Raises InvalidRules with file and line for what does not compile, and YaraNotInstalled without yara-x.
    """

    def __init__(self, sources: Sequence[YaraSource]) -> None:
        self._engine = _import_engine(sources)
        texts = {source.name: _decode(source) for source in sources}
        compiled = self._compile(texts)
        if isinstance(compiled, str):
            raise InvalidRules(compiled)
        self._compiled = compiled
        _refuse_modules(self._compiled.imports(), texts)
        hidden = {(name, found) for name, text in texts.items() for found in _PRIVATE.findall(_COMMENT.sub("", text))}
        self.rules = tuple(
            _described(rule) for rule in self._compiled if (rule.namespace, rule.identifier) not in hidden
        )

    def search(self, data: bytes) -> Iterator[YaraMatch]:
        """The rules that match these bytes. Raises YaraTimedOut."""
        try:
            found = self._scanner.scan(data).matching_rules
        except self._engine.TimeoutError as exc:
            raise YaraTimedOut from exc
        except Exception:
            raise
        except BaseException as exc:
            raise _as_exception(exc) from exc
        return (YaraMatch(rule.identifier, _places(rule)) for rule in found)

    @cached_property
    def _scanner(self) -> yara_x.Scanner:
        """Made once: each one sets address space aside."""
        scanner: yara_x.Scanner = self._engine.Scanner(self._compiled)
        scanner.set_timeout(TIME_LIMIT_S)
        scanner.max_matches_per_pattern(MAX_MATCHES)
        return scanner

    def _compile(self, texts: Mapping[str, str]) -> yara_x.Rules | str:
        """The rules, or what is wrong with them. A namespace for each file: a global rule of one does not silence another.

        An error is told and not raised: a compiler that hangs on a traceback would end in another thread than its own,
        which yara-x does not allow.
        """
        compiler: yara_x.Compiler = self._engine.Compiler(includes_enabled=False)
        for name, text in texts.items():
            compiler.new_namespace(name)
            try:
                compiler.add_source(text, origin=name)
            except self._engine.CompileError:
                return _told(name, compiler.errors())
        return compiler.build()


def _import_engine(sources: Sequence[YaraSource]) -> ModuleType:
    try:
        import yara_x
    except ImportError as exc:
        raise YaraNotInstalled(
            f"{sources[0].name} has YARA rules, and yara-x is not installed. Install it with: "
            "pip install 'vskill-platform[yara]'",
            file=sources[0].name,
        ) from exc
    return yara_x


def _decode(source: YaraSource) -> str:
    try:
        return source.content.decode()
    except UnicodeDecodeError as exc:
        raise InvalidRules(f"The rule file {source.name} cannot be read: {exc}.", file=source.name) from exc


def _refuse_modules(imported: Sequence[str], texts: Mapping[str, str]) -> None:
    refused = next((module for module in imported if module not in MODULES), None)
    if refused is not None:
        place = next((f"{name}:{line}" for name, line, module in _imports(texts) if module == refused), "A YARA rule")
        raise InvalidRules(
            f"{place} imports the module '{refused}'. Rules may import {', '.join(sorted(MODULES))}: "
            "what they say must depend on the scanned bytes alone.",
            module=refused,
        )


def _imports(texts: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    for name, text in texts.items():
        for found in _IMPORT.finditer(text):
            yield name, text.count("\n", 0, found.start()) + 1, found[1]


def _told(name: str, errors: Sequence[Mapping[str, object]]) -> str:
    """The first error in one line."""
    error = errors[0]
    return f"{name}:{error['line']}:{error['column']} does not compile: {error['title']}."


def _described(rule: yara_x.Rule) -> YaraRule:
    if len(rule.identifier) > LONGEST_NAME:
        raise InvalidRules(
            f"The YARA rule {rule.identifier[:LONGEST_NAME]}… in {rule.namespace} has a name of more than "
            f"{LONGEST_NAME} characters. Give it a shorter one.",
            file=rule.namespace,
        )
    return YaraRule(rule.identifier, rule.namespace, dict(rule.metadata))


def _places(rule: yara_x.Rule) -> tuple[tuple[int, int], ...]:
    found = (match for pattern in rule.patterns for match in pattern.matches)
    return tuple(sorted((match.offset, match.offset + match.length) for match in found))


def _as_exception(error: BaseException) -> BaseException:
    """A panic of the engine as an ordinary exception; it comes as one that nobody would catch."""
    return RuntimeError(f"yara-x failed: {error}") if type(error).__name__ == "PanicException" else error
