"""Packages that a program installs while it runs, and where they come from."""

from __future__ import annotations

import re
import shlex

from vskill_platform.scanning.tier1.code.python.checks.calls import ReadCall
from vskill_platform.scanning.tier1.code.python.commands import Command
from vskill_platform.scanning.tier1.code.python.values import UNKNOWN
from vskill_platform.scanning.tier1.skill import FactKind

MOST_WORDS = 20
_INSTALL = re.compile(r"(?:^|[;&|\s/])(?:pip[\d.]*|uv pip|uv|pipx|easy_install)\s+(?:install|add)\s+(.+)", re.DOTALL)
_INDEX = re.compile(r"(?:^|\s)(?:--(?:extra-)?index-url|-i|--find-links|-f|--index)[= ]+(\S+)")
_ADDRESS = re.compile(r"(?:^|[\s@])(?:git\+)?(?:https?|ssh|git|ftp)://", re.IGNORECASE)
_KNOWN_INDEXES = ("https://download.pytorch.org/", "https://data.pyg.org/")
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_WITH_VALUE = frozenset(["-r", "-c", "-i", "-f", "-t", "--index-url", "--extra-index-url", "--find-links", "--target"])


def check_install(call: ReadCall, command: Command) -> None:
    """Look at a command that may install something."""
    for text in command.texts:
        found = _INSTALL.search(text)
        if not found:
            continue
        indexes = [index[1].strip("\"'") for index in _INDEX.finditer(found[1])]
        is_known = all(index.startswith(_KNOWN_INDEXES) for index in indexes)
        if not is_known or (not indexes and _ADDRESS.search(found[1])):
            call.sight("python_installs_elsewhere")
        for word in _packages(found[1]):
            if package := _PACKAGE.match(word):
                call.fact(FactKind.INSTALLS, f"pypi:{package.group()}")


def _packages(text: str) -> list[str]:
    """The words that are no options, no values of options and no paths."""
    try:
        words = shlex.split(text.replace(UNKNOWN, "*"))[:MOST_WORDS]
    except ValueError:
        words = text.split()[:MOST_WORDS]
    plain: list[str] = []
    is_value = False
    for word in words:
        if word in {";", "&&", "|", "||"}:
            break
        if not is_value and not word.startswith(("-", ".", "/", "*", "http", "git+")):
            plain.append(word)
        is_value = word in _WITH_VALUE
    return plain
