"""Code that runs without anybody starting it: while a package is set up, a test run begins, or the interpreter starts."""

from __future__ import annotations

import ast

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.checks.calls import ReadCall
from vskill_platform.scanning.tier1.code.python.values import FILE, NETWORK
from vskill_platform.scanning.tier1.code.python.vocabulary import words

_UNASKED = frozenset(["setup.py", "conftest.py", "sitecustomize.py", "usercustomize.py", "__init__.py"])
_ALWAYS = frozenset(["sitecustomize.py", "usercustomize.py"])
_REACHING = words("get post put urlopen urlretrieve connect request create_connection")
_RUNNING = catalogue.EVALUATORS | catalogue.SHELLS | catalogue.PROCESSES | catalogue.SPAWNERS
_SETUP_CLASSES = words("install develop build_py egg_info build_ext bdist_wheel sdist build")


def may_be_unasked(name: str) -> bool:
    """Whether a call of this name is one that nobody expects in a file that is run by others."""
    return _reaches_out(name) or name in _RUNNING


def check_import_time(call: ReadCall) -> None:
    """Look at a call in a file that is run by others."""
    name = call.module.source.file.rpartition("/")[2]
    is_path_line = name.endswith(".pth")
    if not is_path_line and (name not in _UNASKED or not _runs_unasked(call, name)):
        return
    if (
        _reaches_out(call.name)
        or ((is_path_line or name in _ALWAYS) and _runs_something(call))
        or (_runs_something(call) and _is_in_setup_class(call))
    ):
        call.sight("python_runs_unasked")


def _runs_unasked(call: ReadCall, name: str) -> bool:
    """Whether the call is reached without a function of the skill being called."""
    if call.site.scope.parent is None:
        return not call.module.is_guarded(call.site.node)
    return (name == "setup.py" and _is_in_setup_class(call)) or name in _ALWAYS


def _is_in_setup_class(call: ReadCall) -> bool:
    function = call.site.scope.function
    owner = function.owner if function is not None else None
    if owner is None:
        return False
    bases = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in owner.node.bases]
    return any(base in _SETUP_CLASSES for base in bases)


def _reaches_out(name: str) -> bool:
    return catalogue.is_network(name) and catalogue.last_of(name) in _REACHING


def _runs_something(call: ReadCall) -> bool:
    if call.name in catalogue.EVALUATORS:
        given = call.argument(0)
        return not given.taint & FILE or bool(given.taint & NETWORK)
    return call.name in _RUNNING
