"""What acts of the admin API have in common in what they are asked with."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar.params import QueryParameter

MAX_ROWS = 1000
ManyRows = Annotated[int, QueryParameter(ge=1, le=MAX_ROWS, description=f"Rows of a page, 1 to {MAX_ROWS}.")]


class Reason(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Why. The audit log keeps it."""

    reason: str
