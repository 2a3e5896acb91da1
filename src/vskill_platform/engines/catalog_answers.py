"""Answers to a query by looking at every document: how the memory engine answers, and what the other engines are held to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vskill_platform.domain.catalog import Document
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
from vskill_platform.ports.catalog import CatalogPage, CatalogQuery


def answer(query: CatalogQuery, documents: Sequence[Document]) -> CatalogPage:
    """One page of documents, the total and the counts."""
    found, wanted = _find(read_search(query.search), documents)
    matching = [document for document in found if _matches(document, query.where)]
    if query.sort is None and wanted.words:
        matching = _by_relevance(matching, wanted)
    else:
        sort = query.sort or query.collection.default_sort
        matching.sort(key=lambda document: (document.sorts[sort], document.id), reverse=query.descending)
    page = matching[query.offset : query.offset + query.limit]
    counts = {facet: _count_without_own_filter(found, query, facet) for facet in query.counts}
    return CatalogPage([(document.id, document.row) for document in page], len(matching), counts)


def count_values(documents: Iterable[Document], facet: str) -> dict[str, int]:
    """How many documents have each value of a facet."""
    return dict(Counter(value for document in documents for value in document.values_of(facet)))


def _count_without_own_filter(found: Sequence[Document], query: CatalogQuery, facet: str) -> dict[str, int]:
    where = {name: values for name, values in query.where.items() if name != facet}
    return count_values((document for document in found if _matches(document, where)), facet)


def _matches(document: Document, where: Mapping[str, tuple[str, ...]]) -> bool:
    return all(any(value in wanted for value in document.values_of(facet)) for facet, wanted in where.items())


def _find(wanted: Wanted, documents: Sequence[Document]) -> tuple[list[Document], Wanted]:
    found = [document for document in documents if _has_words(document, wanted)]
    is_ranked = any(document.collection.is_ranked for document in documents)
    if found or not is_ranked or not wanted.words:
        return found, wanted
    known = {term for document in documents for term in document.terms}
    forgiving = wanted.forgiving(known & spellings(wanted))
    return [document for document in documents if _has_words(document, forgiving)], forgiving


def _has_words(document: Document, wanted: Wanted) -> bool:
    is_ranked = document.collection.is_ranked
    return _has_every(document, [accepted_terms(word, is_ranked=is_ranked) for word in wanted.words])


def _has_every(document: Document, words: Sequence[tuple[QueryTerm, ...]]) -> bool:
    return all(any(_has(document, term) for term in word) for word in words)


def _has(document: Document, wanted: QueryTerm) -> bool:
    if wanted.is_prefix:
        return any(term.startswith(wanted.text) for term in document.terms)
    return wanted.text in document.terms


def _by_relevance(documents: list[Document], wanted: Wanted) -> list[Document]:
    documents.sort(key=_by_weight, reverse=True)
    if len(documents) > MOST_RANKED:
        documents.sort(key=lambda document: _level(document, wanted))
    head, rest = documents[:MOST_RANKED], documents[MOST_RANKED:]
    head.sort(key=_by_weight, reverse=True)
    head.sort(key=lambda document: _how_well(document, wanted))
    return [*head, *rest]


def _by_weight(document: Document) -> tuple[Any, ...]:
    return (document.weight, document.sorts[document.collection.default_sort], document.id)


def _level(document: Document, wanted: Wanted) -> int:
    if not document.collection.is_ranked:
        return 3
    if f"{WHOLE}{wanted.whole}" in document.terms:
        return 0
    for level, mark in ((1, IN_TITLE), (2, IN_TITLE_OR_PATH)):
        if _has_every(document, [marked_terms(word, mark) for word in wanted.words]):
            return level
    return 3


def _how_well(document: Document, wanted: Wanted) -> tuple[bool, float]:
    title = str(document.sorts[document.collection.text_sorts[0]])
    return how_well(wanted, title=title, path=document.id, weight=document.weight)
