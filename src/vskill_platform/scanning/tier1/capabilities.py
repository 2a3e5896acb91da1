"""What a skill can do, as far as its text says: hosts, commands, environment variables and packages.

A first, honest pass over what is written plainly. It accuses nobody; it lets people compare a skill with its description.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from vskill_platform.domain.scan import Capabilities
from vskill_platform.scanning.tier1.file_kinds import Shape
from vskill_platform.scanning.tier1.languages import Language, language_of_fence
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.skill import Fact, FactKind, FileUnderScan, SkillUnderScan

MATCHES_PER_FILE = 1_000
LONGEST_LINE = 2_000
LONGEST_WORD = 250
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

_HOST = Pattern(r"(?i)\b(?:https?|wss?|ftp)://(?:[^\s/@\"'<>`]{1,100}@)?([a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?)")
_VARIABLE = Pattern(
    r"\$\{?([A-Z][A-Z0-9_]{2,63})\b"
    r"|\b(?:os\.)?(?:environ(?:\.get)?|getenv)\s?[\[(]\s?[\"']([A-Za-z_][A-Za-z0-9_]{1,63})[\"']"
    r"|\bprocess\.env(?:\.|\[[\"'])([A-Za-z_][A-Za-z0-9_]{1,63})"
    r"|\$env:([A-Za-z_][A-Za-z0-9_]{1,63})"
)
_PYPI = Pattern(
    r"\b(?:pip[0-9.]*|pipx|uv pip) install((?:[ \t]+[^\s`'\";|&)]+){1,20})|\buv add((?:[ \t]+[^\s`'\";|&)]+){1,20})"
)
_NPM = Pattern(r"\b(?:npm (?:install|i|add)|pnpm (?:install|add)|yarn add|bun add)((?:[ \t]+[^\s`'\";|&)]+){1,20})")
_NPX = Pattern(r"\bnpx((?:[ \t]+-[^\s`]+){0,5}[ \t]+[^\s`'\";|&)]+)")
# These three look at single words and parts of lines of bounded length, for which `re` is quicker to ask.
_PYPI_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,99})(?:\[|[=<>~!@;]|\Z)")
_NPM_NAME = re.compile(r"(@[a-z0-9._-]{1,100}/[a-z0-9._-]{1,100}|[a-z0-9][a-z0-9._-]{0,99})(?:@|\Z)")
_INSTALLERS = (
    ("pypi", _PYPI, _PYPI_NAME, b" install", b"uv add"),
    ("npm", _NPM, _NPM_NAME, b"npm ", b"yarn add", b"bun add"),
    ("npm", _NPX, _NPM_NAME, b"npx"),
)
_COMMAND = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)*((?:\./|~/|/)?[A-Za-z0-9_][A-Za-z0-9_./+-]{0,63})(?:\s|\Z)")


def capabilities_of(skill: SkillUnderScan, facts: Sequence[Fact] = ()) -> Capabilities:
    """What the skill's text and code say it reaches, runs, writes, reads and installs; each list sorted and bounded."""
    files = [file for file in skill.files if file.shape is Shape.TEXT]
    limit = skill.limits.max_capabilities

    def known(*kinds: FactKind) -> Iterator[str]:
        return (fact.value for fact in facts if fact.kind in kinds and fact.value)

    return Capabilities(
        network_hosts=_some(chain(_hosts(files), known(FactKind.REACHES, FactKind.SENDS)), limit),
        commands=_some(
            chain(_commands(files), (name for name in known(FactKind.RUNS) if name not in SHELL_WORDS)), limit
        ),
        files_written=_some(known(FactKind.WRITES, FactKind.DOWNLOADS), limit),
        environment=_some(chain(_caught(_VARIABLE, files, b"$", b"env"), known(FactKind.READS_ENVIRONMENT)), limit),
        secrets=_some(known(FactKind.READS_SECRET), limit),
        packages=_some(chain(_packages(files), known(FactKind.INSTALLS)), limit),
        remote_instructions=_some(known(FactKind.FOLLOWS), limit),
    )


def _some(found: Iterable[str], limit: int) -> tuple[str, ...]:
    return tuple(sorted(set(found))[:limit])


def _caught(pattern: Pattern, files: Iterable[FileUnderScan], *signs: bytes) -> Iterator[str]:
    """What the pattern catches in the files that have one of these signs in them, without which it catches nothing."""
    for file in files:
        if any(sign in file.encoded for sign in signs):
            yield from islice(pattern.groups(file.encoded), MATCHES_PER_FILE)


def _hosts(files: Iterable[FileUnderScan]) -> Iterator[str]:
    return (host.lower() for host in _caught(_HOST, files, b"://"))


def _packages(files: list[FileUnderScan]) -> Iterator[str]:
    for registry, install, name, *signs in _INSTALLERS:
        for words in _caught(install, files, *signs):
            named = (name.match(word[:LONGEST_WORD]) for word in _plain_words(words))
            yield from (f"{registry}:{found.group(1)}" for found in named if found)


def _plain_words(words: str) -> Iterator[str]:
    """The words that are no options, no values of options and no paths."""
    is_value = False
    for word in words.split():
        if not is_value and not word.startswith(("-", ".", "/", "$", "<", "{")):
            yield word
        is_value = word in OPTIONS_WITH_VALUE


def _commands(files: Iterable[FileUnderScan]) -> Iterator[str]:
    for file in files:
        for line in islice(_shell_lines(file), MATCHES_PER_FILE):
            yield from _first_words(line)


def _shell_lines(file: FileUnderScan) -> Iterator[str]:
    if file.language is Language.SHELL:
        yield from file.lines
    elif file.is_markdown:
        for block in file.document.fences:
            if language_of_fence(block.language) is Language.SHELL:
                yield from block.text.split("\n")


def _first_words(line: str) -> Iterator[str]:
    """The commands of a shell line: what stands at its head and after each `|`, `&` and `;`."""
    plain = line[:LONGEST_LINE].strip().removeprefix("$ ")
    if plain.startswith("#"):
        return
    for part in plain.replace("&", "|").replace(";", "|").split("|"):
        found = _COMMAND.match(part.strip()[:LONGEST_WORD])
        if found and found.group(1) not in SHELL_WORDS and not found.group(1).isdigit():
            yield found.group(1)
