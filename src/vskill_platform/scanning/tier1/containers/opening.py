"""Opens every container of a skill before anything is looked at, so that each rule sees what is inside as files.

A member's path is that of its container, `!/`, and its own. What could not be read, and what is wrong with a container,
is part of the result: it never passes for nothing found.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from vskill_platform.scanning.limits import ARCHIVE_LIMIT, UNANALYSABLE_FILE, ScanLimits
from vskill_platform.scanning.tier1.containers import office, pdfs
from vskill_platform.scanning.tier1.containers.members import (
    DEEPEST,
    LONGEST_NAME,
    MOST_BYTES,
    OVER_A_LIMIT,
    UNSEEN,
    Allowance,
    Flaw,
    Flawed,
    Found,
    Member,
    shown_name,
)
from vskill_platform.scanning.tier1.containers.pictures import (
    has_markup_in_it,
    holds_code,
    is_mostly_text,
    read_picture,
)
from vskill_platform.scanning.tier1.containers.streams import is_stream, read_stream
from vskill_platform.scanning.tier1.containers.tars import is_tar, read_tar
from vskill_platform.scanning.tier1.containers.zips import ends_as_zip, read_zip
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import MEDIA_SUFFIXES, Shape
from vskill_platform.scanning.tier1.name_tricks import has_hidden_characters
from vskill_platform.scanning.tier1.skill import FileUnderScan, LimitHit, Sighting

SHORTEST_TRAILER = 24
MOST_OF_A_KIND = 20
"""Sightings of one check: an archive of a thousand archives must not bury all else that is said about a skill."""
LAYER = "container"
TEXT_SUFFIXES = frozenset(
    [
        "md",
        "mdx",
        "txt",
        "rst",
        "py",
        "sh",
        "js",
        "ts",
        "json",
        "yaml",
        "yml",
        "toml",
        "csv",
        "html",
        "xml",
        "svg",
        "log",
        "cfg",
    ]
)
INSIDE = "!/"


class Opening(NamedTuple):
    """What came out of the containers of a skill, and what was seen on the way."""

    files: tuple[FileUnderScan, ...] = ()
    seen: tuple[Sighting | LimitHit, ...] = ()


def open_containers(files: Iterable[FileUnderScan], *, limits: ScanLimits) -> Opening:
    """The files inside the files, down to a bounded depth and within a bound for all of them together."""
    files = tuple(files)
    closed = [file for file in files if _may_hold_files(file)]
    if not closed:
        return Opening()
    own_bytes = sum(len(file.content) for file in files)
    allowance = Allowance(most_bytes=max(0, min(MOST_BYTES, limits.max_bytes - own_bytes)))
    opener = _Opener(allowance)
    opener.open_all(closed)
    return Opening(tuple(opener.files), tuple(opener.seen))


class _Opener:
    """Goes through containers, the outermost first."""

    def __init__(self, allowance: Allowance) -> None:
        self.files: list[FileUnderScan] = []
        self.seen: list[Sighting | LimitHit] = []
        self._allowance = allowance
        self._said: Counter[str] = Counter()

    def open_all(self, files: Iterable[FileUnderScan]) -> None:
        """Open the files, then what is in them, until there is nothing left to open."""
        waiting = deque((file, 0) for file in files)
        while waiting:
            file, depth = waiting.popleft()
            inside = self._open(file, depth)
            self.files += inside
            waiting.extend((one, depth + 1) for one in inside if _may_hold_files(one))

    def _open(self, file: FileUnderScan, depth: int) -> list[FileUnderScan]:
        inside = self._open_pdf(file) if pdfs.is_pdf(file.path, file.content) else []
        if file.shape is Shape.MEDIA and not pdfs.is_pdf(file.path, file.content):
            return self._open_picture(file)
        found = _read(file, self._allowance)
        if found is None:
            return inside
        if depth >= DEEPEST:
            self._note(file, Flawed(Flaw.TOO_DEEP))
            return inside
        return [*inside, *self._take(file, found)]

    def _take(self, file: FileUnderScan, found: Iterable[Found]) -> list[FileUnderScan]:
        members: list[Member] = []
        for one in found:
            if isinstance(one, Member):
                members.append(one)
            else:
                self._note(file, one)
        self._judge_members(file, members)
        if office.is_office(members):
            members = list(office.readable_parts(members))
        return [_inner(file, member) for member in members]

    def _judge_members(self, file: FileUnderScan, members: list[Member]) -> None:
        """What the members say about the archive, whatever is in them."""
        if file.suffix in MEDIA_SUFFIXES:
            self._say("picture_is_archive", file)
            self.seen.append(LimitHit(UNANALYSABLE_FILE))
        if file.suffix in TEXT_SUFFIXES or any(member.name == "__main__.py" for member in members):
            self._say("archive_is_disguised", file)
        self.seen += office.find_active_parts(file.path, members)
        deceptive = next((member.name for member in members if has_hidden_characters(member.name[:LONGEST_NAME])), None)
        if deceptive is not None:
            self._say("file_name_deceives", file, detail=deceptive)
        if collision := _collision(members):
            self._note(file, Flawed(Flaw.COLLISION, collision))

    def _open_pdf(self, file: FileUnderScan) -> list[FileUnderScan]:
        objects = pdfs.readable_objects(file.content, allowance=self._allowance)
        if objects.flaw is not None:
            self._note(file, Flawed(objects.flaw))
        self.seen += pdfs.find_active_objects(file.path, objects)
        text = pdfs.drawn_text(objects)
        return [_inner(file, Member("text.txt", text.encode()))] if text else []

    def _open_picture(self, file: FileUnderScan) -> list[FileUnderScan]:
        if has_markup_in_it(file.content):
            self._say("picture_holds_code", file)
        picture = read_picture(file.content, allowance=self._allowance)
        if picture is None:
            return []
        inside = [Member("notes.txt", picture.notes.encode())] if picture.notes else []
        trailer = picture.trailer.strip(b"\0\r\n ")
        if trailer and len(picture.trailer) >= SHORTEST_TRAILER:
            if holds_code(trailer):
                self._say("picture_holds_code", file)
            elif is_mostly_text(trailer):
                self._say("picture_has_a_trailer", file, detail=trailer[:200].decode("utf-8", "replace"))
            if is_mostly_text(trailer):
                inside.append(Member("trailer.txt", trailer))
        return [_inner(file, member) for member in inside]

    def _note(self, file: FileUnderScan, flawed: Flawed) -> None:
        self._say(f"archive_{flawed.flaw}", file, detail=flawed.detail)
        if flawed.flaw in UNSEEN:
            self.seen.append(LimitHit(UNANALYSABLE_FILE))
        elif flawed.flaw in OVER_A_LIMIT:
            self.seen.append(LimitHit(ARCHIVE_LIMIT))

    def _say(self, check: str, file: FileUnderScan, *, detail: str = "") -> None:
        self._said[check] += 1
        if self._said[check] <= MOST_OF_A_KIND:
            self.seen.append(Sighting(check, file.path, excerpt=make_excerpt(detail), layer=LAYER))


def _may_hold_files(file: FileUnderScan) -> bool:
    return file.shape is not Shape.TEXT or pdfs.is_pdf(file.path, file.content)


def _read(file: FileUnderScan, allowance: Allowance) -> Iterator[Found] | None:
    """What is in the file, by every reading of it that unpackers have; None for what is no archive."""
    content = file.content
    readings: list[Iterator[Found]] = []
    if is_tar(content):
        readings.append(read_tar(content, allowance=allowance))
    elif is_stream(content):
        readings.append(read_stream(file.path, content, allowance=allowance))
    if content.startswith(b"PK") or ends_as_zip(content):
        readings.append(read_zip(content, allowance=allowance))
    if not readings:
        return iter([Flawed(Flaw.UNREADABLE)]) if file.shape is Shape.ARCHIVE else None
    return (found for reading in readings for found in reading)


def _inner(container: FileUnderScan, member: Member) -> FileUnderScan:
    path = f"{container.path}{INSIDE}{shown_name(member.name)}"
    return FileUnderScan(path=path, content=member.content, executable=member.executable, is_inner=True)


def _collision(members: Iterable[Member]) -> str:
    """The name of a member that is another one's where case and Unicode forms do not count; empty if there is none."""
    names: set[str] = set()
    for member in members:
        folded = unicodedata.normalize("NFKC", member.name).casefold()
        if folded in names:
            return member.name
        names.add(folded)
    return ""
