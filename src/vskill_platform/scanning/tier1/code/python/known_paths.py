"""What gives paths, and what stands in the files that they lead to."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.known_calls import Handler, KnownCall
from vskill_platform.scanning.tier1.code.python.known_values import PATH, full_path
from vskill_platform.scanning.tier1.code.python.model import Site
from vskill_platform.scanning.tier1.code.python.values import (
    HIDDEN,
    LONGEST_PLACE,
    PARSED,
    SECRET,
    TABLE,
    UNKNOWN,
    USER_PATHS,
    WALKED,
    Value,
    constant,
    join,
)
from vskill_platform.scanning.tier1.code.python.whereabouts import is_user_root

_PACKAGES = "~/.local/lib/python3/site-packages"
_FOLDERS = {"pathlib.Path.home": "~", "tempfile.gettempdir": "/tmp"}  # noqa: S108 - what it stands for
_SECRET_NAMES = re.compile(
    r"\*?\.?(?:pem|p12|pfx|kdbx|jks|keystore|ovpn|env[\w.]*|id_(?:rsa|dsa|ecdsa|ed25519)|wallet(?:\.dat)?|"
    r"credentials?(?:\.json)?|netrc|npmrc|pypirc|git-credentials|secrets?(?:\.\w+)?|htpasswd|pgpass)|\*?\.key|seed\.txt",
    re.IGNORECASE,
)


def writes(evaluator: Evaluator, site: Site, name: str) -> bool:
    """Whether a file is opened in order to be changed."""
    mode = evaluator.argument(site, 0 if name.startswith(PATH) else 1, "mode", "flag")
    return any(set(text[:4]) & set("wax+") for text in mode.texts if len(text) <= 5)


def _opened(call: KnownCall) -> Value:
    path = call.callee if call.name == f"{PATH}.open" else call.argument(0, "file", "name", "filename", "database")
    if writes(call.evaluator, call.site, call.name):
        return Value(path.constants, ("open()",), taint=path.taint & (WALKED | USER_PATHS))
    return Value(path.constants, ("open()",), taint=_taint_of_content(call, path))


def _taint_of_content(call: KnownCall, path: Value) -> int:
    """Where what stands in a file comes from; a walk that looks out for the names of secrets finds secrets."""
    taint = call.evaluator.outside.content_taint(call.evaluator, path)
    compared = call.site.scope.compared if path.taint & WALKED else ()
    return taint | SECRET if any(_SECRET_NAMES.fullmatch(text[:LONGEST_PLACE]) for text in compared) else taint


def _table(call: KnownCall) -> Value:
    return _opened(call).tainted(PARSED | TABLE)


def _read(call: KnownCall) -> Value:
    return Value(taint=_taint_of_content(call, call.receiver))


def _path(call: KnownCall) -> Value:
    if not call.site.node.args:
        return Value((".",), (PATH,))
    made = call.evaluator.outside.joined_path(call.positional())
    return Value(made.constants, (PATH,), taint=made.taint)


def _joined(call: KnownCall) -> Value:
    is_method = not call.name or call.name.endswith("joinpath")
    parts = [call.receiver, *call.positional()] if is_method else call.positional()
    return call.evaluator.outside.joined_path(parts)


def _same(call: KnownCall) -> Value:
    """A path that stays the same place in another form."""
    return call.receiver if call.name.startswith(PATH) else call.argument(0)


def _folder(call: KnownCall) -> Value:
    return Value((_FOLDERS.get(call.name, "."),), (PATH,))


def _packages(call: KnownCall) -> Value:
    """The folders that packages are installed to."""
    folder = constant(_PACKAGES)
    return Value(inner=folder) if call.name == "site.getsitepackages" else folder


def _parent(call: KnownCall) -> Value:
    given = call.argument(0)
    return Value(tuple(each.rpartition("/")[0] for each in given.texts), taint=given.taint)


def _walked(call: KnownCall) -> Value:
    """The paths below a folder, as a walk through it gives them."""
    base = _base_of_walk(call)
    taint = base.taint & ~HIDDEN | WALKED | (USER_PATHS if any(map(is_user_root, base.texts)) else 0)
    below = tuple(full_path(each, UNKNOWN) for each in base.texts if "*" not in each) or base.constants
    name = Value((UNKNOWN,), taint=taint)
    if call.name in {"os.walk", "os.fwalk", f"{PATH}.walk"}:
        folder, names = join([base, Value(below)]).tainted(taint), Value(taint=taint, inner=name)
        return Value(taint=taint, inner=Value(taint=taint, items=(folder, names, names)))
    return Value(taint=taint, inner=name if call.name == "os.listdir" else Value(below, (PATH,), taint=taint))


def _base_of_walk(call: KnownCall) -> Value:
    if call.name in catalogue.WALKERS:
        return call.argument(0, "top", "path", "pathname")
    pattern = call.argument(0, "pattern")
    return call.evaluator.outside.joined_path([call.receiver, pattern if pattern.texts else constant("*")])


_SAME_PLACE = "expanduser abspath realpath normpath expandvars"
PATHS: dict[str, Handler] = {
    "pathlib.Path": _path,
    "pathlib.PurePath": _path,
    "pathlib.PosixPath": _path,
    "os.path.join": _joined,
    "posixpath.join": _joined,
    "os.path.dirname": _parent,
    "os.fspath": _same,
    **dict.fromkeys(["pathlib.Path.home", "pathlib.Path.cwd", "os.getcwd", "tempfile.gettempdir"], _folder),
    **dict.fromkeys(["site.getusersitepackages", "site.getsitepackages", "sysconfig.get_path"], _packages),
    **dict.fromkeys([f"os.path.{each}" for each in _SAME_PLACE.split()], _same),
    **dict.fromkeys([f"{PATH}.{each}" for each in sorted(catalogue.MEMBERS_OF_PATH - {"joinpath"})], _same),
    **dict.fromkeys([*sorted(catalogue.OPENERS), f"{PATH}.open", "linecache.getlines", "fileinput.input"], _opened),
    **dict.fromkeys([*sorted(catalogue.WALKERS), f"{PATH}.glob", f"{PATH}.walk"], _walked),
    **dict.fromkeys(["pandas.read_csv", "pandas.read_json", "pandas.read_excel", "polars.read_csv"], _table),
}
"""Functions by their full names."""
PATH_METHODS: dict[str, Handler] = {
    "joinpath": _joined,
    "read_text": _read,
    "read_bytes": _read,
    "rglob": _walked,
    "iterdir": _walked,
}
"""Methods by their last word."""
