"""Takes JavaScript and TypeScript apart into tokens, once from left to right, and pairs the brackets.

Whether `/` divides or begins a pattern is decided by what stands before it, as the language does: after `if (...)` and after
a block it begins a pattern, after a value it divides. Reading it wrongly would turn code into text or text into code.
"""

from __future__ import annotations

import re
from array import array

from vskill_platform.scanning.tier1.code.budget import Budget, TooDeep


class Kind:
    """What a token is. Numbers and no enumeration: they are compared for every token, and naming a member takes its time."""

    NAME = 1
    NUMBER = 2
    STRING = 3
    TEMPLATE = 4
    """A piece of text between backticks."""
    PATTERN = 5
    SIGN = 6
    END = 7


_TOKEN = re.compile(
    r"[\s\ufeff]*+(?:(?P<comment>//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)|<!--[^\n]*|\Z)"
    r"|(?P<name>(?:[A-Za-z_$\u0080-\U0010ffff]|\\u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,6}\}))"
    r"(?>[\w$\u0080-\U0010ffff]|\\u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,6}\}))*+|#[A-Za-z_$][\w$]*)"
    r"|(?P<string>\"(?>[^\"\\\n]+|\\(?s:.))*+\"?|'(?>[^'\\\n]+|\\(?s:.))*+'?)"
    r"|(?P<number>0[xXbBoO][0-9a-fA-F_]+n?|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?n?)"
    r"|(?P<sign>=>|\.\.\.|\?\.(?!\d)|\?\?=?|&&=?|\|\|=?|[=!]==?|<=|>=|\+\+|--|\*\*=?|[-+*%&|^]=|(?s:.)))"
)
"""A token with the space before it."""
_COMMENT, _NAME, _STRING, _SIGN = map(_TOKEN.groupindex.__getitem__, ("comment", "name", "string", "sign"))
_PATTERN = re.compile(r"/(?>[^/\\\[\n]+|\\.|\[(?>[^\]\\\n]+|\\.)*+\])++/[a-z]*")
_CHUNK = re.compile(r"(?>[^`\\$]+|\\(?s:.)|\$(?!\{))*+")
_BEFORE_PATTERN = frozenset(
    [
        "return",
        "typeof",
        "case",
        "in",
        "of",
        "delete",
        "void",
        "throw",
        "new",
        "else",
        "do",
        "await",
        "yield",
        "instanceof",
        "default",
    ]
)
_AFTER_VALUE = frozenset(["++", "--"])
"""Signs behind which a value is still one."""
_HEADS = frozenset(["if", "while", "for", "with"])
_OPENING = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(")]}")
_BEFORE_BLOCK = frozenset([")", ";", "{", "}", "=>", "else", "do", "try", "finally", ""])
DEEPEST = 2_000
MOST_UNCLOSED = 8


