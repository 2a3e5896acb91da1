"""Answering a query by the columns of a collection, asking the engine only for what columns do not hold.

An answer is a generator that yields what it needs to know and is sent the reply, so that an engine may look it up on a thread or
across a network, and all engines give the same answers in the same order.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vskill_platform.domain.relevance import (
    MOST_RANKED,
    Wanted,
    accepted_terms,
    how_well,
    marked_terms,
    read_search,
    spellings,
)
from vskill_platform.domain.search_terms import IN_TITLE, IN_TITLE_OR_PATH, WHOLE, QueryTerm
from vskill_platform.engines.columns import RELEVANCE, Columns, Numbers
from vskill_platform.ports.catalog import CatalogPage, CatalogQuery

_MANY = 200
"""A term that so many documents have is worth remembering who has it."""


@dataclass(frozen=True, slots=True)
class FindTerms:
    """The numbers of the documents that have each of these terms. The reply is a sequence of arrays."""

    terms: tuple[QueryTerm, ...]


@dataclass(frozen=True, slots=True)
class KnownWords:
    """Those of these words that documents have, or have had. The reply is a sequence of words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadRows:
    """The rows of these documents, as a mapping from number to row."""

    numbers: tuple[int, ...]


Need = FindTerms | KnownWords | ReadRows
Answer = Generator[Need, Any, CatalogPage]
Asking = Generator[Need, Any, Numbers]
Terms = tuple[QueryTerm, ...]


class RowMissing(Exception):
    """A document of the columns is not in the database: something else has written to its tables."""


def answer(query: CatalogQuery, columns: Columns) -> Answer:
    """The page, the total and the counts."""
    wanted = read_search(query.search)
    found: Numbers | None = None
    if wanted.words:
        found, wanted = yield from _find(wanted, columns)
    filtered = _Filtered(found, columns, query.where)
    matching = filtered.matching
    if wanted.words and query.sort is None and matching is not None:
        page = yield from _most_relevant(matching, wanted, columns, query)
    else:
        page = _sorted_page(matching, columns, query)
    counts = {facet: filtered.count(facet) for facet in query.counts}
    rows: dict[int, bytes] = (yield ReadRows(tuple(page))) if page else {}
    if len(rows) != len(page):
        raise RowMissing
    total = len(columns.all if matching is None else matching)
    return CatalogPage([(columns.ids[number], rows[number]) for number in page], total, counts)


def _find(wanted: Wanted, columns: Columns) -> Generator[Need, Any, tuple[Numbers, Wanted]]:
    """The documents that have every word; where there are none, those that have words one slip away."""
    is_ranked = columns.collection.is_ranked
    found = yield from _having([accepted_terms(word, is_ranked=is_ranked) for word in wanted.words], columns)
    if len(found) or not is_ranked:
        return found, wanted
    candidates = spellings(wanted)
    known = (yield KnownWords(tuple(candidates))) if candidates else ()
    forgiving = wanted.forgiving(known)
    if not any(word.near for word in forgiving.words):
        return found, wanted
    found = yield from _having([accepted_terms(word, is_ranked=is_ranked) for word in forgiving.words], columns)
    return found, forgiving


def _having(words: Sequence[Terms], columns: Columns) -> Asking:
    """The documents that have one term of every word, in the order of their numbers."""
    (having,) = yield from _having_each([words], columns)
    return having


def _having_each(sets: Sequence[Sequence[Terms]], columns: Columns) -> Generator[Need, Any, list[Numbers]]:
    """The same for several sets of words, asked for at once."""
    terms = tuple(dict.fromkeys(term for words in sets for word in words for term in word))
    known = {term: numbers for term in terms if (numbers := columns.kept_term(term)) is not None}
    missing = tuple(term for term in terms if term not in known)
    if missing:
        for term, numbers in zip(missing, (yield FindTerms(missing)), strict=True):
            known[term] = np.sort(columns.existing(numbers))
            if len(known[term]) >= _MANY:
                columns.keep_term(term, known[term])
    return [_in_all([_in_any([known[term] for term in word]) for word in words]) for words in sets]


def _in_any(sets: Sequence[Numbers]) -> Numbers:
    """Numbers that are in any of the sets, in order, each once."""
    if len(sets) == 1:
        return sets[0]
    every = np.sort(np.concatenate(sets))
    return every[np.append(True, every[1:] != every[:-1])] if len(every) else every


def _in_all(sets: Sequence[Numbers]) -> Numbers:
    smallest, *others = sorted(sets, key=len)
    for other in others:
        smallest = _common(smallest, other)
    return smallest


