"""What has to be known of files before anything is judged: which hold what came from outside, and which hold secrets.

A program writes a download to a path and runs the path later; it packs keys into an archive and sends the archive. So all
writes are gone through first, and what is learnt is laid down with the names and paths, for the questions that follow.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.places import secret_at
from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.commands import INTERPRETERS, SENDERS, command_of, downloaded_to
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.model import Module, Scope, Site, terminal
from vskill_platform.scanning.tier1.code.python.values import (
    DECODED,
    ENVIRONMENT,
    FETCHED_PATH,
    FILE,
    NETWORK,
    SECRET,
    UNKNOWN,
    USER_FILES,
    USER_PATHS,
    Value,
)
from vskill_platform.scanning.tier1.code.python.vocabulary import words
from vskill_platform.scanning.tier1.code.python.whereabouts import is_of_vendor

_KEPT = NETWORK | SECRET | ENVIRONMENT | USER_FILES | DECODED
_WRITING = words("write writelines writestr write_text write_bytes dump add make_archive print")
_OPENED = frozenset(["fileobj", "file", "name"])
_ENDINGS = {"zip": ".zip", "tar": ".tar", "gztar": ".tar.gz", "bztar": ".tar.bz2", "xztar": ".tar.xz"}
"""What `make_archive` puts behind the path that it is given, by the kind of archive."""
_OPENING = words("open ZipFile TarFile AESZipFile fdopen NamedTemporaryFile BytesIO StringIO")


def runs_files(evaluator: Evaluator, modules: list[Module]) -> bool:
    """Whether anything is run that may be a file."""
    return any(_runs(evaluator, site) for site in _calls_of(modules, _RUNNING | _LOADING | _EVALUATING))


def _calls_of(modules: list[Module], last_words: frozenset[str]) -> list[Site]:
    return [site for module in modules for site in module.calls if site.word in last_words]


def _runs(evaluator: Evaluator, site: Site) -> bool:
    if site.word in _EVALUATING:
        return bool(evaluator.argument(site, 0).taint & FILE)
    names = evaluator.value(site.node.func, site.scope).references
    return any(name in _LOADERS or _runs_file(evaluator, site, name) for name in names)


def sends_files(evaluator: Evaluator, modules: list[Module]) -> bool:
    """Whether anything is sent that may have been in a file, or in an archive that was made before."""
    return any(_sends(evaluator, site) for site in _calls_of(modules, catalogue.SENDING_METHODS))


def _sends(evaluator: Evaluator, site: Site) -> bool:
    word, node = site.word, site.node
    if not (node.keywords or len(node.args) > 1 or word not in catalogue.COMMON_WORDS):
        return False
    names = evaluator.value(node.func, site.scope).references
    if not any(catalogue.is_network(name) for name in names) and (names or word not in catalogue.LOOSE_SENDERS):
        return False
    packs = any(name in site.scope.module.encoded for name in (b"ZipFile", b"tarfile", b"BytesIO", b"make_archive"))
    return packs or word in catalogue.UPLOADERS or any(value.taint & FILE for value in evaluator.arguments(site))


def _runs_file(evaluator: Evaluator, site: Site, name: str) -> bool:
    if name not in catalogue.SHELLS and name not in catalogue.PROCESSES and name not in catalogue.SPAWNERS:
        return False
    command = command_of(evaluator, site, name)
    if command.is_shell or not command.program or INTERPRETERS.fullmatch(command.program):
        return True
    return bool(SENDERS.search(f"{command.program} ")) or any(
        "/" in text.split()[0] for text in command.texts if text.split()
    )


def learn_from_writes(evaluator: Evaluator, modules: list[Module]) -> None:
    """Lay down what the files that a program writes hold. Twice, because one file may be made from another."""
    telling = _calls_of(modules, _TELLING)
    for _ in range(2):
        before = dict(evaluator.file_taint), dict(evaluator.name_taint)
        for site in telling:
            _learn(evaluator, site)
        if (evaluator.file_taint, evaluator.name_taint) == before:
            return
        evaluator.forget()


def _learn(evaluator: Evaluator, site: Site) -> None:
    word = site.word
    if word in _WRITING:
        _learn_write(evaluator, site, word)
    elif word in catalogue.DOWNLOADERS:
        _learn_download(evaluator, site)
    elif word in _COPYING:
        _learn_copy(evaluator, site)
    else:
        _learn_command(evaluator, site)


_COPYING = frozenset(catalogue.last_of(name) for name in catalogue.COPIERS)
_RUNNING = frozenset(catalogue.last_of(name) for name in catalogue.SHELLS | catalogue.PROCESSES | catalogue.SPAWNERS)
_LOADERS = catalogue.LOADERS | catalogue.DESERIALISERS
_LOADING = frozenset(catalogue.last_of(name) for name in _LOADERS)
_EVALUATING = frozenset(["exec", "eval"])
_TELLING = _WRITING | catalogue.DOWNLOADERS | _COPYING | _RUNNING
"""Last words of the calls that something can be learnt of."""


def _learn_write(evaluator: Evaluator, site: Site, word: str) -> None:
    paths = list(_written_paths(site, word))
    if not paths:
        return
    taint = 0
    for value in evaluator.arguments(site):
        taint |= value.taint & _KEPT
        taint |= USER_FILES if value.taint & USER_PATHS else 0
        if word in {"write", "add", "make_archive"} and any(secret_at(text) for text in value.texts if len(text) < 400):
            taint |= SECRET
    if taint:
        for path in paths:
            _lay_down(evaluator, path, site.scope, taint)
        for made in _archives(evaluator, site) if word == "make_archive" else ():
            evaluator.file_taint[made] = evaluator.file_taint.get(made, 0) | taint


def _archives(evaluator: Evaluator, site: Site) -> Iterator[str]:
    """The paths of the archives that `make_archive` makes."""
    kinds = evaluator.argument(site, 1, "format").texts
    for text in evaluator.argument(site, 0, "base_name").texts:
        yield from (text + _ENDINGS.get(kind, "") for kind in kinds)


def _written_paths(site: Site, word: str) -> Iterator[ast.expr]:
    """The expressions for the path that a call writes to."""
    func = site.node.func
    if word in {"dump", "print"}:
        handles = [*site.node.args[1:2], *(each.value for each in site.node.keywords if each.arg in {"fp", "file"})]
        for handle in handles:
            yield from _opened_paths(handle, site.scope)
    elif word == "make_archive":
        yield from site.node.args[:1]
    elif isinstance(func, ast.Attribute):
        if word in catalogue.WRITERS:
            yield func.value
        elif word == "write" and terminal(func.value) == "os":
            names = [given.id for given in site.node.args[:1] if isinstance(given, ast.Name)]
            yield from (path for name in names for path in site.scope.beside.get(name, ()))
        else:
            yield from _opened_paths(func.value, site.scope)


def _opened_paths(handle: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """A handle that was opened, and the path that it was opened with: by the call itself, or by what its name stands for."""
    nodes: list[ast.expr] = [handle]
    if isinstance(handle, ast.Name):
        at: Scope | None = scope
        while at is not None and handle.id not in at.bindings:
            at = at.parent
        nodes = [each.node for each in at.bindings[handle.id] if each.node is not None] if at is not None else []
    for node in nodes[:8]:
        if isinstance(node, ast.Call) and terminal(node.func) in _OPENING:
            yield from [handle] if isinstance(handle, ast.Name) else []
            yield from node.args[:1]
            yield from (each.value for each in node.keywords if each.arg in _OPENED)
            if isinstance(node.func, ast.Attribute):
                yield node.func.value


def _learn_download(evaluator: Evaluator, site: Site) -> None:
    names = evaluator.value(site.node.func, site.scope).references
    if not any(catalogue.is_network(name) for name in names):
        return
    paths = [
        *site.node.args[1:3],
        *(each.value for each in site.node.keywords if each.arg in {"filename", "out", "output", "Filename"}),
    ]
    addresses = [text for text in evaluator.argument(site, 0, "url").texts if "://" in text]
    if not addresses or not all(map(is_of_vendor, addresses)):
        for path in paths:
            _lay_down(evaluator, path, site.scope, NETWORK)


def _learn_copy(evaluator: Evaluator, site: Site) -> None:
    if len(site.node.args) < 2:
        return
    source = evaluator.value(site.node.args[0], site.scope)
    taint = _taint_of_file(evaluator, source)
    if taint:
        _lay_down(evaluator, site.node.args[1], site.scope, taint)


def _taint_of_file(evaluator: Evaluator, path: Value) -> int:
    taint = path.taint & SECRET | (NETWORK if path.taint & FETCHED_PATH else 0)
    for text in path.texts:
        taint |= evaluator.file_taint.get(text, 0) | (SECRET if secret_at(text) else 0)
    return taint


def _learn_command(evaluator: Evaluator, site: Site) -> None:
    for name in evaluator.value(site.node.func, site.scope).references:
        if name in catalogue.SHELLS or name in catalogue.PROCESSES:
            for text in command_of(evaluator, site, name).texts:
                path = downloaded_to(text)
                addresses = [word.strip("\"'") for word in text.split() if "://" in word]
                if path and path.strip(UNKNOWN) and not (addresses and all(map(is_of_vendor, addresses))):
                    evaluator.file_taint[path] = evaluator.file_taint.get(path, 0) | NETWORK


def _lay_down(evaluator: Evaluator, path: ast.expr, scope: Scope, taint: int) -> None:
    """Note what a file holds, by its path where it is known, and by the names that stand for the path."""
    for text in evaluator.value(path, scope).texts:
        if text.strip(UNKNOWN + "/."):
            evaluator.file_taint[text] = evaluator.file_taint.get(text, 0) | taint
    on_name = taint & (SECRET | ENVIRONMENT | USER_FILES) | (FETCHED_PATH if taint & NETWORK else 0)
    for name in _names_of(path):
        at: Scope | None = scope
        while at is not None and name not in at.bindings:
            at = at.parent
        if at is not None and on_name:
            evaluator.name_taint[id(at), name] = evaluator.name_taint.get((id(at), name), 0) | on_name


def _names_of(path: ast.expr) -> list[str]:
    """The name that stands for a path; wrappers such as `str` are looked through."""
    while (
        isinstance(path, ast.Call) and len(path.args) == 1 and terminal(path.func) in {"str", "Path", "fspath", "open"}
    ):
        path = path.args[0]
    return [path.id] if isinstance(path, ast.Name) else []
