"""What a skill can do, as far as its text says: hosts, commands, environment variables and packages.

A first, honest pass over what is written plainly. It accuses nobody; it lets people compare a skill with its description.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import dropwhile, islice
from typing import NamedTuple

from vskill_platform.domain.scan import Capabilities
from vskill_platform.scanning.tier1.file_kinds import Shape
from vskill_platform.scanning.tier1.languages import Language, language_of_fence
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.skill import Fact, FactKind, FileUnderScan, SkillUnderScan
from vskill_platform.scanning.tier1.views.glance import Sign, signs_of

MATCHES_PER_FILE = 1_000
LONGEST_LINE = 2_000
LONGEST_WORD = 250
LONGEST_SCHEME = len("https")
_SHELL_WORDS = (
    "if then else elif fi for while until do done case esac in function select time return exit local export set unset "
    "shift break continue trap declare readonly"
)
SHELL_WORDS = frozenset(_SHELL_WORDS.split())
_OPTIONS = (
    "-r --requirement -c --constraint -i --index-url --extra-index-url -e --editable -t --target -f --find-links --registry "
    "--prefix -p --package --python"
)
OPTIONS_WITH_VALUE = frozenset(_OPTIONS.split())
INSTALLING = frozenset(["install", "i", "add", "npx"])
"""Words of installers behind which packages stand."""

_SOME_PACKAGES = r"(?:[ \t]+[^\s`'\";|&)]+){1,20}"
_PYPI = rf"\b(?:(?:pip[0-9.]*|pipx|uv pip) install|uv add){_SOME_PACKAGES}"
_NPM = rf"\b(?:npm (?:install|i|add)|pnpm (?:install|add)|yarn add|bun add){_SOME_PACKAGES}"
_NPX = r"\bnpx(?:[ \t]+-[^\s`]+){0,5}[ \t]+[^\s`'\";|&)]+"
_VARIABLE = (
    r"\$\{?[A-Z][A-Z0-9_]{2,63}\b"
    r"|\b(?:os\.)?(?:environ(?:\.get)?|getenv)\s?[\[(]\s?[\"'][A-Za-z_][A-Za-z0-9_]{1,63}[\"']"
    r"|\bprocess\.env(?:\.|\[[\"'])[A-Za-z_][A-Za-z0-9_]{1,63}"
    r"|\$env:[A-Za-z_][A-Za-z0-9_]{1,63}"
)
_VARIABLES = Pattern(_VARIABLE)
_ADDRESS = r"(?i)\b(?:https?|wss?|ftp)://"
# What follows looks at bounded pieces of a text, for which `re` is quicker to ask. Two letters beyond ASCII are an `s` and
# a `k` to the engine of the other patterns where it does not care for case.
_SCHEME = re.compile(r"(?<![0-9A-Za-z_])(?:[hH][tT][tT][pP][sS\u017f]?|[wW][sS\u017f]{1,2}|[fF][tT][pP])\Z")
_LETTER = r"[0-9A-Za-z\u017f\u212a]"
_BEHIND_SCHEME = re.compile(
    rf"://(?:[^ \t\n\f\r/@\"'<>`]{{1,100}}@)?({_LETTER}(?:[0-9A-Za-z\u017f\u212a.-]{{0,252}}{_LETTER})?)"
)
_LAST_WORD = re.compile(r"(\w+)[\"']?\Z", re.ASCII)
_PYPI_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,99})(?:\[|[=<>~!@;]|\Z)")
_NPM_NAME = re.compile(r"(@[a-z0-9._-]{1,100}/[a-z0-9._-]{1,100}|[a-z0-9][a-z0-9._-]{0,99})(?:@|\Z)")
_COMMAND = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)*((?:\./|~/|/)?[A-Za-z0-9_][A-Za-z0-9_./+-]{0,63})(?:\s|\Z)")


class _Saying(NamedTuple):
    """A way to write down what a skill can do, and the sign of it."""

    capability: str
    sign: Sign
    read: Callable[[FileUnderScan], Iterable[str]]


def capabilities_of(skill: SkillUnderScan, facts: Sequence[Fact] = ()) -> Capabilities:
    """What the skill's text and code say it reaches, runs, writes, reads and installs; each list sorted and bounded."""
    files = [file for file in skill.files if file.shape is Shape.TEXT]
    limit = skill.limits.max_capabilities
    written = _written(files)

    values: defaultdict[FactKind, set[str]] = defaultdict(set)
    for fact in facts:
        if fact.value:
            values[fact.kind].add(fact.value)

    def known(*kinds: FactKind) -> set[str]:
        return {value for kind in kinds for value in values[kind]}

    return Capabilities(
        network_hosts=_some(written["network_hosts"] | known(FactKind.REACHES, FactKind.SENDS), limit),
        commands=_some(known(FactKind.RUNS).difference(SHELL_WORDS).union(_commands(files)), limit),
        files_written=_some(known(FactKind.WRITES, FactKind.DOWNLOADS), limit),
        environment=_some(written["environment"] | known(FactKind.READS_ENVIRONMENT), limit),
        secrets=_some(known(FactKind.READS_SECRET), limit),
        packages=_some(written["packages"] | known(FactKind.INSTALLS), limit),
        remote_instructions=_some(known(FactKind.FOLLOWS), limit),
    )


