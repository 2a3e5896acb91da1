"""The list of published skills: what a reader wishes to see, read from the address, and the filters to choose from."""

from __future__ import annotations

import heapq
from typing import NamedTuple

from litestar import Response, get

from vskill_platform.domain.errors import InvalidQuery
from vskill_platform.domain.skill import CertTier
from vskill_platform.stores.skills import SkillQuery, SkillRows, search_skills
from vskill_platform.web.pages.paging import Paging, address, make_paging, offset_of
from vskill_platform.web.pages.rendering import PageRequest, page
from vskill_platform.web.pages.wording import CAPABILITY_WORDS, words
from vskill_platform.web.surface.kept_answers import KEPT

PATH = "/skills"
PAGE_SIZE = 25
FACETS = {"tier": "Tier", "capability": "Can", "category": "Category", "publisher": "Publisher"}
SORTS = {
    "updated": "Recently updated",
    "published": "Newest",
    "installs": "Most installed",
    "score": "Highest score",
    "name": "Name",
}
_BY_ITSELF = "updated"
"""The order of a list that nobody has ordered or searched."""
_ASCENDING = ("name",)
_MOST_VALUES = 10
_ORDERS = {"tier": tuple(tier.value for tier in reversed(CertTier)), "capability": tuple(CAPABILITY_WORDS)}
_LAST_PAGE = 10_000


class Wish(NamedTuple):
    """What a reader wishes to see: words, values of facets, an order and a page."""

    search: str = ""
    chosen: dict[str, tuple[str, ...]] = {}  # noqa: RUF012 - never changed
    sort: str = ""
    number: int = 1

    @property
    def parameters(self) -> dict[str, object]:
        """The same as parameters of an address, less the page."""
        return {"q": self.search, **self.chosen, "sort": self.sort}

    @property
    def is_narrow(self) -> bool:
        """Whether any words or filters leave something out."""
        return bool(self.search or any(self.chosen.values()))

    def without(self, facet: str, value: str) -> str:
        """The address of the same wish, less one value of a facet."""
        left = tuple(kept for kept in self.chosen.get(facet, ()) if kept != value)
        return address(PATH, {**self.parameters, facet: left})


class FacetValue(NamedTuple):
    """One value to choose: how it is written, how many skills it would leave, whether it is chosen."""

    value: str
    label: str
    skills: int
    is_chosen: bool


class Facet(NamedTuple):
    """A group of values to choose from; `left_out` says how many more there are."""

    name: str
    title: str
    values: list[FacetValue]
    left_out: int


@get(PATH, opt={KEPT: True})
async def browse_skills(request: PageRequest) -> Response[str]:
    """Published skills: search, filters with counts, order and pages."""
    wish = read_wish(request)
    found = await find_wished(wish)
    paging = make_paging(PATH, number=wish.number, size=PAGE_SIZE, total=found.total, parameters=wish.parameters)
    return page(
        request,
        "skills.html",
        headers={"HX-Push-Url": address(PATH, {**wish.parameters, "page": wish.number if wish.number > 1 else None})},
        wish=wish,
        rows=found.rows,
        paging=paging,
        summary=_summary(wish, paging),
        facets=[_facet(name, wish.chosen[name], found.counts.get(name, {})) for name in FACETS],
        sorts=_sorts_of(wish),
        removals=[(label_of(name, value), wish.without(name, value)) for name in FACETS for value in wish.chosen[name]],
    )


async def find_wished(wish: Wish) -> SkillRows:
    """The skills that a reader wishes to see. Raises InvalidQuery."""
    return await search_skills(
        SkillQuery(
            search=wish.search,
            **wish.chosen,
            sort=wish.sort or None,
            descending=wish.sort not in _ASCENDING,
            limit=PAGE_SIZE,
            offset=offset_of(wish.number, size=PAGE_SIZE),
            counts=tuple(FACETS),
        )
    )


def read_wish(request: PageRequest) -> Wish:
    """What the parameters of an address ask for; those that mean nothing here are left alone. Raises InvalidQuery."""
    given = request.query_params
    sort = given.get("sort", "")
    if sort and sort not in SORTS:
        raise InvalidQuery(f"Skills are sorted by {', '.join(SORTS)}, not by '{sort}'.")
    return Wish(
        search=given.get("q", "").strip(),
        chosen={name: tuple(dict.fromkeys(filter(None, given.getall(name, [])))) for name in FACETS},
        sort=sort,
        number=read_page_number(request),
    )


def read_page_number(request: PageRequest) -> int:
    """The page that an address asks for; the first where it names none. Raises InvalidQuery."""
    given = request.query_params.get("page", "") or "1"
    if not (given.isascii() and given.isdigit() and 1 <= int(given[:6]) <= _LAST_PAGE and len(given) < 6):
        raise InvalidQuery(f"Pages are numbered from 1 to {_LAST_PAGE:,}.")
    return int(given)


def _sorts_of(wish: Wish) -> dict[str, str]:
    """The orders to choose from. The first is that of a list as it comes, so that words typed next are not bound to another."""
    if wish.search:
        return {"": "Best match", **SORTS}
    return {"": SORTS[_BY_ITSELF], **{sort: label for sort, label in SORTS.items() if sort != _BY_ITSELF}}


def label_of(facet: str, value: str) -> str:
    """How a value of a facet is written."""
    if facet == "capability":
        return CAPABILITY_WORDS[value].title if value in CAPABILITY_WORDS else words(value)
    return words(value) if facet == "tier" else value


def _facet(name: str, chosen: tuple[str, ...], counts: dict[str, int]) -> Facet:
    first = in_order(name, counts, most=_MOST_VALUES)
    shown = [*first, *(value for value in chosen if value not in first)]
    values = [FacetValue(value, label_of(name, value), counts.get(value, 0), value in chosen) for value in shown]
    left_out = len(counts) - ("" in counts) - sum(value in counts for value in shown)
    return Facet(name, FACETS[name], values, left_out)


def in_order(name: str, counts: dict[str, int], *, most: int) -> list[str]:
    """Tiers and capabilities in the order of their list, other values by how many skills have them; no empty ones."""
    fixed = {value: place for place, value in enumerate(_ORDERS.get(name, ()))}
    # Thousands of publishers are counted and few are shown: those that cannot be among them are left out before sorting.
    least = min(heapq.nlargest(most + 1, counts.values()), default=0)
    near = [value for value, count in counts.items() if count >= least and value]
    return sorted(near, key=lambda value: (fixed.get(value, len(fixed)), -counts[value], value))[:most]


def _summary(wish: Wish, paging: Paging) -> str:
    """How many there are and which of them are shown, in a sentence."""
    if not paging.total:
        return "No skills"
    what = "skill" if paging.total == 1 else "skills"
    whole = f"{paging.total:,} {what}" + (f" for “{wish.search}”" if wish.search else "")
    return whole if paging.last - paging.first + 1 >= paging.total else f"{paging.first:,}–{paging.last:,} of {whole}"
