"""A problem document: how the API tells errors, and what its clients read them from."""

from __future__ import annotations

import msgspec


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A problem document. `code` is stable; `detail` is for people."""

    title: str
    status: int
    code: str
    detail: str
    type: str = "about:blank"
