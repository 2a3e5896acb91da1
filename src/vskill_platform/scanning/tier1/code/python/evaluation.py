"""What an expression may be, asked for when a call makes it interesting, and answered once.

A name is whatever any assignment to it says, in any order: an answer may be too wide, and what flows is not lost by
moving lines around. Everything is bounded: how many questions are asked, how deep one leads, how many answers are kept.
A question that leads back to itself adds nothing to its own answer; what was asked on the way round gets the taint of it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from vskill_platform.scanning.tier1.code.python.chosen import KEPT_TOGETHER, chosen, is_before_equals
from vskill_platform.scanning.tier1.code.python.expressions import HANDLERS, literal, part_at, with_held
from vskill_platform.scanning.tier1.code.python.frames import Frame, Key
from vskill_platform.scanning.tier1.code.python.functions import Functions
from vskill_platform.scanning.tier1.code.python.model import (
    Binding,
    Bound,
    Class,
    Function,
    Module,
    Program,
    Scope,
    Site,
)
from vskill_platform.scanning.tier1.code.python.operators import concatenated_all
from vskill_platform.scanning.tier1.code.python.outside import OutsideWorld
from vskill_platform.scanning.tier1.code.python.values import (
    HIDDEN,
    IN_CIRCLES,
    NETWORK,
    NOTHING,
    Value,
    join,
    one_of,
    reference,
)

if TYPE_CHECKING:
    from vskill_platform.scanning.tier1.code.python.commands import Command

MOST_WORK = 200_000
"""Questions that are answered for one skill; other work is counted in the same coin."""
DEEPEST_QUESTION = 400
"""Questions within each other. Each takes a few frames of the stack, which `finder.py` makes room for."""
LIGHT_TEXT = 500
"""Characters of a text that cost nothing to put together; so many more cost as much as a question."""
MOST_BINDINGS = 5_000
DEEPEST_BASE = 5
_NEVER = 1 << 30
_Found = TypeVar("_Found")
_About = TypeVar("_About")
_Place = TypeVar("_Place")
_LATER = (Bound.ADDED, Bound.HELD, Bound.READ)


class OutOfBudget(Exception):
    """More was asked than is answered for one skill."""


class Evaluator:
    """Answers questions about the expressions of a program.

    `name_taint` and `file_taint` are what was learnt of names and files beforehand. `is_cut_short` is true once something
    was deeper or more than is looked at. `commands` are those that were read, by the values that they were read from, which
    they hold.
    """

    def __init__(self, program: Program, *, outside: OutsideWorld) -> None:
        self.program = program
        self.outside = outside
        self.functions = Functions(self)
        self.name_taint: dict[tuple[int, str], int] = {}
        self.file_taint: dict[str, int] = {}
        self.commands: dict[tuple[int, int, bool], Command] = {}
        self.is_cut_short = False
        self._fetched: dict[str, None] | None = None
        self.root = Frame(is_call=False)
        self.frame = self.root
        self._literals: dict[int, Value] = {}
        self._depth = 0
        self._provisional: dict[Key, int] = {}
        self._trail: list[Key] = []
        self._lowest = _NEVER
        self._left = MOST_WORK

    @property
    def fetched_paths(self) -> dict[str, None]:
        """The paths of files that hold what came from outside, the longest first."""
        if self._fetched is None:
            fetched = [path for path, taint in self.file_taint.items() if taint & NETWORK]
            self._fetched = dict.fromkeys(sorted(fetched, key=lambda path: (-len(path), path)))
        return self._fetched

    def forget(self) -> None:
        """Ask everything anew, after something was learnt about names or files."""
        self._fetched = None
        self.root.known.clear()
        self._provisional.clear()
        self._trail.clear()

    def take_apart(self) -> None:
        """Undo the circles in which all of this holds itself, when nothing is asked any more."""
        vars(self.functions).clear()
        vars(self).clear()

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """What the expression may be. Raises OutOfBudget."""
        kind = node.__class__
        if kind is ast.Name:
            return self.lookup(node.id, scope)  # type: ignore[attr-defined]
        if kind is ast.Constant:
            known = self._literals.get(id(node))
            if known is None:
                self._literals[id(node)] = known = literal(node.value)  # type: ignore[attr-defined]
            return known
        handler = HANDLERS.get(kind)
        return self.answer(id(node), handler, node, scope) if handler is not None else NOTHING

    def answer(
        self, key: Key, ask: Callable[[Evaluator, _About, _Place], Value], about: _About, place: _Place
    ) -> Value:
        """The answer to a question, which is worked out once under each frame. What is asked is told about two things."""
        frame = self.frame
        known, opened = frame.known.get(key), frame.open
        if known is not None:
            if self._provisional and key in self._provisional:
                self._lowest = min(self._lowest, self._provisional[key])
            return known
        if key in opened:
            self._lowest = min(self._lowest, opened[key])
            return NOTHING
        self._left -= 1
        if self._left < 0:
            self.spend(0)
        depth = self._depth
        if depth >= DEEPEST_QUESTION:
            self.is_cut_short = True
            return NOTHING
        opened[key] = depth
        self._depth = depth + 1
        trail, above, self._lowest = self._trail, self._lowest, _NEVER
        begun = len(trail)
        answer = ask(self, about, place)
        del opened[key]
        frame.known[key] = answer
        self._depth = depth
        if self._lowest < depth:
            self._provisional[key] = self._lowest
            trail.append(key)
            self._lowest = min(self._lowest, above)
        else:
            self._lowest = above
            if len(trail) > begun:
                self._complete(answer.taint & IN_CIRCLES, begun)
        return answer

    def _complete(self, taint: int, begun: int) -> None:
        """Add to what leaned on a question while it was open what its answer turned out to be tainted with."""
        for other in self._trail[begun:]:
            self._provisional.pop(other, None)
            known = self.root.known.get(other)
            if known is not None and taint:
                self.root.known[other] = known.tainted(taint)
        del self._trail[begun:]

    def spend(self, work: int = 1) -> None:
        """Count what was done against what may be done for one skill. Raises OutOfBudget."""
        self._left -= work
        if self._left < 0:
            self.is_cut_short = True
            raise OutOfBudget

    def weigh(self, value: Value) -> Value:
        """The value, after its texts were counted against what may be put together for one skill. Raises OutOfBudget."""
        for each in value.constants:
            if not isinstance(each, int) and len(each) > LIGHT_TEXT:
                self.spend(len(each) // LIGHT_TEXT)
        return value

    def within(self, frame: Frame, ask: Callable[[], _Found]) -> _Found:
        """Ask something under another frame."""
        if frame is self.frame:
            return ask()
        before, self.frame = self.frame, frame
        try:
            return ask()
        finally:
            self.frame = before

    def lookup(self, name: str, scope: Scope) -> Value:
        """What a name may be at a place."""
        owner = scope if name in scope.bindings and name not in scope.shared else outer_owner_of(name, scope)
        if owner is None:
            return self._unbound(name, scope.module)
        frame = self.frame
        while frame.parent is not None:
            if frame.scope is owner:
                if name in frame.names:
                    return frame.names[name]
                if frame.is_call:
                    break
            frame = frame.parent
        if frame is self.frame:
            return self.answer((id(owner), name), Evaluator._named, owner, name)
        return self.within(frame, lambda: self.answer((id(owner), name), Evaluator._named, owner, name))

    def _named(self, owner: Scope, name: str) -> Value:
        found = self.bound(owner.bindings[name])
        taint = self.name_taint.get((id(owner), name), 0) if self.name_taint else 0
        return found.tainted(taint) if taint else found

    def _unbound(self, name: str, module: Module) -> Value:
        if name == "__builtins__":
            return reference("builtins")
        if name == "__doc__":
            return _documentation(module)
        if not module.stars:
            return reference(self.outside.free_name(name))
        local = [self.program.imported(star, module) for star in module.stars]
        held = [self.member(found, name) for found in local if found is not None and name in found.scope.bindings]
        stars = tuple(f"{star}.{name}" for star in module.stars)
        return join([*held, Value(references=(self.outside.free_name(name), *stars))])

    def bound(self, bindings: Sequence[Binding]) -> Value:
        """What a name may be, given all the ways in which it got its value."""
        if len(bindings) == 1 and bindings[0].kind not in _LATER:
            return self._binding(bindings[0])
        if len(bindings) > MOST_BINDINGS:
            self.is_cut_short = True
        kept = bindings[:MOST_BINDINGS]
        value = one_of([self._binding(each) for each in kept if each.kind not in _LATER])
        later = [each for each in kept if each.kind in _LATER]
        for kind, together in groupby(later, key=lambda each: each.kind) if later else ():
            value = self._with_later(value, kind, list(together))
        return value

    def _with_later(self, value: Value, kind: str, later: list[Binding]) -> Value:
        """A value after something was added to it, put into it or read into it, time after time."""
        pairs = [(self.value(each.node, each.scope), each.place == 1) for each in later if each.node is not None]
        if kind == Bound.ADDED:
            return self.weigh(concatenated_all([value, *(added for added, _ in pairs)]))
        if kind == Bound.HELD:
            return with_held(value, pairs)
        taint = 0
        for path, _ in pairs:
            taint |= self.outside.content_taint(self, path)
        return value.tainted(taint)

    def _binding(self, binding: Binding) -> Value:
        kind, node = binding.kind, binding.node
        if node is not None:
            value = self.value(node, binding.scope)
            if kind == Bound.ELEMENT:
                value = value.element()
            if value.taint & KEPT_TOGETHER:
                if binding.place == 0 and is_before_equals(node):
                    return NOTHING
                value = chosen(self, value, node, binding.scope)
            return part_at(value, binding.place) if binding.place >= 0 else value
        if kind == Bound.IMPORT:
            return self.module_named(binding.name, binding.scope.module)
        if kind == Bound.FROM:
            return self._imported_name(binding)
        if kind == Bound.PARAMETER and isinstance(binding.subject, Function):
            return self.functions.parameter(binding.subject, binding.place, binding.name)
        return Value(targets=(binding.subject,)) if binding.subject is not None else NOTHING

    def module_named(self, name: str, importer: Module) -> Value:
        """A module: one of the skill's own, or one from outside."""
        own = self.program.imported(name, importer)
        return Value(targets=(own,)) if own is not None else reference(name.lstrip("."))

    def _imported_name(self, binding: Binding) -> Value:
        module, _, name = binding.name.partition(":")
        own = self.program.imported(module, binding.scope.module) if module.strip(".") else None
        if own is not None and name in own.scope.bindings:
            return self.member(own, name)
        if module.startswith(".") or own is not None:
            inner = self.program.imported(name, binding.scope.module)
        else:
            inner = self.program.of_package(f"{module}.{name}")
        if inner is not None:
            return Value(targets=(inner,))
        full = plain_name(f"{module}.{name}".lstrip("."))
        return reference(full, self.outside.attribute_taint(full))

    def member(self, module: Module, name: str) -> Value:
        """A name of a module of the skill."""
        return (
            self.within(self.root, lambda: self.lookup(name, module.scope))
            if name in module.scope.bindings
            else NOTHING
        )

    def attribute_of(self, holder: Value, name: str) -> Value:
        """An attribute of whatever the value may be."""
        special = self.outside.path_attribute(holder, name) if holder.references else None
        if special is not None:
            return special
        if len(holder.references) == 1 and holder.is_single:
            return self._attribute_of_one(holder, name)
        parts = [Value(taint=holder.taint & ~HIDDEN, variables=holder.variables)] if holder.taint else []
        for target in holder.targets:
            if name == "__doc__":
                parts.append(_documentation(target))
            elif isinstance(target, Module):
                parts.append(self.member(target, name))
            elif isinstance(target, Class):
                parts.append(self._class_attribute(target, name, depth=0))
        if holder.references:
            references = tuple([plain_name(f"{each}.{name}") for each in holder.references])
            taint = holder.taint & HIDDEN
            for each in references:
                taint |= self.outside.attribute_taint(each)
            parts.append(Value(holder.constants, references, (), taint))
            parts += [Value(targets=(each,)) for each in self.program.below(references)]
        elif holder.constants:
            parts.append(Value(holder.constants))
        return parts[0] if len(parts) == 1 else join(parts)

    def _attribute_of_one(self, holder: Value, name: str) -> Value:
        """An attribute of something from outside that has one name, as almost everything has."""
        full = plain_name(f"{holder.references[0]}.{name}")
        taint = holder.taint | self.outside.attribute_taint(full)
        found = Value(holder.constants, (full,), (), taint, variables=holder.variables if holder.taint else ())
        below = self.program.below((full,))
        return found if not below else join([found, *(Value(targets=(each,)) for each in below)])

    def attribute_of_any(self, name: str, module: Module) -> Value:
        """What is assigned to an attribute of this name anywhere in a module, on whatever object."""
        bindings = module.attributes.get(name)
        if not bindings:
            return NOTHING
        return self.within(self.root, lambda: self.answer((id(module), name), Evaluator._assigned, bindings, name))

    def _assigned(self, bindings: Sequence[Binding], _name: str) -> Value:
        return self.bound(bindings)

    def _class_attribute(self, owner: Class, name: str, *, depth: int) -> Value:
        bindings = owner.own(name)
        if bindings:
            held = self.within(self.root, lambda: self.answer((id(owner), name), Evaluator._assigned, bindings, name))
            properties = [each for each in held.targets if isinstance(each, Function) and each.is_property]
            return join([held, *map(self.functions.given_nothing, properties)]) if properties else held
        parts: list[Value] = []
        for base in owner.node.bases if depth < DEEPEST_BASE else ():
            held = self.value(base, owner.scope.parent or owner.scope)
            classes = [each for each in held.targets if isinstance(each, Class)]
            parts += [self._class_attribute(each, name, depth=depth + 1) for each in classes]
            parts += [reference(f"{each}().{name}", self.outside.attribute_taint(name)) for each in held.references]
        return join(parts)

    def arguments(self, site: Site) -> list[Value]:
        """All that a call is given, in order, with keywords at the end."""
        node, scope = site.node, site.scope
        given = [self.value(each, scope) for each in node.args]
        if node.keywords:
            given += [self.value(each.value, scope) for each in node.keywords]
        return given

    def argument(self, site: Site, place: int, *names: str) -> Value:
        """One argument, by its place or by one of its names."""
        for keyword in site.node.keywords:
            if keyword.arg in names:
                return self.value(keyword.value, site.scope)
        if 0 <= place < len(site.node.args):
            return self.value(site.node.args[place], site.scope)
        return NOTHING


def _documentation(subject: Function | Class | Module) -> Value:
    """The text that a function, class or module says about itself."""
    body = subject.tree.body if isinstance(subject, Module) else getattr(subject.node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    held = first.value if isinstance(first, ast.Expr) else None
    return literal(held.value) if isinstance(held, ast.Constant) and isinstance(held.value, str) else NOTHING


def outer_owner_of(name: str, scope: Scope) -> Scope | None:
    """The scope around this one whose name it is; names of a class are seen in its own lines alone."""
    at = scope.parent
    while at is not None:
        if not at.is_class and name in at.bindings:
            return at
        at = at.parent
    return None


def plain_name(name: str) -> str:
    """A name without the detours that lead to the same thing."""
    if name == "builtins.__dict__":
        return "builtins"
    return name.removeprefix("builtins.").removesuffix(".__call__")
