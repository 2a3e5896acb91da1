"""Anything that the OpenAPI document allows, and much that it does not, sent to a real registry: no 5xx, no broken promise."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
import requests
import schemathesis
import schemathesis.openapi
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation import GenerationMode

from tests.acceptance.commands import LOOPBACK_GIT, registry
from tests.api.loaded import IDS, load_folder
from vskill_platform.testing.git_repos import make_repository
from vskill_platform.testing.git_server import serve_repositories_in_thread
from vskill_platform.testing.waits import wait_until

REQUESTS = 200
FULL_REQUESTS = 20_000
HELD = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
)
ENDLESS = r"/stream$"
"""Streams never end; tests/live has them."""
SETTINGS = {
    **LOOPBACK_GIT,
    "VSKILL_PLATFORM_REQUESTS_PER_MINUTE": "100000000",
    "VSKILL_PLATFORM_SUBMISSIONS_PER_HOUR": "100000000",
    "VSKILL_PLATFORM_DISCOVERIES_PER_HOUR": "100000000",
    "VSKILL_PLATFORM_INSTALLS_PER_HOUR": "100000000",
    "VSKILL_PLATFORM_REPORTS_PER_QUARTER_HOUR": "100000000",
    "VSKILL_PLATFORM_STARS_PER_HOUR": "100000000",
    "VSKILL_PLATFORM_GIT_HOSTS": "127.0.0.1",
    "VSKILL_PLATFORM_LOG_LEVEL": "error",
}


class Loaded(NamedTuple):
    """A registry that runs, and the slugs of skills that came all the way through it."""

    address: str
    slugs: list[str]


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[Loaded]:
    data = tmp_path / "data"
    asyncio.run(load_folder(data))
    with serve_repositories_in_thread(tmp_path / "git") as source, registry(data, **SETTINGS) as (_, address):
        yield Loaded(address, _publish(address, source, tmp_path / "git"))


def _publish(address: str, source: str, folder: Path) -> list[str]:
    """Publish two versions of a few skills, as anybody would."""
    repository = folder / "acme" / "skills.git"
    for round_number in (1, 2):
        files = {f"skill-{number}/SKILL.md": _skill_md(number, round_number) for number in range(3)}
        shutil.rmtree(repository, ignore_errors=True)
        make_repository(repository, {**files, "skill-0/run.sh": b"#!/bin/sh\ncurl https://example.com/data\n"})
        created = requests.post(f"{address}/api/v1/submissions", json={"repoUrl": f"{source}/acme/skills"}, timeout=30)
        slugs = _wait_published(address, created.json()["id"], version=f"1.0.{round_number - 1}")
    return slugs


def _skill_md(number: int, round_number: int) -> bytes:
    return (
        f"---\nname: skill-{number}\ndescription: Greets, {number}.\n---\nHi, for the {round_number}th time.\n".encode()
    )


def _wait_published(address: str, identity: str, *, version: str) -> list[str]:
    def slugs() -> list[str]:
        children = requests.get(f"{address}/api/v1/submissions/{identity}", timeout=30).json()["children"]
        are_published = all(child["state"] == "PUBLISHED" and child["version"] == version for child in children)
        return [child["slug"] for child in children] if are_published else []

    return wait_until(slugs, what=f"version {version} of every skill of {identity} is published")


@pytest.mark.parametrize(
    "wanted", [REQUESTS, pytest.param(FULL_REQUESTS, marks=[pytest.mark.full, pytest.mark.timeout(1800)])]
)
def test_every_operation_keeps_its_promises__whatever_is_sent(loaded: Loaded, wanted: int) -> None:
    load_all_checks()
    checks = [CHECKS.get_one(name) for name in HELD]
    schema = schemathesis.openapi.from_url(f"{loaded.address}/api/v1/openapi.json").exclude(path_regex=ENDLESS)
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
                sending = _Sending(session, checks, statuses, loaded.slugs)
                seed(rounds)(sending.to(operation, mode, examples=examples))()
            rounds += 1
    assert not [status for status in statuses if status >= 500]
    assert statuses[200] > wanted // 10
    assert statuses[400] > wanted // 10


def _both_ways(operations: list[Any]) -> Iterator[tuple[Any, GenerationMode]]:
    for operation in operations:
        yield operation, GenerationMode.POSITIVE
        if operation.body or operation.query or operation.path_parameters:
            yield operation, GenerationMode.NEGATIVE


class _Sending(NamedTuple):
    """Sends requests, holds answers to the checks, and counts them."""

    session: requests.Session
    checks: list[Any]
    statuses: dict[int, int]
    slugs: list[str]

    def to(self, operation: Any, mode: GenerationMode, *, examples: int) -> Callable[[], None]:
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
            _point_at_what_is_there(case, sum(self.statuses.values()), slugs=self.slugs)
            answer = case.call(session=self.session, timeout=30, allow_redirects=False)
            self.statuses[answer.status_code] = self.statuses.get(answer.status_code, 0) + 1
            # An address has no types, so that a wrong one may spell a right one: `offset=0.0`. A body has them. What is
            # refused for its size is refused, though that check does not list it.
            is_judged = operation.body and answer.status_code not in (413, 414)
            held = [check for check in self.checks if is_judged or check.__name__ != "negative_data_rejection"]
            case.validate_response(answer, checks=held)

        return cast("Callable[[], None]", send)


def _point_at_what_is_there(case: Any, number: int, *, slugs: list[str]) -> None:
    """Two times out of three, ask for something that exists: random ids only ever find nothing."""
    parts = case.path_parameters
    if number % 3 == 0 or not parts:
        return
    owner, repo, skill = slugs[number % len(slugs)].split("/")
    there = {
        "identity": IDS[number % len(IDS)],
        "owner": owner,
        "repo": repo,
        "skill": skill,
        "version": "1.0.0",
        "path": "SKILL.md",
    }
    parts.update({name: value for name, value in there.items() if name in parts})
