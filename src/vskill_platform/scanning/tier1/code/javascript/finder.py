"""The finder: reads all JavaScript and TypeScript of a skill and reports the flows in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePosixPath
from typing import NamedTuple

from vskill_platform.scanning.limits import UNREAD_CODE
from vskill_platform.scanning.tier1.code.budget import LARGEST_SNIPPET, Budget, OutOfSteps, TooDeep
from vskill_platform.scanning.tier1.code.javascript import checks, suspects
from vskill_platform.scanning.tier1.code.javascript import library_code as _code  # noqa: F401 - each of these registers functions
from vskill_platform.scanning.tier1.code.javascript import library_files as _files  # noqa: F401
from vskill_platform.scanning.tier1.code.javascript import library_network as _network  # noqa: F401
from vskill_platform.scanning.tier1.code.javascript import library_text as _text  # noqa: F401
from vskill_platform.scanning.tier1.code.javascript.imported import Joined, with_modules, with_neighbours
from vskill_platform.scanning.tier1.code.javascript.reading import Reader
from vskill_platform.scanning.tier1.code.javascript.tokens import Tokens
from vskill_platform.scanning.tier1.code.javascript.world import World
from vskill_platform.scanning.tier1.code.report import Report
from vskill_platform.scanning.tier1.code.shell import checks as shell_checks
from vskill_platform.scanning.tier1.code.shell.finder import own_files
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.languages import Language
from vskill_platform.scanning.tier1.skill import Fact, LimitHit, Sighting, SkillUnderScan, Snippet

LAYER = "javascript"
CHECKS = checks.OWN | shell_checks.ALL
MOST_STEPS = 700_000
MOST_SHELL_STEPS = 60_000
LARGEST_READ_TWICE = 200_000
MOST_JOINED = 1_000_000
"""Letters of programs that are read once more, together with their modules."""
_WEAKER = checks.WEAKER_IN_TEXT | shell_checks.WEAKER_IN_TEXT
_LANGUAGES = frozenset([Language.JAVASCRIPT, Language.TYPESCRIPT])
_HIDDEN_NAME = re.compile(r"\b_0x[0-9a-f]{4,6}\b")
MOST_HIDDEN_NAMES = 12
_LIFECYCLE = re.compile(r"\"(?:pre|post)?install\"\s*:\s*\"[^\"\n]{0,200}?\bnode\s+(?:\./)?([\w./-]{1,100})")


class Budgets(NamedTuple):
    """What the reading of all programs of a skill may cost, and what the shell commands in them may."""

    reading: Budget
    shell: Budget


def find_javascript_flows(skill: SkillUnderScan) -> Iterator[Sighting | Fact | LimitHit]:
    """What the JavaScript of a skill does that rules name, and what it does at all."""
    budgets = Budgets(Budget(MOST_STEPS), Budget(MOST_SHELL_STEPS))
    own: dict[str, str] | None = None
    run_at_install = _run_at_install(skill)
    for snippet in skill.snippets:
        if snippet.language in _LANGUAGES and suspects.is_suspect(snippet.text.encode()):
            own = own_files(skill) if own is None else own
            yield from _read(snippet, own, budgets, is_installer=snippet.file in run_at_install)
    over = Budgets(Budget(MOST_STEPS), Budget(MOST_SHELL_STEPS))
    yield from _find_over_modules(skill, over)
    yield from _find_over_blocks(skill, over)


def _find_over_modules(skill: SkillUnderScan, budgets: Budgets) -> Iterator[Sighting]:
    """What goes from one file of the skill to another and then away: seen in no file by itself.

    Each file has been read by then, so what is too long to be followed here is left at that.
    """
    programs = [one for one in skill.snippets if one.language in _LANGUAGES and not one.is_fenced]
    own = {one.file: one.text for one in programs}
    left = MOST_JOINED
    for program in programs:
        joined = with_modules(program.file, program.text, own) if left > 0 and len(own) > 1 else None
        if joined is None:
            continue
        left -= len(joined.text)
        if suspects.is_suspect(joined.text.encode()):
            yield from _read_joined(program.file, joined, own, budgets)


def _find_over_blocks(skill: SkillUnderScan, budgets: Budgets) -> Iterator[Sighting]:
    """What one block of a page reads and another one sends."""
    pages: dict[str, list[Snippet]] = {}
    for one in skill.snippets:
        if one.is_fenced and one.language in _LANGUAGES:
            pages.setdefault(one.file, []).append(one)
    for page, blocks in pages.items():
        over = suspects.split_over([block.text for block in blocks]) if len(blocks) > 1 else []
        joined = (with_neighbours(blocks) or with_neighbours([blocks[number] for number in over])) if over else None
        if joined is not None:
            yield from _read_joined(page, joined, own_files(skill), budgets, weaker=_WEAKER)


def _read_joined(
    file: str, joined: Joined, own: dict[str, str], budgets: Budgets, *, weaker: frozenset[str] = frozenset()
) -> Iterator[Sighting]:
    report = Report(file, joined.text, layer=LAYER, weaker=weaker)
    with suppress(OutOfSteps, TooDeep, RecursionError):
        _read_text(joined.text, World(report, own_files=own, budget=budgets.shell), budgets.reading)
    for seen in report.all():
        if isinstance(seen, Sighting) and seen.check in checks.OVER_MODULES:
            path, line = joined.place_of(seen.line)
            yield seen._replace(file=path, line=line, excerpt=make_excerpt(own[path].split("\n")[line - 1]))


def _read(
    snippet: Snippet, own: dict[str, str], budgets: Budgets, *, is_installer: bool
) -> Iterator[Sighting | Fact | LimitHit]:
    report = Report(
        snippet.file,
        snippet.text,
        layer=LAYER,
        first_line=snippet.first_line,
        weaker=_WEAKER if snippet.is_fenced else frozenset(),
    )
    world = World(report, own_files=own, budget=budgets.shell)
    is_unread = len(snippet.text) > LARGEST_SNIPPET
    try:
        is_unread |= _read_text(snippet.text[:LARGEST_SNIPPET], world, budgets.reading)
    except (OutOfSteps, TooDeep, RecursionError):
        is_unread = True
    if is_unread and not snippet.is_fenced:
        yield LimitHit(UNREAD_CODE)
    for at in world.credentials.strays():
        report.see(checks.SENDS_KEY, at)
    if is_installer and world.does >= {"network", "process"}:
        report.see(checks.INSTALL_SCRIPT, 0)
    if len(set(_HIDDEN_NAME.findall(snippet.text[:LARGEST_SNIPPET]))) >= MOST_HIDDEN_NAMES:
        report.see(checks.OBFUSCATED, 0)
    yield from report.all()


def _read_text(text: str, world: World, budget: Budget) -> bool:
    """Reads a program, twice where that tells more; says whether something was nested too deeply to be read."""
    tokens = Tokens(text, budget=budget)
    reader = Reader(tokens, world, budget=budget)
    reader.read()
    if world.wants_another_reading and len(text) <= LARGEST_READ_TWICE:
        Reader(tokens, world, budget=budget).read()
    return reader.is_too_deep


def _run_at_install(skill: SkillUnderScan) -> frozenset[str]:
    """The files that a package manager runs by itself."""
    found: set[str] = set()
    for file in skill.files:
        if "package.json" not in file.path:
            continue
        path = PurePosixPath(file.path)
        if path.name == "package.json" and 'install"' in file.text[:200_000]:
            found |= {str(path.parent / name) for name in _LIFECYCLE.findall(file.text[:200_000])}
    return frozenset(found)
