"""A skill's Python as names, scopes and calls: what the one walk over each tree leaves for the questions that follow.

Nothing here knows what is dangerous. Trees are never changed, and nothing of them is ever compiled or run.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from vskill_platform.scanning.tier1.code.python.sources import PythonSource

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Bound:
    """How a name came to stand for something. Plain texts: these are compared more often than anything else is."""

    VALUE: Final = "value"
    """It is the expression."""
    ELEMENT: Final = "element"
    """It is one of those in the expression, as in a loop; `place` is its place in each of them."""
    ITEM: Final = "item"
    """It is the part of the expression at `place`."""
    ADDED: Final = "added"
    """The expression was added to what it was, as with `+=`."""
    HELD: Final = "held"
    """It is a container, and the expression was put into it; `place` is 1 where all parts of the expression were."""
    READ: Final = "read"
    """It was filled from the file whose path the expression is."""
    PARAMETER: Final = "parameter"
    """It is the parameter of `subject` at `place`."""
    IMPORT: Final = "import"
    """It is the module named `name`."""
    FROM: Final = "from"
    """It is `name` (module and attribute, with `:` between)."""
    DEFINED: Final = "defined"
    """It is the function or class `subject`."""


class Scope:
    """Where names are looked up: a module, a class or a function."""

    __slots__ = ("beside", "bindings", "compared", "function", "is_class", "module", "owner", "parent", "shared")

    def __init__(self, module: Module, parent: Scope | None, *, is_class: bool = False) -> None:
        self.module = module
        self.parent = parent
        self.is_class = is_class
        self.bindings: dict[str, list[Binding]] = {}
        self.beside: dict[str, list[ast.expr]] = {}
        """What was bound together with a name, to the parts of what one call gave."""
        self.shared: set[str] = set()
        self.compared: set[str] = set()
        self.function: Function | None = None
        self.owner: Class | None = None


@dataclass(slots=True, eq=False)
class Binding:
    """One way in which a name got its value; `kind` is one of `Bound`."""

    kind: str
    node: ast.expr | None
    scope: Scope
    place: int = -1
    name: str = ""
    subject: Function | Class | None = None


@dataclass(slots=True, eq=False)
class Site:
    """A call, where it stands, and the last word of what it calls, which is empty where that is no name."""

    node: ast.Call
    scope: Scope
    word: str


class Function:
    """A function, a method or a lambda. Of one that `is_method` the first parameter is filled in by the language."""

    __slots__ = ("is_method", "name", "node", "owner", "parameters", "returns", "scope", "words")

    def __init__(self, name: str, node: FunctionNode, *, scope: Scope, owner: Class | None) -> None:
        self.name = name
        self.node = node
        self.scope = scope
        self.owner = owner
        self.returns: list[ast.expr] = []
        self.words: set[str] = set()
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args] if arguments.posonlyargs else arguments.args
        self.parameters = [each.arg for each in positional]
        self.is_method = owner is not None and not isinstance(node, ast.Lambda) and not self.is_marked("staticmethod")

    def is_marked(self, name: str) -> bool:
        """Whether one of the decorators is this name."""
        return any(isinstance(mark, ast.Name) and mark.id == name for mark in self.decorators)

    @property
    def is_property(self) -> bool:
        """Whether the function is called by naming it."""
        return any(terminal(mark) in {"property", "cached_property"} for mark in self.decorators)

    @property
    def decorators(self) -> list[ast.expr]:
        """The decorators, from the outermost."""
        return [] if isinstance(self.node, ast.Lambda) else self.node.decorator_list


class Class:
    """A class, with what its methods assign to `self`."""

    __slots__ = ("attributes", "name", "node", "scope")

    def __init__(self, name: str, node: ast.ClassDef, *, scope: Scope) -> None:
        self.name = name
        self.node = node
        self.scope = scope
        self.attributes: dict[str, list[Binding]] = {}

    def own(self, name: str) -> list[Binding]:
        """How an attribute of the class or of its instances got its value."""
        return [*self.scope.bindings.get(name, ()), *self.attributes.get(name, ())]


@dataclass(slots=True, eq=False)
class Loop:
    """A loop, and where it stands."""

    node: ast.While | ast.For | ast.AsyncFor
    scope: Scope


class Asked(NamedTuple):
    """Lines that are only reached where something has one of these names."""

    first: int
    last: int
    names: tuple[ast.expr, ...]


class Module:
    """One file, notebook or fenced block after the walk."""

    def __init__(self, source: PythonSource, tree: ast.Module) -> None:
        self.source = source
        self.tree = tree
        self.scope = Scope(self, None)
        self.calls: list[Site] = []
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.attributes: dict[str, list[Binding]] = {}
        self.passed: dict[str, list[Site]] = {}
        self.lambda_calls: dict[int, Site] = {}
        self.lambdas: dict[int, Function] = {}
        self.aliases: dict[str, list[str]] = {}
        self.decorated: dict[str, list[Function]] = {}
        self.stars: list[str] = []
        self.loops: list[Loop] = []
        self.stored: list[tuple[ast.Attribute | ast.Subscript, ast.expr, Scope]] = []
        self.guards: list[tuple[int, int]] = []
        self.outer: Module | None = None
        self.asked: list[Asked] | None = None
        self.memo: dict[str, bool] = {}

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.source.text.split("\n")

    @cached_property
    def encoded(self) -> bytes:
        """The text as Python takes it, for patterns to look at."""
        return self.source.folded

    @property
    def stem(self) -> str:
        """The name that others import the module by."""
        return self.source.file.rpartition("/")[2].removesuffix(".py")

    def is_guarded(self, node: ast.AST) -> bool:
        """Whether the place runs only when the file is started as a program."""
        line = getattr(node, "lineno", 0)
        return any(first <= line <= last for first, last in self.guards)


class Program:
    """All Python of a skill that is worth reading, with what has to be found across files."""

    def __init__(self) -> None:
        self.modules: list[Module] = []
        self.by_stem: dict[str, list[Module]] = {}
        self.sites: dict[str, list[Site]] = {}
        self.passed: dict[str, list[Site]] = {}
        self.aliases: dict[str, list[str]] = {}
        self.decorated: dict[str, list[Function]] = {}

    def add(self, module: Module) -> None:
        """Take a module in, after it was walked."""
        self.modules.append(module)
        if not module.source.is_fenced:
            stem = module.stem
            if stem == "__init__":
                stem = module.source.file.split("/")[-2] if "/" in module.source.file else stem
            self.by_stem.setdefault(stem, []).append(module)
        for site in module.calls:
            self.sites.setdefault(site.word, []).append(site)
        for name, sites in module.passed.items():
            self.passed.setdefault(name, []).extend(sites)
        for name, others in module.aliases.items():
            self.aliases.setdefault(name, []).extend(others)
        for name, functions in module.decorated.items():
            self.decorated.setdefault(name, []).extend(functions)

    def take_apart(self) -> None:
        """Undo the circles in which all of this holds itself, so that it is freed at once and not by the collector."""
        for module in self.modules:
            scopes = [
                module.scope,
                *[each.scope for each in module.functions],
                *[each.scope for each in module.classes],
            ]
            for scope in scopes:
                scope.bindings.clear()
                scope.function = scope.owner = None
            vars(module).clear()
        vars(self).clear()

    def below(self, names: tuple[str, ...]) -> list[Module]:
        """The modules of the skill that dotted names stand for, as in `import package.module`."""
        found = list[Module]()
        for name in names:
            for module in self.by_stem.get(name.rpartition(".")[2], ()):
                if f"/{module.source.file}".endswith(f"/{name.replace('.', '/')}.py"):
                    found.append(module)
        return found

    def of_package(self, name: str) -> Module | None:
        """The module of the skill that a dotted name stands for, as in `from package import module`."""
        return next(iter(self.below((name,))), None)

    def imported(self, name: str, importer: Module) -> Module | None:
        """The module of the skill that an import means: the one nearest to the importer, if there is one."""
        found = self.by_stem.get(name.rpartition(".")[2], ())
        near = [module for module in found if module is not importer and not importer.source.is_fenced]
        folder = importer.source.file.rpartition("/")[0]
        return min(
            near, key=lambda each: (each.source.file.rpartition("/")[0] != folder, each.source.file), default=None
        )


def children_of(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, in the order of its fields."""
    found: list[ast.AST] = []
    for field in node._fields:
        child = getattr(node, field, None)
        if child.__class__ is list:
            found += [each for each in child if isinstance(each, ast.AST)]
        elif isinstance(child, ast.AST):
            found.append(child)
    return found


def terminal(node: ast.expr) -> str:
    """The last word of what is called; empty where it is no name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
