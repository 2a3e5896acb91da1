"""Reading the catalog."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from vskill_platform.domain.catalog import Collection, Document
from vskill_platform.domain.search_terms import query_terms
from vskill_platform.engines.sqlite.connection import fetch_all
from vskill_platform.engines.sqlite.documents import encode_term, read_documents
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
        return await self._readers.bulk(lambda connection: _query(connection, query))

    async def counts(self, collection: Collection, facet: str) -> dict[str, int]:
        """Documents by value of a facet."""
        check_facet(collection, facet)
        sql = f"SELECT {facet}, count(*) FROM catalog_{collection.name} GROUP BY {facet}"
        return dict(await self._readers.bulk(lambda connection: fetch_all(connection, sql)))

    async def documents(
        self, collection: Collection, *, after: str = "", limit: int = MAX_CATALOG_PAGE
    ) -> Sequence[Document]:
        """Documents in the order of their ids."""
        check_limit(limit)
        return await self._readers.bulk(
            lambda connection: read_documents(connection, collection, after=after, limit=limit)
        )


class _Condition(NamedTuple):
    sql: str
    bindings: tuple[apsw.SQLiteValue, ...]


def _query(connection: apsw.Connection, query: CatalogQuery) -> CatalogPage:
    table = f"catalog_{query.collection.name}"
    where = _where(table, query)
    sort = query.sort or query.collection.default_sort
    direction = "DESC" if query.descending else "ASC"
    page = f"SELECT id, row FROM {table} {where.sql} ORDER BY {sort} {direction}, id {direction} LIMIT ? OFFSET ?"
    with connection:  # one moment for the page and its total
        total = connection.execute(f"SELECT count(*) FROM {table} {where.sql}", where.bindings).get
        rows = fetch_all(connection, page, (*where.bindings, query.limit, query.offset))
    return CatalogPage(rows, total)


def _where(table: str, query: CatalogQuery) -> _Condition:
    clauses: list[str] = []
    bindings: list[apsw.SQLiteValue] = []
    for facet, values in query.where.items():
        clauses.append(f"{facet} IN ({', '.join('?' for _ in values)})")
        bindings.extend(values)
    match = _match(query.search)
    if match:
        clauses.append(f"number IN (SELECT rowid FROM {table}_terms WHERE {table}_terms MATCH ?)")
        bindings.append(match)
    return _Condition(f"WHERE {' AND '.join(clauses)}" if clauses else "", tuple(bindings))


def _match(search: str) -> str:
    """The full-text query: every term, the unfinished ones by their beginning."""
    return " AND ".join(f'"{encode_term(term.text)}"{"*" if term.is_prefix else ""}' for term in query_terms(search))
