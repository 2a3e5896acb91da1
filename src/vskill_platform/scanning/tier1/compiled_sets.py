"""Sets of patterns that hyperscan has compiled ahead, kept beside Python's compiled modules.

google-re2 learns the states of a set from the texts it meets, so that a process is slow for its first few hundred skills.
hyperscan works all of them out beforehand, which takes seconds a set, and is fast from the first text on. So sets are compiled
once after an installation (`vskill-platform compile-rules`) and read from then on; where there is no file for a set, no hyperscan
for the machine, or a text that the two engines would read differently, google-re2 does the work. What is found is the same.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

try:
    import hyperscan
except ImportError:
    hyperscan = None  # type: ignore[assignment]

_engine: Any = hyperscan
"""Missing where there is none for the machine."""
FOLDER = Path(__file__).with_name("__pycache__")
"""Beside Python's compiled modules: who may write there can change what the scanner does in any case."""
ENDING = ".patterns"
_READ_DIFFERENTLY = b"\x0b"
"""A vertical tab is white space to hyperscan and none to google-re2."""


class CompiledSet:
    """Patterns as hyperscan has compiled them. Those that it does not take are left out and named."""

    __slots__ = ("_database", "_kept", "left_out")

    def __init__(self, stored: _Stored) -> None:
        self.left_out = stored.left_out
        self._kept = threading.local()
        self._database: Any = None
        if stored.database:
            self._database = _engine.loadb(stored.database, _engine.HS_MODE_BLOCK)

    def which(self, data: bytes) -> list[int]:
        """The numbers of the patterns that match somewhere, in the order in which they do."""
        found: list[int] = []
        if self._database is not None:
            self._database.scan(data, match_event_handler=_note, context=found, scratch=self._own_scratch())
        return found

    def _own_scratch(self) -> Any:
        """The engine's working memory: a thread's own, because the engine lets other threads run."""
        try:
            return self._kept.scratch
        except AttributeError:
            self._kept.scratch = _engine.Scratch(self._database)
            return self._kept.scratch


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    """What a file holds. Hyperscan itself refuses a database that is damaged, or made for another processor or version."""

    left_out: tuple[int, ...]
    database: bytes


def is_read_alike(data: bytes) -> bool:
    """Whether both engines see the same in a text: hyperscan must not be shown bytes that are no UTF-8."""
    if _READ_DIFFERENTLY in data:
        return False
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def find_compiled(sources: Sequence[str], *, folder: Path = FOLDER) -> CompiledSet | None:
    """The set as it was compiled ahead; None where it was not, or not for this machine."""
    if _engine is None:
        return None
    try:
        return CompiledSet(msgspec.msgpack.decode(_path_of(sources, folder).read_bytes(), type=_Stored))
    except (OSError, msgspec.MsgspecError, _engine.HyperscanError):
        return None


def compile_ahead(sources: Sequence[str], *, folder: Path = FOLDER) -> int:
    """Compile a set and keep it. Says how many of its patterns were left out. Raises OSError where it cannot be kept."""
    left_out: tuple[int, ...] = ()
    try:
        database = _compiled(range(len(sources)), sources)
    except _engine.HyperscanError:
        left_out = tuple(number for number, source in enumerate(sources) if not _is_taken(source))
        taken = [number for number in range(len(sources)) if number not in left_out]
        database = _compiled(taken, sources) if taken else b""
    _keep(_path_of(sources, folder), msgspec.msgpack.encode(_Stored(left_out, database)))
    return len(left_out)


def is_supported() -> bool:
    """Whether there is a hyperscan for this machine."""
    return _engine is not None


def remove_others(kept: Iterable[Sequence[str]], *, folder: Path = FOLDER) -> None:
    """Delete what was compiled for rules of another version."""
    names = {_path_of(sources, folder).name for sources in kept}
    for path in folder.glob(f"*{ENDING}"):
        if path.name not in names:
            path.unlink(missing_ok=True)


def _compiled(numbers: Sequence[int], sources: Sequence[str]) -> bytes:
    database = _engine.Database(mode=_engine.HS_MODE_BLOCK)
    flags = _engine.HS_FLAG_SINGLEMATCH | _engine.HS_FLAG_UTF8 | _engine.HS_FLAG_ALLOWEMPTY
    expressions = [sources[number].encode() for number in numbers]
    database.compile(expressions=expressions, ids=list(numbers), elements=len(numbers), flags=[flags] * len(numbers))
    return bytes(_engine.dumpb(database))


def _is_taken(source: str) -> bool:
    try:
        _compiled([0], [source])
    except _engine.HyperscanError:
        return False
    return True


def _keep(path: Path, data: bytes) -> None:
    """Whole or not at all: other processes may be reading."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def _path_of(sources: Sequence[str], folder: Path) -> Path:
    asked = "\0".join([_engine.__version__, *sources])
    return folder / f"{hashlib.sha256(asked.encode()).hexdigest()[:32]}{ENDING}"


def _note(number: int, _start: int, _end: int, _flags: int, found: list[int]) -> None:
    found.append(number)
