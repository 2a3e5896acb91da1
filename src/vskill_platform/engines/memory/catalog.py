"""The memory engine's catalog: every question answered by looking at every document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from vskill_platform.domain.catalog import Collection, Document
from vskill_platform.domain.search_terms import QueryTerm, query_terms
from vskill_platform.engines.memory.state import MemoryState
from vskill_platform.ports.catalog import MAX_CATALOG_PAGE, CatalogPage, CatalogQuery, check_facet, check_query
from vskill_platform.ports.kv import check_limit


class MemoryCatalog:
    """Catalog over a MemoryState."""

    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def query(self, query: CatalogQuery) -> CatalogPage:
        """One page of documents."""
        self._state.check_open()
        check_query(query)
        terms = query_terms(query.search)
        sort = query.sort or query.collection.default_sort
        found = [doc for doc in self._documents(query.collection) if _matches(doc, query) and _has_all(doc, terms)]
        found.sort(key=lambda doc: (doc.sorts[sort], doc.id), reverse=query.descending)
        page = found[query.offset : query.offset + query.limit]
        return CatalogPage([(doc.id, doc.row) for doc in page], len(found))

    async def counts(self, collection: Collection, facet: str) -> dict[str, int]:
        """Documents by value of a facet."""
        self._state.check_open()
        check_facet(collection, facet)
        return dict(Counter(doc.facets[facet] for doc in self._documents(collection)))

    async def documents(
        self, collection: Collection, *, after: str = "", limit: int = MAX_CATALOG_PAGE
    ) -> Sequence[Document]:
        """Documents in the order of their ids."""
        self._state.check_open()
        check_limit(limit)
        following = sorted((one for one in self._documents(collection) if one.id > after), key=lambda one: one.id)
        return [document.with_terms_sorted() for document in following[:limit]]

    def _documents(self, collection: Collection) -> list[Document]:
        return list(self._state.documents.get(collection.name, {}).values())


def _matches(document: Document, query: CatalogQuery) -> bool:
    return all(document.facets[facet] in values for facet, values in query.where.items())


def _has_all(document: Document, terms: tuple[QueryTerm, ...]) -> bool:
    return all(
        any(term.startswith(wanted.text) if wanted.is_prefix else term == wanted.text for term in document.terms)
        for wanted in terms
    )
