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
    is_exact,
    marked_terms,
    points,
    read_search,
    spellings,
)
from vskill_platform.domain.search_terms import IN_TITLE, IN_TITLE_OR_PATH, WHOLE, QueryTerm
from vskill_platform.engines.columns import RELEVANCE, Columns, Numbers
from vskill_platform.ports.catalog import CatalogPage, CatalogQuery

_MANY = 256
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


class RowMissing(Exception):
    """A document of the columns is not in the database: something else has written to its tables."""


def answer(query: CatalogQuery, columns: Columns) -> Answer:
    """The page, the total and the counts."""
    wanted = read_search(query.search)
    found: Numbers | None = None
    if wanted.words:
        found, wanted = yield from _find(wanted, columns)
    matching = _filter(found, columns, query.where)
    if wanted.words and query.sort is None and matching is not None:
        page = yield from _most_relevant(matching, wanted, columns, query)
    else:
        page = _sorted_page(matching, columns, query)
    counts = {facet: _count(facet, found, columns, query) for facet in query.counts}
    rows: dict[int, bytes] = (yield ReadRows(tuple(page))) if page else {}
    if len(rows) != len(page):
        raise RowMissing
    total = columns.total if matching is None else len(matching)
    return CatalogPage([(columns.ids[number], rows[number]) for number in page], total, counts)


def _find(wanted: Wanted, columns: Columns) -> Generator[Need, Any, tuple[Numbers, Wanted]]:
    """The documents that have every word; where there are none, those that have words one slip away."""
    is_ranked = columns.collection.is_ranked
    found = yield from _having([accepted_terms(word, is_ranked=is_ranked) for word in wanted.words], columns)
    if len(found) or not is_ranked:
        return found, wanted
    candidates = spellings(wanted)
    known = (yield KnownWords(tuple(sorted(candidates)))) if candidates else ()
    forgiving = wanted.forgiving(known)
    if not any(word.near for word in forgiving.words):
        return found, wanted
    found = yield from _having([accepted_terms(word, is_ranked=is_ranked) for word in forgiving.words], columns)
    return found, forgiving


def _having(words: Sequence[tuple[QueryTerm, ...]], columns: Columns) -> Asking:
    """The documents that have one term of every word, in the order of their numbers."""
    terms = tuple(dict.fromkeys(term for word in words for term in word))
    known = {term: numbers for term in terms if (numbers := columns.kept_term(term)) is not None}
    missing = tuple(term for term in terms if term not in known)
    if missing:
        for term, numbers in zip(missing, (yield FindTerms(missing)), strict=True):
            known[term] = columns.existing(numbers)
            if len(known[term]) >= _MANY:
                columns.keep_term(term, known[term])
    return _in_all([_in_any([known[term] for term in word]) for word in words])


def _in_any(sets: Sequence[Numbers]) -> Numbers:
    return np.unique(np.concatenate(sets)) if len(sets) > 1 else np.sort(sets[0])


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


def _filter(found: Numbers | None, columns: Columns, where: Mapping[str, tuple[str, ...]]) -> Numbers | None:
    """Those of the found documents (of all, where nothing was searched) that match every facet; None for all."""
    for facet, wanted in where.items():
        if found is None:
            found = np.flatnonzero(columns.is_there).astype(np.int32)
        is_wanted = columns.facet_columns[facet].codes_with(wanted)
        found = found[is_wanted[columns.codes[facet][found]]]
    return found


def _count(facet: str, found: Numbers | None, columns: Columns, query: CatalogQuery) -> dict[str, int]:
    """How many documents have each value of a facet, among what would match without a filter by that facet."""
    where = {name: values for name, values in query.where.items() if name != facet}
    return columns.count(facet, _filter(found, columns, where))


def _sorted_page(matching: Numbers | None, columns: Columns, query: CatalogQuery) -> list[int]:
    sort = query.sort or query.collection.default_sort
    order = columns.order(sort)
    if matching is not None:
        order = order[np.sort(columns.rank(sort)[matching])]
    if query.descending:
        order = order[::-1]
    page: list[int] = order[query.offset : query.offset + query.limit].tolist()
    return page


def _most_relevant(
    matching: Numbers, wanted: Wanted, columns: Columns, query: CatalogQuery
) -> Generator[Need, Any, list[int]]:
    """A page of what a search found, the best first."""
    order = columns.order(RELEVANCE)[::-1]
    places = len(order) - 1 - columns.rank(RELEVANCE)[matching].astype(np.int64)
    if len(matching) > MOST_RANKED and columns.collection.is_ranked:
        levels = yield from _levels(matching, wanted, columns)
        places += levels * len(order)
    places.sort()
    first, last = query.offset, query.offset + query.limit
    static = order[places[: max(last, MOST_RANKED)] % len(order)].tolist()
    return [*_ranked(static[:MOST_RANKED], wanted, columns), *static[MOST_RANKED:]][first:last]


def _levels(matching: Numbers, wanted: Wanted, columns: Columns) -> Generator[Need, Any, NDArray[np.int64]]:
    """For each document where its words stand: 0 the search is its title or path, 1 title, 2 title or path, 3 anywhere."""
    levels = np.full(len(matching), 3, dtype=np.int64)
    for level, mark in ((2, IN_TITLE_OR_PATH), (1, IN_TITLE)):
        having = yield from _having([marked_terms(word, mark) for word in wanted.words], columns)
        levels[np.isin(matching, having, assume_unique=True)] = level
    exact = yield from _having([(QueryTerm(f"{WHOLE}{wanted.whole}", is_prefix=False),)], columns)
    levels[np.isin(matching, exact, assume_unique=True)] = 0
    return levels


def _ranked(numbers: list[int], wanted: Wanted, columns: Columns) -> list[int]:
    """Documents by how well they answer; those that do so equally well stay in their order by weight."""
    titles = columns.text_sorts[columns.collection.text_sorts[0]]
    weights, rank = columns.number_sorts[RELEVANCE], columns.rank(RELEVANCE)

    def key(number: int) -> tuple[bool, float, int]:
        title, path = titles[number], columns.ids[number]
        value = points(wanted, title=title, path=path, weight=int(weights[number]))
        return (not is_exact(wanted, title=title, path=path), -value, -int(rank[number]))

    return sorted(numbers, key=key)
