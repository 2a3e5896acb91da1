"""Names that have values of their own for a while: the parameters of one call, or the variable of one turn of a loop."""

from __future__ import annotations

from vskill_platform.scanning.tier1.code.python.model import Scope
from vskill_platform.scanning.tier1.code.python.values import Value

Key = int | tuple[int, str]
"""What a question is known by: the number of a node, or a name and the number of what it belongs to."""
DEEPEST_FRAME = 4
"""Calls and loops within each other that are worked out turn by turn."""


class Frame:
    """A layer over the names of a scope, with the answers found under it, and the questions still open."""

    __slots__ = ("depth", "is_call", "known", "names", "open", "parent", "scope")

    def __init__(
        self,
        scope: Scope | None = None,
        names: dict[str, Value] | None = None,
        *,
        parent: Frame | None = None,
        is_call: bool,
    ) -> None:
        self.scope = scope
        self.names = names or {}
        self.parent = parent
        self.is_call = is_call
        self.known: dict[Key, Value] = {}
        self.open: dict[Key, int] = {}
        self.depth: int = 0 if parent is None else parent.depth + 1
