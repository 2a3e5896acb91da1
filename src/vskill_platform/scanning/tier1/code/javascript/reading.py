"""Reads programs: declarations, functions, branches and modules, evaluating as it goes.

Function bodies are read where they stand. A program is read twice, so that what stands below is known above.
"""

from __future__ import annotations

from vskill_platform.scanning.tier1.code.budget import Budget
from vskill_platform.scanning.tier1.code.javascript.expressions import DEEPEST, ExpressionReader, Reference
from vskill_platform.scanning.tier1.code.javascript.scopes import parameter_origin
from vskill_platform.scanning.tier1.code.javascript.tokens import Kind, Tokens
from vskill_platform.scanning.tier1.code.javascript.values import NOTHING, NOWHERE, Function, Origin, Value
from vskill_platform.scanning.tier1.code.javascript.world import Callback, World

_TYPE_STOPS = frozenset([",", ")", "]", "}", ";", "=", "=>", "?", "&&", "||", "??", "==", "===", "!=", "!==", "+", "."])
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
_LOOPS = frozenset(["for", "while", "switch", "with", "catch"])
_SKIPPED = frozenset(
    [
        "else",
        "do",
        "try",
        "finally",
        "break",
        "continue",
        "debugger",
        "export",
        "default",
        "declare",
        "abstract",
        "public",
        "private",
        "static",
    ]
)

DEEPEST_BLOCK = DEEPEST - 10
_NO_CALLBACK = Callback(NOWHERE, NOTHING, is_handler=False)


