"""Alternatives that are repeated without a way back stand in atomic groups.

Before 3.11.5 Python forgets to take back what an alternative that failed had read: `(?:a|"b*+")*+` matches a lone quote.
Debian 12 ships such a Python, and a reader of hostile text must not depend on it.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import vskill_platform.ingest
import vskill_platform.scanning.tier1

parser: Any = importlib.import_module("re._parser")
constants: Any = importlib.import_module("re._constants")


def repeats_alternatives(pattern: re.Pattern[Any]) -> bool:
    return any(_inside(list(parser.parse(pattern.pattern, pattern.flags))))


def _inside(items: Any) -> Iterator[bool]:
    """Whether each possessive repetition repeats alternatives that are in no atomic group."""
    for operation, value in items:
        if operation is constants.POSSESSIVE_REPEAT:
            body = list(value[2])
            yield len(body) > 1 or body[0][0] in {constants.BRANCH, constants.SUBPATTERN}
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, parser.SubPattern):
                yield from _inside(list(part))
            elif isinstance(part, list):
                yield from (
                    found for each in part if isinstance(each, parser.SubPattern) for found in _inside(list(each))
                )


def modules_of(package: ModuleType) -> list[str]:
    return [found.name for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]


@pytest.mark.parametrize("name", modules_of(vskill_platform.scanning.tier1) + modules_of(vskill_platform.ingest))
def test_no_pattern_repeats_alternatives__outside_of_an_atomic_group(name: str) -> None:
    patterns = [found for found in vars(importlib.import_module(name)).values() if isinstance(found, re.Pattern)]
    assert [found.pattern for found in patterns if repeats_alternatives(found)] == []


@pytest.mark.parametrize("source", [r"(?:a|b\n)*+", r"x(?:(?:\\.|[^\\])*+)?", r"(?>a|(?:b|cd)*+)", r"((?:[ ]*+\n)*+)"])
def test_repeated_alternatives_are_noticed(source: str) -> None:
    assert repeats_alternatives(re.compile(source))


@pytest.mark.parametrize("source", [r"(?>a|b\n)*+", r"[ab]*+c", r"(?:a|b)*c", r"(?>[^'\\]+|\\.)*+"])
def test_what_cannot_go_wrong_is_not_noticed(source: str) -> None:
    assert not repeats_alternatives(re.compile(source))
