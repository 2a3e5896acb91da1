"""Reading the catalog."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from vskill_platform.domain.catalog import Collection, Document
from vskill_platform.domain.search_terms import query_terms
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
        sql, values = _statement(query)
        rows = await self._readers.fetch(sql, *values)
        found = [(from_stored(row["id"]), row["row"]) for row in rows if row["id"] is not None]
        return CatalogPage(found, rows[0]["total"])

    async def counts(self, collection: Collection, facet: str) -> dict[str, int]:
        """Documents by value of a facet."""
        self._readers.check_open()
        check_facet(collection, facet)
        rows = await self._readers.fetch(f"SELECT {facet}, count(*) FROM catalog_{collection.name} GROUP BY {facet}")
        return {from_stored(value): count for value, count in rows}

    async def documents(
        self, collection: Collection, *, after: str = "", limit: int = MAX_CATALOG_PAGE
    ) -> Sequence[Document]:
        """Documents in the order of their ids."""
        self._readers.check_open()
        check_limit(limit)
        columns = ", ".join((*collection.facets, *collection.sorts))
        rows = await self._readers.fetch(
            f"SELECT id, row, tsvector_to_array(terms) AS found, {columns} FROM catalog_{collection.name} "
            f"LEFT JOIN catalog_{collection.name}_terms USING (id) WHERE id > $1 ORDER BY id LIMIT $2",
            to_stored(after),
            limit,
        )
        return [_document(collection, row) for row in rows]


def _document(collection: Collection, row: asyncpg.Record) -> Document:
    facets = {name: from_stored(row[name]) for name in collection.facets}
    texts = {name: from_stored(row[name]) for name in collection.text_sorts}
    sorts = {**{name: row[name] for name in collection.number_sorts}, **texts}
    terms = tuple(sorted(row["found"] or ()))
    return Document(collection, from_stored(row["id"]), row["row"], facets, sorts, terms)


def _statement(query: CatalogQuery) -> tuple[str, list[object]]:
    """One statement, so that the page and its total are of one moment. A page that is empty gives one row without an id."""
    table = f"catalog_{query.collection.name}"
    where, values = _where(table, query)
    sort = query.sort or query.collection.default_sort
    direction = "DESC" if query.descending else "ASC"
    order = f"ORDER BY {sort} {direction}, id {direction}"
    limits = f"LIMIT ${len(values) + 1} OFFSET ${len(values) + 2}"
    sql = f"""
        SELECT total, id, row FROM (SELECT count(*) AS total FROM {table} {where}) AS counted
        LEFT JOIN (SELECT id, row, {sort} FROM {table} {where} {order} {limits}) AS page ON true {order}
    """
    return sql, [*values, query.limit, query.offset]


def _where(table: str, query: CatalogQuery) -> tuple[str, list[object]]:
    clauses: list[str] = []
    values: list[object] = []
    for facet, wanted in query.where.items():
        values.append([to_stored(value) for value in wanted])
        clauses.append(f"{facet} = ANY (${len(values)})")
    match = _match(query.search)
    if match:
        values.append(match)
        clauses.append(f"id IN (SELECT id FROM {table}_terms WHERE terms @@ ${len(values)}::text::tsquery)")
    return (f"WHERE {' AND '.join(clauses)}" if clauses else ""), values


def _match(search: str) -> str:
    """The full-text query: every term, the unfinished ones by their beginning. Terms are letters and digits only."""
    return " & ".join(f"'{term.text}'{':*' if term.is_prefix else ''}" for term in query_terms(search))