def _some(found: Set[str], limit: int) -> tuple[str, ...]:
    return tuple(sorted(found)[:limit]) if found else ()


def _written(files: Iterable[FileUnderScan]) -> Mapping[str, Set[str]]:
    """What the files say that they reach, read and install, by capability."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for file in files:
        signs = signs_of(file)
        for saying in _SAYINGS:
            if saying.sign in signs:
                found[saying.capability].update(saying.read(file))
    return found


def _hosts(file: FileUnderScan) -> Iterable[str]:
    return {host.lower() for host in islice(_hosts_in(file.text), MATCHES_PER_FILE)}


def _hosts_in(text: str) -> Iterator[str]:
    """The hosts of all addresses; what belongs to one of them is no scheme of another."""
    done = 0
    for found in _BEHIND_SCHEME.finditer(text):
        start = found.start()
        if _SCHEME.search(text, max(done, start - LONGEST_SCHEME), start):
            done = found.end()
            yield found[1]


def _variables(file: FileUnderScan) -> Iterator[str]:
    named = (_LAST_WORD.search(use) for use in _matches(_VARIABLES, file))
    return (found[1] for found in named if found)


def _packages(registry: str, source: str, name: re.Pattern[str]) -> Callable[[FileUnderScan], Iterator[str]]:
    """The way to read the packages that commands of this kind install."""
    pattern = Pattern(source)

    def read(file: FileUnderScan) -> Iterator[str]:
        for command in _matches(pattern, file):
            named = (name.match(word[:LONGEST_WORD]) for word in _plain_words(_behind_verb(command.split())))
            yield from (f"{registry}:{found[1]}" for found in named if found)

    return read


def _matches(pattern: Pattern, file: FileUnderScan) -> set[str]:
    """What the pattern matches in the file."""
    data = file.encoded
    spans = islice(pattern.spans(data), MATCHES_PER_FILE)
    return {data[start:end].decode(errors="replace") for start, end in spans}


def _behind_verb(words: list[str]) -> Iterator[str]:
    return islice(dropwhile(lambda word: word not in INSTALLING, words), 1, None)


def _plain_words(words: Iterable[str]) -> Iterator[str]:
    """The words that are no options, no values of options and no paths."""
    is_value = False
    for word in words:
        if not is_value and not word.startswith(("-", ".", "/", "$", "<", "{")):
            yield word
        is_value = word in OPTIONS_WITH_VALUE


_SAYINGS = (
    _Saying("network_hosts", Sign(_ADDRESS), _hosts),
    _Saying("environment", Sign(_VARIABLE), _variables),
    _Saying("packages", Sign(_PYPI), _packages("pypi", _PYPI, _PYPI_NAME)),
    _Saying("packages", Sign(_NPM), _packages("npm", _NPM, _NPM_NAME)),
    _Saying("packages", Sign(_NPX), _packages("npm", _NPX, _NPM_NAME)),
)


def _commands(files: Iterable[FileUnderScan]) -> Iterator[str]:
    for file in files:
        yield from _first_words(islice(_shell_lines(file), MATCHES_PER_FILE))


def _shell_lines(file: FileUnderScan) -> Iterator[str]:
    if file.language is Language.SHELL:
        yield from file.lines
    elif file.is_markdown:
        for block in file.document.fences:
            if language_of_fence(block.language) is Language.SHELL:
                yield from block.text.split("\n")


def _first_words(lines: Iterable[str]) -> Iterator[str]:
    """The commands of shell lines: what stands at their heads and after each `|`, `&` and `;`."""
    plain = {line[:LONGEST_LINE].strip().removeprefix("$ ") for line in lines}
    code = "|".join(line for line in plain if not line.startswith("#"))
    for part in set(code.replace("&", "|").replace(";", "|").split("|")):
        found = _COMMAND.match(part.strip()[:LONGEST_WORD])
        if found and found[1] not in SHELL_WORDS and not found[1].isdigit():
            yield found[1]
