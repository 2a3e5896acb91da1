"""Reading the catalog."""

from __future__ import annotations

from collections.abc import Sequence

from vskill_platform.domain.catalog import Collection, Document
from vskill_platform.engines.catalog_answers import answer, count_values
from vskill_platform.engines.sqlite.documents import all_documents, read_documents
from vskill_platform.engines.sqlite.readers import Readers
from vskill_platform.ports.catalog import MAX_CATALOG_PAGE, CatalogPage, CatalogQuery, check_facet, check_query
from vskill_platform.ports.kv import check_limit


class SqliteCatalog:
    """Catalog over the readers."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    async def query(self, query: CatalogQuery) -> CatalogPage:
        """One page of documents."""
        check_query(query)
        return await self._readers.bulk(lambda connection: answer(query, all_documents(connection, query.collection)))

    async def counts(self, collection: Collection, facet: str) -> dict[str, int]:
        """Documents by value of a facet."""
        check_facet(collection, facet)
        return await self._readers.bulk(lambda connection: count_values(all_documents(connection, collection), facet))

    async def documents(
        self, collection: Collection, *, after: str = "", limit: int = MAX_CATALOG_PAGE
    ) -> Sequence[Document]:
        """Documents in the order of their ids."""
        check_limit(limit)
        return await self._readers.bulk(
            lambda connection: read_documents(connection, collection, after=after, limit=limit)
        )
