"""Install commands in texts and scripts: what they fetch, from where, and whether the name is an imitation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from vskill_platform.scanning.limits import CONFIG_LIMIT
from vskill_platform.scanning.tier1.configs.hosts import (
    host_of,
    is_in_documentation,
    is_local,
    is_placeholder,
    is_private,
    is_registry,
)
from vskill_platform.scanning.tier1.configs.keys import FEWEST_FOREIGN, foreign_services, referred_keys
from vskill_platform.scanning.tier1.configs.packages import Requirement, judge_requirement, requirement_of, resembles
from vskill_platform.scanning.tier1.configs.reporting import LONGEST_VALUE, Seen
from vskill_platform.scanning.tier1.configs.word_lists import words
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.skill import Fact, FactKind, FileUnderScan, LimitHit, Sighting

MOST_COMMANDS = 20_000
"""Install commands of one file that are read; a file with more is not known to be safe."""
LONGEST_COMMAND = 4_000
KNOWN_COMMANDS = 256
"""Commands whose reading is kept: skills install the same few things, and say so again and again."""
LONGEST_COUNTED = 2_000
BEGINNING = (
    r"\b(?:pip[0-9.]*|pipx|uv(?:[ \t]+(?:pip|tool))?|conda|mamba|poetry|pdm|p?npm|yarn(?:[ \t]+global)?|bun|gem|cargo|go)"
    r"[ \t\"',\\\n]+(?:install|add|i|dlx|exec|x|run)\b|\b(?:npx|uvx|bunx|pnpx)\b"
)
"""How an install command begins. Where it ends is found by hand: a long tail in the pattern makes it four times slower."""
_COMMAND = Pattern(BEGINNING)
_HEAD = re.compile(
    r"(?P<tool>[\w.]+(?:[ \t]+(?:pip|tool|global))?)(?:(?:[ \t\"',]|\\\n)+(?P<verb>install|add|i|dlx|exec|x|run)\b)?"
)
_REGISTRIES = {
    "pip": "pypi", "pipx": "pypi", "uv": "pypi", "uvx": "pypi", "conda": "pypi", "mamba": "pypi", "poetry": "pypi", "pdm": "pypi",
    "npm": "npm", "pnpm": "npm", "yarn": "npm", "bun": "npm", "npx": "npm", "bunx": "npm", "pnpx": "npm",
    "gem": "gem", "cargo": "cargo", "go": "go",
}  # fmt: skip
_ONE_ONLY = frozenset(["npx", "uvx", "bunx", "pnpx"])
_RUN_VERBS = frozenset(["dlx", "exec", "x", "run"])
_QUOTE = re.compile(r"[\"']")
_QUOTED = re.compile(r"[\"']([^\"'\n]{0,300})[\"']")
_WORD = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|([^\s\"';|&`)\]]+)|([;|&`)\]\"'\n])")
_WITH_VALUE = words(
    "-r --requirement -c --constraint -i --index-url --extra-index-url --index --default-index -e --editable -t --target -f "
    "--find-links --registry --prefix -p --python --trusted-host --group --extra --channel -n --name --root --git --branch "
    "--tag --rev --features --version -v -w --workspace --filter --loglevel --cache --prefer --source --platform -F"
)
_NAMES_PACKAGE = frozenset(["--package", "--from", "--with", "--spec"])
_INDEX = frozenset(
    ["--index-url", "-i", "--extra-index-url", "--index", "--default-index", "--registry", "--find-links", "-f"]
)
_REQUIREMENT_FILES = frozenset(["-r", "--requirement", "-c", "--constraint"])
_EXTRA_INDEX = frozenset(["--extra-index-url", "--index", "--find-links", "-f"])
_INTERNAL_LOOK = re.compile(
    r"(?i)(?:^|[-_./@])(?:internal|private|corp|company|intranet|inhouse|platform|infra|employee|staff)(?:[-_./]|$)"
)
LAYER = "shell"
"""Install commands are what a shell reads; in a text, a quotation or a warning excuses them as it does others."""


class Install(NamedTuple):
    """One install command and how many characters it has. `indexes` are the addresses that it takes packages from, with the
    option that names each.
    """

    requirements: list[Requirement]
    indexes: list[tuple[str, str]]
    length: int = 0


def find_installs(file: FileUnderScan, about: str = "") -> Iterator[Seen]:
    """What the install commands of a file fetch."""
    data = file.encoded
    line, counted, reached = 1, 0, 0
    for number, span in enumerate(_COMMAND.spans(data)):
        if number >= MOST_COMMANDS:
            yield LimitHit(CONFIG_LIMIT)
            return
        if span.start < reached:
            continue
        line += data.count(b"\n", counted, span.start)
        counted = span.start
        command = _whole_command(data, span.start).decode(errors="replace")
        install = read_install(command)
        if install is not None:
            reached = span.start + len(command[: install.length].encode())
            where = _Where(file, line, span.start)
            yield from _report(where, install)
            if "$" in command:
                yield from _report_keys(where, install, _line_from(data, span.start) + command, about)


def _whole_command(data: bytes, start: int) -> bytes:
    """The command that begins here, to the end of its line or of the lines that it goes on in."""
    latest = min(len(data), start + LONGEST_COMMAND)
    end = data.find(b"\n", start, latest)
    while end > 0 and data[end - 1 : end] == b"\\":
        end = data.find(b"\n", end + 1, latest)
    return data[start : latest if end < 0 else end]


def _line_from(data: bytes, start: int) -> str:
    """What stands on the line before the command."""
    return data[max(data.rfind(b"\n", 0, start) + 1, start - LONGEST_COMMAND) : start].decode(errors="replace")


@lru_cache(maxsize=KNOWN_COMMANDS)
def read_install(text: str) -> Install | None:
    """The command at the beginning of the text; None if it installs nothing."""
    head = _HEAD.match(text)
    if head is None:
        return None
    tool = head["tool"].split()[0].rstrip("0123456789.") if head["tool"][:3] == "pip" else head["tool"].split()[0]
    registry = _REGISTRIES.get(tool)
    if registry is None or (tool not in _ONE_ONLY and not _installs(tool, head["tool"], head["verb"])):
        return None
    words, behind = _words(text, head.end(), is_listed=head["verb"] is None or _QUOTE.search(head[0]) is not None)
    is_one = tool in _ONE_ONLY or head["verb"] in _RUN_VERBS
    return _parsed(registry, words, is_one=is_one)._replace(length=behind)


def _installs(tool: str, whole: str, verb: str | None) -> bool:
    if verb == "run":
        return tool == "pipx" or whole.endswith("tool")
    if verb == "x":
        return tool == "bun"
    if verb == "i":
        return tool in ("npm", "pnpm", "bun")
    if verb in ("dlx", "exec"):
        return tool in ("npm", "pnpm", "yarn")
    return verb in ("install", "add") and not (tool == "uv" and whole == "uv" and verb == "install")


def _words(text: str, start: int, *, is_listed: bool) -> tuple[list[str], int]:
    """The words up to the end of the command, and where that is. A quote behind the head ends it, or a word of a list."""
    if text[start : start + 1] in ("'", '"'):
        quoted = list(_QUOTED.finditer(text, start + 1)) if is_listed else []
        return [found[1] for found in quoted], quoted[-1].end() if quoted else start
    words: list[str] = []
    at = start
    for found in _WORD.finditer(text.replace("\\\n", "  "), start):
        word = found[1] or found[2] or found[3] or ""
        if found[4] or word.startswith("#"):
            break
        at = found.end()
        words += [word] if word else []
    return words, at


def _parsed(registry: str, words: list[str], *, is_one: bool) -> Install:
    install = Install([], [])
    option = ""
    for word in words:
        if option:
            _take_value(install, registry, option, word)
            option = ""
            continue
        if word.startswith("-"):
            name, is_pair, value = word.partition("=")
            if is_pair:
                _take_value(install, registry, name, value)
            elif name in _WITH_VALUE or name in _NAMES_PACKAGE:
                option = "--package" if is_one and name == "-p" else name
            continue
        if is_one and install.requirements:
            break
        requirement = requirement_of(registry, word)
        if requirement is None and is_one:
            break
        if requirement is not None:
            install.requirements.append(requirement)
        if is_one:
            break
    return install


def _take_value(install: Install, registry: str, option: str, value: str) -> None:
    if option in _REQUIREMENT_FILES and "://" in value:
        install.requirements.append(Requirement(registry, "", address=value.strip("\"'")))
    elif option in _INDEX:
        install.indexes.append((option, value.strip("\"'")))
    elif option in _NAMES_PACKAGE or option in ("-e", "--editable"):
        found = (requirement_of(registry, part) for part in value.split(","))
        install.requirements.extend(requirement for requirement in found if requirement is not None)


def column_of(data: bytes, start: int) -> int:
    """The column of an offset, in characters, or in bytes where its line is long."""
    before = data[data.rfind(b"\n", 0, start) + 1 : start]
    return 1 + (len(before) if len(before) > LONGEST_COUNTED else len(before.decode(errors="replace")))


class _Where(NamedTuple):
    """Where a command stands; `start` is an offset of bytes."""

    file: FileUnderScan
    line: int
    start: int

    def sighting(self, check: str, detail: str = "") -> Sighting:
        column = column_of(self.file.encoded, self.start)
        shown = self.file.lines[self.line - 1] if self.line <= len(self.file.lines) else ""
        excerpt = make_excerpt(shown, start=column - 1)
        return Sighting(check, self.file.path, self.line, column, excerpt, LAYER, detail)


def _report(where: _Where, install: Install) -> Iterator[Seen]:
    for requirement in install.requirements:
        if requirement.name:
            value = f"{requirement.registry}:{requirement.name}"[:LONGEST_VALUE]
            yield Fact(FactKind.INSTALLS, where.file.path, where.line, value, LAYER)
        for check in judge_requirement(requirement):
            if check != "package_from_branch":
                yield where.sighting(check, resembles(requirement))
    if not install.indexes:
        return
    replaced = [address for option, address in install.indexes if option not in _EXTRA_INDEX]
    if any(is_foreign_index(address, is_shown=where.file.is_markdown) for address in replaced):
        yield where.sighting("registry_redirect")
    if _confuses(install):
        yield where.sighting("dependency_confusion")


def _report_keys(where: _Where, install: Install, command: str, about: str) -> Iterator[Seen]:
    """Keys to services that the skill is not about, handed to a package that few use, on the line that installs it."""
    strange = [
        requirement.name for requirement in install.requirements if requirement.name and not requirement.is_known
    ]
    keys = referred_keys(command) if strange else []
    foreign = foreign_services(keys, about=f"{about} {' '.join(strange)}")
    if len(foreign) >= FEWEST_FOREIGN:
        yield where.sighting("package_gets_foreign_keys", ", ".join(foreign[:6]))


def _confuses(install: Install) -> bool:
    """Whether a second index is asked for a name that looks like one of a company's own."""
    extra = [address for option, address in install.indexes if option in _EXTRA_INDEX and is_foreign_index(address)]
    return bool(extra) and any(looks_internal(requirement.name) for requirement in install.requirements)


def looks_internal(name: str) -> bool:
    """Whether a package's name looks like one of a company's own."""
    return _INTERNAL_LOOK.search(name) is not None


def is_foreign_index(address: str, *, is_shown: bool = False) -> bool:
    """Whether packages come from somewhere that neither everybody nor the house knows; in a text, no mere example."""
    if "://" not in address or (is_shown and is_in_documentation(address)):
        return False
    return bool(host_of(address)) and not (
        is_registry(address) or is_local(address) or is_placeholder(address) or is_private(address)
    )
