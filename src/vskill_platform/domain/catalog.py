"""What the catalog holds: collections of documents, with the facets and sorts that pages ask for.

A facet is a word that documents are filtered and counted by; a sort is a number or a text that they are ordered by. Each
engine makes its indexes from these declarations, so that all engines answer the same questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from vskill_platform.domain.errors import InvalidInput

MIN_NUMBER, MAX_NUMBER = -(2**63), 2**63 - 1
"""What a number may be, in a sort and everywhere else in a store."""


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

    def with_terms_sorted(self) -> Document:
        """The same with its terms in order, each once: how documents are compared, since a search knows no order."""
        return replace(self, terms=tuple(sorted(set(self.terms))))

    def __post_init__(self) -> None:
        declared = self.collection
        numbers = [self.sorts.get(name) for name in declared.number_sorts]
        texts = [self.id, *self.facets.values(), *(self.sorts.get(name) for name in declared.text_sorts)]
        if (
            set(self.facets) != set(declared.facets)
            or set(self.sorts) != set(declared.sorts)
            or not all(isinstance(number, int) and MIN_NUMBER <= number <= MAX_NUMBER for number in numbers)
            or not all(isinstance(text, str) and _is_valid(text) for text in texts)
        ):
            raise InvalidInput(
                f"A document of '{declared.name}' needs texts for the facets {declared.facets} and the sorts "
                f"{declared.text_sorts}, and numbers of 64 bits for the sorts {declared.number_sorts}.",
                collection=declared.name,
            )


def _is_valid(text: str) -> bool:
    return text.isascii() or text.encode(errors="ignore").decode() == text
