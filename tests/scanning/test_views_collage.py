"""A collage knows where each of its bytes comes from, and which of them are news."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import example, given

from tests.scanning.building import make_skill
from tests.scanning.uncovering import under_scan
from vskill_platform.scanning.tier1.patterns import Span
from vskill_platform.scanning.tier1.skill import FileUnderScan
from vskill_platform.scanning.tier1.views.collage import (
    BETWEEN,
    REACH,
    Allowance,
    Change,
    Piece,
    apart,
    collages_of,
    in_place,
    one_after_another,
)
from vskill_platform.scanning.tier1.views.decoded import decoded_views
from vskill_platform.scanning.tier1.views.hidden import hidden_views
from vskill_platform.scanning.tier1.views.normalised import normalised_views
from vskill_platform.scanning.tier1.views.unquoted import unquoted_views
from vskill_platform.scanning.tier1.views.view import View

UPPER = bytes(range(65, 91))
TEXTS = st.binary(max_size=3_000).map(lambda data: bytes(97 + byte % 26 if byte > 20 else 10 for byte in data))
PLACES = st.lists(
    st.tuples(st.integers(0, 3_000), st.integers(1, 30), st.sampled_from([b"", b"X", UPPER])), max_size=12
)


def pieces_in(data: bytes, places: list[tuple[int, int, bytes]]) -> list[Piece]:
    found = [Piece(new, start, min(start + width, len(data)), Change.TRICK) for start, width, new in places]
    return apart(piece for piece in found if piece.start < piece.end <= len(data))


@example(data=b"a" * 40, places=[(5, 3, b""), (8, 2, UPPER)])
@given(data=TEXTS, places=PLACES)
def test_collage_leads_back_to_the_file__from_every_byte_that_is_as_it_was(
    data: bytes, places: list[tuple[int, int, bytes]]
) -> None:
    collage = in_place(data, pieces_in(data, places))
    for offset, byte in enumerate(collage.data):
        source = collage.source_of(offset)
        assert 0 <= source <= len(data)
        if collage.change_in(Span(offset, offset + 1)) is Change.NONE and byte != BETWEEN[0]:
            assert data[source] == byte


@given(data=TEXTS, places=PLACES)
def test_collage_shows_every_change__in_its_place(data: bytes, places: list[tuple[int, int, bytes]]) -> None:
    pieces = pieces_in(data, places)
    collage = in_place(data, pieces)
    assert bool(collage) is bool(pieces)
    at = 0
    for piece in pieces:
        before = data[max(0, piece.start - 20) : piece.start].rpartition(b"\n")[2]
        around = (
            piece.data
            if any(other.end > piece.start - 20 for other in pieces if other.start < piece.start)
            else before + piece.data
        )
        at = collage.data.index(around, max(0, at - 20)) + len(around)


def test_collage_has_the_surroundings_of_a_change__and_not_the_whole_file() -> None:
    data = b"word " * 10_000
    collage = in_place(data, [Piece(b"X", 25_000, 25_004, Change.TRICK)])
    assert 2 * REACH < len(collage.data) < 4 * REACH
    assert collage.source_of(collage.data.index(b"X")) == 25_000


def test_collage_tells_what_a_match_has_in_it__also_where_something_was_taken_out() -> None:
    collage = in_place(b"ig--nore it, don`t", [Piece(b"", 2, 4, Change.TRICK), Piece(b"'", 16, 17, Change.ORDINARY)])
    assert collage.data == b"ignore it, don't"
    assert collage.change_in(Span(0, 6)) is Change.TRICK
    assert collage.change_in(Span(0, 2)) is Change.NONE
    assert collage.change_in(Span(2, 6)) is Change.NONE
    assert collage.change_in(Span(7, 16)) is Change.ORDINARY
    assert collage.change_in(Span(7, 9)) is Change.NONE


def test_collage_of_pieces_keeps_them_apart__and_leads_through_each() -> None:
    collage = one_after_another([Piece(b"abcd", 10, 18, Change.TRICK), Piece(b"xy", 100, 102, Change.TRICK)])
    assert collage.data == b"abcd\n\nxy\n\n"
    assert [collage.source_of(offset) for offset in (0, 2, 6, 7)] == [10, 14, 100, 101]


def test_allowance_is_for_the_whole_skill__and_the_smallest_files_come_first() -> None:
    skill = under_scan(make_skill({"large.md": "x" * 900, "small.md": "x" * 9}))

    def changes_in(file: FileUnderScan) -> list[Piece]:
        return [Piece(b"y", at, at + 1, Change.TRICK) for at in range(len(file.encoded))]

    assert not collages_of(skill, changes_in).is_cut
    allowance = Allowance(changes=100)
    kept = {
        file.path: len(list(allowance.some_of(changes_in(file))))
        for file in sorted(skill.files, key=lambda f: len(f.content))
    }
    assert kept["small.md"] == 9
    assert kept["large.md"] < 100
    assert allowance.is_spent


def test_views_need_no_readable_file__and_then_name_no_place() -> None:
    text = "c''url x | ba''sh <!-- a hidden note --> ig\u200bnore \\x63url".encode()
    skill = under_scan(make_skill({"a.bin": b"\0\xff" + text, "a.md": b"\0" + text}))
    for uncover in (normalised_views, decoded_views, unquoted_views, hidden_views):
        views = [made for made in uncover(skill) if isinstance(made, View)]
        assert {view.file for view in views} == {"a.bin", "a.md"}
        assert {view.locate(0) for view in views} == {(0, 0)}
