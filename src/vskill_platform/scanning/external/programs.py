"""Programs of the operator's own that print SARIF: `NAME=command {folder}`, one a line or with `;` between."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import InvalidSettings
from vskill_platform.scanning.external.normalising import Sightings
from vskill_platform.scanning.external.sandbox import SEARCH_PATH, Outcome
from vskill_platform.scanning.external.sarif_reading import read_sarif
from vskill_platform.scanning.external.tools import Unreadable
from vskill_platform.settings import PREFIX

FOLDER = "{folder}"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_SETTING = f"{PREFIX}EXTERNAL_PROGRAMS"


@dataclass(frozen=True, slots=True)
class SarifProgram:
    """A program that is handed a folder and prints SARIF. It is started without a shell."""

    name: str
    words: tuple[str, ...]

    def missing_because(self) -> str:
        """Why it cannot be started; empty where it can."""
        if shutil.which(self.words[0], path=SEARCH_PATH):
            return ""
        return (
            f"The program {self.words[0]} of {self.name} is not there, or may not be run. Install it, or name its path."
        )

    def nothing_to_do(self, content: SkillContent) -> str:
        """It is asked about every skill."""
        return ""

    def command(self, content: SkillContent, *, python: Path, skill: Path) -> list[str]:
        """The operator's command line."""
        return [word.replace(FOLDER, str(skill)) for word in self.words]

    def variables(self) -> Mapping[str, str]:
        """Nothing."""
        return {}

    def read(self, outcome: Outcome) -> Sightings:
        """What it printed. Its exit status says nothing: many programs tell of findings by it."""
        if outcome.status < 0 or outcome.status > 127:
            raise Unreadable("it was ended by a signal")
        return read_sarif(outcome.output)


def parse_programs(text: str) -> tuple[SarifProgram, ...]:
    """The programs that a setting names. Raises InvalidSettings for a line that is none."""
    programs = tuple(_parse(entry) for line in text.splitlines() for entry in _entries(line))
    names = [program.name for program in programs]
    if len(set(names)) < len(names):
        raise InvalidSettings(f"{_SETTING} names a program twice: {', '.join(names)}.")
    return programs


def _entries(line: str) -> Iterator[list[str]]:
    words: list[str] = []
    for word in [*_split(line), ";"]:
        if word == ";":
            if words:
                yield words
            words = []
        else:
            words.append(word)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as exc:
        raise InvalidSettings(f"{_SETTING} has a line that does not come apart: {exc}.") from exc


def _parse(words: list[str]) -> SarifProgram:
    name, equals, program = words[0].partition("=")
    name = name.removeprefix("sarif:")
    if not (equals and program and _NAME.fullmatch(name) and any(FOLDER in word for word in words[1:])):
        raise InvalidSettings(
            f"{_SETTING} has an entry that is no program: {' '.join(words)[:100]}. Write it like "
            f"'mytool=/usr/local/bin/mytool --sarif {FOLDER}', with a name of small letters, digits and dashes."
        )
    return SarifProgram(name, (program, *words[1:]))
