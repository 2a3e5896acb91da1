"""Names and what they stand for, by function. What one reading of a program has learnt is there for the next."""

from __future__ import annotations

from vskill_platform.scanning.tier1.code.javascript.values import NOTHING, NOWHERE, Origin, Source, Value

MOST_NAMES = 50_000


class Scopes:
    """The scopes of a program. A scope belongs to the token that its function begins at, in every reading."""

    def __init__(self) -> None:
        self._kept: dict[int, dict[str, Value]] = {}
        self._open: list[dict[str, Value]] = []
        self._names = 0
        self._asked: set[str] = set()
        self.has_changed = False
        """Whether something became known of a name after it had been asked for."""

    def enter(self, key: int) -> None:
        """Opens the scope of a function."""
        self._open.append(self._kept.setdefault(key, {}))

    def enter_anew(self) -> None:
        """Opens a scope for one call, which nothing is kept of."""
        self._open.append({})

    def leave(self) -> None:
        """Closes the innermost scope."""
        self._open.pop()

    def declare(self, name: str, value: Value) -> None:
        """A name of the innermost scope. What an earlier reading knew of its origins stays known."""
        self._put(self._open[-1], name, value)

    def assign(self, name: str, value: Value) -> None:
        """Gives a new value to a name, wherever it was declared. Old origins stay: a branch may not be taken."""
        scope = next((scope for scope in reversed(self._open) if name in scope), self._open[0])
        self._put(scope, name, value)

    def look_up(self, name: str) -> Value | None:
        """What a name stands for, if the program says so."""
        self._asked.add(name)
        for scope in reversed(self._open):
            if name in scope:
                return scope[name]
        return None

    def _put(self, scope: dict[str, Value], name: str, value: Value) -> None:
        before = scope.get(name)
        if name in self._asked and not self.has_changed:
            known = before.origins if before is not None else NOWHERE
            self.has_changed = not value.origins <= known or (before is None and bool(value.path or value.function))
        if before is None:
            self._names += 1
            if self._names > MOST_NAMES:
                return
        scope[name] = value if before is None or before is NOTHING else value.having(before.origins)


def parameter_origin(function_key: int, number: int) -> Origin:
    """The origin of a function's parameter."""
    return Origin(Source.ARGUMENT, f"{function_key}:{number}")
