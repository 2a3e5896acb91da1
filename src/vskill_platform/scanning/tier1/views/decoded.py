"""Texts that are written in code: escapes made plain, constants put together, payloads decoded, again and again.

What comes out of a payload is looked at like the file itself, three times over, within a budget of tries and bytes. Plain
decoding never yields more than it was given, so only what is compressed can use the budget up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from vskill_platform.scanning.limits import DECODE_LIMIT
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import EVERY_KIND, FileKind
from vskill_platform.scanning.tier1.skill import FileUnderScan, LimitHit, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.collage import (
    Change,
    Collage,
    Piece,
    apart,
    collages_of,
    in_place,
    one_after_another,
)
from vskill_platform.scanning.tier1.views.escapes import ESCAPED, escapes_in, without_escapes
from vskill_platform.scanning.tier1.views.glance import signs_of
from vskill_platform.scanning.tier1.views.joined import JOINABLE, seams_in
from vskill_platform.scanning.tier1.views.normalised import normalised
from vskill_platform.scanning.tier1.views.payloads import (
    ALWAYS,
    Payload,
    hints_in,
    hints_of,
    payloads_in,
)
from vskill_platform.scanning.tier1.views.readable import Substance, as_text, inflate
from vskill_platform.scanning.tier1.views.unquoted import Effort, unquoted, unquoted_text
from vskill_platform.scanning.tier1.views.view import (
    DECODED,
    JOINED,
    UNESCAPED,
    Uncovered,
    files_by_size,
    places_in,
)

DEEPEST = 3
SMALLEST_PROGRAM = 40
"""Bytes from which on something can be a program or an archive; less is a signature that a text speaks of."""
MOST_TRIES = 60_000
MOST_PAYLOADS = 20_000
MOST_BYTES = 16 * 1024 * 1024
WHOLE_SKILL_HINTS = frozenset(["base85", "ascii85"])
"""A program decodes in one file what stands in another: where one file speaks of these, they are tried in all."""
DEEPER = frozenset([ALWAYS, "hex"])
"""Encodings that are looked for below the deepest level, to tell that there is something."""
UNSEEN = EVERY_KIND | {FileKind.HIDDEN, FileKind.DECODED}
_CHECKS = {Substance.PROGRAM: "encoded_program", Substance.ARCHIVE: "encoded_archive"}


def _unescaped(file: FileUnderScan) -> Iterable[Piece]:
    return escapes_in(file.encoded) if ESCAPED in signs_of(file) else ()


def _joined(file: FileUnderScan) -> Iterable[Piece]:
    signs = signs_of(file)
    return () if JOINABLE.isdisjoint(signs) else seams_in(file.encoded, signs)


@dataclass
class _Budget:
    """What one skill may cost."""

    tries: int = MOST_TRIES
    size: int = MOST_BYTES
    payloads: int = MOST_PAYLOADS
    effort: Effort = field(default_factory=Effort)
    is_spent: bool = False

    def take_try(self) -> bool:
        """Whether there is another try."""
        self.tries -= 1
        self.is_spent = self.is_spent or self.tries < 0
        return self.tries >= 0

    def take_bytes(self, count: int) -> bool:
        """Whether there is room for one more payload of so many bytes."""
        self.size -= count
        self.payloads -= 1
        self.is_spent = self.is_spent or self.size < 0 or self.payloads < 0
        return self.size >= 0 and self.payloads >= 0


@dataclass(frozen=True)
class _Source:
    """A text to find payloads in. `origin` leads from an offset in it to the file."""

    data: bytes
    origin: Callable[[int], int]
    depth: int
    hints: frozenset[str] = field(default_factory=frozenset)


def decoded_views(skill: SkillUnderScan) -> Iterator[Uncovered]:
    """What is written in code in every file, made plain."""
    plain, whole = collages_of(skill, _unescaped), collages_of(skill, _joined)
    yield from plain.views(UNESCAPED)
    yield from whole.views(JOINED)
    changed = (plain.of, whole.of, unquoted(skill).of, normalised(skill).of)
    files = files_by_size(skill)
    everywhere = WHOLE_SKILL_HINTS & frozenset[str]().union(*map(hints_of, files))
    budget = _Budget()
    for file in files:
        sources = [_of_collage(collages[file], everywhere) for collages in changed if file in collages]
        as_it_stands = _Source(file.encoded, lambda offset: offset, 0, hints_of(file) | everywhere)
        yield from _decoded(file, [as_it_stands, *sources], budget)
    if budget.is_spent or budget.effort.is_spent:
        yield LimitHit(DECODE_LIMIT)


def _decoded(file: FileUnderScan, sources: list[_Source], budget: _Budget) -> Iterator[Uncovered]:
    pieces: list[Piece] = []
    for payload in _Unpacker(sources, budget).unpack():
        if check := _CHECKS.get(payload.substance):
            if len(payload.data) < SMALLEST_PROGRAM:
                continue
            line, column = places_in(file)(payload.start)
            shown = make_excerpt(file.encoded[payload.start : payload.end][:200].decode(errors="replace"))
            yield Sighting(check, file.path, line, column, shown, DECODED)
        else:
            pieces.append(Piece(payload.data, payload.start, payload.end, Change.TRICK))
    maps = [piece for piece in pieces if _is_source_map(piece.data)]
    rest = [piece for piece in pieces if piece not in maps] if maps else pieces
    for found, kinds in ((rest, UNSEEN), (maps, EVERY_KIND)):
        if found:
            yield one_after_another(found).view(file, DECODED, kinds=kinds)


def _is_source_map(text: bytes) -> bool:
    """Whether this is what a bundler writes behind a program for debuggers; it is full of programs."""
    return text.startswith(b'{"version":3') and b'"mappings"' in text


class _Unpacker:
    """Takes one file's payloads apart, and what is in them."""

    def __init__(self, sources: list[_Source], budget: _Budget) -> None:
        self._budget = budget
        self._seen: set[bytes] = set()
        self._waiting = deque(sources)

    def unpack(self) -> Iterator[Payload]:
        """Everything that decodes to something, with its place in the file."""
        while self._waiting:
            source = self._waiting.popleft()
            for payload in payloads_in(source.data, source.hints, self._budget.take_try):
                place = source.origin(payload.start), source.origin(payload.end)
                yield from self._opened(payload._replace(start=place[0], end=place[1]), source.depth)

    def _opened(self, payload: Payload, depth: int) -> Iterator[Payload]:
        if payload.substance in _CHECKS:
            yield payload
            return
        data = self._inflated(payload.data) if payload.substance is Substance.COMPRESSED else payload.data
        text = as_text(data) if data is not None else b""
        if not text or text in self._seen or not self._budget.take_bytes(len(text)):
            return
        for form in self._forms(text):
            self._seen.add(form)
            found = Payload(form, payload.start, payload.end, Substance.TEXT)
            yield found
            self._go_on(found, depth + 1)

    def _go_on(self, payload: Payload, depth: int) -> None:
        """Has the payload looked at in turn; one that goes deeper than anybody needs counts as not seen."""
        if depth < DEEPEST:
            self._waiting.append(_of_payload(payload, depth))
        elif any(payloads_in(payload.data, DEEPER, self._budget.take_try)):
            self._budget.is_spent = True

    def _forms(self, text: bytes) -> Iterator[bytes]:
        """The text as it is, and where it has escapes or broken words in it, once more without them."""
        yield text
        if _is_source_map(text):
            return
        plain = without_escapes(text)
        if plain != text:
            yield plain
        for collage in (in_place(plain, apart(seams_in(plain))), unquoted_text(plain, self._budget.effort)):
            if collage.has_tricks:
                yield collage.data

    def _inflated(self, data: bytes) -> bytes | None:
        got = inflate(data)
        if got is None or not self._budget.take_bytes(len(got.data)):
            return None
        self._budget.is_spent = self._budget.is_spent or got.is_cut
        return got.data


def _of_collage(collage: Collage, hints: frozenset[str]) -> _Source:
    return _Source(collage.data, collage.source_of, 0, hints | hints_in(collage.data))


def _of_payload(payload: Payload, depth: int) -> _Source:
    start, stretch = payload.start, payload.end - payload.start
    length = max(1, len(payload.data))
    return _Source(payload.data, lambda offset: start + offset * stretch // length, depth, hints_in(payload.data))
