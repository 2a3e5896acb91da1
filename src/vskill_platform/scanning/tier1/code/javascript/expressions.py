"""Reads expressions and evaluates them as it reads: there is no tree, only the value of what was read.

Operators that do not matter for where values come from are read loosely. Types are passed over.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import replace

from vskill_platform.scanning.tier1.code.budget import Budget
from vskill_platform.scanning.tier1.code.javascript.cursor import Cursor
from vskill_platform.scanning.tier1.code.javascript.folding import (
    as_number,
    calculated,
    is_spelled_out,
    number_text,
    unescape_string,
)
from vskill_platform.scanning.tier1.code.javascript.tokens import Kind, Tokens
from vskill_platform.scanning.tier1.code.javascript.values import (
    NOTHING,
    NOWHERE,
    Origin,
    Source,
    Value,
    all_origins,
    bounded,
    text_of,
)

DEEPEST = 120
LONGEST_TAGGED = 500
LONGEST_PATTERN = 200
COMMAND_TAGS = frozenset(["zx.$", "bun.$", "Bun.$", "execa.$", "$", "execa", "execa.execa", "execaCommand"])
"""Functions whose template is a line of commands."""
_ASSIGNMENTS = frozenset(["=", "+=", "-=", "*=", "%=", "&=", "|=", "^=", "**=", "&&=", "||=", "??="])
_JOINING = frozenset(["&&", "||", "??"])
_BINARY = frozenset(
    ["+", "-", "*", "/", "%", "**", "==", "===", "!=", "!==", "<", ">", "<=", ">=", "&", "|", "^", *_JOINING]
)
_UNARY_WORDS = frozenset(["typeof", "void", "delete", "await", "yield"])
_UNARY_SIGNS = frozenset(["!", "-", "+", "~", "++", "--", "..."])
_AFTER_NON_NULL = frozenset([".", "(", ")", "[", "]", ",", ";", "}", "?.", "=", ":", "!"])
_ESCAPED_NAME = re.compile(r"\\u(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]{1,6})\})")
_GENERIC = re.compile(r"<[\w$.,\s\[\]|&'\"<>{}:;?]{1,200}>\s*\(")
_SPELLED = frozenset([Origin(Source.DECODED, "escapes")])
_FILLING = frozenset(["push", "append", "set", "add", "unshift", "write", "concat", "assign", "splice"])
"""Methods that put their arguments into what they belong to."""
_CONSTANTS = {
    "true": "true",
    "false": "false",
    "null": "",
    "undefined": "",
    "NaN": "NaN",
    "__dirname": ".",
    "__filename": "./index.js",
}


class Reference:
    """What an expression names, so that something can be assigned to it. `owner` is the variable whose member it is."""

    __slots__ = ("base", "name", "owner")

    def __init__(self, name: str, base: Value | None = None, owner: str = "") -> None:
        self.name = name
        self.base = base
        self.owner = owner


def _calculated(word: str, left: Value, right: Value) -> Value | None:
    if word == "+":
        if not (left.is_number and right.is_number):
            return None
        a, b = as_number(left), as_number(right)
        is_sum = a is not None and b is not None
        return Value(str((a or 0) + (b or 0)), is_built=True, is_number=True) if is_sum else None
    return calculated(word, left, right)


class ExpressionReader(Cursor):
    """The part of the reader that knows no statements."""

    def __init__(self, tokens: Tokens, *, budget: Budget) -> None:
        super().__init__(tokens, budget=budget)
        self._depth = 0
        self._reference: Reference | None = None
        self.is_too_deep = False

    def expressions(self) -> Value:
        """Expressions with commas between them: the value of the last one."""
        value = self.expression()
        while self._take(","):
            value = self.expression()
        return value

    def expression(self) -> Value:
        """One expression, up to a comma."""
        self._depth += 1
        try:
            if self._depth > DEEPEST:
                return self._refuse()
            return self._expression()
        finally:
            self._depth -= 1

    def _refuse(self) -> Value:
        """Passes over what is nested too deeply."""
        self.is_too_deep = True
        if self._kind == Kind.SIGN and self._word in {"(", "[", "{", "`"}:
            self._skip_group()
        else:
            self._next()
        return NOTHING

    def _expression(self) -> Value:
        left = self._operand()
        while True:
            word = self._word
            if self._kind == Kind.SIGN and word in _ASSIGNMENTS and self._reference is not None:
                return self._assignment(left, self._reference, word)
            if self._kind == Kind.SIGN and word == "?":
                left = self._choice(left)
            elif (self._kind == Kind.SIGN and word in _BINARY) or (
                self._kind == Kind.NAME and word in {"in", "instanceof"} and not self._is_in_head()
            ):
                left = self._binary(left, word)
            else:
                return left

    def _is_in_head(self) -> bool:
        """Whether `in` belongs to the head of a loop and not to an expression."""
        return False

    def _binary(self, left: Value, word: str) -> Value:
        self._next()
        gate = self._gate_of(left) if word in _JOINING else ""
        if gate:
            self._enter_gate(gate)
        right = self._operand()
        if gate:
            self._leave_gate()
        self._reference = None
        number = _calculated(word, left, right)
        if number is not None:
            return number
        if word == "+":
            return self._sum(left, right)
        if word in _JOINING:
            chosen = right if left.text == "" or (left.text is None and not left.path) else left
            return chosen.having(left.origins | right.origins)
        return Value(origins=left.origins | right.origins)

    def _sum(self, left: Value, right: Value) -> Value:
        origins = left.origins | right.origins
        if left.text is None and right.text is None:
            return Value(origins=origins)
        text = bounded(text_of(left, left.path or "value") + text_of(right, right.path or "value"))
        return Value(text, origins=origins, is_built=True)

    def _choice(self, condition: Value) -> Value:
        """`? a : b`, up to the operand behind the colon: a long row of choices is read one by one."""
        self._next()
        first = self.expression()
        if not self._take(":"):
            return first
        second = self._operand()
        chosen = second if first.text is None and not first.path else first
        return chosen.having(first.origins | second.origins | condition.origins)

    def _assignment(self, left: Value, target: Reference, word: str) -> Value:
        at = self._at()
        self._next()
        value = self.expression()
        if word == "+=":
            value = self._sum(left, value)
        elif word != "=":
            value = value.having(left.origins)
        self._assign(target, value, at)
        self._reference = None
        return value

    def _operand(self) -> Value:
        """What stands between operators, with all that is attached to it."""
        words: list[str] = []
        while (self._kind == Kind.NAME and self._word in _UNARY_WORDS) or (
            self._kind == Kind.SIGN and self._word in _UNARY_SIGNS
        ):
            words.append(self._word)
            self._next()
        if "yield" in words:
            self._take("*")
        value = self._attached(self._primary())
        if words:
            self._reference = None
        if "yield" in words:
            self._yield(value)
        if words and words[-1] in {"typeof", "!", "-", "+", "~"}:
            return Value(origins=value.origins) if words[-1] != "+" else value
        return value

    def _primary(self) -> Value:
        self._reference = None
        kind, word = self._kind, self._word
        if kind == Kind.NAME:
            return self._named(word)
        if kind == Kind.STRING:
            self._next()
            return Value(unescape_string(word), origins=_SPELLED if is_spelled_out(word) else NOWHERE)
        if kind == Kind.NUMBER:
            self._next()
            return Value(number_text(word), is_number=True)
        if kind == Kind.PATTERN:
            self._next()
            return Value(path="RegExp()", name=word[:LONGEST_PATTERN])
        if kind == Kind.SIGN:
            return self._signed(word)
        if kind == Kind.TEMPLATE:
            self._next()
        return NOTHING

    def _signed(self, word: str) -> Value:
        if word == "(":
            return self._parenthesis()
        if word == "[":
            return self._array()
        if word == "{":
            return self._object()
        if word == "`":
            return self._template()
        if word == "<":
            return self._markup()
        if word == "@":
            self._next()
            self.expression()
            return self._primary()
        if word not in {")", "]", "}", ",", ";", ":"}:
            self._next()
        return NOTHING

    def _named(self, word: str) -> Value:
        if word in {"function", "class"} or self._peek() == "=>" or (word == "async" and self._is_async_function()):
            return self._function_expression()
        if word == "new":
            return self._new()
        if word == "import":
            return self._import_expression()
        name = (
            _ESCAPED_NAME.sub(lambda found: chr(min(int(found[1] or found[2], 16), 0x10FFFF)), word)
            if "\\" in word
            else word
        )
        self._next()
        if name in _CONSTANTS:
            return Value(_CONSTANTS[name])
        self._reference = Reference(name)
        value = self._look_up(name)
        return replace(value, is_built=True) if "\\" in word else value

    def _is_async_function(self) -> bool:
        if self._peek() == "function" or self._peek(2) == "=>":
            return True
        return self._peek() == "(" and self._is_arrow_at(self._i + 1)

    def _parenthesis(self) -> Value:
        if self._is_arrow_at(self._i):
            return self._function_expression()
        closing = self._tokens.pair[self._i]
        self._next()
        value = self.expressions() if not self._is(")") else NOTHING
        self._leave_group(closing)
        return value

    def _attached(self, value: Value) -> Value:
        """Members, calls and the like that follow a value."""
        while True:
            if self._kind != Kind.SIGN and not (self._kind == Kind.NAME and self._word in {"as", "satisfies"}):
                return value
            word = self._word
            if word in {".", "?."}:
                value = self._member(value)
            elif word == "[":
                value = self._indexed(value)
            elif word == "(":
                value = self._call(value)
            elif word == "`":
                value = self._tagged(value)
            elif word in {"++", "--"} or (word == "!" and self._peek() in _AFTER_NON_NULL):
                self._next()
            elif word == "<" and _GENERIC.match(
                self._tokens.text, self._at(), min(self._at() + 300, len(self._tokens.text))
            ):
                self._skip_type_arguments()
            elif word in {"as", "satisfies"}:
                self._next()
                self._skip_type()
            else:
                return value

    def _tagged(self, tag: Value) -> Value:
        """A function in front of a template gets the pieces of text, and then what stands in the holes."""
        at, closing = self._at(), self._tokens.pair[self._i]
        pieces = (
            [n for n in range(self._i, closing) if self._tokens.kinds[n] == Kind.TEMPLATE]
            if closing - self._i < LONGEST_TAGGED
            else []
        )
        texts = tuple(Value(unescape_string(f"`{self._tokens.word(n)}`")) for n in pieces)
        whole = self._template()
        if tag.path in COMMAND_TAGS:
            command = Value(path="execaCommand") if tag.path.startswith("execa") else tag
            return self._call_with(command, [whole], at)
        return self._call_with(tag, [Value(items=texts, origins=whole.origins)], at)

    def _member(self, base: Value) -> Value:
        self._next()
        if self._is("(") or self._is("["):
            return base
        name, owner = self._word, self._owner()
        self._next()
        self._reference = Reference(name, base, owner)
        return self._get(base, name, is_built="\\" in name)

    def _owner(self) -> str:
        """The variable that the reader has just read, or a member of it."""
        reference = self._reference
        if reference is None or reference.base is None:
            return reference.name if reference is not None else ""
        return f"this.{reference.name}" if reference.base.path == "this" else reference.owner

    def _indexed(self, base: Value) -> Value:
        closing, owner = self._tokens.pair[self._i], self._owner()
        self._next()
        index = self.expressions()
        self._leave_group(closing)
        self._reference = Reference((index.text or "") if index.is_known else "", base, owner)
        if index.is_known and index.text is not None:
            return self._get(base, index.text, is_built=index.is_built)
        return self._get_unknown(base, index)

    def _call(self, callee: Value) -> Value:
        at = self._tokens.starts[max(0, self._i - 1)]
        closing, owner = self._tokens.pair[self._i], self._owner()
        self._next()
        arguments: list[Value] = []
        first: Reference | None = None
        while self._i < closing and self._kind != Kind.END:
            before = self._i
            if self._take(","):
                continue
            is_spread = self._is("...")
            self._expect_callback(callee, arguments)
            value = self.expression()
            self._forget_callback()
            first = first if arguments else self._reference
            arguments += list(value.items) if is_spread and value.items else [value]
            if self._i == before:
                self._next()
        self._leave_group(closing)
        self._reference = None
        if callee.path == "Object.assign" and first is not None and first.base is None:
            self._fill(first.name, all_origins(arguments), [])
        elif owner and callee.name in _FILLING:
            self._fill(owner, all_origins(arguments), arguments if callee.name in {"push", "unshift"} else [])
        return self._call_with(callee, arguments, at)

    @abstractmethod
    def _function_expression(self) -> Value: ...

    @abstractmethod
    def _new(self) -> Value: ...

    @abstractmethod
    def _import_expression(self) -> Value: ...

    @abstractmethod
    def _yield(self, value: Value) -> None: ...

    @abstractmethod
    def _look_up(self, name: str) -> Value: ...

    @abstractmethod
    def _get(self, base: Value, name: str, *, is_built: bool) -> Value: ...

    @abstractmethod
    def _get_unknown(self, base: Value, index: Value) -> Value: ...

    @abstractmethod
    def _assign(self, target: Reference, value: Value, at: int) -> None: ...

    @abstractmethod
    def _fill(self, owner: str, origins: frozenset[Origin], items: list[Value]) -> None: ...

    @abstractmethod
    def _call_with(self, callee: Value, arguments: list[Value], at: int) -> Value: ...

    @abstractmethod
    def _expect_callback(self, callee: Value, arguments: list[Value]) -> None: ...

    @abstractmethod
    def _forget_callback(self) -> None: ...

    @abstractmethod
    def _gate_of(self, condition: Value) -> str: ...

    @abstractmethod
    def _enter_gate(self, gate: str) -> None: ...

    @abstractmethod
    def _leave_gate(self) -> None: ...

    @abstractmethod
    def _is_arrow_at(self, number: int) -> bool: ...

    @abstractmethod
    def _array(self) -> Value: ...

    @abstractmethod
    def _template(self) -> Value: ...

    @abstractmethod
    def _object(self) -> Value: ...

    @abstractmethod
    def _markup(self) -> Value: ...
