"""Reads SARIF 2.1.0 that somebody else has written: as little of it as we need, and none of it is believed.

Suppressions do not count, since a skill could bring its own. `scanning/sarif.py` writes what this reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal
from urllib.parse import unquote, urlsplit

import msgspec

from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.external.normalising import Sighting, Sightings
from vskill_platform.scanning.external.tools import Unreadable

MOST_RUNS = 20
MOST_RESULTS = 20_000
_LEVELS = {"error": Severity.HIGH, "warning": Severity.MEDIUM, "note": Severity.LOW, "none": Severity.INFO}
_SCORES = ((9.0, Severity.CRITICAL), (7.0, Severity.HIGH), (4.0, Severity.MEDIUM), (0.1, Severity.LOW))
_NO_FINDING = ("pass", "notApplicable", "informational")
Level = Literal["error", "warning", "note", "none"]


class _Struct(msgspec.Struct, frozen=True, rename="camel"):
    """What all parts of a log have in common."""


class _Text(_Struct, frozen=True):
    text: str = ""


class _Artifact(_Struct, frozen=True):
    uri: str = ""


class _Region(_Struct, frozen=True):
    start_line: int = 0


class _Physical(_Struct, frozen=True):
    artifact_location: _Artifact = _Artifact()
    region: _Region = _Region()


class _Location(_Struct, frozen=True):
    physical_location: _Physical = _Physical()


class _Properties(_Struct, frozen=True):
    security_severity: str | float | None = msgspec.field(default=None, name="security-severity")


class _Configuration(_Struct, frozen=True):
    level: Level | None = None


class _Rule(_Struct, frozen=True):
    id: str = ""
    short_description: _Text = _Text()
    help: _Text = _Text()
    default_configuration: _Configuration = _Configuration()
    properties: _Properties = _Properties()


class _Driver(_Struct, frozen=True):
    version: str = ""
    semantic_version: str = ""
    rules: list[_Rule] = []


class _Tool(_Struct, frozen=True):
    driver: _Driver


class _Result(_Struct, frozen=True):
    rule_id: str = ""
    rule_index: int = -1
    kind: str = "fail"
    level: Level | None = None
    message: _Text = _Text()
    locations: list[_Location] = []
    properties: _Properties = _Properties()


class _Invocation(_Struct, frozen=True):
    execution_successful: bool = True


class _Run(_Struct, frozen=True):
    tool: _Tool
    results: list[_Result] | None = None
    invocations: list[_Invocation] = []


class _Log(_Struct, frozen=True):
    version: Literal["2.1.0"]
    runs: list[_Run]


def read_sarif(data: bytes) -> Sightings:
    """What a log says. Raises Unreadable or a MsgspecError for one that is none, is too long, or tells of a failure."""
    log = msgspec.json.decode(data, type=_Log)
    if not 0 < len(log.runs) <= MOST_RUNS:
        raise Unreadable(f"its log has {len(log.runs)} runs, and 1 to {MOST_RUNS} are read")
    if any(not call.execution_successful for run in log.runs for call in run.invocations):
        raise Unreadable("its log says that the scan did not succeed")
    if any(run.results is None for run in log.runs):
        raise Unreadable("its log has a run without results")
    total = sum(len(run.results or ()) for run in log.runs)
    if total > MOST_RESULTS:
        raise Unreadable(f"its log has {total:,} results, and {MOST_RESULTS:,} are read")
    driver = log.runs[0].tool.driver
    found = [sighting for run in log.runs for sighting in _sightings(run)]
    return Sightings(found=found, version=driver.semantic_version or driver.version)


def _sightings(run: _Run) -> Iterator[Sighting]:
    rules = run.tool.driver.rules
    by_id = {rule.id: rule for rule in rules}
    for result in run.results or ():
        if result.kind in _NO_FINDING:
            continue
        known = rules[result.rule_index] if 0 <= result.rule_index < len(rules) else by_id.get(result.rule_id, _Rule())
        place = result.locations[0].physical_location if result.locations else _Physical()
        yield Sighting(
            rule=result.rule_id or known.id,
            severity=_severity(result, known),
            file=_path(place.artifact_location.uri),
            line=place.region.start_line,
            message=result.message.text or known.short_description.text,
            fix=known.help.text,
        )


def _severity(result: _Result, rule: _Rule) -> Severity:
    """By the security severity, which code hosts go by, else by the level."""
    for properties in (result.properties, rule.properties):
        score = _number(properties.security_severity)
        if score is not None:
            return next((severity for least, severity in _SCORES if score >= least), Severity.INFO)
    return _LEVELS[result.level or rule.default_configuration.level or "warning"]


def _number(value: str | float | None) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def _path(uri: str) -> str:
    """The path that an address in a log names. One on another machine stays what it is, and no skill has it."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
        return uri
    return unquote(parts.path)
