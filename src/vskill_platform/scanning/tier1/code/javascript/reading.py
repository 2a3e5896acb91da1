"""Reads programs: declarations, branches, loops and modules, evaluating as it goes.

Function bodies are read where they stand. A program is read again where that tells more: what stands below is known above.
"""

from __future__ import annotations

from dataclasses import replace

from vskill_platform.scanning.tier1.code.javascript.expressions import Reference
from vskill_platform.scanning.tier1.code.javascript.gates import gate_of
from vskill_platform.scanning.tier1.code.javascript.literals import DEEPEST_BLOCK, LiteralReader
from vskill_platform.scanning.tier1.code.javascript.tokens import Kind
from vskill_platform.scanning.tier1.code.javascript.values import MOST_ITEMS, NOTHING, Origin, Value

_LOOPS = frozenset(["for", "while", "switch", "with", "catch"])
_SKIPPED_WORDS = "else do try finally break continue debugger export default declare abstract public private static"
_SKIPPED = frozenset(_SKIPPED_WORDS.split())


class Reader(LiteralReader):
    """Reads a program and tells the world what it does."""

    def read(self) -> None:
        """Reads the whole program."""
        self._world.scopes.enter(-1)
        while self._kind != Kind.END:
            self._statement_or_skip()
        self._world.scopes.leave()

    def _statement_or_skip(self) -> None:
        before = self._i
        self._statement()
        if self._i == before:
            self._next()

    def _statement(self) -> None:
        while self._kind == Kind.NAME and self._word in _SKIPPED and self._peek() not in {"=", ".", "(", "=>"}:
            self._next()
        word = self._word
        if self._kind == Kind.SIGN and word == "{":
            self._block()
        elif self._kind == Kind.SIGN and word == ";":
            self._next()
        elif self._kind != Kind.NAME:
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
            while self._i < closing and self._kind != Kind.END:
                self._statement_or_skip()
            self._leave_group(closing)
        self._depth -= 1

    def _declaration(self) -> None:
        self._next()
        while self._kind != Kind.END:
            self._declarator()
            if not self._take(","):
                return

    def _declarator(self) -> None:
        """A name or a pattern with its value."""
        start = self._i
        if self._kind == Kind.SIGN and self._word in {"{", "["}:
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
        elif self._kind == Kind.NAME and self._word in {"of", "in"}:
            is_of = self._word == "of"
            self._next()
            value = self._each(self.expressions(), is_of=is_of)
        self._bind(start, end, value)

    def _each(self, value: Value, *, is_of: bool) -> Value:
        """What a loop variable takes from what is looped over."""
        return self._world.item_of(value) if is_of else Value(origins=value.origins)

    def _return(self) -> None:
        self._next()
        if self._kind == Kind.SIGN and self._word in {";", "}"}:
            return
        value = self.expressions()
        if self._functions:
            self._gives(self._functions[-1], value)

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
        while self._kind == Kind.NAME:
            self._next()
        if not self._is("("):
            return ""
        closing = self._tokens.pair[self._i]
        start = self._at()
        self._next()
        value = NOTHING
        while self._i < closing and self._kind != Kind.END:
            before = self._i
            if self._is_name("const", "let", "var"):
                self._declaration()
            elif not self._take(";"):
                value = self._loop_head()
            if self._i == before:
                self._next()
        condition = self._tokens.text[start : min(self._at(), start + 500)]
        self._leave_group(closing)
        return gate_of(value, condition)

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
        while self._kind not in (Kind.END, Kind.STRING) and not self._is(";"):
            if self._kind == Kind.NAME and self._word not in {"from", "as", "type"}:
                if self._peek(-1) == "as" and names:
                    names[-1] = (names[-1][0], self._word)
                else:
                    imported = self._word
                    is_whole = self._peek(-1) not in {"{", ","} or (self._peek(-1) == "," and not self._is_braced())
                    names.append(("" if is_whole else imported, imported))
            elif self._is("*"):
                names.append(("", ""))
            self._next()
        module = Value(self._word[1:-1]) if self._kind == Kind.STRING else NOTHING
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
        while self._kind != Kind.END and not self._is(";"):
            if self._kind == Kind.SIGN and self._word == "{":
                self._skip_group()
                if not is_type or self._word not in {"|", "&", "[", "extends", "?"}:
                    return
            elif self._kind == Kind.SIGN and self._word in {"(", "["}:
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

    def _new(self) -> Value:
        self._next()
        if self._take("."):
            self._next()
            return NOTHING
        at = self._at()
        made = self._primary()
        while self._kind == Kind.SIGN and self._word in {".", "["}:
            made = self._member(made) if self._word == "." else self._indexed(made)
        if self._is("<"):
            self._skip_type_arguments()
        arguments: list[Value] = []
        if self._is("("):
            closing = self._tokens.pair[self._i]
            self._next()
            while self._i < closing and self._kind != Kind.END:
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
            return
        self._world.set_member(target.base, target.name, value, at)
        if target.owner:
            self._fill(target.owner, value.origins, [])

    def _fill(self, owner: str, origins: frozenset[Origin], items: list[Value]) -> None:
        """Notes that something has been put into what a variable holds."""
        held = self._world.scopes.look_up(owner)
        if held is None:
            return
        if items and len(held.items or ()) < MOST_ITEMS:
            held = replace(held, items=(*(held.items or ()), *items))
        if items or not origins <= held.origins:
            self._world.scopes.assign(owner, held.having(origins))

    def _call_with(self, callee: Value, arguments: list[Value], at: int) -> Value:
        return self._world.call(callee, arguments, at)

    def _expect_callback(self, callee: Value, arguments: list[Value]) -> None:
        self._callbacks.append(self._world.callback(callee, arguments))

    def _forget_callback(self) -> None:
        self._callbacks.pop()

    def _gate_of(self, condition: Value) -> str:
        start = max(0, self._at() - 120)
        return gate_of(condition, self._tokens.text[start : self._at()]) if condition.origins else ""

    def _enter_gate(self, gate: str) -> None:
        self._world.gates.append(gate)

    def _leave_gate(self) -> None:
        self._world.gates.pop()
