"""What the catalog holds: collections of documents, with the facets and sorts that pages ask for.

A facet is a word that documents are filtered and counted by; of a facet that is declared many-valued a document may have several.
A sort is a number or a text that they are ordered by. Each engine makes its tables from these declarations, so that all engines
answer the same questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from vskill_platform.domain.errors import InvalidInput

MIN_NUMBER, MAX_NUMBER = -(2**63), 2**63 - 1
"""What a number may be, in a sort and everywhere else in a store."""


@dataclass(frozen=True, slots=True)
class Collection:
    """The declaration of one kind of document.

    The first text sort is the documents' title, their id is their path. Documents of a ranked collection have the terms of
    `titled_terms`, and a search forgives a misspelt word there.
    """

    name: str
    facets: tuple[str, ...]
    number_sorts: tuple[str, ...]
    text_sorts: tuple[str, ...]
    default_sort: str
    many_valued: tuple[str, ...] = ()
    is_ranked: bool = False

    @property
    def sorts(self) -> tuple[str, ...]:
        """Every name that a query may sort by."""
        return (*self.number_sorts, *self.text_sorts)


SUBMISSIONS = Collection(
    name="submissions",
    facets=("state", "repo_url", "verdict"),
    number_sorts=("created", "updated"),
    text_sorts=("skill_name",),
    default_sort="updated",
)
SKILLS = Collection(
    name="skills",
    facets=("tier", "category", "publisher", "capability"),
    number_sorts=("updated", "published", "score", "installs"),
    text_sorts=("name",),
    default_sort="updated",
    many_valued=("capability",),
    is_ranked=True,
)
CATALOG_FORM = 1
"""The form of documents that this version makes of records. A change to what it makes counts it up; a catalog in an earlier form
is made anew when it is opened."""
COLLECTIONS: dict[str, Collection] = {collection.name: collection for collection in (SUBMISSIONS, SKILLS)}


@dataclass(frozen=True, slots=True)
class Document:
    """One row of the catalog: everything a list shows (`row`, JSON), and what it is found, counted and ordered by.

    A facet has a text; one that the collection declares many-valued has a tuple of texts, sorted, each once. `weight` orders
    documents that a search finds equally well, the highest first.
    """

    collection: Collection
    id: str
    row: bytes
    facets: Mapping[str, str | tuple[str, ...]]
    sorts: Mapping[str, int | str]
    terms: tuple[str, ...] = field(default=())
    weight: int = 0

    def with_terms_sorted(self) -> Document:
        """The same with its terms in order, each once: how documents are compared, since a search knows no order."""
        return replace(self, terms=tuple(sorted(set(self.terms))))

    def values_of(self, facet: str) -> tuple[str, ...]:
        """The texts that the document has for a facet."""
        values = self.facets[facet]
        return (values,) if isinstance(values, str) else values

    def __post_init__(self) -> None:
        declared = self.collection
        numbers = [self.weight, *(self.sorts.get(name) for name in declared.number_sorts)]
        texts = [self.id, *self._facet_texts(), *(self.sorts.get(name) for name in declared.text_sorts)]
        if (
            set(self.facets) != set(declared.facets)
            or set(self.sorts) != set(declared.sorts)
            or not all(isinstance(number, int) and MIN_NUMBER <= number <= MAX_NUMBER for number in numbers)
            or not all(isinstance(text, str) and _is_valid(text) for text in texts)
        ):
            raise InvalidInput(
                f"A document of '{declared.name}' needs texts for the facets {declared.facets} and the sorts "
                f"{declared.text_sorts}, and numbers of 64 bits for the sorts {declared.number_sorts}. The facets "
                f"{declared.many_valued} need tuples of texts, sorted, each once.",
                collection=declared.name,
            )

    def _facet_texts(self) -> list[object]:
        """Every text of every facet; None in place of a value that is not of the form that its facet is declared in."""
        texts: list[object] = []
        for facet, value in self.facets.items():
            if facet not in self.collection.many_valued:
                texts.append(value)
            elif isinstance(value, tuple) and list(value) == sorted(set(value)):
                texts.extend(value)
            else:
                texts.append(None)
        return texts


def _is_valid(text: str) -> bool:
    return text.isascii() or text.encode(errors="ignore").decode() == text
