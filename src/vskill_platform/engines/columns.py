"""The columns of a collection in memory: what filtering, counting and ordering 100,000 documents in a millisecond takes.

A database holds the documents and is the only place where they are written. Each process that reads keeps, of every document,
its facets, sorts and id, in arrays by the document's number, and brings them up to date with what has changed since, before each
answer. Columns are never changed once made: whoever answers by them has one moment, whatever others do meanwhile.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vskill_platform.domain.catalog import Collection

Numbers = NDArray[np.int32]
RELEVANCE = "relevance"
"""The order of documents that a search finds equally well: by weight, then by the default sort."""
_BY_NUMBER = "number"
_MOST_MOVED = 500
_MOST_KEPT_BYTES = 32 * 1024 * 1024


class Line(NamedTuple):
    """What columns hold of one document: its number, id, facets, sorts and weight, each in the declared order."""

    number: int
    id: str
    facets: tuple[tuple[str, ...], ...]
    sorts: tuple[int | str, ...]
    weight: int


class FacetColumn:
    """A facet of every document: the code of its values. Codes are only ever added, so all columns share their meaning."""

    def __init__(self) -> None:
        self.known: list[tuple[str, ...]] = [()]
        self._codes: dict[tuple[str, ...], int] = {(): 0}
        self._codes_by_value: dict[str, list[int]] = {}

    def code(self, values: tuple[str, ...]) -> int:
        """The code of these values."""
        code = self._codes.get(values)
        if code is None:
            code = len(self.known)
            self.known.append(values)
            self._codes[values] = code
            for value in values:
                self._codes_by_value.setdefault(value, []).append(code)
        return code

    def codes_with(self, wanted: Iterable[str]) -> NDArray[np.bool_]:
        """For each code, whether it stands for any of these values."""
        is_wanted = np.zeros(len(self.known), dtype=np.bool_)
        for value in wanted:
            is_wanted[self._codes_by_value.get(value, [])] = True
        return is_wanted

    def count(self, codes: NDArray[np.int32]) -> dict[str, int]:
        """How many of these codes stand for each value."""
        counts: dict[str, int] = {}
        by_code = np.bincount(codes, minlength=1)
        present = np.flatnonzero(by_code)
        for code, count in zip(present.tolist(), by_code[present].tolist(), strict=True):
            for value in self.known[code]:
                counts[value] = counts.get(value, 0) + count
        return counts


@dataclass(slots=True)
class Columns:
    """The documents of one collection at one moment. `mark` is the engine's word for that moment."""

    collection: Collection
    mark: int
    facet_columns: dict[str, FacetColumn]
    codes: dict[str, NDArray[np.int32]]
    number_sorts: dict[str, NDArray[np.int64]]
    text_sorts: dict[str, list[str]]
    ids: list[str]
    is_there: NDArray[np.bool_]
    orders: dict[str, Numbers] = field(default_factory=dict)
    ranks: dict[str, Numbers] = field(default_factory=dict)
    base_counts: dict[str, dict[str, int]] = field(default_factory=dict)
    kept_terms: dict[Any, NDArray[np.uint8]] = field(default_factory=dict)

    @property
    def all(self) -> Numbers:
        """The number of every document, in the order of numbers."""
        known = self.orders.get(_BY_NUMBER)
        if known is None:
            known = self.orders[_BY_NUMBER] = np.flatnonzero(self.is_there).astype(np.int32)
        return known

    def order(self, sort: str) -> Numbers:
        """The numbers of all documents, ascending by a sort and then by id. The sort "" is by id alone."""
        known = self.orders.get(sort)
        if known is None:
            known = self.orders[sort] = self._sorted(sort)
        return known

    def rank(self, sort: str) -> Numbers:
        """For each number its place in the order."""
        known = self.ranks.get(sort)
        if known is None:
            order = self.order(sort)
            known = np.zeros(len(self.ids), dtype=np.int32)
            known[order] = np.arange(len(order), dtype=np.int32)
            self.ranks[sort] = known
        return known

    def count(self, facet: str, numbers: Numbers | None) -> dict[str, int]:
        """How many of these documents have each value of a facet; of all documents where none are named."""
        if numbers is not None:
            return self.facet_columns[facet].count(self.codes[facet][numbers])
        if facet not in self.base_counts:
            self.base_counts[facet] = self.facet_columns[facet].count(self.codes[facet][self.all])
        return dict(self.base_counts[facet])

    def keep_term(self, key: object, numbers: Numbers) -> None:
        """Remember who has a term that many documents have."""
        while len(self.kept_terms) * len(self.ids) // 8 >= _MOST_KEPT_BYTES:
            self.kept_terms.pop(next(iter(self.kept_terms)), None)
        flags = np.zeros(len(self.ids), dtype=np.bool_)
        flags[numbers] = True
        self.kept_terms[key] = np.packbits(flags)

    def kept_term(self, key: object) -> Numbers | None:
        """Who has a term, if that is remembered."""
        packed = self.kept_terms.get(key)
        if packed is None:
            return None
        return np.flatnonzero(np.unpackbits(packed, count=len(self.ids))).astype(np.int32)

    def existing(self, numbers: Numbers) -> Numbers:
        """Those of these numbers that are documents: an index may know some that are none."""
        numbers = numbers[numbers < len(self.ids)]
        return numbers[self.is_there[numbers]]

    def changed(self, lines: Sequence[Line], gone: Sequence[int], *, mark: int, has_new_terms: bool) -> Columns:
        """The columns of a later moment, in which these documents are as the lines say, and these numbers are gone."""
        fresh = self._copy(max((line.number + 1 for line in lines), default=0), mark)
        for line in lines:
            fresh._write(line)
        missing = [number for number in gone if number < len(fresh.ids)]
        fresh.is_there[missing] = False
        moved = [*(line.number for line in lines), *missing]
        if len(moved) <= _MOST_MOVED:
            known = [(sort, order) for sort, order in self.orders.items() if sort != _BY_NUMBER]
            fresh.orders = {sort: fresh._moved(sort, order, moved) for sort, order in known}
        if not has_new_terms and not gone and len(fresh.ids) == len(self.ids):
            fresh.kept_terms = self.kept_terms
        return fresh

    def _copy(self, size: int, mark: int) -> Columns:
        more = max(0, size - len(self.ids))
        return Columns(
            self.collection,
            mark,
            self.facet_columns,
            {name: np.pad(column, (0, more)) for name, column in self.codes.items()},
            {name: np.pad(column, (0, more)) for name, column in self.number_sorts.items()},
            {name: column + [""] * more for name, column in self.text_sorts.items()},
            self.ids + [""] * more,
            np.pad(self.is_there, (0, more)),
        )

    def _write(self, line: Line) -> None:
        declared = self.collection
        for facet, values in zip(declared.facets, line.facets, strict=True):
            self.codes[facet][line.number] = self.facet_columns[facet].code(values)
        for sort, value in zip(declared.sorts, line.sorts, strict=True):
            if isinstance(value, str):
                self.text_sorts[sort][line.number] = value
            else:
                self.number_sorts[sort][line.number] = value
        self.number_sorts[RELEVANCE][line.number] = line.weight
        self.ids[line.number] = line.id
        self.is_there[line.number] = True

    def _sorted(self, sort: str) -> Numbers:
        """All documents in order, sorted from nothing."""
        if sort == "":
            return np.array(sorted(self.all.tolist(), key=self.ids.__getitem__), dtype=np.int32)
        before = self.order(self.collection.default_sort if sort == RELEVANCE else "")
        if sort in self.text_sorts:
            return np.array(sorted(before.tolist(), key=self.text_sorts[sort].__getitem__), dtype=np.int32)
        return before[np.argsort(self.number_sorts[sort][before], kind="stable")]

    def _moved(self, sort: str, order: Numbers, moved: Sequence[int]) -> Numbers:
        """An order after a few documents have come, changed or gone: they are taken out and put in where they belong."""
        is_moved = np.zeros(len(self.ids), dtype=np.bool_)
        is_moved[list(moved)] = True
        left = order[~is_moved[order]]
        coming = sorted({number for number in moved if self.is_there[number]}, key=lambda one: self._key(sort, one))
        places = [bisect_left(left, self._key(sort, one), key=lambda other: self._key(sort, other)) for one in coming]
        return np.insert(left, places, coming).astype(np.int32)

    def _key(self, sort: str, number: int) -> tuple[Any, ...]:
        if sort == "":
            return (self.ids[number],)
        if sort == RELEVANCE:
            default = self.number_sorts[self.collection.default_sort]
            return (self.number_sorts[RELEVANCE][number], default[number], self.ids[number])
        value = self.text_sorts[sort][number] if sort in self.text_sorts else self.number_sorts[sort][number]
        return (value, self.ids[number])


def no_columns(collection: Collection, *, mark: int) -> Columns:
    """The columns of a collection without documents."""
    return Columns(
        collection,
        mark,
        {facet: FacetColumn() for facet in collection.facets},
        {facet: np.zeros(0, dtype=np.int32) for facet in collection.facets},
        {sort: np.zeros(0, dtype=np.int64) for sort in (*collection.number_sorts, RELEVANCE)},
        {sort: [] for sort in collection.text_sorts},
        [],
        np.zeros(0, dtype=np.bool_),
    )
