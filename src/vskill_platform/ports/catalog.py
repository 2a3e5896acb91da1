"""The catalog: what pages ask. Written in the same commit as the records, so that it cannot drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from vskill_platform.domain.catalog import Collection, Document
from vskill_platform.domain.errors import InvalidInput, InvalidQuery
from vskill_platform.ports.kv import check_text

MAX_CATALOG_PAGE = 1000
MAX_OFFSET = 1_000_000
MAX_SEARCH_CHARS = 512
MAX_FACET_VALUES = 5000


@dataclass(frozen=True, slots=True)
class CatalogQuery:
    """Documents of a collection that match every facet (any of its values) and the search, one page of them.

    Without a sort, a search orders by relevance, the best first whatever `descending` says, and anything else by the
    collection's default. Documents with equal sort values are ordered by id, in the same direction. `counts` names facets whose
    values are to be counted.
    """

    collection: Collection
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    search: str = ""
    sort: str | None = None
    descending: bool = True
    limit: int = 50
    offset: int = 0
    counts: tuple[str, ...] = ()


class CatalogPage(NamedTuple):
    """Rows of one page (the documents' `row`, with their ids), how many match in all, and the counts that were asked for.

    A facet is counted among what would match if the query did not filter by that very facet, so that the counts say what each
    other choice would give. Values that none has are not there.
    """

    rows: list[tuple[str, bytes]]
    total: int
    counts: dict[str, dict[str, int]]


class Catalog(Protocol):
    """Reads over the documents that commits have indexed."""

    async def query(self, query: CatalogQuery) -> CatalogPage:
        """One page, the exact total and the counts, of one and the same moment. A search without any term matches everything.

        Raises InvalidQuery for a facet or sort that the collection does not have, or a page outside the limits. Of a
        search only the first 16 terms count.
        """
        ...

    async def counts(self, collection: Collection, facet: str) -> dict[str, int]:
        """How many documents have each value of a facet. Values that none has are not there."""
        ...

    async def documents(
        self, collection: Collection, *, after: str = "", limit: int = MAX_CATALOG_PAGE
    ) -> Sequence[Document]:
        """Documents as they are kept, in the order of their ids' bytes, those after an id. None left: an empty answer.

        Terms come sorted, each once. A document whose terms a search would not find it by comes without any. `limit` is
        1 to 1000.
        """
        ...

    async def form(self) -> int:
        """The form that the documents are in: 0 in a new store, and in one that an earlier version has left."""
        ...

    async def set_form(self, form: int) -> None:
        """Note the form that the documents are in."""
        ...


def check_query(query: CatalogQuery) -> None:
    """Raise InvalidQuery unless the collection can answer the query."""
    declared = query.collection
    for facet, values in query.where.items():
        check_facet(declared, facet)
        if len(values) > MAX_FACET_VALUES:
            raise InvalidQuery(f"A facet is filtered by at most {MAX_FACET_VALUES} values; {len(values)} were given.")
        _check_text(*values)
    for facet in query.counts:
        check_facet(declared, facet)
    _check_text(query.search)
    if query.sort is not None and query.sort not in declared.sorts:
        raise InvalidQuery(f"'{declared.name}' is sorted by {', '.join(declared.sorts)}, not by '{query.sort}'.")
    if not 1 <= query.limit <= MAX_CATALOG_PAGE or not 0 <= query.offset <= MAX_OFFSET:
        raise InvalidQuery(f"A page has 1 to {MAX_CATALOG_PAGE} rows and begins at 0 to {MAX_OFFSET}.")
    if len(query.search) > MAX_SEARCH_CHARS:
        raise InvalidQuery(f"A search has at most {MAX_SEARCH_CHARS} characters.")


def _check_text(*texts: str) -> None:
    try:
        check_text(*texts)
    except InvalidInput as exc:
        raise InvalidQuery("A query must be valid Unicode text.") from exc


def check_facet(collection: Collection, facet: str) -> None:
    """Raise InvalidQuery unless the collection has the facet."""
    if facet not in collection.facets:
        raise InvalidQuery(f"'{collection.name}' is filtered by {', '.join(collection.facets)}, not by '{facet}'.")
