"""Secrets are compared in one place, in a time that does not tell where they differ."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import vskill_platform
from vskill_platform.domain.secrets import equal_secrets

SOURCE = Path(vskill_platform.__file__).parent
THE_PLACE = "domain/secrets.py"
ROOMS = ("accounts", "app", "cli", "domain", "notify", "pipeline", "stores", "web")
"""Not the engines, whose tokens are numbers of leases, and not the scanner, whose tokens are words of other people's code."""
SECRET = re.compile(
    r"(^|_)(secret|token|password|passphrase|signature|hmac|mac|credential|recovery_code|totp|digest_of_secret)s?(_hash|_text)?$"
)


def names_in(node: ast.expr) -> Iterator[str]:
    """What a side of a comparison is called: a name, an attribute, or what a call is made of."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Call(func=function, args=arguments):
            yield from names_in(function)
            for argument in arguments:
                yield from names_in(argument)
        case ast.Subscript(value=value):
            yield from names_in(value)
        case _:
            pass


def is_plain(node: ast.expr) -> bool:
    """Whether a side is a constant, which is no secret: an empty text, or nothing."""
    return isinstance(node, ast.Constant)


def careless(tree: ast.AST) -> Iterator[int]:
    """The lines that compare secrets by themselves."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                named = any(SECRET.search(name) for side in (left, right) for name in names_in(side))
                if named and not is_plain(left) and not is_plain(right):
                    yield node.lineno
            case ast.Attribute(attr="compare_digest") | ast.Name(id="compare_digest"):
                yield node.lineno
            case _:
                pass


def test_nothing_compares_secrets_but_the_one_function() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for room in ROOMS
        for path in sorted((SOURCE / room).rglob("*.py"))
        if str(path.relative_to(SOURCE)) != THE_PLACE
        for line in careless(ast.parse(path.read_text()))
    ]
    assert found == []


def test_careless_comparisons_are_seen() -> None:
    text = """
given == account.password_hash
signature != expected
hash_secret(token) == kept
hmac.compare_digest(a, b)
token == ""
name == other
"""
    assert list(careless(ast.parse(text))) == [2, 3, 4, 5]
    assert list(careless(ast.parse((SOURCE / THE_PLACE).read_text())))


def test_equal_secrets_is_right__for_texts_and_bytes() -> None:
    assert equal_secrets("a\u00e9", "a\u00e9".encode())
    assert not equal_secrets("a", "b")
    assert not equal_secrets("a", "ab")
