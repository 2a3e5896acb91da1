"""What is done to files: written where it comes back, taken away, made unreadable, or named by somebody else."""

from __future__ import annotations

import ast

from vskill_platform.domain.content import SKILL_FILE_NAMES
from vskill_platform.scanning.tier1.code.jobs import fetches_and_runs, has_orders
from vskill_platform.scanning.tier1.code.places import Lasting, is_history, is_home, is_log, is_system_root, secret_at
from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.checks.calls import ReadCall
from vskill_platform.scanning.tier1.code.python.checks.itself import check_itself
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.known_paths import writes
from vskill_platform.scanning.tier1.code.python.model import Site
from vskill_platform.scanning.tier1.code.python.values import (
    ENCRYPTED,
    EXPOSED,
    FROM_USER,
    LONGEST_PLACE,
    NETWORK,
    NOTHING,
    TOOL,
    UNKNOWN,
    USER_PATHS,
    WALKED,
    Value,
)
from vskill_platform.scanning.tier1.code.python.vocabulary import words
from vskill_platform.scanning.tier1.code.python.whereabouts import (
    is_confined,
    is_of_project,
    is_user_root,
    lasting_place,
    may_be_own_notes,
)
from vskill_platform.scanning.tier1.skill import FactKind

_CHECKS = words(
    "resolve realpath commonpath commonprefix is_relative_to relative_to startswith basename secure_filename "
    "isalnum match fullmatch .."
)
"""Words of a function that looks at a path before it uses it."""
SHORTEST_PATH = 6
"""Letters of a path by which it is known in a text."""


def may_change_files(name: str) -> bool:
    """Whether a call of this name may change or open a file."""
    last = catalogue.last_of(name)
    return (
        name in catalogue.OPENERS
        or name in {"pathlib.Path().open", "open().write"}
        or last in catalogue.WRITERS
        or last in catalogue.READERS
        or last in catalogue.DOWNLOADERS
        or name in catalogue.COPIERS
        or name in catalogue.REMOVERS
        or last in {"unlink", "SetValueEx"}
    )


def may_encrypt(name: str) -> bool:
    """Whether a call of this name may write what was made unreadable."""
    last = catalogue.last_of(name)
    return last in catalogue.WRITERS or last == "write"


def check_files(call: ReadCall) -> None:
    """Look at a call that may change or open a file."""
    name = call.name
    if name in catalogue.OPENERS or name == "pathlib.Path().open":
        path = call.receiver if name == "pathlib.Path().open" else call.argument(0, "file", "name", "filename")
        if writes(call.evaluator, call.site, name):
            check_written(call, path)
        else:
            _note_secret(call, path)
        _check_given_path(call, path)
    elif call.last in catalogue.WRITERS:
        check_written(call, call.receiver)
        _check_given_path(call, call.receiver)
        _note_download(call, call.receiver)
        _check_orders(call, call.receiver)
        check_itself(call)
    elif name == "open().write":
        check_itself(call)
        _note_download(call, call.receiver)
        _check_orders(call, call.receiver)
        _check_added(call, call.receiver)
    elif call.last in catalogue.READERS:
        _check_given_path(call, call.receiver)
        _note_secret(call, call.receiver)
    elif call.last in catalogue.DOWNLOADERS and catalogue.is_network(name):
        _note_downloaded(call, call.argument(1, "filename", "out", "output", "Filename"))
    elif name in catalogue.COPIERS:
        check_written(call, call.argument(1, "dst"))
    elif name in catalogue.REMOVERS or (call.last == "unlink" and name.startswith(".")):
        _check_removed(call)
    elif name.startswith("winreg.") and call.last == "SetValueEx":
        call.sight("python_persists")


def check_encryption(call: ReadCall) -> None:
    """Files that a walk came across and that are made unreadable: the user's own, or any whose originals go."""
    is_write = call.last in catalogue.WRITERS or "open()" in call.receiver.references
    is_walked = call.receiver.taint & (USER_PATHS | WALKED)
    if not is_write or not is_walked or not call.argument(0).taint & ENCRYPTED:
        return
    if call.receiver.taint & USER_PATHS:
        call.sight("python_encrypts_files")
    elif call.receiver.taint & WALKED and _removes_walked(call):
        call.sight("python_destroys_files")


def _removes_walked(call: ReadCall) -> bool:
    """Whether files that a walk came across are taken away anywhere in the same module."""
    memo = call.module.memo
    if "removes" not in memo:
        sites = [site for site in call.module.calls if site.word in {"remove", "unlink"}]
        memo["removes"] = any(_removed_path(call.evaluator, site).taint & WALKED for site in sites)
    return memo["removes"]


