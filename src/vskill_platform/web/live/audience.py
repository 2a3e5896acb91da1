"""Who is to be woken for which event, found without asking every stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vskill_platform.web.live.reader import Reader
from vskill_platform.web.live.telling import Told, Topic
from vskill_platform.web.live.wanted import Wanted

K = TypeVar("K")


class Audience:
    """The open streams: those that name subjects by subject, all others by what they want."""

    def __init__(self) -> None:
        self._readers: dict[Reader, None] = {}
        self._by_subject: dict[tuple[Topic, str], dict[Reader, None]] = {}
        self._by_wanted: dict[Wanted, dict[Reader, None]] = {}

    def everybody(self) -> list[Reader]:
        """Every stream that is open now."""
        return list(self._readers)

    def add(self, reader: Reader) -> None:
        """Take in a stream."""
        self._readers[reader] = None
        for subject in reader.wanted.subjects or ():
            self._by_subject.setdefault((reader.wanted.topic, subject), {})[reader] = None
        if reader.wanted.subjects is None:
            self._by_wanted.setdefault(reader.wanted, {})[reader] = None

    def remove(self, reader: Reader) -> None:
        """Forget a stream; one that is not here is no error."""
        if reader not in self._readers:
            return
        del self._readers[reader]
        for subject in reader.wanted.subjects or ():
            _drop(self._by_subject, (reader.wanted.topic, subject), reader)
        if reader.wanted.subjects is None:
            _drop(self._by_wanted, reader.wanted, reader)

    def of(self, news: Sequence[Told]) -> list[Reader]:
        """The streams that want any of these events, each once."""
        found: dict[Reader, None] = {}
        for wanted, readers in self._by_wanted.items():
            if any(wanted.matches(told) for told in news):
                found.update(readers)
        for told in news:
            found.update(self._by_subject.get((told.topic, told.subject), {}))
        return list(found)


def _drop(index: dict[K, dict[Reader, None]], key: K, reader: Reader) -> None:
    """Take a stream out of an index, and its entry with the last."""
    readers = index.get(key, {})
    readers.pop(reader, None)
    if not readers:
        index.pop(key, None)
