"""Reading the catalog."""

from __future__ import annotations

from vskill_platform.domain.catalog import Collection
from vskill_platform.domain.search_terms import query_terms
from vskill_platform.engines.postgres.readers import Readers
from vskill_platform.engines.postgres.texts import from_stored, to_stored
from vskill_platform.ports.catalog import CatalogPage, CatalogQuery, check_facet, check_query


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
