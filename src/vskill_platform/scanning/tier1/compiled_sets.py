"""Sets of patterns that hyperscan has compiled ahead, kept beside Python's compiled modules.

google-re2 learns the states of a set from the texts it meets, so that a process is slow for its first few hundred skills.
hyperscan works all of them out beforehand, which takes seconds a set, and is fast from the first text on. So sets are compiled
once after an installation (`vskill-platform compile-rules`) and read from then on; where there is no file for a set or no
hyperscan for the machine, google-re2 does the work. What is found is the same.

hyperscan is asked about bytes, never about UTF-8: asked to fold the case of UTF-8 an engine has overlooked matches (ADR 16, which
also says why the package stays at a release that carries Intel's own). So in what it is shown, patterns and texts alike, each
letter beyond ASCII is one and the same sign. What it then finds too often is tried again by google-re2.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

_engine: Any = None
"""Missing where there is no hyperscan for the machine."""
with suppress(ImportError):
    _engine = import_module("hyperscan")

FOLDER = Path(__file__).with_name("__pycache__")
"""Beside Python's compiled modules: who may write there can change what the scanner does in any case."""
ENDING = ".patterns"
_FOREIGN = b"\x01"
"""Stands for a letter beyond ASCII: like most of them neither a space nor part of an English word."""
_CONTROL = b"\x02"
"""Stands for that sign itself, where a text has it; no pattern that hyperscan is shown speaks of either."""
_TO_FOREIGN = bytes(range(0x80)).translate(bytes.maketrans(_FOREIGN + b"\x0b", _CONTROL + _FOREIGN)) + _FOREIGN * 0x80
"""A vertical tab is foreign, too: it is a space to hyperscan and none to google-re2."""
_REST_OF_LETTERS = bytes(range(0x80, 0xC0))
_FOLDED_TO_ASCII = ("\u017f".encode(), "\u212a".encode())
"""The two letters beyond ASCII that are the same as letters of ASCII where case does not count."""
_ESCAPE = re.compile(r"\\(x\{|x[0-9a-fA-F]{2}|.)|\[:\^?[a-z]+:\]|\[\^[^\]]*[^\x00-\x7f]", re.DOTALL)
_NOT_PLAIN = re.compile(r"[pPCQv0-9]|x(?![2-7][0-9a-fA-F])|x7[fF]")
"""What speaks of control characters or kinds of letters, or means something else to one of the engines."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


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
    """What a file holds. hyperscan itself refuses a database that is damaged, or made for another processor or version."""

    left_out: tuple[int, ...]
    database: bytes


def shown_pattern(source: str) -> str | None:
    """A pattern as hyperscan is shown it; None where both engines might understand it differently."""
    if any(not escape or _NOT_PLAIN.match(escape) for escape in _ESCAPE.findall(source)):
        return None
    return _BEYOND_ASCII.sub(r"\\x01", source)


def shown(data: bytes) -> bytes | None:
    """A text as hyperscan is shown it; None where a letter would be taken for another."""
    if data.isascii():
        return data.translate(_TO_FOREIGN) if b"\x0b" in data or _FOREIGN in data else data
    if any(letter in data for letter in _FOLDED_TO_ASCII):
        return None
    return data.translate(_TO_FOREIGN, _REST_OF_LETTERS)


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
    as_shown = {number: source for number, each in enumerate(sources) if (source := shown_pattern(each)) is not None}
    try:
        database = _compiled(as_shown)
    except _engine.HyperscanError:
        as_shown = {number: source for number, source in as_shown.items() if _is_taken(source)}
        database = _compiled(as_shown)
    left_out = tuple(number for number in range(len(sources)) if number not in as_shown)
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


def _compiled(sources: Mapping[int, str]) -> bytes:
    if not sources:
        return b""
    database = _engine.Database(mode=_engine.HS_MODE_BLOCK)
    flags = [_engine.HS_FLAG_SINGLEMATCH | _engine.HS_FLAG_ALLOWEMPTY] * len(sources)
    expressions = [source.encode() for source in sources.values()]
    database.compile(expressions=expressions, ids=list(sources), elements=len(sources), flags=flags)
    return bytes(_engine.dumpb(database))


def _is_taken(source: str) -> bool:
    try:
        _compiled({0: source})
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
    asked = "\0".join([_engine.__version__, *sources, *map(str, map(shown_pattern, sources))])
    return folder / f"{hashlib.sha256(asked.encode()).hexdigest()[:32]}{ENDING}"


def _note(number: int, _start: int, _end: int, _flags: int, found: list[int]) -> None:
    found.append(number)
