"""Anything that the OpenAPI document allows, and much that it does not, sent to a real registry: no 5xx, no broken promise."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import requests
import schemathesis
import schemathesis.openapi
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation import GenerationMode

from tests.acceptance.commands import registry
from tests.api.loaded import IDS, SLUGS, load_folder

REQUESTS = 1000
FULL_REQUESTS = 20_000
HELD = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
)
ENDLESS = r"/(stream|export)$"
"""Streams never end; tests/live has them."""
SETTINGS = {
    "VSKILL_PLATFORM_REQUESTS_PER_MINUTE": "100000000",
    "VSKILL_PLATFORM_SUBMISSIONS_PER_HOUR": "100000000",
    "VSKILL_PLATFORM_DISCOVERIES_PER_HOUR": "100000000",
    "VSKILL_PLATFORM_INSTALLS_PER_HOUR": "100000000",
    "VSKILL_PLATFORM_REPORTS_PER_QUARTER_HOUR": "100000000",
    "VSKILL_PLATFORM_GIT_HOSTS": "127.0.0.1",
    "VSKILL_PLATFORM_SCAN_PROCESSES": "1",
    "VSKILL_PLATFORM_LOG_LEVEL": "error",
}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    data = tmp_path / "data"
    asyncio.run(load_folder(data))
    with registry(data, **SETTINGS) as (_, served):
        yield served


@pytest.mark.parametrize(
    "wanted", [REQUESTS, pytest.param(FULL_REQUESTS, marks=[pytest.mark.full, pytest.mark.timeout(1800)])]
)
def test_every_operation_keeps_its_promises__whatever_is_sent(address: str, wanted: int) -> None:
    load_all_checks()
    checks = [CHECKS.get_one(name) for name in HELD]
    schema = schemathesis.openapi.from_url(f"{address}/api/v1/openapi.json").exclude(path_regex=ENDLESS)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 10
    pairs = list(_both_ways(operations))
    examples = min(500, 1 + wanted // len(pairs))
    statuses: dict[int, int] = {}
    rounds = 0
    with requests.Session() as session:
        while sum(statuses.values()) < wanted:
            for operation, mode in pairs:
                if rounds and sum(statuses.values()) >= wanted:
                    break
                send = _sending(operation, mode, session=session, checks=checks, statuses=statuses, examples=examples)
                seed(rounds)(send)()
            rounds += 1
    assert not [status for status in statuses if status >= 500]
    assert statuses[200] > wanted // 10
    assert statuses[400] > wanted // 10


def _both_ways(operations: list[Any]) -> Iterator[tuple[Any, GenerationMode]]:
    for operation in operations:
        yield operation, GenerationMode.POSITIVE
        if operation.body or operation.query or operation.path_parameters:
            yield operation, GenerationMode.NEGATIVE


def _sending(
    operation: Any,
    mode: GenerationMode,
    *,
    session: requests.Session,
    checks: list[Any],
    statuses: dict[int, int],
    examples: int,
) -> Callable[[], None]:
    """A test that sends so many requests to one operation."""

    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        _point_at_what_is_there(case, sum(statuses.values()))
        answer = case.call(session=session, timeout=30, allow_redirects=False)
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
        # What is refused for its size is refused, though that check does not list it.
        is_too_much = answer.status_code in (413, 414)
        held = [check for check in checks if not (is_too_much and check.__name__ == "negative_data_rejection")]
        case.validate_response(answer, checks=held)

    return cast("Callable[[], None]", send)


def _point_at_what_is_there(case: Any, number: int) -> None:
    """Every third time, ask for something that exists: random ids only ever find nothing."""
    if number % 3 or not case.path_parameters:
        return
    if "identity" in case.path_parameters:
        case.path_parameters["identity"] = IDS[number % len(IDS)]
    if {"owner", "repo", "skill"} <= set(case.path_parameters):
        owner, repo, skill = SLUGS[number % len(SLUGS)].split("/")
        case.path_parameters.update(owner=owner, repo=repo, skill=skill)
