"""The files of an export: written once, front to back, with their digest; read with bounded memory."""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from vskill_platform.domain.errors import DiskFull, ExportCorrupt, ExportIncomplete
from vskill_platform.domain.ids import Digest
from vskill_platform.moving.lines import EventLine, Line, MessageLine, RecordLine
from vskill_platform.moving.manifest import EVENTS, MESSAGES, RECORDS, Part
from vskill_platform.moving.progress import Progress

_READ_BYTES = 1024 * 1024
_DECODERS: dict[str, msgspec.json.Decoder[Line]] = {
    RECORDS: msgspec.json.Decoder(RecordLine),
    MESSAGES: msgspec.json.Decoder(MessageLine),
    EVENTS: msgspec.json.Decoder(EventLine),
}


class PartWriter:
    """A part that is being written, and knows the digest of what was written to it."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self._name = name
        self._file = file
        self._hash = hashlib.sha256()
        self._bytes = 0
        self._kinds: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """How many lines or blobs have been written."""
        return self._kinds.total()

    def write_line(self, line: Line, *, kind: str) -> None:
        """Append a line of this kind."""
        self._write(msgspec.json.encode(line) + b"\n")
        self._kinds[kind] += 1

    def write_blob(self, digest: Digest, content: bytes) -> None:
        """Append a blob to an archive. Its header says nothing but name and size: the same blobs make the same archive."""
        header = tarfile.TarInfo(digest.removeprefix("sha256:"))
        header.size, header.mode = len(content), 0o600
        self._write(header.tobuf(tarfile.USTAR_FORMAT))
        self._write(content + bytes(-len(content) % tarfile.BLOCKSIZE))
        self._kinds["blob"] += 1

    def end_archive(self) -> None:
        """Append what ends an archive."""
        self._write(bytes(2 * tarfile.BLOCKSIZE))

    def _write(self, content: bytes) -> None:
        self._file.write(content)
        self._hash.update(content)
        self._bytes += len(content)

    def finish(self) -> Part:
        """See that everything is on disk, and say what was written."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return Part(
            name=self._name,
            sha256=self._hash.hexdigest(),
            bytes=self._bytes,
            count=self.count,
            kinds=dict(sorted(self._kinds.items())),
        )


@contextmanager
def writing_part(folder: Path, name: str) -> Iterator[PartWriter]:
    """A new part of an export, which only its user may read. Raises DiskFull where it cannot be written."""
    path = folder / name
    try:
        with open(path, "xb", opener=_open_private) as file:
            yield PartWriter(name, file)
    except OSError as exc:
        raise DiskFull(f"{path} cannot be written ({exc.strerror}). Make room, and begin with a new folder.") from exc


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def verify_part(folder: Path, part: Part, *, progress: Progress) -> None:
    """Raise ExportRefused unless the file has the size and the digest that the manifest states."""
    path = folder / part.name
    found = hashlib.sha256()
    done = 0
    try:
        with path.open("rb") as file:
            while content := file.read(_READ_BYTES):
                found.update(content)
                done += len(content)
                progress(f"verifying {part.name}", done, part.bytes)
    except OSError as exc:
        raise ExportIncomplete(f"The part {part.name} cannot be read ({exc.strerror}).", part=part.name) from exc
    if done < part.bytes:
        raise ExportIncomplete(
            f"The part {part.name} has {done} of {part.bytes} bytes: it was cut off. Copy or make the export again.",
            part=part.name,
        )
    if found.hexdigest() != part.sha256:
        raise ExportCorrupt(
            f"The part {part.name} does not have the digest that the manifest states: it was changed on the way. "
            "Copy or make the export again.",
            part=part.name,
        )


class PlacedLine(NamedTuple):
    """A line, and where the one after it begins."""

    line: Line
    next_offset: int


def read_lines(folder: Path, name: str, *, offset: int = 0) -> Iterator[PlacedLine]:
    """The lines of a part from an offset. Raises ExportCorrupt for what is no line."""
    decoder = _DECODERS[name]
    with (folder / name).open("rb") as file:
        file.seek(offset)
        for content in file:
            try:
                yield PlacedLine(decoder.decode(content), offset := offset + len(content))
            except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
                raise ExportCorrupt(f"{name} has a line that cannot be read at byte {offset}.", part=name) from exc


class ArchivedBlob(NamedTuple):
    """A blob in an export, with its bytes."""

    digest: Digest
    content: bytes


def read_blobs(folder: Path, name: str) -> Iterator[ArchivedBlob]:
    """The blobs of an archive, one after the other. Raises ExportCorrupt for what is no archive of ours."""
    with (folder / name).open("rb") as file:
        try:
            while any(block := file.read(tarfile.BLOCKSIZE)):
                header = tarfile.TarInfo.frombuf(block, "ascii", "strict")
                content = file.read(header.size + -header.size % tarfile.BLOCKSIZE)[: header.size]
                yield ArchivedBlob(Digest(f"sha256:{header.name}"), content)
        except (tarfile.HeaderError, UnicodeDecodeError) as exc:
            raise ExportCorrupt(f"{name} cannot be read as an archive: {exc}.", part=name) from exc
