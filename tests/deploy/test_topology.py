"""The processes of compose.yaml with its settings, as processes of this machine, behind the nginx example."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.acceptance.commands import LIMIT_S
from tests.acceptance.process_group import ProcessGroup, Running, process_group, read
from tests.acceptance.test_processes import are_published, repositories
from tests.deploy import deployment
from tests.deploy.nginx_server import HOST, Front, running_nginx
from vskill_platform.testing.waits import wait_until

ADAPTED = {
    "VSKILL_PLATFORM_DATABASE_URL",
    "VSKILL_PLATFORM_DATA",
    "VSKILL_PLATFORM_HEALTH_ADDRESS",
    "VSKILL_PLATFORM_HOST",
    "VSKILL_PLATFORM_PORT",
    "VSKILL_PLATFORM_TRUSTED_PROXIES",
}
"""Settings that name an address or a path of the containers; the test puts its own in place. All others hold as they are."""
PLACES = 2
"""Submissions an hour for each client, whichever web server it gets to."""


@pytest.fixture
def group(postgres_url: str, tmp_path: Path) -> Iterator[ProcessGroup]:
    composed = {
        name: value
        for process in deployment.compose_processes()
        for name, value in process.settings.items()
        if name not in ADAPTED
    }
    own = {"VSKILL_PLATFORM_TRUSTED_PROXIES": HOST, "VSKILL_PLATFORM_SUBMISSIONS_PER_HOUR": str(PLACES)}
    with process_group(postgres_url, tmp_path / "data", **composed, **own) as started:
        yield started


def submit(front: Front, url: str, *, source: str = HOST, **headers: str) -> tuple[int, dict[str, object]]:
    body = json.dumps({"repoUrl": url}).encode()
    answer = front.ask(
        "POST", "/api/v1/submissions", body=body, source=source, Content_Type="application/json", **headers
    )
    return answer.status, json.loads(answer.body)


def test_composed_registry_publishes_through_nginx__and_goes_on_while_a_web_restarts(
    group: ProcessGroup, tmp_path: Path
) -> None:
    commands = [process.command for process in deployment.compose_processes()]
    with ThreadPoolExecutor(len(commands)) as pool:
        started = list(pool.map(lambda command: group.start(*command), commands))
    webs = [running for running in started if running.address]
    upstreams = [web.address.removeprefix("http://") for web in webs]
    (tmp_path / "nginx").mkdir()
    with repositories(tmp_path, 2) as urls, running_nginx(tmp_path / "nginx", upstreams=upstreams) as front:
        status, first = submit(front, urls[0])
        assert status == 201
        wait_until(lambda: are_published(webs[0].address, str(first["id"])), what="it is published")
        assert json.loads(front.ask("GET", f"/api/v1/submissions/{first['id']}").body)["state"] == "EXPANDED"
        _check_that_clients_are_told_apart(front, urls[0])
        _check_what_strangers_may_see(front)
        _check_what_is_told(started)
        assert webs[0].stop() == 0
        answers = [submit(front, urls[1], source=f"127.0.1.{number}") for number in range(1, 5)]
        assert [status for status, _ in answers] == [201, 200, 200, 200]
        second = str(answers[0][1]["id"])
        wait_until(lambda: are_published(webs[1].address, second), what="what came meanwhile is published")
    for running in started:
        running.process.send_signal(signal.SIGTERM)
    assert [running.process.wait(timeout=LIMIT_S) for running in started] == [0] * 5


def _check_that_clients_are_told_apart(front: Front, url: str) -> None:
    """Each client has places of its own, by the address that nginx saw and not by the one that it claims."""
    mine = [submit(front, url, source="127.0.0.2", X_Forwarded_For=f"192.0.2.{n}")[0] for n in range(PLACES + 1)]
    assert mine == [200] * PLACES + [429]
    assert submit(front, url, source="127.0.0.3")[0] == 200


def _check_what_strangers_may_see(front: Front) -> None:
    page = front.ask("GET", "/", source="127.0.0.2")
    assert (page.status, page.headers["Strict-Transport-Security"]) == (200, "max-age=31536000")
    assert [front.ask("GET", path, source="127.0.0.2").status for path in ("/healthz", "/metrics")] == [403, 404]
    assert front.ask("GET", "/healthz").status == 200


def _check_what_is_told(running: list[Running]) -> None:
    """Every metric of the dashboard and the alerts is told by a process that runs."""
    told = {
        name for one in running for name in re.findall(r"^# TYPE (\S+) ", read(f"{one.health}/metrics"), re.MULTILINE)
    }
    for place, expression in deployment.expressions():
        for name in re.findall(r"\b(?:vskill|process)_[a-z_]+", expression):
            assert {name, re.sub(r"_(total|bucket|count|sum)$", "", name)} & told, f"{place}: {name}"
