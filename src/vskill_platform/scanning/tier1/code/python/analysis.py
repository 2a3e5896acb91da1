"""Goes through a program: learns what its files hold, looks at every call that matters, and at what code it carries inside."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache

from vskill_platform.scanning.tier1.code.jobs import names_a_start
from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.calls import KnownCalls
from vskill_platform.scanning.tier1.code.python.checks.calls import ReadCall
from vskill_platform.scanning.tier1.code.python.checks.data import check_data, may_load
from vskill_platform.scanning.tier1.code.python.checks.execution import check_execution, may_run
from vskill_platform.scanning.tier1.code.python.checks.files import (
    check_encryption,
    check_files,
    may_change_files,
    may_encrypt,
)
from vskill_platform.scanning.tier1.code.python.checks.gates import check_gates
from vskill_platform.scanning.tier1.code.python.checks.import_time import check_import_time, may_be_unasked
from vskill_platform.scanning.tier1.code.python.checks.loops import check_loops
from vskill_platform.scanning.tier1.code.python.checks.names import (
    check_decorators,
    check_hidden_name,
    check_reductions,
    check_replacements,
    may_be_hidden,
)
from vskill_platform.scanning.tier1.code.python.checks.queries import check_query, may_query
from vskill_platform.scanning.tier1.code.python.checks.sending import check_sending, may_send
from vskill_platform.scanning.tier1.code.python.checks.shells import check_shell, may_be_shell
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.indexing import TooManyNodes, index_module
from vskill_platform.scanning.tier1.code.python.interest import Interest
from vskill_platform.scanning.tier1.code.python.learning import learn_from_writes, runs_files, sends_files
from vskill_platform.scanning.tier1.code.python.model import Module, Program, Site, terminal
from vskill_platform.scanning.tier1.code.python.notes import Notes
from vskill_platform.scanning.tier1.code.python.parsing import parse_text
from vskill_platform.scanning.tier1.code.python.selection import names_secrets, reaches_out
from vskill_platform.scanning.tier1.code.python.sources import PythonSource
from vskill_platform.scanning.tier1.code.python.values import UNKNOWN
from vskill_platform.scanning.tier1.skill import FactKind

DEEPEST_CODE = 3
MOST_INNER = 40
"""Texts that are run as code, and are read as code for that, in one skill."""
SHORTEST_CODE = 4
INNER_NODES = 20_000
_CALL_CHECKS: tuple[tuple[Callable[[str], bool], Callable[[ReadCall], None]], ...] = (
    (may_run, check_execution),
    (may_load, check_data),
    (may_send, check_sending),
    (may_change_files, check_files),
    (may_encrypt, check_encryption),
    (may_be_shell, check_shell),
    (may_query, check_query),
    (may_be_hidden, check_hidden_name),
    (may_be_unasked, check_import_time),
)
"""What is asked of a call, each behind the question whether its name alone rules that out."""
KNOWN_NAMES = 1024
"""Names of functions whose checks are kept: programs call the same few."""
_MODULE_CHECKS = (check_loops, check_gates, check_decorators, check_replacements, check_reductions)
_RUN_AS_PYTHON = frozenset(["exec", "eval", "compile", "timeit.timeit"])
_NAMED_PLACES = frozenset(["target", "func", "function", "args", "kwargs"])


class Analysis:
    """One program, and what was noted of it. `commands` are the commands that it starts, as far as they are known."""

    def __init__(self, program: Program, *, own_data: frozenset[str] = frozenset()) -> None:
        self.evaluator = Evaluator(program, outside=KnownCalls(own_data))
        self.notes = Notes()
        self.commands: list[tuple[str, Site]] = []
        self.is_complete = False
        self._program = program
        self._interest = Interest(program)
        self._inner = 0

    def run(self) -> None:
        """Look at everything. Raises OutOfBudget where that is too much."""
        modules = list(self._program.modules)
        if self._files_matter(modules):
            learn_from_writes(self.evaluator, modules)
        for module in modules:
            self._look(module, depth=0)
        self.is_complete = not self.evaluator.is_cut_short

    def _files_matter(self, modules: list[Module]) -> bool:
        """Whether what a file holds may be run, at once or by what starts by itself, or may be a secret that is sent."""
        if not any(reaches_out(module.encoded) for module in modules):
            return False
        if any(names_a_start(module.encoded) for module in modules) or runs_files(self.evaluator, modules):
            return True
        has_secrets = any(names_secrets(module.encoded) for module in modules)
        return has_secrets and sends_files(self.evaluator, modules)

    def _look(self, module: Module, *, depth: int) -> None:
        interest, hands_over = self._interest, self._interest.hands_over(module)
        for site in module.calls:
            if hands_over:
                for argument in interest.handed(site):
                    self._look_at_handed(site, argument, depth=depth)
            if interest.is_in(site):
                self._look_at_call(site, depth=depth)
        for check in _MODULE_CHECKS:
            check(self.evaluator, module, self.notes)

    def _look_at_call(self, site: Site, *, depth: int) -> None:
        callee = self.evaluator.value(site.node.func, site.scope)
        names = callee.references or ((f".{site.word}",) if not callee.targets else ())
        for name in names:
            if _checks_for(name) or name in catalogue.DECODERS:
                self._check(ReadCall(self.evaluator, self.notes, site, callee, name), depth=depth)

    def _look_at_handed(self, site: Site, argument: ast.expr, *, depth: int) -> None:
        """A dangerous function that is handed to something that calls it is called."""
        callee = self.evaluator.value(argument, site.scope)
        for name in callee.references:
            if name in catalogue.DANGEROUS:
                called = _as_called(site, argument)
                self._check(ReadCall(self.evaluator, self.notes, called, callee, name), depth=depth)

    def _check(self, call: ReadCall, *, depth: int) -> None:
        for check in _checks_for(call.name):
            check(call)
        if call.name in catalogue.DECODERS:
            call.fact(FactKind.DECODES, catalogue.DECODERS[call.name])
        for text in self._code_in(call):
            self._read_inside(text, call, depth=depth)

    def _code_in(self, call: ReadCall) -> list[str]:
        """The code that a call carries as a text."""
        if call.name in _RUN_AS_PYTHON:
            return call.argument(0, "source", "stmt").texts
        if call.name not in catalogue.PROCESSES and call.name not in catalogue.SHELLS:
            return []
        self.commands += [(text, call.site) for command in call.commands for text in command.texts]
        scripts = [each.script for each in call.commands if each.script and each.program.startswith("python")]
        return [text for script in scripts for text in script.texts]

    def _read_inside(self, text: str, call: ReadCall, *, depth: int) -> None:
        if len(text) < SHORTEST_CODE or UNKNOWN in text or depth >= DEEPEST_CODE:
            return
        self._inner += 1
        tree = parse_text(text) if self._inner <= MOST_INNER else None
        if tree is None:
            self.evaluator.is_cut_short |= self._inner > MOST_INNER
            return
        outer = call.module.source
        lines = (outer.line_in_file(call.site.node.lineno),) * (text.count("\n") + 1)
        source = PythonSource(outer.file, text, is_fenced=outer.is_fenced, lines=lines)
        try:
            module, _ = index_module(source, tree, most_nodes=INNER_NODES)
        except TooManyNodes:
            self.evaluator.is_cut_short = True
            return
        module.outer = call.module
        self._program.add(module)
        self._look(module, depth=depth + 1)


@lru_cache(maxsize=KNOWN_NAMES)
def _checks_for(name: str) -> tuple[Callable[[ReadCall], None], ...]:
    return tuple(check for may_matter, check in _CALL_CHECKS if may_matter(name))


def _as_called(site: Site, handed: ast.expr) -> Site:
    """The call that something makes which was handed a function: with all else that it was handed."""
    others = [each for each in site.node.args if each is not handed]
    others += [each.value for each in site.node.keywords if each.arg in {"args", "iterable"}]
    given: list[ast.expr] = []
    for each in others:
        given += each.elts if isinstance(each, ast.Tuple | ast.List) else [each]
    node = ast.Call(
        func=handed, args=given, keywords=[each for each in site.node.keywords if each.arg not in _NAMED_PLACES]
    )
    node.lineno, node.col_offset = site.node.lineno, site.node.col_offset
    return Site(node, site.scope, terminal(handed))
