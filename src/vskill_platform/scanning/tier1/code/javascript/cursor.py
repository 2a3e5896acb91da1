"""Walks over the tokens of a program: the part of the reader that knows neither expressions nor statements."""

from __future__ import annotations

from abc import ABC

from vskill_platform.scanning.tier1.code.budget import Budget
from vskill_platform.scanning.tier1.code.javascript.tokens import Kind, Tokens

_END, _NAME, _SIGN = Kind.END, Kind.NAME, Kind.SIGN
_TYPE_STOPS = frozenset([",", ")", "]", "}", ";", "=", "=>", "?", "&&", "||", "??", "==", "===", "!=", "!==", "+", "."])


class Cursor(ABC):  # noqa: B024 - it is for readers to inherit, and stands for nothing by itself
    """A place among tokens."""

    def __init__(self, tokens: Tokens, *, budget: Budget) -> None:
        self._tokens = tokens
        self._kinds = tokens.kinds
        self._words = tokens.words
        self._last = len(tokens) - 1
        self._budget = budget
        self._i = 0
        self._kind = _END
        self._word = ""
        self._move(0)

    def _move(self, number: int) -> None:
        """Goes to a token."""
        self._i = number
        self._kind = self._kinds[number]
        self._word = self._words[number]

    def _next(self) -> None:
        if self._kind != _END:
            self._budget.spend()
            number = self._i = self._i + 1
            self._kind = self._kinds[number]
            self._word = self._words[number]

    def _peek(self, ahead: int = 1) -> str:
        """The sign or name further on, or an empty text where something else stands there."""
        number = min(self._i + ahead, self._last)
        kind = self._kinds[number]
        return self._words[number] if kind in (_SIGN, _NAME) else ""

    def _is(self, sign: str) -> bool:
        return self._word == sign and self._kind in (_SIGN, _NAME)

    def _is_name(self, *words: str) -> bool:
        """Whether the token here is a name, and one of these if some are given."""
        return self._kind == Kind.NAME and (not words or self._word in words)

    def _take(self, sign: str) -> bool:
        if self._word != sign or not self._is(sign):
            return False
        self._next()
        return True

    def _at(self) -> int:
        """Where the reader stands, as an offset in the text."""
        return self._tokens.starts[self._i]

    def _skip_group(self) -> None:
        """Passes over a bracket with all that is in it."""
        self._move(max(self._tokens.pair[self._i], self._i))
        self._next()

    def _leave_group(self, closing: int) -> None:
        """Goes behind a closing bracket, whatever has been read of the inside."""
        if closing > self._i:
            self._move(closing)
        if self._kind == Kind.SIGN and self._word in {")", "]", "}", "`"} and self._i == closing:
            self._next()

    def _skip_type_arguments(self) -> None:
        """`<...>` before the parenthesis of a call."""
        depth = 0
        while self._kind != Kind.END:
            depth += {"<": 1, ">": -1}.get(self._word, 0)
            self._next()
            if depth <= 0:
                return

    def _ends_type(self, word: str, stops: frozenset[str], depth: int) -> bool:
        """Whether a sign cannot belong to a type any more."""
        if word == ")" or (word == "}" and depth == 0):
            return True
        is_function_type = word == "=>" and self._peek(-1) == ")"
        return depth == 0 and word in stops and not is_function_type and word != "."

    def _skip_type(self, *, stops: frozenset[str] = _TYPE_STOPS) -> None:
        """Passes over a type: names, brackets and signs up to what cannot be part of one."""
        depth = 0
        first = True
        while self._kind != Kind.END:
            word = self._word if self._kind == Kind.SIGN else ""
            if word == "{" and not first and depth == 0 and self._peek(-1) not in {"|", "&", ":", "<", ","}:
                return
            if word in {"(", "[", "{"}:
                self._skip_group()
            elif self._ends_type(word, stops, depth):
                return
            else:
                depth = max(0, depth + {"<": 1, ">": -1}.get(word, 0))
                start = self._tokens.ends[self._i]
                self._next()
                if depth == 0 and self._is_name() and "\n" in self._tokens.text[start : self._at()]:
                    return
            first = False
