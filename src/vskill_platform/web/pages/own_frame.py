"""What every page about somebody's own has: the places of an account, and answers that nobody keeps."""

from __future__ import annotations

from typing import Any

from litestar import Response

from vskill_platform.web.access import caller_of
from vskill_platform.web.pages.rendering import PageRequest, Place, page

OWN_PLACES = (
    Place("account", "Account", "/account"),
    Place("publishers", "Publishers", "/account/publishers"),
    Place("submissions", "Submissions", "/account/submissions"),
)


def own_page(request: PageRequest, template: str, *, section: str, **context: Any) -> Response[str]:
    """A page of somebody's own, with `caller` and the places beside its own context."""
    around: dict[str, Any] = {"caller": caller_of(request), "own_places": OWN_PLACES, "own_section": section}
    return page(request, template, headers={"Cache-Control": "no-store"}, **around, **context)
