"""What the catalog holds: collections of documents, with the facets and sorts that pages ask for.

A facet is a word that documents are filtered and counted by; a sort is a number or a text that they are ordered by. Each
engine makes its indexes from these declarations, so that all engines answer the same questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vskill_platform.domain.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Collection:
    """The declaration of one kind of document."""

    name: str
    facets: tuple[str, ...]
    number_sorts: tuple[str, ...]
    text_sorts: tuple[str, ...]
    default_sort: str

    @property
    def sorts(self) -> tuple[str, ...]:
        """Every name that a query may sort by."""
        return (*self.number_sorts, *self.text_sorts)


SUBMISSIONS = Collection(
    name="submissions",
    facets=("state", "repo_url"),
    number_sorts=("created", "updated"),
    text_sorts=("skill_name",),
    default_sort="updated",
)
SKILLS = Collection(
    name="skills",
    facets=("tier", "category", "publisher"),
    number_sorts=("updated", "score"),
    text_sorts=("name",),
    default_sort="updated",
)
COLLECTIONS: dict[str, Collection] = {collection.name: collection for collection in (SUBMISSIONS, SKILLS)}


@dataclass(frozen=True, slots=True)
class Document:
    """One row of the catalog: everything a list shows (`row`, JSON), and what it is found, counted and ordered by."""

    collection: Collection
    id: str
    row: bytes
    facets: Mapping[str, str]
    sorts: Mapping[str, int | str]
    terms: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        declared = self.collection
        if set(self.facets) != set(declared.facets) or set(self.sorts) != set(declared.sorts):
            raise InvalidInput(
                f"A document of '{declared.name}' needs the facets {declared.facets} and the sorts {declared.sorts}.",
                collection=declared.name,
            )