class Tokens:
    """The tokens of a text. `pair` has for each bracket the number of the one that belongs to it, and for all else its own."""

    def __init__(self, text: str, *, budget: Budget) -> None:
        self.text = text
        self.kinds = bytearray()
        self.words: list[str] = []
        self.starts = array("I")
        self.ends = array("I")
        self._pairs: list[tuple[int, int]] = []
        self._stack: list[tuple[str, int, bool]] = []
        self._before = ""
        self._is_value = False
        self._read(budget)
        self._add(Kind.END, len(text), len(text))
        self.pair = self._paired()

    def __len__(self) -> int:
        return len(self.kinds)

    def word(self, number: int) -> str:
        """The text of a token."""
        return self.words[number]

    def _paired(self) -> array[int]:
        pair = array("I", range(len(self.kinds)))
        for opening, closing in self._pairs:
            pair[opening], pair[closing] = closing, opening
        return pair

    def _add(self, kind: int, start: int, end: int) -> str:
        word = self.text[start:end]
        self.kinds.append(kind)
        self.words.append(word)
        self.starts.append(start)
        self.ends.append(end)
        return word

    def _read(self, budget: Budget) -> None:
        text, at, end = self.text, 0, len(self.text)
        match = _TOKEN.match
        if text.startswith("#!"):
            at = max(text.find("\n"), 0)
        while at < end:
            found = match(text, at)
            if found is None:
                at += 1
                continue
            group = found.lastindex or 0
            start, at = found.span(group)
            if group == _COMMENT:
                continue
            if (
                group == _SIGN
                and text[start] == "/"
                and not self._is_value
                and (pattern := _PATTERN.match(text, start))
            ):
                at = pattern.end()
                self._add(Kind.PATTERN, start, at)
                self._note("/", is_value=True)
                continue
            budget.spend()
            if group == _SIGN:
                at = self._sign(start, at)
            elif group == _NAME:
                self._before = word = self._add(Kind.NAME, start, at)
                self._is_value = word not in _BEFORE_PATTERN
            else:
                self._add(Kind.STRING if group == _STRING else Kind.NUMBER, start, at)
                self._before, self._is_value = "", True

    def _note(self, word: str, *, is_value: bool) -> None:
        self._before = word
        self._is_value = is_value

    def _sign(self, start: int, end: int) -> int:
        """One sign; gives where to go on, which is further on behind a backtick."""
        sign = self._add(Kind.SIGN, start, end)
        if sign in _OPENING:
            is_special = self._before in _HEADS if sign == "(" else sign == "{" and self._before in _BEFORE_BLOCK
            self._push(_OPENING[sign], is_special=is_special)
            self._note(sign, is_value=False)
        elif sign in _CLOSING:
            return self._close(sign, end)
        elif sign == "`":
            self._push("`")
            return self._chunk(end)
        else:
            self._before, self._is_value = sign, self._is_value and sign in _AFTER_VALUE
        return end

    def _push(self, closing: str, *, is_special: bool = False) -> None:
        """Remember the bracket that was added last, and what closes it."""
        self._stack.append((closing, len(self.kinds) - 1, is_special))
        if len(self._stack) > DEEPEST:
            raise TooDeep

    def _close(self, sign: str, end: int) -> int:
        self._drop_unclosed(sign)
        if not self._stack or self._stack[-1][0] != sign:
            self._note(sign, is_value=sign != "}")
            return end
        _, opening, is_special = self._stack.pop()
        self._pairs.append((opening, len(self.kinds) - 1))
        if (
            sign == "}"
            and self._stack
            and self._stack[-1][0] == "`"
            and self.word(opening) == "{"
            and self._is_hole(opening)
        ):
            return self._chunk(end)
        self._note(sign, is_value=not is_special)
        return end

    def _drop_unclosed(self, sign: str) -> None:
        """Gives up on brackets that were opened and not closed, where this one closes what stands around them."""
        if self._stack and self._stack[-1][0] == sign:
            return
        above = self._stack[-MOST_UNCLOSED:]
        for depth, (closing, _, _) in enumerate(reversed(above)):
            if closing == sign:
                del self._stack[len(self._stack) - depth :]
                return
            if closing == "`":
                return

    def _is_hole(self, opening: int) -> bool:
        """Whether a brace was opened by `${`."""
        start = self.starts[opening]
        return start > 0 and self.text[start - 1] == "$" and opening > 0 and self.kinds[opening - 1] == Kind.TEMPLATE

    def _chunk(self, start: int) -> int:
        """Text between backticks, up to the next hole or to the end."""
        found = _CHUNK.match(self.text, start)
        end = found.end() if found else start
        self._add(Kind.TEMPLATE, start, end)
        if self.text.startswith("${", end):
            self._add(Kind.SIGN, end + 1, end + 2)
            self._push("}")
            self._note("{", is_value=False)
            return end + 2
        if self._stack and self._stack[-1][0] == "`":
            opening = self._stack.pop()[1]
            self._add(Kind.SIGN, end, min(end + 1, len(self.text)))
            self._pairs.append((opening, len(self.kinds) - 1))
        self._note("`", is_value=True)
        return end + 1
