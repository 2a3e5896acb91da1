"""Reading the catalog: by the columns in memory, the full-text index, and the rows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import asyncpg
import numpy as np

from vskill_platform.domain.catalog import Collection, Document
from vskill_platform.domain.search_terms import QueryTerm
from vskill_platform.engines.catalog_pages import Answer, FindTerms, KnownWords, Need, ReadRows, RowMissing, answer
from vskill_platform.engines.columns import Columns, Line, no_columns
from vskill_platform.engines.facets import decode_facet, line_of
from vskill_platform.engines.postgres.readers import Readers
from vskill_platform.engines.postgres.texts import from_stored, to_stored
from vskill_platform.ports.catalog import MAX_CATALOG_PAGE, CatalogPage, CatalogQuery, check_facet, check_query
from vskill_platform.ports.kv import check_limit

_CHANGES_KEPT_S = 1800.0
"""The database keeps changes for an hour; columns that nobody has asked for so long are made anew."""
_MARK = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"


class PostgresCatalog:
    """Catalog over the readers."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._columns: dict[str, Columns] = {}
        self._refreshed_s: dict[str, float] = {}

    async def query(self, query: CatalogQuery) -> CatalogPage:
        """One page of documents."""
        self._readers.check_open()
        check_query(query)
        try:
            return await self._readers.snapshot(lambda connection: self._answer(connection, query))
        except RowMissing:
            self._columns.pop(query.collection.name, None)
            return await self._readers.snapshot(lambda connection: self._answer(connection, query))

    async def counts(self, collection: Collection, facet: str) -> dict[str, int]:
        """Documents by value of a facet."""
        self._readers.check_open()
        check_facet(collection, facet)
        columns = await self._readers.snapshot(lambda connection: self._present(connection, collection))
        return columns.count(facet, None)

    async def documents(
        self, collection: Collection, *, after: str = "", limit: int = MAX_CATALOG_PAGE
    ) -> Sequence[Document]:
        """Documents in the order of their ids."""
        self._readers.check_open()
        check_limit(limit)
        columns = ", ".join((*collection.facets, *collection.sorts, "weight"))
        rows = await self._readers.fetch(
            f"SELECT id, row, tsvector_to_array(terms) AS found, {columns} FROM catalog_{collection.name} "
            f"LEFT JOIN catalog_{collection.name}_terms USING (id) WHERE id > $1 ORDER BY id LIMIT $2",
            to_stored(after),
            limit,
        )
        return [_document(collection, row) for row in rows]

    async def form(self) -> int:
        """The form that the documents are in."""
        return int((await self._readers.fetch_one("SELECT form FROM catalog_form"))["form"])

    async def set_form(self, form: int) -> None:
        """Note the form that the documents are in."""
        await self._readers.change("UPDATE catalog_form SET form = $1", form)

    async def _answer(self, connection: asyncpg.Connection, query: CatalogQuery) -> CatalogPage:
        columns = await self._present(connection, query.collection)
        return await _drive(answer(query, columns), connection, query.collection)

    async def _present(self, connection: asyncpg.Connection, collection: Collection) -> Columns:
        """The columns of the moment that the connection's transaction sees, which begins in here."""
        name = collection.name
        known, asked_s = self._columns.get(name), time.monotonic()
        if asked_s - self._refreshed_s.get(name, asked_s) > _CHANGES_KEPT_S:
            known = None
        present = await _refresh(connection, collection, known)
        latest = self._columns.get(name)
        if latest is None or latest.mark <= present.mark:
            self._columns[name], self._refreshed_s[name] = present, asked_s
        return present


async def _drive(asking: Answer, connection: asyncpg.Connection, collection: Collection) -> CatalogPage:
    """Look up what the answer asks for, until it is there."""
    try:
        need = next(asking)
        while True:
            need = asking.send(await _look_up(need, connection, collection))
    except StopIteration as done:
        page: CatalogPage = done.value
        return page


