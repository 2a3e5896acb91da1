"""What single functions give that are worth knowing one by one. Each returns None where it has nothing to say."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable

from vskill_platform.scanning.tier1.code.python import catalogue, folding
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.expressions import part_of
from vskill_platform.scanning.tier1.code.python.known_values import PATH, full_path, variable
from vskill_platform.scanning.tier1.code.python.model import Function, Site
from vskill_platform.scanning.tier1.code.python.values import (
    DECODED,
    OWN_SECRET,
    ENCRYPTED,
    FOLDED,
    FROM_USER,
    HIDDEN,
    INPUT,
    LONGEST_PLACE,
    MOST_ITEMS,
    NETWORK,
    NOTHING,
    PARSED,
    SECRET,
    UNKNOWN,
    USER_PATHS,
    WALKED,
    Value,
    constant,
    container,
    join,
    reference,
)
from vskill_platform.scanning.tier1.code.python.whereabouts import is_user_root

_LAST_LETTER = 0x110000
SOMETHING = "<looked up>"
"""The name of what was looked up by a text that was decoded or fetched."""
_PACKAGES = "~/.local/lib/python3/site-packages"
_SECRET_NAMES = re.compile(
    r"\*?\.?(?:pem|p12|pfx|kdbx|jks|keystore|ovpn|env[\w.]*|id_(?:rsa|dsa|ecdsa|ed25519)|wallet(?:\.dat)?|credentials?(?:\.json)?|netrc|npmrc|pypirc|"
    r"git-credentials|secrets?(?:\.\w+)?|htpasswd|pgpass)|\*?\.key|seed\.txt", re.IGNORECASE
)
DEEPEST_JSON = 6
LONGEST_JSON = 100_000
Handler = Callable[[Evaluator, Site, Value, str], Value | None]


def _receiver(evaluator: Evaluator, site: Site) -> Value:
    func = site.node.func
    return evaluator.value(func.value, site.scope) if isinstance(func, ast.Attribute) else NOTHING


def decoded(evaluator: Evaluator, site: Site, kind: str) -> Value:
    """What a function gives that decodes its first argument in a way that has a name."""
    given = evaluator.argument(site, 1 if kind == "unicode" else 0, "s", "data", "string")
    taint = given.taint & ~HIDDEN | (0 if kind in catalogue.READABLE_CODINGS else DECODED)
    whole = [each for each in given.constants if not (isinstance(each, str) and UNKNOWN in each)]
    found = [folding.decode(kind, each) for each in whole]
    return Value(tuple(each for each in found if each is not None), taint=taint, variables=given.variables)


def _getattr(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    """An attribute by a text: `getattr(x, "y")`, `x.__getattribute__("y")` and `object.__getattribute__(x, "y")`."""
    del callee
    is_method = name.endswith(".__getattribute__") and name != "object.__getattribute__"
    holder = reference(name.rpartition(".")[0]) if is_method else evaluator.argument(site, 0)
    word = evaluator.argument(site, 0 if is_method else 1)
    found = [evaluator.attribute_of(holder, each).tainted(HIDDEN) for each in word.texts if UNKNOWN not in each]
    if not found:
        return _looked_up_by(word, holder)
    return join([*found, evaluator.argument(site, 2)] if name == "getattr" else found)


def _import(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee
    given = evaluator.argument(site, 0, "name")
    names = [each.partition(".")[0] if name == "__import__" else each for each in given.texts if UNKNOWN not in each]
    found = [evaluator.module_named(each, site.scope.module) for each in names if each]
    return join(found).tainted(HIDDEN) if found else _looked_up_by(given, NOTHING)


def _looked_up_by(word: Value, holder: Value) -> Value:
    """What was looked up by a text that is not known; where the text was decoded or fetched, that is remembered."""
    taint = (holder.taint | word.taint) & ~HIDDEN
    return Value(references=(SOMETHING,), taint=taint | HIDDEN) if word.taint & (DECODED | NETWORK) else Value(taint=taint)


def _namespace(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    if not site.node.args:
        return Value(references=("globals()",), targets=(site.scope.module,))
    holder = evaluator.argument(site, 0)
    return Value(references=tuple(f"{each}.__dict__" for each in holder.references), targets=holder.targets)


def _variable(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    found, default = variable(evaluator.argument(site, 0, "key")), evaluator.argument(site, 1, "default")
    return join([found, default]) if default.constants else found


def _open(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    path = callee if name == f"{PATH}.open" else evaluator.argument(site, 0, "file", "name", "filename", "database")
    if writes(evaluator, site, name):
        return Value(path.constants, ("open()",), taint=path.taint & (WALKED | USER_PATHS))
    return Value(path.constants, ("open()",), taint=_content(evaluator, site, path))


def _content(evaluator: Evaluator, site: Site, path: Value) -> int:
    """Where what stands in a file comes from; a walk that looks out for the names of secrets finds secrets."""
    taint = evaluator.outside.content_taint(evaluator, path)
    if path.taint & WALKED and any(_SECRET_NAMES.fullmatch(text[:LONGEST_PLACE]) for text in site.scope.compared):
        taint |= SECRET
    return taint


def _table_read(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    return _open(evaluator, site, callee, name).tainted(PARSED)


def writes(evaluator: Evaluator, site: Site, name: str) -> bool:
    """Whether a file is opened in order to be changed."""
    mode = evaluator.argument(site, 0 if name.startswith(PATH) else 1, "mode", "flag")
    return any(set(text[:4]) & set("wax+") for text in mode.texts if len(text) <= 5)


def _read(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    return Value(taint=_content(evaluator, site, _receiver(evaluator, site)))


def _path_made(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    if not site.node.args:
        return Value((".",), (PATH,))
    made = evaluator.outside.joined_path([evaluator.value(each, site.scope) for each in site.node.args])
    return Value(made.constants, (PATH,), taint=made.taint)


def _path_joined(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee
    given = [evaluator.value(each, site.scope) for each in site.node.args]
    is_method = not name or name.endswith("joinpath")
    return evaluator.outside.joined_path([_receiver(evaluator, site), *given] if is_method else given)


def _same_path(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    """A path that stays the same place in another form."""
    del callee
    return _receiver(evaluator, site) if name.startswith(PATH) else evaluator.argument(site, 0)


def _folder(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del evaluator, site, callee
    text = {"pathlib.Path.home": "~", "tempfile.gettempdir": "/tmp"}.get(name, ".")  # noqa: S108 - what it stands for
    return Value((text,), (PATH,))


def _parent(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    given = evaluator.argument(site, 0)
    return Value(tuple(each.rpartition("/")[0] for each in given.texts), taint=given.taint)


def _walk(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    """The paths below a folder, as a walk through it gives them."""
    del callee
    if name in catalogue.WALKERS:
        base = evaluator.argument(site, 0, "top", "path", "pathname")
    else:
        pattern = evaluator.argument(site, 0, "pattern")
        base = evaluator.outside.joined_path([_receiver(evaluator, site), pattern if pattern.texts else constant("*")])
    taint = base.taint & ~HIDDEN | WALKED | (USER_PATHS if any(map(is_user_root, base.texts)) else 0)
    below = tuple(full_path(each, UNKNOWN) for each in base.texts if "*" not in each) or base.constants
    name_only = Value((UNKNOWN,), taint=taint)
    if name in {"os.walk", "os.fwalk", f"{PATH}.walk"}:
        folder, names = join([base, Value(below)]).tainted(taint), Value(taint=taint, inner=name_only)
        return Value(taint=taint, inner=Value(taint=taint, items=(folder, names, names)))
    return Value(taint=taint, inner=name_only if name == "os.listdir" else Value(below, (PATH,), taint=taint))


def _character(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    given = evaluator.argument(site, 0)
    folded = tuple(chr(each) for each in given.constants if isinstance(each, int) and 0 < each < _LAST_LETTER)
    return Value(folded, taint=given.taint | FOLDED | DECODED)


def _ordinal(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    given = evaluator.argument(site, 0)
    only = given.only
    return constant(ord(only)) if isinstance(only, str | bytes) and len(only) == 1 else Value(taint=given.taint)


def _number(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    given, base = evaluator.argument(site, 0), evaluator.argument(site, 1, "base").only
    only = given.only
    if isinstance(only, str) and len(only) < 40:
        try:
            return constant(int(only, base if isinstance(base, int) else 10))
        except ValueError:
            return NOTHING
    return constant(only) if isinstance(only, int) else Value(taint=given.taint & DECODED)


def _bytes(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    given = evaluator.argument(site, 0)
    numbers = [each.only for each in given.items or ()]
    small = [each for each in numbers if isinstance(each, int) and 0 <= each < 256]
    if numbers and len(small) == len(numbers):
        return constant(bytes(small), given.taint | FOLDED | DECODED)
    if isinstance(given.only, str):
        return constant(given.only.encode("utf-8", "replace"), given.taint)
    return Value(taint=given.taint & ~HIDDEN | DECODED, variables=given.variables)


def _packages(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    """The folders that packages are installed to."""
    del evaluator, site, callee
    folder = constant(_PACKAGES)
    return folder if name in {"site.getusersitepackages", "sysconfig.get_path"} else Value(inner=folder)


def _reduced(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value | None:
    """Attributes of attributes, as `reduce(getattr, names, holder)` gives them."""
    del callee, name
    if "getattr" not in evaluator.argument(site, 0).references:
        return None
    words, holder = evaluator.argument(site, 1), evaluator.argument(site, 2)
    for word in words.items or ():
        texts = [each for each in word.texts if UNKNOWN not in each]
        if not texts:
            return _looked_up_by(word, holder)
        holder = join([evaluator.attribute_of(holder, each) for each in texts]).tainted(HIDDEN)
    return holder


def _parsed(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    """What stands in JSON, where the text is known; else data of unknown shape."""
    del callee, name
    given = evaluator.argument(site, 0, "s")
    taint = given.taint & ~HIDDEN | PARSED
    if isinstance(given.only, str | bytes) and len(given.only) < LONGEST_JSON:
        try:
            return _of_json(json.loads(given.only), DEEPEST_JSON).tainted(taint)
        except (ValueError, RecursionError):
            return Value(taint=taint)
    return Value(taint=taint, variables=given.variables)


def _of_json(data: object, depth: int) -> Value:
    if isinstance(data, str | int) and not isinstance(data, bool):
        return constant(data)
    if isinstance(data, list) and depth:
        return container([_of_json(each, depth - 1) for each in data[:MOST_ITEMS]])
    if isinstance(data, dict) and depth:
        keyed = {key: _of_json(each, depth - 1) for key, each in list(data.items())[:MOST_ITEMS]}
        return Value(inner=join(keyed.values()), keyed=dict(keyed))
    return NOTHING


def _table(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value | None:
    """A table of letters for other letters, as `str.maketrans` makes it."""
    del callee, name
    first, second = evaluator.argument(site, 0), evaluator.argument(site, 1)
    if first.keyed:
        return Value(keyed=first.keyed, inner=first.inner, taint=first.taint)
    if isinstance(first.only, str) and isinstance(second.only, str) and len(first.only) == len(second.only) <= MOST_ITEMS:
        return Value(keyed={old: constant(new) for old, new in zip(first.only, second.only, strict=True)})
    return None


def _mapped(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value | None:
    """What `map` gives over something known, turn by turn."""
    del callee, name
    function, over = evaluator.argument(site, 0), evaluator.argument(site, 1)
    items = list(over.items) if over.items is not None and over.inner is None else None
    if items is None and isinstance(over.only, str | bytes) and len(over.only) <= MOST_ITEMS:
        items = [constant(each) for each in over.only]
    if items is None:
        return None
    if "chr" in function.references:
        numbers = [each.only for each in items]
        folded = [chr(each) if isinstance(each, int) and 0 < each < _LAST_LETTER else UNKNOWN for each in numbers]
        return container([constant(each, FOLDED | DECODED) for each in folded])
    own = next((each for each in function.targets if isinstance(each, Function)), None)
    return container([evaluator.functions.given_one(own, each) for each in items]) if own is not None else None


def _reversed(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value | None:
    del callee, name
    given = evaluator.argument(site, 0)
    if given.items is not None:
        return container(list(reversed(given.items)))
    if isinstance(given.only, str) and len(given.only) <= MOST_ITEMS:
        return container([constant(each, FOLDED) for each in reversed(given.only)])
    return None


def _by_codec(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    given, encoding = evaluator.argument(site, 0, "obj"), evaluator.argument(site, 1, "encoding").only
    kind = encoding if encoding is not None else "utf-8"
    found = [folding.decode_by_codec(each, kind) for each in given.constants]
    is_plain = str(kind).lower().replace("-", "") in {"utf8", "ascii"}
    return Value(tuple(each for each in found if each is not None), taint=given.taint | (0 if is_plain else DECODED))


def _compiled(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    return evaluator.argument(site, 0, "source")


def _getter(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    return Value(evaluator.argument(site, 0).constants, ("operator.attrgetter()",))


def _got(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del name
    holder = evaluator.argument(site, 0)
    return join([evaluator.attribute_of(holder, each).tainted(HIDDEN) for each in callee.texts])


def _partial(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del callee, name
    function = evaluator.argument(site, 0)
    return Value(references=function.references, targets=function.targets, taint=function.taint)


def _arguments_parsed(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    del evaluator, site, callee, name
    return Value(taint=INPUT)


def _changed(taint: int) -> Handler:
    """What gives its arguments made unreadable, or readable again."""

    def changed(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
        del name
        given = [*evaluator.arguments(site), Value(taint=callee.taint)]
        found = taint
        for each in given:
            found |= each.taint & ~(HIDDEN | FROM_USER)
        return Value(taint=found)

    return changed


def _keyed(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value | None:
    """The method of a namespace or of the environment that looks up a key."""
    del callee, name
    holder, key = _receiver(evaluator, site), evaluator.argument(site, 0)
    found = evaluator.outside.looked_up(evaluator, holder, key)
    if found is not None:
        default = evaluator.argument(site, 1, "default")
        return join([found, default]) if default.constants else found
    return part_of(evaluator, holder, key) if holder.keyed or holder.taint & OWN_SECRET else None


def _subclasses(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value | None:
    """All classes there are, as they are reached from the root of them; subclasses of one's own class are no secret."""
    del evaluator, callee, name
    at: ast.AST = site.node.func
    while isinstance(at, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(at, ast.Attribute) and at.attr in {"__base__", "__bases__", "__mro__"}:
            return reference("object.__subclasses__()", HIDDEN)
        at = at.func if isinstance(at, ast.Call) else at.value
    return reference("object.__subclasses__()", HIDDEN) if isinstance(at, ast.Name) and at.id == "object" else None


_SAME_PATH = "os.path.expanduser os.path.abspath os.path.realpath os.path.normpath os.path.expandvars os.fspath".split()
EXACT: dict[str, Handler] = {
    "getattr": _getattr,
    "object.__getattribute__": _getattr,
    "__import__": _import,
    "importlib.import_module": _import,
    "importlib.__import__": _import,
    "globals": _namespace,
    "locals": _namespace,
    "vars": _namespace,
    "os.getenv": _variable,
    "os.getenvb": _variable,
    "pathlib.Path": _path_made,
    "pathlib.PurePath": _path_made,
    "pathlib.PosixPath": _path_made,
    "os.path.join": _path_joined,
    "posixpath.join": _path_joined,
    "pathlib.Path.home": _folder,
    "pathlib.Path.cwd": _folder,
    "os.getcwd": _folder,
    "tempfile.gettempdir": _folder,
    "os.path.dirname": _parent,
    "chr": _character,
    "ord": _ordinal,
    "int": _number,
    "bytes": _bytes,
    "bytearray": _bytes,
    "map": _mapped,
    "reversed": _reversed,
    "codecs.decode": _by_codec,
    "codecs.encode": _by_codec,
    "compile": _compiled,
    "operator.attrgetter": _getter,
    "operator.attrgetter()": _got,
    "functools.partial": _partial,
    "functools.reduce": _reduced,
    "json.loads": _parsed,
    "str.maketrans": _table,
    **dict.fromkeys(["site.getusersitepackages", "site.getsitepackages", "sysconfig.get_path"], _packages),
    f"{PATH}.glob": _walk,
    f"{PATH}.walk": _walk,
    f"{PATH}.open": _open,
    **dict.fromkeys(_SAME_PATH, _same_path),
    **dict.fromkeys([f"{PATH}.{each}" for each in catalogue.MEMBERS_OF_PATH - {"joinpath"}], _same_path),
    **dict.fromkeys(catalogue.OPENERS, _open),
    **dict.fromkeys(catalogue.WALKERS, _walk),
    **dict.fromkeys(["linecache.getlines", "fileinput.input"], _open),
    **dict.fromkeys(["pandas.read_csv", "pandas.read_json", "pandas.read_excel", "polars.read_csv"], _table_read),
}
"""Functions by their full names."""
BY_LAST_WORD: dict[str, Handler] = {
    "__getattribute__": _getattr,
    "__subclasses__": _subclasses,
    "joinpath": _path_joined,
    "read_text": _read,
    "read_bytes": _read,
    "rglob": _walk,
    "iterdir": _walk,
    "parse_args": _arguments_parsed,
    "parse_known_args": _arguments_parsed,
    "decrypt": _changed(DECODED),
    "encrypt": _changed(ENCRYPTED),
    "encrypt_and_digest": _changed(ENCRYPTED),
    "get": _keyed,
    "__getitem__": _keyed,
    "pop": _keyed,
    "setdefault": _keyed,
}
"""Methods of what is known by name, by their last word."""
TELLING_WORDS = frozenset(BY_LAST_WORD) - {"get", "__getitem__", "pop", "setdefault", "__getattribute__"}
"""Those that mean one thing, whoever has them."""
