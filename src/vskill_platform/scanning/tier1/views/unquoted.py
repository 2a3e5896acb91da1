"""Shell text as the shell reads it: without quotes inside words, with constants put in, with broken lines made whole.

Shell stands in scripts, in fenced blocks, in code within prose and in strings of other programs. In shell itself every line
is read; elsewhere only lines with something on them that has no other use.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress, islice

from vskill_platform.scanning.tier1.languages import Language, language_of_fence, language_of_file
from vskill_platform.scanning.tier1.patterns import ROOMY, Pattern, Span
from vskill_platform.scanning.tier1.skill import MARKDOWN_SUFFIXES, FileUnderScan, SkillUnderScan
from vskill_platform.scanning.tier1.views.collage import (
    MOST_CHANGES,
    Change,
    Collage,
    Collages,
    Piece,
    collages_of,
    in_place,
)
from vskill_platform.scanning.tier1.views.glance import Sign, signs_of
from vskill_platform.scanning.tier1.views.shell_signs import OUT_OF_PLACE, TELLING, TRICK
from vskill_platform.scanning.tier1.views.shell_words import ShellReader
from vskill_platform.scanning.tier1.views.view import UNQUOTED, Uncovered, fence_spans, once_a_skill

MOST_LINES, MOST_BYTES = 20_000, 1024 * 1024
"""Lines of shell, and bytes of them, in one skill that are looked at word by word. No honest skill has as many."""
LONGEST_LINE = 8_192
"""Bytes that are read as one line; a longer one is read in parts."""
_SHELL_FENCES = frozenset(["", "dockerfile", "docker", "makefile", "make", "fish", "env", "dotenv", "text", "txt"])
_SHELL_NAMES = frozenset(["makefile", "dockerfile", "justfile", "procfile", "containerfile"])
_SHELL_ITSELF = frozenset(["sh", "bash", "zsh", "ksh", "command"])
_SHELL_SUFFIXES = frozenset(["mk", "dockerfile", "fish", "env", "profile", "bashrc", "zshrc"])
_OF_INTEREST = Pattern(
    r"(?m)^(?:[^\n]*\\\r?\n)+[^\n]*"
    r"|^[^\n]*(?:\$|\\[A-Za-z]|''|\"\"|[A-Za-z]['\"][A-Za-z]|\{[^\s{}]*,|[A-Za-z0-9_][ \t]?[:+]?=|^\s*['\"][a-z]"
    r"|\x60(?:echo|printf)|[|;&]\s*['\"][a-z]|/[?*\[\]a-z]*[?*\[])[^\n]*"
)
"""Lines that may have something on them, and lines that go on behind their end."""
_BEFORE_COMMANDS = (b'"', b"'", b"\x60", b": ", b"= ", b"(", b"[")
_LINE_ENDS = (b"\\\n", b"\\\r")
_LINE_TRICKS = Pattern(f"(?m){TRICK}")
_WORTHWHILE = Pattern(rf"(?m){TRICK}|{TELLING}", memory=ROOMY)
_ODD = Sign(OUT_OF_PLACE)
_OUT_OF_PLACE = Pattern(OUT_OF_PLACE)
_CARETS = Pattern(r"[A-Za-z0-9./:_-](?:\^[A-Za-z0-9./:_-])(?:[A-Za-z0-9./:_-]*\^[A-Za-z0-9./:_-]+)+")
_TICKS = Pattern(r"[A-Za-z.]\x60[A-Za-z-]+(?:\x60?[A-Za-z-]+)*")
_TYPESET = (".tex", ".sty", ".cls", ".bib", ".bst")
"""How files of TeX end, in which a backslash is no quote."""
_POWERSHELL_SUFFIXES = frozenset(["ps1", "psm1", "psd1", "bat", "cmd"])
_POWERSHELL_FENCES = frozenset(["powershell", "ps1", "pwsh", "posh", "ps"])


def unquoted_views(skill: SkillUnderScan) -> Iterator[Uncovered]:
    """Files with shell in them that reads otherwise than it is written."""
    return unquoted(skill).views(UNQUOTED)


@once_a_skill
def unquoted(skill: SkillUnderScan) -> Collages:
    """What reads otherwise in the skill's files, and its surroundings."""
    effort = Effort()
    found = collages_of(skill, lambda file: _changes(file, effort))
    return Collages(found.of, is_cut=found.is_cut or effort.is_spent)


@dataclass
class Effort:
    """How many lines and bytes may be read word by word."""

    lines: int = MOST_LINES
    size: int = MOST_BYTES
    is_spent: bool = False

    def allows(self, line: bytes) -> bool:
        """Whether one more line may be read."""
        self.lines -= 1
        self.size -= len(line)
        self.is_spent = self.lines < 0 or self.size < 0
        return not self.is_spent


def unquoted_text(data: bytes, effort: Effort) -> Collage:
    """The same of any text, which is taken for shell."""
    return in_place(data, _read(data, Span(0, len(data)), effort))


