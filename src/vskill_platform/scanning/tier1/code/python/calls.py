"""What calls of known functions give: where it comes from, and, for constants, what it is.

The functions of the skill itself are the evaluator's business; here is what comes from outside.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import product

from vskill_platform.scanning.tier1.code.hosts import host_of
from vskill_platform.scanning.tier1.code.places import SecretKind, secret_at
from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.chosen import chosen_by_pattern
from vskill_platform.scanning.tier1.code.python.commands import output_of
from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator
from vskill_platform.scanning.tier1.code.python.known_calls import KnownCall
from vskill_platform.scanning.tier1.code.python.known_lookups import LOOKUP_METHODS, LOOKUPS
from vskill_platform.scanning.tier1.code.python.known_paths import PATH_METHODS, PATHS
from vskill_platform.scanning.tier1.code.python.known_texts import TEXT_METHODS, TEXTS, decoded
from vskill_platform.scanning.tier1.code.python.known_values import ENVIRONMENTS, PATH, full_path, variable
from vskill_platform.scanning.tier1.code.python.model import Class, Function, Module, Site
from vskill_platform.scanning.tier1.code.python.outside import OutsideWorld
from vskill_platform.scanning.tier1.code.python.text_methods import of_text
from vskill_platform.scanning.tier1.code.python.values import (
    ASSET,
    ENVIRONMENT,
    FETCHED_PATH,
    FILE,
    FROM_USER,
    HIDDEN,
    INPUT,
    LONGEST_PLACE,
    MOST_CONSTANTS,
    NAMED_KEY,
    NETWORK,
    NOTHING,
    OWN_SECRET,
    PARAMETER,
    SECRET,
    SECRET_PLACE,
    SETTINGS,
    TOOL,
    UNKNOWN,
    USER_FILES,
    USER_PATHS,
    Value,
    join,
    reference,
)
from vskill_platform.scanning.tier1.code.python.whereabouts import is_of_vendor
from vskill_platform.scanning.tier1.file_kinds import is_named_as_test

LONGEST_NAME = 200
_CONNECTING = ("onnection", "SMTP", "SMTP_SSL", "FTP", "FTP_TLS", "Client", "Session", "connect", "Telnet")
_FUNCTIONS = {**LOOKUPS, **PATHS, **TEXTS}
_METHODS = {**LOOKUP_METHODS, **PATH_METHODS, **TEXT_METHODS}
_TELLING_WORDS = frozenset([*PATH_METHODS, *TEXT_METHODS, "__subclasses__"])
"""Methods that mean one thing, whoever has them."""
_OWN_FOLDER = re.compile(r"~/\.(?:config/|local/share/)?[\w.-]+/(?:[\w./-]{1,80}/)?\.env\b")
"""A file of variables in a folder that some program has below the home folder."""
_OWN_SECRET = re.compile(
    r"(?:^|/|\.)[^/]*(?:passw(?:or)?d|[-_.]pass|secret|token|credential|api[-_]?key|private[-_]?key)[^/]*(?<!\.py)(?<!\.md)$",
    re.IGNORECASE,
)
SHORTEST_NAME = 4


class KnownCalls(OutsideWorld):
    """What is known of the world outside the skill. `own_data` are the names of its files that are no programs."""

    def __init__(self, own_data: frozenset[str] = frozenset()) -> None:
        self._own_data = own_data

    def result(self, evaluator: Evaluator, site: Site) -> Value:
        """What a call gives."""
        callee = evaluator.value(site.node.func, site.scope)
        if not callee.targets and len(callee.references) == 1:
            return self._outside(evaluator, site, callee, callee.references[0])
        parts: list[Value] = []
        for target in callee.targets:
            if isinstance(target, Function):
                parts.append(evaluator.functions.result(target, site))
            elif isinstance(target, Class):
                parts.append(_instance(evaluator, site, target))
        parts += [self._outside(evaluator, site, callee, name) for name in callee.references]
        if not callee.targets and not callee.references:
            parts.append(self._nameless(evaluator, site, callee))
        return parts[0] if len(parts) == 1 else join(parts)

    def _nameless(self, evaluator: Evaluator, site: Site, callee: Value) -> Value:
        """What something gives that has no full name: a method of a text, or one that is known by its word alone."""
        found = of_text(evaluator, site)
        if found is not None:
            return found
        word = site.node.func.attr if isinstance(site.node.func, ast.Attribute) else ""
        handler = _METHODS.get(word) if word in _TELLING_WORDS else None
        known = handler(KnownCall(evaluator, site, callee, "")) if handler else None
        if known is not None:
            return known
        return made_of_arguments(evaluator, site, callee, "").tainted(catalogue.source(word))

    def _outside(self, evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
        if name in catalogue.ADDRESS_READERS and _has_address(evaluator, site):
            return _from_network(evaluator, site, callee, name)
        call = KnownCall(evaluator, site, callee, name)
        handler = _FUNCTIONS.get(name) or _METHODS.get(catalogue.last_of(name))
        known = handler(call) if handler is not None else None
        if known is not None:
            return known
        if name in catalogue.DECODERS:
            return decoded(call, catalogue.DECODERS[name])
        if taint := catalogue.source(name):
            return made_of_arguments(evaluator, site, callee, name).tainted(taint)
        if catalogue.is_fresh(name):
            return reference(f"{name}()")
        if name in catalogue.SHELLS or name in catalogue.PROCESSES:
            taint, variables = output_of(evaluator, site, name)
            return Value(references=(f"{name}()",), taint=taint, variables=variables)
        if catalogue.is_network(name) and name not in catalogue.CARRIERS:
            return _from_network(evaluator, site, callee, name)
        return made_of_arguments(evaluator, site, callee, name)

    def looked_up(self, evaluator: Evaluator, holder: Value, key: Value) -> Value | None:
        """What stands behind a key of the environment, of a namespace or of the loaded modules."""
        parts: list[Value] = []
        for name in holder.references:
            if name in ENVIRONMENTS:
                return variable(key)
            if name == "sys.modules":
                parts += [reference(each, HIDDEN) for each in key.texts]
            elif name == "builtins" or name.endswith(".__dict__"):
                base = reference(name.removesuffix(".__dict__"))
                parts += [evaluator.attribute_of(base, each).tainted(HIDDEN) for each in key.texts]
            elif name == "globals()":
                parts += [_global(evaluator, holder, each) for each in key.texts]
        return join(parts) if parts else None

    def joined_path(self, parts: Sequence[Value]) -> Value:
        """A path of these parts; a part that starts anew drops what stood before."""
        if not any(each.texts or each.references or each.taint for each in parts):
            return NOTHING
        texts, taint = [""], 0
        for each in parts:
            taint |= each.taint & ~HIDDEN
            choices = each.texts or [UNKNOWN]
            texts = [full_path(left, right) for left, right in product(texts, choices)][:MOST_CONSTANTS]
        is_path = any(PATH in each.references for each in parts)
        return Value(tuple(dict.fromkeys(texts)), (PATH,) if is_path else (), taint=taint)

    def content_taint(self, evaluator: Evaluator, path: Value) -> int:
        """Where what stands in a file comes from."""
        taint = FILE | (path.taint & (SECRET | FROM_USER | NETWORK))
        if path.taint & USER_PATHS:
            taint |= USER_FILES
        if path.taint & FETCHED_PATH:
            taint |= NETWORK
        if path.taint & SECRET_PLACE:
            taint |= SECRET
        for text in path.texts:
            taint |= evaluator.file_taint.get(text, 0) | _taint_at(text) | self._taint_of_asset(text)
        return taint

    def _taint_of_asset(self, path: str) -> int:
        """Whether a path leads to a file that the skill brings along and that is no program."""
        name = path[-LONGEST_PLACE:].rpartition("/")[2].replace(UNKNOWN, "*")
        if "*" not in name:
            return ASSET if name in self._own_data else 0
        is_telling = len(name.strip("*.")) >= SHORTEST_NAME
        return ASSET if is_telling and any(fnmatchcase(each, name) for each in self._own_data) else 0

    def attribute_taint(self, name: str) -> int:
        """Where what has this name comes from."""
        if name in ENVIRONMENTS:
            return ENVIRONMENT
        if catalogue.last_of(name) in catalogue.REQUEST_PARTS:
            return NETWORK
        return catalogue.ATTRIBUTE_SOURCES.get(name, 0)

    def path_attribute(self, holder: Value, name: str) -> Value | None:
        """A part of a path that is an attribute of it."""
        if PATH not in holder.references:
            return None
        if name == "parent":
            texts = tuple(each.rpartition("/")[0] or "." for each in holder.texts)
            return Value(texts, (PATH,), taint=holder.taint)
        if name in {"name", "stem"}:
            texts = tuple(each.rpartition("/")[2] for each in holder.texts)
            return Value(texts, taint=holder.taint & ~FROM_USER)
        return None

    def free_name(self, name: str) -> str:
        """What a name means that nothing binds."""
        return catalogue.FREE_NAMES.get(name, name)

    def parameter_taint(self, function: Function, *, is_called: bool) -> int:
        """Where the parameters of a function come from, besides the calls of the skill itself."""
        for mark in function.decorators:
            if taint := _taint_of_mark(mark):
                return taint
        outer, name = function.scope.parent, function.name
        is_inner = outer is not None and outer.function is not None
        if is_called or is_inner or name.startswith(("_", "<")) or name == "main":
            return 0
        return 0 if _is_for_show(function.scope.module) else PARAMETER

    def callback_taint(self, callee: Value) -> int:
        """Where what a callback is called with comes from."""
        taint = 0
        for name in callee.references:
            taint |= catalogue.CALLBACK_SOURCES.get(name, 0)
        return taint


def made_of_arguments(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    """What something gives of which nothing is known: something made of all that it is given.

    A single key goes through what is known to change only its form. A client that was made with a key is not the key, and in the
    head of a request stands what a service asks its own users for.
    """
    given = evaluator.arguments(site)
    if name in catalogue.SEARCHES and len(given) > 1:
        given[1] = chosen_by_pattern(given[1], given[0])
    is_form = name in catalogue.TRANSFORMERS
    passes_keys = not name or is_form or name in catalogue.CARRIERS
    passed = ~HIDDEN if passes_keys else ~(HIDDEN | NAMED_KEY)
    taint, variables = callee.taint & ~HIDDEN, list(callee.variables)
    heads = evaluator.argument(site, 2, "headers") if name in catalogue.REQUESTS else None
    for each in given:
        taint |= each.taint & (passed & ~(OWN_SECRET | FILE) if each is heads else passed)
        variables += each.variables if passes_keys else ()
    if name in catalogue.CLEANSERS:
        taint &= ~FROM_USER
    first = given[0] if given and (name in catalogue.CARRIERS or (is_form and len(given) == 1)) else NOTHING
    made = Value(
        first.constants,
        (called(name),) if name else (),
        taint=taint,
        items=first.items,
        inner=first.inner,
        keyed=first.keyed,
        variables=tuple(variables),
    )
    return made.one_at_a_time() if name == "next" else made


def called(name: str) -> str:
    """The name of what a call of a name gives."""
    return f"{name}()" if len(name) < LONGEST_NAME else name


def _instance(evaluator: Evaluator, site: Site, made: Class) -> Value:
    """An object of a class of the skill; without an `__init__` it holds what it is given."""
    if made.own("__init__"):
        return Value(targets=(made,))
    given = evaluator.arguments(site)
    taint = 0
    for each in given:
        taint |= each.taint & ~HIDDEN
    return Value(targets=(made,), taint=taint, inner=join(given) if given else None)


def _has_address(evaluator: Evaluator, site: Site) -> bool:
    """Whether what is to be read lies behind an address."""
    given = evaluator.argument(site, 0, "filepath_or_buffer", "path_or_buf", "io", "path", "source", "fname", "urlpath")
    return any(text.startswith(("http://", "https://", "ftp://")) for text in given.texts)


def _from_network(evaluator: Evaluator, site: Site, callee: Value, name: str) -> Value:
    """An answer, or a connection that remembers where it leads.

    What a cloud tells a machine about itself is secret. What a vendor serves that is known for it counts as the vendor's.
    """
    texts = [text for each in evaluator.arguments(site)[:2] for part in each.flat() for text in part.texts]
    addresses = [text for text in texts if "://" in text]
    is_answer = not addresses and bool(callee.references) and "()" in name and not callee.taint & NETWORK
    taint = 0 if is_answer or (addresses and all(map(is_of_vendor, addresses))) else NETWORK
    is_metadata = any(host_of(text) in catalogue.METADATA_HOSTS for text in addresses)
    taint |= SECRET if is_metadata else callee.taint & SECRET
    is_connection = catalogue.last_of(name).endswith(_CONNECTING)
    return Value(tuple(texts[:4]) if is_connection else (), (called(name),), taint=taint)


def _global(evaluator: Evaluator, holder: Value, name: str) -> Value:
    if name == "__builtins__":
        return reference("builtins", HIDDEN)
    modules = [each for each in holder.targets if isinstance(each, Module) and name in each.scope.bindings]
    found = [evaluator.member(each, name) for each in modules]
    return join(found).tainted(HIDDEN) if found else reference(name, HIDDEN)


def _taint_at(text: str) -> int:
    """Where what stands at a path comes from. A project's own settings are told apart from those of others."""
    if "/proc/" in text and text.endswith("environ"):
        return ENVIRONMENT
    secret = secret_at(text)
    if secret is None and _OWN_SECRET.search(text[-LONGEST_PLACE:]):
        return OWN_SECRET
    if secret is None:
        return SECRET if text == "/etc/passwd" else 0
    if secret.kind is not SecretKind.PROJECT:
        return SECRET
    if ".env" not in text:
        return OWN_SECRET
    is_elsewhere = text.startswith(("~", "/", "..", UNKNOWN)) and not _OWN_FOLDER.match(text)
    return SECRET if is_elsewhere else SETTINGS


def _is_for_show(module: Module) -> bool:
    """Whether nobody calls the functions of a module but a test run, or a reader in mind."""
    if "show" not in module.memo:
        module.memo["show"] = module.source.is_fenced or is_named_as_test(module.source.file)
    return module.memo["show"]


def _taint_of_mark(mark: ast.expr) -> int:
    """What a decorator says about where parameters come from."""
    node = mark.func if isinstance(mark, ast.Call) else mark
    if isinstance(node, ast.Name):
        return TOOL if node.id in catalogue.TOOL_MARKS else 0
    if not isinstance(node, ast.Attribute):
        return 0
    if (
        node.attr in catalogue.COMMAND_MARKS
        and isinstance(node.value, ast.Name)
        and node.value.id in catalogue.CLI_NAMES
    ):
        return INPUT
    if node.attr in catalogue.MESSAGE_MARKS:
        return NETWORK
    return TOOL if node.attr in catalogue.TOOL_MARKS or node.attr in catalogue.METHOD_MARKS else 0
