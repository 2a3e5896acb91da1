"""How well the scanner does on its own corpus, as it was measured: the figures that pages show.

`make docs` writes accuracy.json beside this module from the corpus and its known gaps. The tests hold the gaps to what the
scanner does, case by case, and the file to the gaps, so no figure is anybody's word.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

FIGURES = Path(__file__).with_name("accuracy.json")


class Measured(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One kind of case: how many of it were flagged, and the interval that the true rate lies in with 95 % confidence."""

    kind: str
    flagged: int
    cases: int
    low: float
    high: float


class Accuracy(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The figures, and the rules that they are of."""

    ruleset_version: str
    measured: tuple[Measured, ...]


@cache
def measured_accuracy() -> Accuracy:
    """The figures of this version."""
    return msgspec.json.decode(FIGURES.read_bytes(), type=Accuracy)
