"""Pages of a list: where each begins, and the addresses that lead to the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from litestar.params import QueryParameter

from vskill_platform.ports.catalog import MAX_OFFSET

_AROUND = 2
MAX_PAGE = MAX_OFFSET + 1
PageNumber = Annotated[int, QueryParameter(name="page", ge=1, le=MAX_PAGE)]
"""The number of a page as an address has it."""


class PageLink(NamedTuple):
    """A page by its number; one without an address stands for those that are left out."""

    number: int
    href: str | None
    is_current: bool


class Paging(NamedTuple):
    """One page among others. `first` and `last` count rows from 1; both are 0 where there is none."""

    number: int
    total: int
    first: int
    last: int
    previous: str | None
    next: str | None
    pages: list[PageLink]


def offset_of(number: int, *, size: int) -> int:
    """Where a page begins; what lies beyond every list begins where lists end."""
    return min(max(number - 1, 0) * size, MAX_OFFSET)


def address(path: str, parameters: Mapping[str, object]) -> str:
    """A path with those parameters that say something; a sequence gives its name once for each value."""
    said = {name: value for name, value in parameters.items() if value not in ("", None, (), [])}
    return f"{path}?{urlencode(said, doseq=True)}" if said else path


def make_paging(path: str, *, number: int, size: int, total: int, parameters: Mapping[str, object]) -> Paging:
    """The pages of a list at a path; `parameters` are those that stay the same from page to page."""
    count = max(1, min(-(-total // size), MAX_OFFSET // size + 1))
    offset = offset_of(number, size=size)

    def href(to: int) -> str | None:
        return address(path, {**parameters, "page": to if to > 1 else None}) if 1 <= to <= count else None

    return Paging(
        number=number,
        total=total,
        first=offset + 1 if offset < total else 0,
        last=min(offset + size, total) if offset < total else 0,
        previous=href(min(number - 1, count)),
        next=href(number + 1),
        pages=[
            PageLink(to, href(to), to == number) if to else PageLink(0, None, False) for to in _shown(number, count)
        ],
    )


def _shown(number: int, count: int) -> Iterator[int]:
    """The numbers of the pages to show, with 0 for a gap: the first, the last and those around the present one."""
    near: Iterable[int] = range(number - _AROUND, number + _AROUND + 1)
    shown = sorted({1, count, *(to for to in near if 1 <= to <= count)})
    for before, to in zip([0, *shown], shown, strict=False):
        if to - before == 2:
            yield before + 1
        elif to - before > 2:
            yield 0
        yield to
