"""The finder: reads all shell code of a skill and reports the flows in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.limits import UNREAD_CODE
from vskill_platform.scanning.tier1.code.budget import LARGEST_SNIPPET, Budget, OutOfSteps, TooDeep
from vskill_platform.scanning.tier1.code.report import Report
from vskill_platform.scanning.tier1.code.shell import archives as _archives  # noqa: F401 - each of these registers commands
from vskill_platform.scanning.tier1.code.shell import checks, suspects
from vskill_platform.scanning.tier1.code.shell import environment as _environment  # noqa: F401
from vskill_platform.scanning.tier1.code.shell import packages as _packages  # noqa: F401
from vskill_platform.scanning.tier1.code.shell import system as _system  # noqa: F401
from vskill_platform.scanning.tier1.code.shell import text_tools as _text_tools  # noqa: F401
from vskill_platform.scanning.tier1.code.shell import transfers as _transfers  # noqa: F401
from vskill_platform.scanning.tier1.code.shell import wrappers as _wrappers  # noqa: F401
from vskill_platform.scanning.tier1.code.shell.machine import Machine
from vskill_platform.scanning.tier1.code.shell.sources import ShellText, shell_texts
from vskill_platform.scanning.tier1.file_kinds import Shape
from vskill_platform.scanning.tier1.skill import Fact, LimitHit, Sighting, SkillUnderScan

CHECKS = checks.ALL
_APOSTROPHE = re.compile(r"(?<=[A-Za-z])'(?=(?:t|s|re|ve|ll|d|m)\b)")


def find_shell_flows(skill: SkillUnderScan) -> Iterator[Sighting | Fact | LimitHit]:
    """What the shell code of a skill does that rules name, and what it does at all."""
    budget = Budget()
    own: dict[str, str] | None = None
    machine, of_file = None, ""
    for given in shell_texts(skill):
        data = given.text.encode()
        if given.file != of_file:
            machine, of_file = None, given.file
        glance = suspects.glance_at(data)
        is_worth_reading = glance.is_suspect or (machine is not None and machine.has_fetched)
        if not is_worth_reading:
            if glance.runs_files:
                yield from suspects.plain_facts(given.file, data, first_line=given.first_line)
            continue
        own = own_files(skill) if own is None else own
        machine = machine or Machine(own_files=own, budget=budget)
        yield from _read(given, machine)


def own_files(skill: SkillUnderScan) -> dict[str, str]:
    """The texts of the files that the skill brings; the machine follows those that are small enough."""
    return {file.path: file.text for file in skill.files if file.shape is Shape.TEXT}


def _read(given: ShellText, machine: Machine) -> Iterator[Sighting | Fact | LimitHit]:
    weaker = checks.WEAKER_IN_TEXT if given.is_shown else frozenset[str]()
    is_cut = len(given.text) > LARGEST_SNIPPET
    if is_cut:
        given = given._replace(text=given.text[:LARGEST_SNIPPET])
    report = Report(given.file, given.text, layer="shell", first_line=given.first_line, weaker=weaker)
    try:
        _run(given, machine, report)
    except (OutOfSteps, TooDeep, RecursionError):
        is_cut = True
    if is_cut:
        yield LimitHit(UNREAD_CODE)
    yield from report.all()


def _run(given: ShellText, machine: Machine, report: Report) -> None:
    """Runs the text as a shell would, and where it stands among sentences also as somebody would who picks the commands."""
    is_unclosed = machine.run_text(given.text, report=report, has_placeholders=given.is_shown)
    if not given.is_shown:
        return
    if "'" in given.text and _APOSTROPHE.search(given.text):
        plain = _APOSTROPHE.sub(" ", given.text)
        is_unclosed = machine.run_text(plain, report=report, has_placeholders=True)
    if is_unclosed:
        for line in re.finditer(r"[^\n]+", given.text):
            if suspects.glance_at(line.group().encode()).is_suspect:
                machine.run_line(line.group(), report=report, at=line.start())
