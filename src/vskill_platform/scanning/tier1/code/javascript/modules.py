"""The names of modules, globals and members that matter, and the one name for those that have several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

GLOBAL_OBJECTS = frozenset(["globalThis", "window", "global", "self", "top", "parent", "frames"])
SECRET_GLOBALS = {
    "localStorage": "browser storage",
    "sessionStorage": "browser storage",
    "indexedDB": "browser storage",
}
SECRET_MEMBERS = {
    "document.cookie": "cookies",
    "navigator.clipboard.readText": "clipboard",
    "navigator.clipboard.read": "clipboard",
    "chrome.cookies.getAll": "cookies",
    "browser.cookies.getAll": "cookies",
}
MACHINE_MEMBERS = {
    "navigator.userAgent": "system",
    "process.platform": "system",
    "process.arch": "system",
}
PARSED = "JSON.parse()"
"""What every object is called that was read from JSON."""
TOOL_HANDLERS = frozenset(["registerTool", "setRequestHandler", "addTool", "defineTool", "tool", "onTool"])
"""Functions that put a callback into an agent's hands."""
ITERATING = frozenset(["forEach", "map", "filter", "some", "every", "find", "flatMap", "reduce", "reduceRight"])
FOLDING = frozenset(["reduce", "reduceRight"])
"""Methods whose function is given what was made so far before it is given an item."""
_HTTP_CLIENTS = (
    "fetch node-fetch cross-fetch isomorphic-fetch undici axios got request request-promise request-promise-native "
    "superagent needle ky phin bent wretch ofetch $fetch "
    "make-fetch-happen unfetch http https http2 follow-redirects popsicle centra simple-get"
)
HTTP_CLIENTS = frozenset(_HTTP_CLIENTS.split())
_ALIASES = {
    "fs/promises": "fs",
    "fs-extra": "fs",
    "graceful-fs": "fs",
    "fs.promises": "fs",
    "dns/promises": "dns",
    "timers/promises": "timers",
    "stream/promises": "stream",
    "cross-spawn": "child_process.spawn",
    "execa": "execa",
    "shelljs": "shelljs",
    "zx": "zx",
}
_WATCHED = "child_process fs http https net tls dgram vm os dns module worker_threads cluster repl execa shelljs"
WATCHED = frozenset(_WATCHED.split())
_Found = TypeVar("_Found")


def canonical(name: str) -> str:
    """The one name of a module."""
    plain = name.removeprefix("node:")
    return _ALIASES.get(plain, plain)


def handler_of(path: str, table: Mapping[str, _Found]) -> _Found | None:
    """What a table has for a path: for the path itself without detours, or for everything of its module."""
    if not path:
        return None
    plain = path.replace("fs.promises.", "fs.").replace(".promises.", ".")
    root, _, rest = plain.partition(".")
    if root in HTTP_CLIENTS:
        return table.get("(http)")
    if found := table.get(plain):
        return found
    return table.get(f"{root}.*") if rest else None