def _common(some: Numbers, many: Numbers) -> Numbers:
    """Numbers that are in both. Both are in order, each number once."""
    if not len(many):
        return many
    places = np.minimum(np.searchsorted(many, some), len(many) - 1)
    is_common: NDArray[np.bool_] = many[places] == some
    return some[is_common]


class _Filtered:
    """What a search found (or everything), held against each filter on its own, so that any but one can be counted."""

    def __init__(self, found: Numbers | None, columns: Columns, where: Mapping[str, tuple[str, ...]]) -> None:
        self._found = found
        self._columns = columns
        self._fits = {facet: self._fitting(facet, wanted) for facet, wanted in where.items()}
        self.matching = self._without("")

    def count(self, facet: str) -> dict[str, int]:
        """How many documents have each value of a facet, among what would match without a filter by that facet."""
        return self._columns.count(facet, self._without(facet) if facet in self._fits else self.matching)

    def _fitting(self, facet: str, wanted: tuple[str, ...]) -> NDArray[np.bool_]:
        numbers = self._columns.all if self._found is None else self._found
        return self._columns.facet_columns[facet].codes_with(wanted)[self._columns.codes[facet][numbers]]

    def _without(self, left_out: str) -> Numbers | None:
        """What matches every other filter; None for all documents."""
        fits = [fit for facet, fit in self._fits.items() if facet != left_out]
        if not fits:
            return self._found
        numbers = self._columns.all if self._found is None else self._found
        return numbers[np.logical_and.reduce(fits)]


def _sorted_page(matching: Numbers | None, columns: Columns, query: CatalogQuery) -> list[int]:
    sort = query.sort or query.collection.default_sort
    first, last = query.offset, query.offset + query.limit
    order = columns.order(sort)
    if query.descending:
        order = order[::-1]
    if matching is not None:
        ranks = columns.rank(sort)[matching]
        order = order[_smallest(len(order) - 1 - ranks if query.descending else ranks, last)]
    page: list[int] = order[first:last].tolist()
    return page


def _smallest(places: Numbers, count: int) -> Numbers:
    """So many of the smallest places, in order."""
    if count * 4 < len(places):
        places = np.partition(places, count)[:count]
    return np.sort(places)[:count]


def _most_relevant(
    matching: Numbers, wanted: Wanted, columns: Columns, query: CatalogQuery
) -> Generator[Need, Any, list[int]]:
    """A page of what a search found, the best first."""
    order = columns.order(RELEVANCE)[::-1]
    places = len(order) - 1 - columns.rank(RELEVANCE)[matching]
    if len(matching) > MOST_RANKED and columns.collection.is_ranked:
        levels = yield from _levels(matching, wanted, columns)
        places += levels * np.int32(len(order))
    first, last = query.offset, query.offset + query.limit
    static = order[_smallest(places, max(last, MOST_RANKED)) % len(order)].tolist()
    return [*_ranked(static[:MOST_RANKED], wanted, columns), *static[MOST_RANKED:]][first:last]


def _levels(matching: Numbers, wanted: Wanted, columns: Columns) -> Asking:
    """For each document where its words stand: 0 the search is its title or path, 1 title, 2 title or path, 3 anywhere."""
    places = yield from _having_each(
        [
            [marked_terms(word, IN_TITLE_OR_PATH) for word in wanted.words],
            [marked_terms(word, IN_TITLE) for word in wanted.words],
            [(QueryTerm(f"{WHOLE}{wanted.whole}", is_prefix=False),)],
        ],
        columns,
    )
    levels = np.full(len(matching), 3, dtype=np.int32)
    for level, having in zip((2, 1, 0), places, strict=True):
        levels[_are_in(matching, having, columns)] = level
    return levels


def _are_in(numbers: Numbers, others: Numbers, columns: Columns) -> NDArray[np.bool_]:
    flags = np.zeros(len(columns.ids), dtype=np.bool_)
    flags[others] = True
    return flags[numbers]


def _ranked(numbers: list[int], wanted: Wanted, columns: Columns) -> list[int]:
    """Documents by how well they answer; those that do so equally well stay in their order by weight."""
    titles = columns.text_sorts[columns.collection.text_sorts[0]]
    weights = columns.number_sorts[RELEVANCE][numbers].tolist()
    ranks = columns.rank(RELEVANCE)[numbers].tolist()
    keys = [
        (*how_well(wanted, title=titles[number], path=columns.ids[number], weight=weight), -rank)
        for number, weight, rank in zip(numbers, weights, ranks, strict=True)
    ]
    return [number for _, number in sorted(zip(keys, numbers, strict=True))]
