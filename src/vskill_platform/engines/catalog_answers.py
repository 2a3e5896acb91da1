"""Answers to a query by looking at every document: what each engine's answers are held to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from vskill_platform.domain.catalog import Document
from vskill_platform.domain.search_terms import QueryTerm, fold, query_terms
from vskill_platform.ports.catalog import CatalogPage, CatalogQuery


def answer(query: CatalogQuery, documents: Iterable[Document]) -> CatalogPage:
    """One page of documents, the total and the counts."""
    terms = query_terms(query.search)
    found = [document for document in documents if _has_all(document, terms)]
    matching = [document for document in found if _matches(document, query.where)]
    _put_in_order(matching, query)
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


def _put_in_order(documents: list[Document], query: CatalogQuery) -> None:
    sort = query.sort or query.collection.default_sort
    documents.sort(key=lambda document: (document.sorts[sort], document.id), reverse=query.descending)
    if query.sort is None and query.search:
        documents.sort(key=lambda document: fold(query.search) not in (fold(document.id), _folded_name(document)))


def _folded_name(document: Document) -> str:
    return fold(str(document.sorts.get("name", "")))


def _has_all(document: Document, terms: tuple[QueryTerm, ...]) -> bool:
    return all(
        any(term.startswith(wanted.text) if wanted.is_prefix else term == wanted.text for term in document.terms)
        for wanted in terms
    )
