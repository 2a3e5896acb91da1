"""Writing catalog documents: one table a collection, with a full-text index of terms beside it.

Terms go into the index as the hex digits of their UTF-8 bytes. So the tokeniser can neither split nor fold them, a
query cannot break out of its quotes, and the beginning of a term is the beginning of its digits.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import apsw

from vskill_platform.domain.catalog import Collection, Document
from vskill_platform.domain.relevance import can_be_misspelt
from vskill_platform.engines.facets import decode_facet, encode_facet
from vskill_platform.engines.sqlite.connection import fetch_all, fetch_one


def index_document(connection: apsw.Connection, document: Document) -> None:
    """Write a document in place of the one with the same id. The terms are written only if they changed."""
    collection = document.collection
    sql = _statements(collection)
    terms = encode_terms(document.terms)
    known = fetch_one(connection, sql.find, (document.id,))
    facets = tuple(encode_facet(document.facets[name]) for name in collection.facets)
    sorts = tuple(document.sorts[name] for name in collection.sorts)
    values = (*facets, *sorts, document.weight, terms, document.row)
    if known is None:
        connection.execute(sql.insert, (document.id, *values))
        connection.execute(sql.insert_terms, (connection.last_insert_rowid(), terms))
        _learn_words(connection, document)
        return
    number, known_terms = known
    connection.execute(sql.update, (*values, number))
    if known_terms != terms:
        connection.execute(sql.delete_terms, (number,))
        connection.execute(sql.insert_terms, (number, terms))
        _learn_words(connection, document)


def _learn_words(connection: apsw.Connection, document: Document) -> None:
    """Note the words that a misspelt one may stand for."""
    if document.collection.is_ranked:
        words = tuple(term for term in document.terms if can_be_misspelt(term))
        connection.execute(_statements(document.collection).learn, (encode_facet(words),))


def unindex_document(connection: apsw.Connection, collection: Collection, identity: str) -> None:
    """Remove a document, if it is there."""
    sql = _statements(collection)
    known = fetch_one(connection, sql.find, (identity,))
    if known is not None:
        connection.execute(sql.delete, (known[0],))
        connection.execute(sql.delete_terms, (known[0],))


def read_documents(connection: apsw.Connection, collection: Collection, *, after: str, limit: int) -> list[Document]:
    """Documents after an id as they are kept; one that the full-text index does not find comes without terms."""
    sql = _statements(collection)
    found: list[Document] = []
    with connection:  # the rows and the index of one moment
        for number, identity, row, terms, weight, *values in fetch_all(connection, sql.read, (after, limit)):
            is_found = not terms or fetch_one(connection, sql.is_found, (_match_all(terms), number)) is not None
            known = decode_terms(terms) if is_found else ()
            facets, sorts = _facets_and_sorts(collection, values)
            document = Document(collection, identity, row, facets, sorts, known, weight)
            found.append(document.with_terms_sorted())
    return found


def _facets_and_sorts(
    collection: Collection, values: list[Any]
) -> tuple[dict[str, str | tuple[str, ...]], dict[str, int | str]]:
    facets = {
        name: decode_facet(value) if name in collection.many_valued else value
        for name, value in zip(collection.facets, values, strict=False)
    }
    return facets, dict(zip(collection.sorts, values[len(facets) :], strict=True))


def _match_all(terms: str) -> str:
    return " AND ".join(f'"{term}"' for term in terms.split())


def decode_terms(terms: str) -> tuple[str, ...]:
    """The terms that `encode_terms` was given. What it cannot have made gives none."""
    try:
        return tuple(bytes.fromhex(term).decode() for term in terms.split())
    except ValueError:
        return ()


def encode_terms(terms: tuple[str, ...]) -> str:
    """Terms as the full-text index holds them."""
    return " ".join(encode_term(term) for term in terms)


def encode_term(term: str) -> str:
    """One term as a word that the tokeniser leaves alone."""
    return term.encode().hex()


class _Statements:
    """The SQL for one collection; its names come from declarations in our own code, never from input."""

    def __init__(self, collection: Collection) -> None:
        table = f"catalog_{collection.name}"
        columns = (*collection.facets, *collection.sorts, "weight", "terms", "row")
        marks = ", ".join("?" for _ in columns)
        self.find = f"SELECT number, terms FROM {table} WHERE id = ?"
        self.read = (
            f"SELECT number, id, row, terms, weight, {', '.join(columns[:-3])} FROM {table} "
            "WHERE id > ? ORDER BY id LIMIT ?"
        )
        self.is_found = f"SELECT 1 FROM {table}_terms WHERE {table}_terms MATCH ? AND rowid = ?"
        self.insert = f"INSERT INTO {table} (id, {', '.join(columns)}) VALUES (?, {marks})"
        self.update = f"UPDATE {table} SET {', '.join(f'{column} = ?' for column in columns)} WHERE number = ?"
        self.delete = f"DELETE FROM {table} WHERE number = ?"
        self.insert_terms = f"INSERT INTO {table}_terms (rowid, terms) VALUES (?, ?)"
        self.learn = f"INSERT OR IGNORE INTO {table}_words SELECT value FROM json_each(?)"
        self.delete_terms = f"DELETE FROM {table}_terms WHERE rowid = ?"


@cache
def _statements(collection: Collection) -> _Statements:
    return _Statements(collection)
