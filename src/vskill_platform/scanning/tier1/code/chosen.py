"""Keys that are looked for by their names in a file of variables: one of them is a key, and not the file. For all languages."""

from __future__ import annotations

from collections.abc import Iterable

from vskill_platform.scanning.tier1.code.origins import Origin, Source
from vskill_platform.scanning.tier1.code.places import SecretKind, secret_at

NAME = r"(?P<name>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"
"""A variable that has a key; one word alone may be the beginning of many."""


def as_key(origins: Iterable[Origin], name: str) -> frozenset[Origin]:
    """Origins of which a project's own file of keys gave no more than the key of this name."""
    return frozenset([Origin(Source.VARIABLE, name) if _is_of_project(each) else each for each in origins])


def _is_of_project(origin: Origin) -> bool:
    secret = secret_at(origin.detail) if origin.source is Source.SECRET else None
    return secret is not None and secret.kind is SecretKind.PROJECT
