"""What the doctor says: one line for each thing."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Outcome(StrEnum):
    """How a thing is: as it should be, worth a look, or in the way of a registry."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at, how it is, and what to do where it is not as it should be."""

    name: str
    outcome: Outcome
    detail: str
    advice: str = ""


def well(name: str, detail: str) -> Finding:
    """A thing that is as it should be."""
    return Finding(name=name, outcome=Outcome.OK, detail=detail)


def doubtful(name: str, detail: str, *, advice: str) -> Finding:
    """A thing that works and is worth a look."""
    return Finding(name=name, outcome=Outcome.WARN, detail=detail, advice=advice)


def broken(name: str, detail: str, *, advice: str) -> Finding:
    """A thing without which a registry does not work, or does not keep what it promises."""
    return Finding(name=name, outcome=Outcome.FAIL, detail=detail, advice=advice)
