"""Reads what is made of brackets and names: lists, objects, templates, markup, functions and classes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from vskill_platform.scanning.tier1.code.budget import Budget
from vskill_platform.scanning.tier1.code.javascript.calls import Callback
from vskill_platform.scanning.tier1.code.javascript.credentials import credential_origin
from vskill_platform.scanning.tier1.code.javascript.expressions import DEEPEST, ExpressionReader
from vskill_platform.scanning.tier1.code.javascript.folding import unescape_string
from vskill_platform.scanning.tier1.code.javascript.scopes import parameter_origin
from vskill_platform.scanning.tier1.code.javascript.tokens import Kind, Tokens
from vskill_platform.scanning.tier1.code.javascript.values import (
    MOST_ITEMS,
    MOST_ORIGINS,
    NOTHING,
    NOWHERE,
    Function,
    Origin,
    Value,
    all_origins,
    bounded,
    either_of,
    text_of,
)
from vskill_platform.scanning.tier1.code.javascript.world import World

_MODIFIERS = frozenset(
    [
        "public",
        "private",
        "protected",
        "readonly",
        "static",
        "abstract",
        "override",
        "declare",
        "async",
        "get",
        "set",
        "accessor",
        "export",
        "default",
    ]
)
DEEPEST_BLOCK = DEEPEST - 10
LONGEST_TAG = 200
LONGEST_CALLED = 120
DEEPEST_CALL = 4
MOST_CALLS = 3_000
_NO_CALLBACK = Callback(NOWHERE, NOTHING, is_handler=False)


class LiteralReader(ExpressionReader):
    """The part of the reader for literals of all kinds, functions included."""

    def __init__(self, tokens: Tokens, world: World, *, budget: Budget) -> None:
        super().__init__(tokens, budget=budget)
        self._world = world
        self._functions: list[Function] = []
        self._callbacks: list[Callback] = []
        self._given = _NO_CALLBACK
        self._arguments: list[Value] | None = None
        self._calls = 0
        self._calls_left = MOST_CALLS
        world.read_again = self.read_again

    def read_again(self, function: Function, arguments: list[Value]) -> Value | None:
        """Reads a short function once more with what it is called with; None where that would be too much."""
        is_short = 0 < function.length <= LONGEST_CALLED
        if not is_short or self._calls >= DEEPEST_CALL or self._calls_left <= 0 or self._depth > DEEPEST_BLOCK - 20:
            return None
        kept = self._i, self._depth, self._reference, self._given
        self._calls += 1
        self._calls_left -= 1
        self._arguments = arguments
        before, function.result = function.result, None
        try:
            self._move(function.key)
            self._function()
            return function.result or NOTHING
        finally:
            function.result = before
            self._calls -= 1
            self._arguments = None
            self._move(kept[0])
            self._depth, self._reference, self._given = kept[1:]

    def _is_arrow_at(self, number: int) -> bool:
        """Whether a parenthesis holds the parameters of an arrow function."""
        closing = self._tokens.pair[number]
        if closing <= number:
            return False
        after = self._tokens.word(closing + 1)
        if after != ":":
            return after == "=>"
        # A type may stand between the parameters and the arrow.
        for following in range(closing + 2, min(closing + 40, len(self._tokens))):
            word = self._tokens.word(following)
            if word == "=>":
                return True
            if word in {";", ")", ",", "=", "?"}:
                return False
        return False

    def _array(self) -> Value:
        closing = self._tokens.pair[self._i]
        self._next()
        items: list[Value] = []
        while self._i < closing and self._kind != Kind.END:
            before = self._i
            if self._take(","):
                continue
            is_spread = self._is("...")
            value = self.expression()
            items += list(value.items) if is_spread and value.items else [value]
            if self._i == before:
                self._next()
        self._leave_group(closing)
        self._reference = None
        kept = tuple(items[:MOST_ITEMS])
        return Value(origins=all_origins(items), items=kept)

    def _template(self) -> Value:
        closing = self._tokens.pair[self._i]
        self._next()
        pieces: list[Value] = []
        while self._i < closing and self._kind != Kind.END:
            if self._kind == Kind.TEMPLATE:
                pieces.append(Value(unescape_string(f"`{self._word}`")))
                self._next()
            else:
                hole = self._tokens.pair[self._i]
                self._next()
                value = self.expressions()
                pieces.append(Value(text_of(value, value.path or "value"), origins=value.origins))
                self._leave_group(hole)
        self._leave_group(closing)
        self._reference = None
        text = bounded("".join(text_of(piece) for piece in pieces))
        return Value(text, origins=all_origins(pieces), is_built=len(pieces) > 1)

    def _object(self) -> Value:
        closing = self._tokens.pair[self._i]
        self._next()
        fields: dict[str, Value] = {}
        origins: set[Origin] = set()
        while self._i < closing and self._kind != Kind.END:
            before = self._i
            name, value = self._property()
            origins |= value.origins
            if name and len(fields) < MOST_ITEMS:
                fields[name] = value
            if value.fields and not name and len(fields) < MOST_ITEMS:
                fields |= value.fields
            self._take(",")
            if self._i == before:
                self._next()
        self._leave_group(closing)
        self._reference = None
        self._world.notice_tool(fields, self._at())
        return Value(fields=fields, origins=frozenset(origins))

    def _property(self) -> tuple[str, Value]:
        """One entry of an object: a field, a method, a name that stands for itself, or a spread."""
        if self._take("..."):
            return "", self.expression()
        while (
            self._kind == Kind.NAME
            and self._word in {"async", "get", "set"}
            and self._peek() not in {",", ":", "(", "}"}
        ):
            self._next()
        self._take("*")
        key, kind, word = self._i, self._kind, self._word
        if self._is("["):
            self._indexed(NOTHING)
            name = self._reference.name if self._reference else ""
        else:
            name = self._primary().text or "" if kind in (Kind.STRING, Kind.NUMBER) else word
            if self._i == key:
                self._next()
        if self._take(":"):
            return name, self.expression()
        if self._is("("):
            function = self._open(key)
            self._parameters(key)
            self._body()
            return name, self._close(function)
        value = self._look_up(name)
        if self._take("="):
            value = self.expression()
        return name, value

    def _markup(self) -> Value:
        """JSX, or a type in front of a value: tags are passed over, what stands between braces is read."""
        self._next()
        steps = 0
        while self._kind != Kind.END and not self._is(">") and steps < LONGEST_TAG:
            steps += 1
            if self._is("{"):
                closing = self._tokens.pair[self._i]
                self._next()
                self.expressions()
                self._leave_group(closing)
            elif self._is(";"):
                return NOTHING
            else:
                self._next()
        self._take(">")
        return NOTHING

    def _function_expression(self) -> Value:
        """Any function or class from its first token on; classes are read for what their methods do."""
        self._depth += 1
        try:
            if self._depth > DEEPEST_BLOCK:
                return self._refuse()
            return self._function()
        finally:
            self._depth -= 1

    def _function(self) -> Value:
        self._reference = None
        key = self._i
        self._take("async")
        if self._is("class"):
            return self._class(key)
        if self._take("function"):
            self._take("*")
            if self._kind == Kind.NAME:
                self._next()
        elif self._kind == Kind.NAME and self._peek() == "(":
            self._next()
        function = self._open(key)
        self._parameters(key)
        if self._take("=>"):
            self._arrow_body(function)
        else:
            self._body()
        function.length = self._i - key
        return self._close(function)

    def _open(self, key: int) -> Function:
        """Begins a function. What its caller is known to give it is for its own parameters and for nothing inside "
        "it."""
        function = self._world.function(key)
        self._given = self._callbacks[-1] if self._callbacks else _NO_CALLBACK
        self._callbacks.append(_NO_CALLBACK)
        self._functions.append(function)
        if self._arguments is None:
            self._world.scopes.enter(key)
        else:
            self._world.scopes.enter_anew()
        return function

    def _close(self, function: Function) -> Value:
        self._world.scopes.leave()
        self._functions.pop()
        self._callbacks.pop()
        return Value(function=function)

    def _arrow_body(self, function: Function) -> None:
        if self._is("{"):
            self._block()
        else:
            self._gives(function, self.expression())

    @staticmethod
    def _gives(function: Function, value: Value) -> None:
        """Notes what a function gives back, here or elsewhere in it."""
        if len(function.returns) < MOST_ORIGINS:
            function.returns |= value.origins
            function.result = value if function.result is None else either_of(function.result, value)

    def _yield(self, value: Value) -> None:
        """Notes what a generator gives, as the one item of a list."""
        if self._functions:
            self._gives(self._functions[-1], Value(origins=value.origins, items=(value,)))

    def _body(self) -> None:
        """The body of a function behind its parameters, with a type in between."""
        if self._take(":"):
            self._skip_type(stops=frozenset([";"]))
        if self._is("{"):
            self._block()

    def _parameters(self, key: int) -> None:
        """Names of parameters, with what is known of what they are given."""
        given, item, is_handler, place_of_item = self._given
        self._given = _NO_CALLBACK
        arguments, self._arguments = self._arguments, None
        if arguments is not None:
            self._bind_arguments(arguments)
            return
        if is_handler:
            self._world.function(key).is_handler = True
        if self._kind == Kind.NAME:
            self._world.scopes.declare(self._word, item.having(given | {parameter_origin(key, 0)}))
            self._next()
        elif self._is("<"):
            self._skip_type_arguments()
        if self._is("("):
            self._parameter_list(key, given, {place_of_item: item})

    def _bind_arguments(self, arguments: list[Value]) -> None:
        """Gives the parameters the values of one call."""
        if self._kind == Kind.NAME:
            self._world.scopes.declare(self._word, arguments[0] if arguments else NOTHING)
            self._next()
            return
        if not self._is("("):
            return
        closing, number = self._tokens.pair[self._i], 0
        self._next()
        while self._i < closing and self._kind != Kind.END:
            is_rest = self._take("...")
            start = self._i
            self._skip_group()
            given = (
                Value(items=tuple(arguments[number:]))
                if is_rest
                else (arguments[number] if number < len(arguments) else NOTHING)
            )
            self._bind(start, self._i, given)
            number += 1
            while self._i < closing and not self._is(","):
                self._skip_group()
            self._take(",")
        self._leave_group(closing)

    def _parameter_list(self, key: int, given: frozenset[Origin], items: dict[int, Value]) -> None:
        closing = self._tokens.pair[self._i]
        self._next()
        number = 0
        while self._i < closing and self._kind != Kind.END:
            before = self._i
            while (
                self._kind == Kind.NAME and self._word in _MODIFIERS and self._peek() not in {",", ")", "=", ":", "?"}
            ):
                self._next()
            self._take("...")
            if self._is("@"):
                self._next()
                self.expression()
            start = self._i
            self._skip_group()
            end = self._i
            self._take("?")
            if self._take(":"):
                self._skip_type()
            default = self.expression() if self._take("=") else NOTHING
            value = (items.get(number, NOTHING) if default is NOTHING else default).having(
                given | {parameter_origin(key, number)}
            )
            self._bind(start, end, value)
            number += 1
            self._take(",")
            if self._i == before:
                self._next()
        self._leave_group(closing)

    def _class(self, key: int) -> Value:
        self._next()
        while self._kind != Kind.END and not self._is("{"):
            self._next()
        closing = self._tokens.pair[self._i]
        function = self._open(key)
        self._next()
        methods: dict[str, Value] = {}
        while self._i < closing and self._kind != Kind.END:
            before = self._i
            self._class_member(methods)
            if self._i == before:
                self._next()
        self._leave_group(closing)
        return replace(self._close(function), fields=methods)

    def _class_member(self, methods: dict[str, Value]) -> None:
        while self._kind == Kind.NAME and self._word in _MODIFIERS and self._peek() not in {"(", "=", ":", ";"}:
            self._next()
        self._take("*")
        name, key = self._word, self._i
        if self._is("["):
            self._skip_group()
        elif self._is("{"):
            self._block()
            return
        elif self._is("@"):
            self._next()
            self.expression()
            return
        else:
            self._next()
        if self._take("?") or self._take("!"):
            pass
        if self._is("(") or self._is("<"):
            methods[name] = self._method(name, key)
            return
        if self._take(":"):
            self._skip_type()
        if self._take("="):
            self._world.scopes.declare(f"this.{name}", self.expression())
        self._take(";")

    def _method(self, name: str, key: int) -> Value:
        function = self._open(key)
        self._parameters(key)
        self._body()
        if not any(
            self._tokens.word(number) in {"this", "super"} for number in range(key, min(self._i, key + LONGEST_CALLED))
        ):
            function.length = self._i - key
        value = self._close(function)
        self._world.scopes.declare(f"this.{name}", value)
        return value

    def _bind(self, start: int, end: int, value: Value) -> None:
        """Gives the names between two tokens their values: one name, or those of a pattern."""
        if self._tokens.kinds[start] == Kind.NAME:
            name = self._tokens.word(start)
            self._world.scopes.declare(name, value.having(credential_origin(name)))
        elif self._tokens.word(start) == "{":
            self._bind_fields(start + 1, end - 1, value)
        elif self._tokens.word(start) == "[":
            names = [n for n in range(start + 1, end - 1) if self._tokens.kinds[n] == Kind.NAME]
            for number, token in enumerate(names):
                item = (
                    value.items[number] if value.items and number < len(value.items) else Value(origins=value.origins)
                )
                self._world.scopes.declare(self._tokens.word(token), item)

    def _bind_fields(self, start: int, end: int, value: Value) -> None:
        number = start
        while number < end:
            if self._tokens.word(number) == "..." and self._tokens.kinds[number + 1] == Kind.NAME:
                self._world.scopes.declare(self._tokens.word(number + 1), value)
                number += 2
                continue
            if self._tokens.kinds[number] not in (Kind.NAME, Kind.STRING):
                number += 1
                continue
            name = self._tokens.word(number).strip("'\"")
            member = self._get(value, name, is_built=False)
            number += 1
            if number < end and self._tokens.word(number) == ":":
                target = number + 1
                number = max(self._tokens.pair[target], target) + 1
                self._bind(target, number, member)
            else:
                self._world.scopes.declare(name, member.having(credential_origin(name)))
            while number < end and self._tokens.word(number) != ",":
                number = max(self._tokens.pair[number], number) + 1

    @abstractmethod
    def _block(self) -> None: ...