def _removed_path(evaluator: Evaluator, site: Site) -> Value:
    func = site.node.func
    if site.node.args or not isinstance(func, ast.Attribute):
        return evaluator.argument(site, 0)
    return evaluator.value(func.value, site.scope)


def check_written(call: ReadCall, path: Value) -> None:
    """Look at a path that is written."""
    for text in path.texts:
        if UNKNOWN in text and len(text.strip(UNKNOWN + "/")) < 3:
            continue
        call.fact(FactKind.WRITES, text)
        place = lasting_place(text)
        if place is None:
            if text.rpartition("/")[2] in SKILL_FILE_NAMES and _is_fetched(call, text):
                call.sight("python_persists_fetched")
            continue
        is_fetched = _is_fetched(call, text)
        if place is Lasting.AGENT and may_be_own_notes(text) and not is_fetched:
            continue
        if place is Lasting.AGENT and is_of_project(text) and not is_fetched:
            call.sight("python_writes_agent_file")
        else:
            call.sight("python_persists_fetched" if is_fetched else "python_persists")


def _check_added(call: ReadCall, path: Value) -> None:
    """What is added to a file that comes back, if it fetches something and runs it."""
    if any(map(fetches_and_runs, call.argument(0, "data").texts)) and any(map(lasting_place, path.texts)):
        call.sight("python_persists_fetched")


def _check_orders(call: ReadCall, path: Value) -> None:
    """What is written into an agent's own files, if it has the agent send things, keep quiet or stop asking."""
    is_agents = any(lasting_place(text) is Lasting.AGENT for text in path.texts)
    if is_agents and any(map(has_orders, call.argument(0, "data").texts)):
        call.sight("python_plants_orders")


def _is_fetched(call: ReadCall, path: str) -> bool:
    """Whether what is written came from outside, by this call or one that was learnt of before, or has it come and runs it."""
    content = call.argument(0, "data") if call.last in catalogue.WRITERS else NOTHING
    if (content.taint | call.evaluator.file_taint.get(path, 0)) & NETWORK:
        return True
    return any(fetches_and_runs(text) or _names_fetched(call.evaluator, text) for text in content.texts)


def _names_fetched(evaluator: Evaluator, text: str) -> bool:
    """Whether a text names a file that holds what came from outside."""
    return any(path in text for path in evaluator.fetched_paths if len(path) >= SHORTEST_PATH)


def _note_download(call: ReadCall, path: Value) -> None:
    """Note a file that gets what came from outside. What is put together on the spot is not asked about: it is text."""
    given = call.site.node.args[0] if call.site.node.args else None
    if isinstance(given, ast.Name | ast.Attribute | ast.Call) and call.argument(0).taint & NETWORK:
        _note_downloaded(call, path)


def _note_downloaded(call: ReadCall, path: Value) -> None:
    for text in path.texts or [""]:
        call.fact(FactKind.DOWNLOADS, "" if text.strip(UNKNOWN + "/") == "" else text)


def _note_secret(call: ReadCall, path: Value) -> None:
    for text in path.texts:
        if len(text) < LONGEST_PLACE and secret_at(text):
            call.fact(FactKind.READS_SECRET, text)


def _check_removed(call: ReadCall) -> None:
    is_method = call.name.startswith((".", "pathlib"))
    path = call.receiver if is_method else call.argument(0, "path")
    is_tree = call.last == "rmtree"
    if is_tree and any(is_home(text) or is_system_root(text) or is_user_root(text) for text in path.texts):
        call.sight("python_destroys_files")
    elif any(is_history(text) or is_log(text) for text in path.texts):
        call.sight("python_wipes_traces")
    elif path.taint & USER_PATHS:
        call.sight("python_deletes_argument" if _is_choosy(call, path) else "python_destroys_files")
    elif is_tree and path.taint & (FROM_USER & ~EXPOSED | TOOL):
        call.sight("python_deletes_argument")


def _is_choosy(call: ReadCall, path: Value) -> bool:
    """Whether a walk takes only files of some kind: by a pattern, or by comparing names with constants."""
    patterns = [text.rpartition("/")[2].strip("*" + UNKNOWN) for text in path.texts]
    return bool(call.site.scope.compared) or (bool(patterns) and all(patterns))


def _check_given_path(call: ReadCall, path: Value) -> None:
    """A path that begins with a constant folder and ends with what somebody else gives, with nothing looking at it."""
    function = call.site.scope.function
    if not path.taint & EXPOSED or (function is not None and function.words & _CHECKS):
        return
    joined = [text for text in path.texts if UNKNOWN in text and not text.startswith(UNKNOWN)]
    if path.taint & TOOL and joined:
        call.sight("python_tool_path")
    elif any(is_confined(text) for text in joined):
        call.sight("python_confined_path")