class Reader(ExpressionReader):
    """Reads a program and tells the world what it does."""

    def __init__(self, tokens: Tokens, world: World, *, budget: Budget) -> None:
        super().__init__(tokens, budget=budget)
        self._world = world
        self._functions: list[Function] = []
        self._callbacks: list[Callback] = []
        self._given = _NO_CALLBACK

    def read(self) -> None:
        """Reads the whole program."""
        self._world.scopes.enter(-1)
        while self._kind is not Kind.END:
            self._statement_or_skip()
        self._world.scopes.leave()

    def _statement_or_skip(self) -> None:
        before = self._i
        self._statement()
        if self._i == before:
            self._next()

    def _statement(self) -> None:
        while self._kind is Kind.NAME and self._word in _SKIPPED and self._peek() not in {"=", ".", "(", "=>"}:
            self._next()
        word = self._word
        if self._kind is Kind.SIGN and word == "{":
            self._block()
        elif self._kind is Kind.SIGN and word == ";":
            self._next()
        elif self._kind is not Kind.NAME:
            self.expressions()
        elif word in {"const", "let", "var", "using"} and self._peek() != "=":
            self._declaration()
        elif word in {"return", "throw"}:
            self._return()
        elif word == "if":
            self._if()
        elif word in _LOOPS and self._peek() in {"(", "await"}:
            self._loop()
        elif word == "import" and self._peek() not in {"(", "."}:
            self._import()
        elif word in {"interface", "namespace", "enum"} or (word == "type" and self._peek(2) in {"=", "<"}):
            self._skip_declaration()
        elif word == "case":
            self._next()
            self.expressions()
            self._take(":")
        elif word in {"function", "class"} or (word == "async" and self._peek() == "function"):
            self._declare_function()
        else:
            self.expressions()
            self._take(":")

    def _block(self) -> None:
        """Statements between braces."""
        closing = self._tokens.pair[self._i]
        self._depth += 1
        if self._depth > DEEPEST_BLOCK:
            self.is_too_deep = True
            self._skip_group()
        else:
            self._next()
            while self._i < closing and self._kind is not Kind.END:
                self._statement_or_skip()
            self._leave_group(closing)
        self._depth -= 1

    def _declaration(self) -> None:
        self._next()
        while self._kind is not Kind.END:
            self._declarator()
            if not self._take(","):
                return

    def _declarator(self) -> None:
        """A name or a pattern with its value."""
        start = self._i
        if self._kind is Kind.SIGN and self._word in {"{", "["}:
            self._skip_group()
            end = self._i
        else:
            self._next()
            end = self._i
        if self._take("!") or self._is(":"):
            self._take(":")
            self._skip_type()
        value = NOTHING
        if self._take("="):
            value = self.expression()
        elif self._kind is Kind.NAME and self._word in {"of", "in"}:
            is_of = self._word == "of"
            self._next()
            value = self._each(self.expressions(), is_of=is_of)
        self._bind(start, end, value)

    def _each(self, value: Value, *, is_of: bool) -> Value:
        """What a loop variable takes from what is looped over."""
        return self._world.item_of(value) if is_of else Value(origins=value.origins)

    def _bind(self, start: int, end: int, value: Value) -> None:
        """Gives the names between two tokens their values: one name, or those of a pattern."""
        if self._tokens.kinds[start] == Kind.NAME:
            self._world.scopes.declare(self._tokens.word(start), value)
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
                self._world.scopes.declare(name, member)
            while number < end and self._tokens.word(number) != ",":
                number = max(self._tokens.pair[number], number) + 1

    def _return(self) -> None:
        self._next()
        if self._kind is Kind.SIGN and self._word in {";", "}"}:
            return
        value = self.expressions()
        if self._functions:
            self._functions[-1].returns |= value.origins

    def _if(self) -> None:
        gate = self._head()
        if gate:
            self._enter_gate(gate)
        self._statement_or_skip()
        self._take(";")
        if self._is_name("else"):
            self._next()
            self._statement_or_skip()
        if gate:
            self._leave_gate()

    def _loop(self) -> None:
        self._take("for")
        self._head()

    def _head(self) -> str:
        """What stands in parentheses behind `if` and its like; gives the gate that it is, if it is one."""
        while self._kind is Kind.NAME:
            self._next()
        if not self._is("("):
            return ""
        closing = self._tokens.pair[self._i]
        start = self._at()
        self._next()
        value = NOTHING
        while self._i < closing and self._kind is not Kind.END:
            before = self._i
            if self._is_name("const", "let", "var"):
                self._declaration()
            elif not self._take(";"):
                value = self._loop_head()
            if self._i == before:
                self._next()
        condition = self._tokens.text[start : min(self._at(), start + 500)]
        self._leave_group(closing)
        return self._world.gate_of(value, condition)

    def _loop_head(self) -> Value:
        value = self.expressions()
        if self._is_name("of") and self._reference is not None:
            target = self._reference
            self._next()
            self._world.scopes.assign(target.name, self._each(self.expressions(), is_of=True))
        return value

    def _import(self) -> None:
        """`import a, { b as c } from "m"`, and `import "m"`."""
        self._next()
        names: list[tuple[str, str]] = []
        imported = ""
        while self._kind is not Kind.END and self._kind is not Kind.STRING and not self._is(";"):
            if self._kind is Kind.NAME and self._word not in {"from", "as", "type"}:
                if self._peek(-1) == "as" and names:
                    names[-1] = (names[-1][0], self._word)
                else:
                    imported = self._word
                    is_whole = self._peek(-1) not in {"{", ","} or (self._peek(-1) == "," and not self._is_braced())
                    names.append(("" if is_whole else imported, imported))
            elif self._is("*"):
                names.append(("", ""))
            self._next()
        module = Value(self._word[1:-1]) if self._kind is Kind.STRING else NOTHING
        self._next()
        loaded = self._world.load(module, self._at())
        for member, name in names:
            value = self._get(loaded, member, is_built=False) if member else loaded
            if name:
                self._world.scopes.declare(name, value)

    def _is_braced(self) -> bool:
        """Whether an imported name stands between braces."""
        for number in range(self._i - 1, max(0, self._i - 400), -1):
            word = self._tokens.word(number)
            if word in {"{", "import", "}"}:
                return word == "{"
        return False

    def _skip_declaration(self) -> None:
        """Interfaces, types and enumerations, which do nothing."""
        is_type = self._word == "type"
        while self._kind is not Kind.END and not self._is(";"):
            if self._kind is Kind.SIGN and self._word == "{":
                self._skip_group()
                if not is_type or self._word not in {"|", "&", "[", "extends", "?"}:
                    return
            elif self._kind is Kind.SIGN and self._word in {"(", "["}:
                self._skip_group()
            else:
                start_line = self._tokens.ends[self._i]
                self._next()
                if (
                    is_type
                    and self._is_name()
                    and "\n" in self._tokens.text[start_line : self._at()]
                    and self._peek(-1) not in {"=", "|", "&"}
                ):
                    return

    def _declare_function(self) -> None:
        name = self._peek(2) if self._word == "async" else self._peek()
        name = self._peek(2) if name == "*" else name
        value = self._function_expression()
        if name and name not in {"(", "{", "extends"}:
            self._world.scopes.declare(name, value)

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
            if self._kind is Kind.NAME:
                self._next()
        function = self._open(key)
        self._parameters(key)
        if self._take("=>"):
            self._arrow_body(function)
        else:
            self._body()
        return self._close(function)

    def _open(self, key: int) -> Function:
        """Begins a function. What its caller is known to give it is for its own parameters and for nothing inside it."""
        function = self._world.function(key)
        self._given = self._callbacks[-1] if self._callbacks else _NO_CALLBACK
        self._callbacks.append(_NO_CALLBACK)
        self._functions.append(function)
        self._world.scopes.enter(key)
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
            function.returns |= self.expression().origins

    def _body(self) -> None:
        """The body of a function behind its parameters, with a type in between."""
        if self._take(":"):
            self._skip_type(stops=frozenset([";"]))
        if self._is("{"):
            self._block()

    def _parameters(self, key: int) -> None:
        """Names of parameters, with what is known of what they are given."""
        given, item, is_handler = self._given
        self._given = _NO_CALLBACK
        if is_handler:
            self._world.function(key).is_handler = True
        if self._kind is Kind.NAME:
            self._world.scopes.declare(self._word, item.having(given | {parameter_origin(key, 0)}))
            self._next()
        elif self._is("<"):
            self._skip_type_arguments()
        if self._is("("):
            self._parameter_list(key, given, item)

    def _parameter_list(self, key: int, given: frozenset[Origin], item: Value) -> None:
        closing = self._tokens.pair[self._i]
        self._next()
        number = 0
        while self._i < closing and self._kind is not Kind.END:
            before = self._i
            while (
                self._kind is Kind.NAME and self._word in _MODIFIERS and self._peek() not in {",", ")", "=", ":", "?"}
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
            value = (item if number == 0 and default is NOTHING else default).having(
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
        while self._kind is not Kind.END and not self._is("{"):
            self._next()
        closing = self._tokens.pair[self._i]
        function = self._open(key)
        self._next()
        while self._i < closing and self._kind is not Kind.END:
            before = self._i
            self._class_member()
            if self._i == before:
                self._next()
        self._leave_group(closing)
        return self._close(function)

    def _class_member(self) -> None:
        while self._kind is Kind.NAME and self._word in _MODIFIERS and self._peek() not in {"(", "=", ":", ";"}:
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
            self._method(name, key)
            return
        if self._take(":"):
            self._skip_type()
        if self._take("="):
            self._world.scopes.declare(f"this.{name}", self.expression())
        self._take(";")

    def _method(self, name: str, key: int) -> None:
        function = self._open(key)
        self._parameters(key)
        self._body()
        value = self._close(function)
        self._world.scopes.declare(f"this.{name}", value)

    def _object(self) -> Value:
        closing = self._tokens.pair[self._i]
        self._next()
        fields: dict[str, Value] = {}
        origins: set[Origin] = set()
        while self._i < closing and self._kind is not Kind.END:
            before = self._i
            name, value = self._property()
            origins |= value.origins
            if name and len(fields) < 500:
                fields[name] = value
            if value.fields and name == "":
                fields |= value.fields
            self._take(",")
            if self._i == before:
                self._next()
        self._leave_group(closing)
        self._reference = None
        return Value(fields=fields, origins=frozenset(origins))

    def _property(self) -> tuple[str, Value]:
        """One entry of an object: a field, a method, a name that stands for itself, or a spread."""
        if self._take("..."):
            return "", self.expression()
        while (
            self._kind is Kind.NAME
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
        while self._kind is not Kind.END and not self._is(">") and steps < 200:
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

    def _new(self) -> Value:
        self._next()
        if self._take("."):
            self._next()
            return NOTHING
        at = self._at()
        made = self._primary()
        while self._kind is Kind.SIGN and self._word in {".", "["}:
            made = self._member(made) if self._word == "." else self._indexed(made)
        if self._is("<"):
            self._skip_type_arguments()
        arguments: list[Value] = []
        if self._is("("):
            closing = self._tokens.pair[self._i]
            self._next()
            while self._i < closing and self._kind is not Kind.END:
                before = self._i
                self._expect_callback(made, arguments)
                arguments.append(self.expression())
                self._forget_callback()
                self._take(",")
                if self._i == before:
                    self._next()
            self._leave_group(closing)
        self._reference = None
        return self._world.construct(made, arguments, at)

    def _import_expression(self) -> Value:
        """`import("m")` and `import.meta`."""
        at = self._at()
        self._next()
        if self._is("("):
            closing = self._tokens.pair[self._i]
            self._next()
            module = self.expression()
            self._leave_group(closing)
            self._reference = None
            return self._world.load(module, at)
        if self._take("."):
            self._next()
        return Value(path="import.meta")

    def _skip_type(self, *, stops: frozenset[str] = _TYPE_STOPS) -> None:
        """Passes over a type: names, brackets and signs up to what cannot be part of one."""
        depth = 0
        first = True
        while self._kind is not Kind.END:
            word = self._word if self._kind is Kind.SIGN else ""
            if word == "{" and not first and depth == 0 and self._peek(-1) not in {"|", "&", ":", "<", ","}:
                return
            if word in {"(", "[", "{"}:
                self._skip_group()
            elif depth == 0 and word in stops and not (word == "=>" and self._peek(-1) == ")") and word != ".":
                return
            elif word == ")" or (word == "}" and depth == 0):
                return
            else:
                depth = max(0, depth + {"<": 1, ">": -1}.get(word, 0))
                start = self._tokens.ends[self._i]
                self._next()
                if depth == 0 and self._is_name() and "\n" in self._tokens.text[start : self._at()]:
                    return
            first = False

    def _look_up(self, name: str) -> Value:
        found = self._world.scopes.look_up(name)
        return found if found is not None else self._world.known_global(name)

    def _get(self, base: Value, name: str, *, is_built: bool) -> Value:
        return self._world.member(base, name, is_built=is_built, at=self._at())

    def _get_unknown(self, base: Value, index: Value) -> Value:
        return self._world.member_by_value(base, index)

    def _assign(self, target: Reference, value: Value, at: int) -> None:
        if target.base is None:
            self._world.scopes.assign(target.name, value)
        else:
            self._world.set_member(target.base, target.name, value, at)

    def _call_with(self, callee: Value, arguments: list[Value], at: int) -> Value:
        return self._world.call(callee, arguments, at)

    def _expect_callback(self, callee: Value, arguments: list[Value]) -> None:
        self._callbacks.append(self._world.callback(callee, arguments))

    def _forget_callback(self) -> None:
        self._callbacks.pop()

    def _gate_of(self, condition: Value) -> str:
        start = max(0, self._at() - 120)
        return self._world.gate_of(condition, self._tokens.text[start : self._at()]) if condition.origins else ""

    def _enter_gate(self, gate: str) -> None:
        self._world.gates.append(gate)

    def _leave_gate(self) -> None:
        self._world.gates.pop()
