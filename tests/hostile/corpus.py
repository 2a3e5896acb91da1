"""The manifest, and the builders that make its cases. A case is tried by its id; the manifest says how it must end."""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from vskill_platform.testing.git_repos import Files

if TYPE_CHECKING:
    from tests.hostile.stage import Stage

MANIFEST = Path(__file__).with_name("manifest.toml")
REFUSED = "REFUSED"
"""The end of an address that is turned away at the door: no submission exists."""


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the manifest.

    `state` and `reason` are those of the submission in the end. `ceiling` is the best verdict that a scan may give, and
    `rule` one that must have hit. `limits` are those that the scan must name, `may_hit` those that it may name beside them.
    `known_gap` says why tier 1 cannot see the case yet; `defect` what is wrong in the product.
    """

    id: str
    items: tuple[str, ...]
    what: str
    state: str | None = None
    reason: str | None = None
    ceiling: str | None = None
    rule: str | None = None
    limits: tuple[str, ...] | None = None
    may_hit: tuple[str, ...] = ()
    full: bool = False
    known_gap: str | None = None
    defect: str | None = None

    @property
    def group(self) -> str:
        """The class of the catalogue that the case belongs to."""
        return self.id.split("-", 1)[0]


class NotApplicable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An item of the catalogue that nothing here can be tried with, and why."""

    item: str
    why: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that the corpus states."""

    cases: tuple[Case, ...]
    not_applicable: tuple[NotApplicable, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Attack:
    """A case that is ready: an address to submit, and what the registry is given to meet it with.

    `bindings` replace parts of the registry's env. `publishes` are the files that may be published and no others.
    `baseline` are the same files without the evasion: the verdict on the attack must not be better than on those.
    """

    url: str
    skill: str = ""
    bindings: Mapping[str, object] = field(default_factory=dict)
    publishes: Files | None = None
    baseline: str | None = None


Builder = Callable[["Stage"], Awaitable[Attack]]
BUILDERS: dict[str, Builder] = {}


def case(id: str) -> Callable[[Builder], Builder]:
    """Register the builder of a case."""

    def register(builder: Builder) -> Builder:
        assert id not in BUILDERS, f"{id} is built twice"
        BUILDERS[id] = builder
        return builder

    return register


@cache
def read_manifest() -> Manifest:
    """The manifest as it stands."""
    return msgspec.convert(tomllib.loads(MANIFEST.read_text()), Manifest)
