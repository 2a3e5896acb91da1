"""Goes through a program: learns what its files hold, looks at every call that matters, and at what code it carries inside."""

from __future__ import annotations

import ast

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.calls import KnownCalls
from vskill_platform.scanning.tier1.code.python.checks.calls import ReadCall
from vskill_platform.scanning.tier1.code.python.checks.execution import check_execution
from vskill_platform.scanning.tier1.code.python.checks.files import check_encryption, check_files
from vskill_platform.scanning.tier1.code.python.checks.gates import check_gates
from vskill_platform.scanning.tier1.code.python.checks.import_time import check_import_time
from vskill_platform.scanning.tier1.code.python.checks.loops import check_loops
from vskill_platform.scanning.tier1.code.python.checks.names import (
    check_decorators,
    check_hidden_name,
    check_reductions,
    check_replacements,
)
from vskill_platform.scanning.tier1.code.python.checks.queries import check_query
from vskill_platform.scanning.tier1.code.python.checks.sending import check_sending
from vskill_platform.scanning.tier1.code.python.checks.shells import check_shell
from vskill_platform.scanning.tier1.code.python.commands import command_of
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.indexing import TooManyNodes, index_module
from vskill_platform.scanning.tier1.code.python.learning import learn_from_writes, runs_files, sends_files
from vskill_platform.scanning.tier1.code.python.model import Bound, Module, Program, Scope, Site, terminal
from vskill_platform.scanning.tier1.code.python.notes import Notes
from vskill_platform.scanning.tier1.code.python.origins import Origins
from vskill_platform.scanning.tier1.code.python.parsing import parse_text
from vskill_platform.scanning.tier1.code.python.selection import names_secrets, reaches_out
from vskill_platform.scanning.tier1.code.python.sources import PythonSource
from vskill_platform.scanning.tier1.code.python.values import UNKNOWN
from vskill_platform.scanning.tier1.skill import FactKind

DEEPEST_CODE = 3
MOST_INNER = 20
SHORTEST_CODE = 4
INNER_NODES = 20_000
_CHECKS = (
    check_execution,
    check_sending,
    check_files,
    check_encryption,
    check_shell,
    check_query,
    check_hidden_name,
    check_import_time,
)
_INTERESTING = catalogue.interesting_words()
_OF_MODULES = frozenset("replace copy move rename link remove".split())
"""Words that only matter as functions of a module; texts and lists have them too."""
_BUILT_IN = frozenset("exec eval compile open __import__ execfile input".split())


