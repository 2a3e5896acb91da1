"""Code that runs while a package is built or installed, or whenever an interpreter starts: it has no business on the network."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.configs.commands import judge_command
from vskill_platform.scanning.tier1.configs.reporting import Seen, Source, report_command
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.skill import FileUnderScan

MOST_BYTES = 5 * 1024 * 1024
_REACHES_OUT = re.compile(
    r"(?i)urllib\.request|urlopen|requests\.(?:get|post)|httpx\.|socket\.(?:socket|create_connection)|http\.client|\bcurl\b|"
    r"\bwget\b|powershell|b64decode|reqwest|TcpStream|ureq::"
)
_RUNS = re.compile(r"Command::new|\bexec\s*\(|os\.system|subprocess|os\.popen|\beval\s*\(")
_BY_HAND = re.compile(r"\b(?:sys\.argv|argparse|getpass)\b")
_OF_PACKAGE = re.compile(r"\bsetup\s*\(|\bsetuptools\b|\bdistutils\b")
_GYP_COMMAND = re.compile(r"<!@?\(([^()]{1,500})\)")
_PATH_FILE_IMPORT = re.compile(r"(?m)^import[ \t].*$")


def judge_build_script(file: FileUnderScan) -> Iterator[Seen]:
    """A `setup.py` or a `build.rs`: it may compile, and should fetch nothing. Some are no more than called like one."""
    text = file.text[:MOST_BYTES]
    reaches = _REACHES_OUT.search(text)
    if reaches is not None:
        is_by_hand = _BY_HAND.search(text) and not _OF_PACKAGE.search(text)
        check = "build_attacks" if _RUNS.search(text) and not is_by_hand else "build_reaches_out"
        yield _at(file, check, reaches.start())


def judge_gyp(file: FileUnderScan) -> Iterator[Seen]:
    """Commands that run while an addon is configured."""
    for found in _GYP_COMMAND.finditer(file.text[:MOST_BYTES]):
        entry = Entry(("command",), found[1], file.text.count("\n", 0, found.start()) + 1)
        yield from report_command(Source(file.path, ()), entry, judge_command(found[1]), kind="lifecycle")


def judge_path_file(file: FileUnderScan) -> Iterator[Seen]:
    """A `.pth` file: a line that begins with `import` runs whenever Python starts."""
    found = _PATH_FILE_IMPORT.search(file.text[:MOST_BYTES])
    if found is not None:
        yield _at(file, "python_starts_with_it", found.start())


def judge_customisation(file: FileUnderScan) -> Iterator[Seen]:
    """A module that Python imports by itself."""
    yield Source(file.path, ()).sighting("python_starts_with_it", Entry((), file.path, 1), shown=file.path)


def _at(file: FileUnderScan, check: str, offset: int) -> Seen:
    line = file.text.count("\n", 0, offset) + 1
    entry = Entry((), file.lines[line - 1].strip()[:300], line)
    return Source(file.path, ()).sighting(check, entry, shown=entry.value)