async def _look_up(need: Need, connection: asyncpg.Connection, collection: Collection) -> Any:
    table = f"catalog_{collection.name}"
    match need:
        case FindTerms(terms=terms):
            sql = (
                f"SELECT (SELECT string_agg(int4send(number), '') FROM {table}_terms WHERE terms @@ wanted::tsquery) "
                "FROM unnest($1::text[]) WITH ORDINALITY AS asked (wanted, place) ORDER BY place"
            )
            rows = await connection.fetch(sql, [_tsquery(term) for term in terms])
            return [np.frombuffer(found or b"", dtype=">i4").astype(np.int32) for (found,) in rows]
        case KnownWords(words=words):
            sql = f"SELECT DISTINCT word FROM {table}_words WHERE word = ANY ($1::text[])"
            return [word for (word,) in await connection.fetch(sql, words)]
        case ReadRows(numbers=numbers):
            sql = f"SELECT number, row FROM {table} WHERE number = ANY ($1::integer[])"
            return {row["number"]: row["row"] for row in await connection.fetch(sql, numbers)}


def _tsquery(term: QueryTerm) -> str:
    """A term as the index is asked for it. Terms hold letters, digits, spaces and colons only, so nothing has to be escaped."""
    return f"'{term.text}'{':*' if term.is_prefix else ''}"


async def _refresh(connection: asyncpg.Connection, collection: Collection, known: Columns | None) -> Columns:
    """The columns as of now: those that are known with what has changed since, or all anew."""
    table = f"catalog_{collection.name}"
    columns = ", ".join(f"{table}.{name}" for name in ("id", *collection.facets, *collection.sorts, "weight"))
    if known is None:
        mark: int = await connection.fetchval(f"SELECT {_MARK}")
        rows = await connection.fetch(f"SELECT {table}.number, {columns} FROM {table}")
        return await asyncio.to_thread(_make_columns, collection, rows, mark)
    changes = await connection.fetch(
        f"SELECT {_MARK}, changed.number, changed.has_terms, {columns} FROM (SELECT) AS always LEFT JOIN (SELECT number, "
        "bool_or(has_terms) AS has_terms FROM catalog_change WHERE collection = $1 AND changed_by >= $2::text::xid8 "
        f"GROUP BY number) AS changed ON true LEFT JOIN {table} USING (number)",
        collection.name,
        str(known.mark),
    )
    mark = changes[0][0]
    if changes[0]["number"] is None:
        known.mark = max(known.mark, mark)
        return known
    there = [_line(collection, (number, *line)) for _, number, _, *line in changes if line[0] is not None]
    gone = [number for _, number, _, identity, *_ in changes if identity is None]
    has_new_terms = any(has_terms for _, _, has_terms, *_ in changes)
    return known.changed(there, gone, mark=mark, has_new_terms=has_new_terms)


def _make_columns(collection: Collection, rows: Sequence[asyncpg.Record], mark: int) -> Columns:
    """Columns from nothing: a second of work for 100,000 documents, so it is done beside the event loop."""
    lines = [_line(collection, tuple(row)) for row in rows]
    made = no_columns(collection, mark=0).changed(lines, (), mark=mark, has_new_terms=True)
    made.rank(collection.default_sort)
    return made


def _line(collection: Collection, row: Sequence[Any]) -> Line:
    return line_of(collection, [from_stored(value) if isinstance(value, str) else value for value in row])


def _document(collection: Collection, row: asyncpg.Record) -> Document:
    texts = {name: from_stored(row[name]) for name in (*collection.facets, *collection.text_sorts)}
    facets = {
        name: decode_facet(texts[name]) if name in collection.many_valued else texts[name] for name in collection.facets
    }
    sorts = {**{name: row[name] for name in collection.number_sorts}, **{n: texts[n] for n in collection.text_sorts}}
    terms = tuple(sorted(row["found"] or ()))
    return Document(collection, from_stored(row["id"]), row["row"], facets, sorts, terms, row["weight"])