def _changes(file: FileUnderScan, effort: Effort) -> Iterator[Piece]:
    data = file.encoded
    if file.path.lower().endswith(_TYPESET):
        return
    yield from _carets(data)
    if b"\x60" in data and _is_powershell(file):
        yield from _ticks(data)
    regions = list(_shell_in(file))
    for region in regions:
        yield from _read(data, region, effort)
    if _ODD in signs_of(file) and regions != [Span(0, len(data))] and _WORTHWHILE.is_in(data):
        yield from _tricks_outside(data, regions, effort)


def _shell_in(file: FileUnderScan) -> Iterator[Span]:
    """Where the file is shell."""
    if file.suffix in MARKDOWN_SUFFIXES and not file.content.startswith(b"#!"):
        yield from _shell_fences(file)
    elif file.suffix in _SHELL_SUFFIXES or _is_shell(file) or file.path.rpartition("/")[2].lower() in _SHELL_NAMES:
        yield Span(0, len(file.encoded))


def _is_shell(file: FileUnderScan) -> bool:
    """Whether the file is shell, by its name or its first line, or could be for all that its name says."""
    if file.suffix and not file.content.startswith(b"#!"):
        return file.suffix in _SHELL_ITSELF
    language = language_of_file(file.path, file.content)
    return language is Language.SHELL or (language is None and not file.suffix)


def _shell_fences(file: FileUnderScan) -> Iterator[Span]:
    are_shell = [_is_shell_fence(block.language) for block in file.document.fences]
    return compress(fence_spans(file), are_shell) if any(are_shell) else iter(())


def _is_shell_fence(name: str) -> bool:
    return name in _SHELL_FENCES or language_of_fence(name) is Language.SHELL


def _read(data: bytes, region: Span, effort: Effort) -> Iterator[Piece]:
    """What reads otherwise in shell, with the constants of this stretch."""
    text = data[region.start : region.end]
    if not _WORTHWHILE.is_in(text):
        return
    reader = ShellReader()
    tricks = [start + text.startswith(b"\n", start) for start, _ in islice(_LINE_TRICKS.spans(text), MOST_CHANGES)]
    for start, end in _OF_INTEREST.spans(text):
        on_line = tricks[bisect_left(tricks, start) : bisect_left(tricks, end)]
        if (
            on_line
            and all(text.startswith(_LINE_ENDS, at) for at in on_line)
            and not reader.has_use_for(text[start:end])
        ):
            yield from _continued(text, on_line, region.start)
            continue
        for at in range(start, end, LONGEST_LINE):
            line = text[at : min(at + LONGEST_LINE, end)]
            if not effort.allows(line):
                return
            if reader.has_use_for(line) or on_line:
                yield from reader.read(line, region.start + at)


def _continued(text: bytes, ends: list[int], begin: int) -> Iterator[Piece]:
    """Nothing in place of the ends of lines that go on."""
    for at in ends:
        width = 3 if text.startswith(b"\\\r", at) else 2
        is_word = text[at - 1 : at].isalnum() and text[at + width : at + width + 1].isalnum()
        yield Piece(b"", begin + at, begin + at + width, Change.TRICK if is_word else Change.ORDINARY)


def _tricks_outside(data: bytes, regions: list[Span], effort: Effort) -> Iterator[Piece]:
    """What reads otherwise on lines that have a trick of shell on them."""
    done, left = 0, list(reversed(regions))
    for start, end in _OUT_OF_PLACE.spans(data):
        while left and left[-1].end <= start:
            left.pop()
        if start < done or (left and left[-1].start <= start):
            continue
        begin = max(done, _start_of_command(data, start))
        stop = data.find(b"\n", end, end + LONGEST_LINE // 2)
        done = min(len(data), end + LONGEST_LINE // 2) if stop < 0 else stop
        if not effort.allows(data[begin:done]):
            return
        yield from (piece for piece in ShellReader().read(data[begin:done], begin) if piece.change is Change.TRICK)


def _start_of_command(data: bytes, at: int) -> int:
    """Where the shell begins that has something at this offset: behind the nearest quote, colon or equals sign, or its line."""
    reach = max(0, at - LONGEST_LINE // 2)
    reach = data.rfind(b"\n", reach, at) + 1 or reach
    return max(reach, *(data.rfind(sign, reach, at + 1) + len(sign) for sign in _BEFORE_COMMANDS))


def _carets(data: bytes) -> Iterator[Piece]:
    """Words of the Windows command line with carets in them."""
    if b"^" in data:
        for start, end in _CARETS.spans(data):
            yield Piece(data[start:end].replace(b"^", b""), start, end, Change.TRICK)


def _is_powershell(file: FileUnderScan) -> bool:
    if file.suffix not in MARKDOWN_SUFFIXES:
        return file.suffix in _POWERSHELL_SUFFIXES
    return b"```" in file.encoded and any(block.language in _POWERSHELL_FENCES for block in file.document.fences)


def _ticks(data: bytes) -> Iterator[Piece]:
    """Words of PowerShell with backticks in them."""
    for start, end in _TICKS.spans(data):
        yield Piece(data[start:end].replace(b"\x60", b""), start, end, Change.TRICK)
