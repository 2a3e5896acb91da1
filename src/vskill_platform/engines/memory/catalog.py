"""The memory engine's catalog."""

from __future__ import annotations

from collections.abc import Sequence

from vskill_platform.domain.catalog import Collection, Document
from vskill_platform.engines.catalog_answers import answer, count_values
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
        return answer(query, self._documents(query.collection))

    async def counts(self, collection: Collection, facet: str) -> dict[str, int]:
        """Documents by value of a facet."""
        self._state.check_open()
        check_facet(collection, facet)
        return count_values(self._documents(collection), facet)

    async def documents(
        self, collection: Collection, *, after: str = "", limit: int = MAX_CATALOG_PAGE
    ) -> Sequence[Document]:
        """Documents in the order of their ids."""
        self._state.check_open()
        check_limit(limit)
        following = sorted((one for one in self._documents(collection) if one.id > after), key=lambda one: one.id)
        return [document.with_terms_sorted() for document in following[:limit]]

    async def form(self) -> int:
        """The form that the documents are in."""
        self._state.check_open()
        return self._state.catalog_form

    async def set_form(self, form: int) -> None:
        """Note the form that the documents are in."""
        self._state.check_open()
        self._state.catalog_form = form

    def _documents(self, collection: Collection) -> list[Document]:
        return list(self._state.documents.get(collection.name, {}).values())
