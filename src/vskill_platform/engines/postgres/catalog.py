"""Reading the catalog."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from vskill_platform.domain.catalog import Collection, Document
from vskill_platform.engines.catalog_answers import answer, count_values
from vskill_platform.engines.facets import decode_facet
from vskill_platform.engines.postgres.readers import Readers
from vskill_platform.engines.postgres.texts import from_stored, to_stored
from vskill_platform.ports.catalog import MAX_CATALOG_PAGE, CatalogPage, CatalogQuery, check_facet, check_query
from vskill_platform.ports.kv import check_limit


class PostgresCatalog:
    """Catalog over the readers."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    async def query(self, query: CatalogQuery) -> CatalogPage:
        """One page of documents."""
        self._readers.check_open()
        check_query(query)
        return answer(query, await self._read(query.collection, after="", limit=None))

    async def counts(self, collection: Collection, facet: str) -> dict[str, int]:
        """Documents by value of a facet."""
        self._readers.check_open()
        check_facet(collection, facet)
        return count_values(await self._read(collection, after="", limit=None), facet)

    async def documents(
        self, collection: Collection, *, after: str = "", limit: int = MAX_CATALOG_PAGE
    ) -> Sequence[Document]:
        """Documents in the order of their ids."""
        self._readers.check_open()
        check_limit(limit)
        return await self._read(collection, after=after, limit=limit)

    async def _read(self, collection: Collection, *, after: str, limit: int | None) -> list[Document]:
        columns = ", ".join((*collection.facets, *collection.sorts, "weight"))
        rows = await self._readers.fetch(
            f"SELECT id, row, tsvector_to_array(terms) AS found, {columns} FROM catalog_{collection.name} "
            f"LEFT JOIN catalog_{collection.name}_terms USING (id) WHERE id > $1 ORDER BY id LIMIT $2",
            to_stored(after),
            limit,
        )
        return [_document(collection, row) for row in rows]


def _document(collection: Collection, row: asyncpg.Record) -> Document:
    texts = {name: from_stored(row[name]) for name in (*collection.facets, *collection.text_sorts)}
    facets = {
        name: decode_facet(texts[name]) if name in collection.many_valued else texts[name] for name in collection.facets
    }
    sorts = {**{name: row[name] for name in collection.number_sorts}, **{n: texts[n] for n in collection.text_sorts}}
    terms = tuple(sorted(row["found"] or ()))
    return Document(collection, from_stored(row["id"]), row["row"], facets, sorts, terms, row["weight"])