class Analysis:
    """One program, and what was noted of it."""

    def __init__(self, program: Program, *, own_data: frozenset[str] = frozenset()) -> None:
        self.program = program
        self.evaluator = Evaluator(program, outside=KnownCalls(own_data))
        self.notes = Notes()
        self.disguised: list[tuple[str, ast.AST, Module]] = []
        self.is_complete = False
        self._origins = Origins(program)
        self._inner = 0
        self._assigned = {name for module in program.modules for name in module.attributes}
        self._assigned |= {name for module in program.modules for owner in module.classes for name in owner.attributes}

    def run(self) -> None:
        """Look at everything. Raises OutOfBudget where that is too much."""
        modules = list(self.program.modules)
        if self._files_matter(modules):
            learn_from_writes(self.evaluator, modules)
        for module in modules:
            self._look(module, depth=0)
        self.is_complete = not self.evaluator.is_cut_short

    def _files_matter(self, modules: list[Module]) -> bool:
        """Whether what a file holds may be run, or may be a secret that is sent."""
        if not any(reaches_out(module.encoded) for module in modules):
            return False
        if runs_files(self.evaluator, modules):
            return True
        has_secrets = any(names_secrets(module.encoded) for module in modules)
        return has_secrets and sends_files(self.evaluator, modules)

    def _look(self, module: Module, *, depth: int) -> None:
        for site in module.calls:
            self._look_at_call(site, depth=depth)
        check_loops(self.evaluator, module, self.notes)
        check_gates(self.evaluator, module, self.notes)
        check_decorators(self.evaluator, module, self.notes)
        check_replacements(self.evaluator, module, self.notes)
        check_reductions(self.evaluator, module, self.notes)

    def _look_at_call(self, site: Site, *, depth: int) -> None:
        self._look_at_handed(site, depth=depth)
        if not self._is_interesting(site):
            return
        callee = self.evaluator.value(site.node.func, site.scope)
        names = callee.references or ((f".{terminal(site.node.func)}",) if not callee.targets else ())
        for name in names:
            self._check(ReadCall(self.evaluator, self.notes, site, callee, name), depth=depth)

    def _check(self, call: ReadCall, *, depth: int) -> None:
        for check in _CHECKS:
            check(call)
        self._note_facts(call)
        if depth < DEEPEST_CODE:
            self._look_inside(call, depth=depth)

    def _is_interesting(self, site: Site) -> bool:
        """Whether a call may be of something that matters, judged by its words alone."""
        func = site.node.func
        if isinstance(func, ast.Attribute):
            if func.attr in _OF_MODULES:
                return isinstance(func.value, ast.Name) and _is_imported(func.value.id, site.scope)
            if func.attr in _INTERESTING:
                return func.attr not in catalogue.COMMON_WORDS or self._may_be_sent(site, func)
            return func.attr in self._assigned
        if isinstance(func, ast.Name):
            return func.id in _BUILT_IN or self._may_be_alias(func.id, site.scope)
        return True

    def _may_be_sent(self, site: Site, func: ast.Attribute) -> bool:
        """Whether a call of a common word may be one of a client."""
        is_file = func.attr in {"open", "write"}
        return _is_given_enough(site.node) and (is_file or self._origins.may_be_connection(func.value, site.scope))

    def _may_be_alias(self, name: str, scope: Scope) -> bool:
        """Whether a name stands for something that was imported or assigned, rather than defined here."""
        at: Scope | None = scope
        while at is not None:
            if name in at.bindings:
                return any(each.kind is not Bound.DEFINED for each in at.bindings[name])
            at = at.parent
        return bool(scope.module.stars) or name in catalogue.FREE_NAMES

    def _look_at_handed(self, site: Site, *, depth: int) -> None:
        """A dangerous function that is handed to something that calls it is called."""
        for argument in (*site.node.args, *(keyword.value for keyword in site.node.keywords)):
            word = terminal(argument)
            if not word or (word not in _INTERESTING and word not in _BUILT_IN):
                if not isinstance(argument, ast.Call | ast.Name) or terminal(
                    getattr(argument, "func", argument)
                ) not in {"getattr", *self._aliases(site)}:
                    continue
            callee = self.evaluator.value(argument, site.scope)
            for name in callee.references:
                if name in catalogue.DANGEROUS:
                    self._check(
                        ReadCall(self.evaluator, self.notes, _as_called(site, argument), callee, name), depth=depth
                    )

    def _aliases(self, site: Site) -> frozenset[str]:
        """Names of the module that stand for something imported under another name."""
        names = getattr(site.scope.module, "_other_names", None)
        if names is None:
            names = frozenset(
                other
                for word, others in site.scope.module.aliases.items()
                if word in _INTERESTING | _BUILT_IN
                for other in others
            )
            site.scope.module._other_names = names  # type: ignore[attr-defined]
        return names  # type: ignore[no-any-return]

    def _note_facts(self, call: ReadCall) -> None:
        if call.name in catalogue.DECODERS:
            call.fact(FactKind.DECODES, catalogue.DECODERS[call.name])

    def _look_inside(self, call: ReadCall, *, depth: int) -> None:
        """Read the code that a call carries as a text, and keep commands that do not stand in the source as they are."""
        texts = list[str]()
        if call.name in {"exec", "eval", "compile", "timeit.timeit"}:
            texts = call.argument(0, "source", "stmt").texts
        elif call.name in catalogue.PROCESSES or call.name in catalogue.SHELLS:
            command = command_of(call.evaluator, call.site, call.name)
            if command.script is not None and command.program.startswith("python"):
                texts = command.script.texts
            self.disguised += [(text, call.site.node, call.module) for text in command.texts]
        for text in texts[:4]:
            if len(text) >= SHORTEST_CODE and UNKNOWN not in text and self._inner < MOST_INNER:
                self._inner += 1
                self._read_inside(text, call, depth=depth)

    def _read_inside(self, text: str, call: ReadCall, *, depth: int) -> None:
        tree = parse_text(text)
        if tree is None or not any(True for _ in tree.body):
            return
        outer = call.module.source
        line = outer.line_in_file(call.site.node.lineno)
        source = PythonSource(outer.file, text, is_fenced=outer.is_fenced, lines=(line,) * (text.count("\n") + 1))
        try:
            module, _ = index_module(source, tree, most_nodes=INNER_NODES)
        except TooManyNodes:
            self.evaluator.is_cut_short = True
            return
        module.outer = call.module
        self.program.add(module)
        self._look(module, depth=depth + 1)


def _is_imported(name: str, scope: Scope) -> bool:
    """Whether a name stands for a module, or for nothing that is known."""
    at: Scope | None = scope
    while at is not None and name not in at.bindings:
        at = at.parent
    return (
        at is None
        or any(
            each.kind in (Bound.IMPORT, Bound.FROM, Bound.VALUE) and not isinstance(each.node, ast.Constant)
            for each in at.bindings[name]
        )
        and any(
            each.kind in (Bound.IMPORT, Bound.FROM) or isinstance(each.node, ast.Call | ast.Name | ast.Subscript)
            for each in at.bindings[name]
        )
    )


def _is_given_enough(node: ast.Call) -> bool:
    """Whether a call of a common word is given more than the key of a dictionary."""
    if not node.args:
        return bool(node.keywords)
    first = node.args[0]
    if not isinstance(first, ast.Constant) or node.keywords:
        return True
    return (
        isinstance(first.value, str) and ("://" in first.value or "." in first.value) or isinstance(first.value, bytes)
    )


def _as_called(site: Site, handed: ast.expr) -> Site:
    """The call that something makes which was handed a function: with all else that it was handed."""
    others = [each for each in site.node.args if each is not handed]
    given = list[ast.expr]()
    for each in (
        *others,
        *(keyword.value for keyword in site.node.keywords if keyword.arg in {"args", "kwargs", "iterable"}),
    ):
        given += each.elts if isinstance(each, ast.Tuple | ast.List) else [each]
    node = ast.Call(func=handed, args=given, keywords=[])
    node.lineno, node.col_offset = site.node.lineno, site.node.col_offset
    return Site(node, site.scope)
