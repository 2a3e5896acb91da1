"""Reading the catalog: by the columns in memory, the full-text index, and the rows."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np

from vskill_platform.domain.catalog import Collection, Document
from vskill_platform.domain.search_terms import QueryTerm
from vskill_platform.engines.catalog_pages import Answer, FindTerms, KnownWords, Need, ReadRows, RowMissing, answer
from vskill_platform.engines.columns import Columns, Line, Numbers, no_columns
from vskill_platform.engines.facets import encode_facet, line_of
from vskill_platform.engines.sqlite.connection import fetch_all
from vskill_platform.engines.sqlite.documents import encode_term, read_documents
from vskill_platform.engines.sqlite.readers import Readers
from vskill_platform.engines.sqlite.writer import Writer
from vskill_platform.ports.catalog import MAX_CATALOG_PAGE, CatalogPage, CatalogQuery, check_facet, check_query
from vskill_platform.ports.kv import check_limit

_FORM = "SELECT last FROM sequence WHERE name = 'catalog form'"
_SET_FORM = "UPDATE sequence SET last = ? WHERE name = 'catalog form'"
_NOBODY: Numbers = np.zeros(0, dtype=np.int32)


class SqliteCatalog:
    """Catalog over the readers."""

    def __init__(self, readers: Readers, writer: Writer) -> None:
        self._readers = readers
        self._writer = writer
        self._columns: dict[str, Columns] = {}
        self._refreshing = threading.Lock()

    async def query(self, query: CatalogQuery) -> CatalogPage:
        """One page of documents."""
        check_query(query)
        return await self._readers.bulk(lambda connection: self._answer(connection, query))

    async def counts(self, collection: Collection, facet: str) -> dict[str, int]:
        """Documents by value of a facet."""
        check_facet(collection, facet)
        return await self._readers.bulk(lambda connection: self._present(connection, collection).count(facet, None))

    async def documents(
        self, collection: Collection, *, after: str = "", limit: int = MAX_CATALOG_PAGE
    ) -> Sequence[Document]:
        """Documents in the order of their ids."""
        check_limit(limit)
        return await self._readers.bulk(
            lambda connection: read_documents(connection, collection, after=after, limit=limit)
        )

    async def form(self) -> int:
        """The form that the documents are in."""
        return await self._readers.bulk(lambda connection: int(connection.execute(_FORM).get))

    async def set_form(self, form: int) -> None:
        """Note the form that the documents are in."""
        await self._writer.run(lambda transaction: transaction.connection.execute(_SET_FORM, (form,)).fetchall())

    def _answer(self, connection: apsw.Connection, query: CatalogQuery) -> CatalogPage:
        try:
            return self._answer_once(connection, query)
        except RowMissing:
            self._columns.pop(query.collection.name, None)
            return self._answer_once(connection, query)

    def _answer_once(self, connection: apsw.Connection, query: CatalogQuery) -> CatalogPage:
        connection.execute("BEGIN")  # one moment for the columns, the index and the rows
        try:
            return _drive(answer(query, self._present(connection, query.collection)), connection, query.collection)
        finally:
            connection.execute("ROLLBACK")

    def _present(self, connection: apsw.Connection, collection: Collection) -> Columns:
        """The columns of the moment that the connection's transaction sees, which begins in here."""
        with self._refreshing:
            present = _refresh(connection, collection, self._columns.get(collection.name))
            self._columns[collection.name] = present
            return present


def _drive(asking: Answer, connection: apsw.Connection, collection: Collection) -> CatalogPage:
    """Look up what the answer asks for, until it is there."""
    try:
        need = next(asking)
        while True:
            need = asking.send(_look_up(need, connection, collection))
    except StopIteration as done:
        page: CatalogPage = done.value
        return page


def _look_up(need: Need, connection: apsw.Connection, collection: Collection) -> Any:
    table = f"catalog_{collection.name}"
    match need:
        case FindTerms(terms=terms):
            return [_find_term(connection, table, term) for term in terms]
        case KnownWords(words=words):
            sql = f"SELECT word FROM {table}_words WHERE word IN (SELECT value FROM json_each(?))"
            return [word for (word,) in fetch_all(connection, sql, (encode_facet(words),))]
        case ReadRows(numbers=numbers):
            marks = ", ".join("?" for _ in numbers)
            return dict(fetch_all(connection, f"SELECT number, row FROM {table} WHERE number IN ({marks})", numbers))


def _find_term(connection: apsw.Connection, table: str, term: QueryTerm) -> Numbers:
    """Who has a term. The numbers come as one text: a row for each would cost more than finding them."""
    sql = f"SELECT group_concat(rowid, ' ') FROM {table}_terms WHERE {table}_terms MATCH ?"
    found = connection.execute(sql, (f'"{encode_term(term.text)}"{"*" if term.is_prefix else ""}',)).get
    return _NOBODY if found is None else np.fromstring(found, dtype=np.int32, sep=" ")


def _refresh(connection: apsw.Connection, collection: Collection, known: Columns | None) -> Columns:
    """The columns as of now: those that are known with what has changed since, or all anew."""
    table = f"catalog_{collection.name}"
    ends = f"SELECT (SELECT min(sequence) FROM {table}_changes), (SELECT max(sequence) FROM {table}_changes)"
    first, last = fetch_all(connection, ends)[0]
    mark = last or 0
    if known is not None and known.mark == mark:
        return known
    columns = ", ".join(f"{table}.{name}" for name in ("id", *collection.facets, *collection.sorts, "weight"))
    if known is None or (first is not None and known.mark < first - 1):
        lines = fetch_all(connection, f"SELECT {table}.number, {columns} FROM {table}")
        return no_columns(collection, mark=0).changed(_lines(collection, lines), (), mark=mark, has_new_terms=True)
    changes = fetch_all(
        connection,
        f"SELECT changed.number, changed.has_terms, {columns} FROM (SELECT number, max(has_terms) AS has_terms "
        f"FROM {table}_changes WHERE sequence > ? GROUP BY number) AS changed LEFT JOIN {table} USING (number)",
        (known.mark,),
    )
    there = [(number, *line) for number, _, *line in changes if line[0] is not None]
    gone = [number for number, _, identity, *_ in changes if identity is None]
    has_new_terms = any(has_terms for _, has_terms, *_ in changes)
    return known.changed(_lines(collection, there), gone, mark=mark, has_new_terms=has_new_terms)


def _lines(collection: Collection, rows: Sequence[Sequence[Any]]) -> list[Line]:
    return [line_of(collection, row) for row in rows]
