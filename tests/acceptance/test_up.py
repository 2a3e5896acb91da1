"""`vskill-platform up` and `health`, as a person runs them: the installed command in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.acceptance.commands import LIMIT_S, LOOPBACK_GIT, registry, run
from tests.acceptance.forked import COMMAND
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.git_repos import make_repository
from vskill_platform.testing.git_server import serve_repositories_in_thread
from vskill_platform.testing.submissions import submit
from vskill_platform.testing.waits import wait_until
from vskill_platform.worker_context import run_with_worker_env


def get(url: str) -> dict[str, object]:
    with urllib.request.urlopen(url, timeout=LIMIT_S) as answer:
        return dict(json.load(answer))


def test_up_serves_health__and_stops_cleanly_on_sigterm(tmp_path: Path) -> None:
    with registry(tmp_path / "data") as (process, address):
        health = get(f"{address}/healthz")
        assert health["status"] == "ok"
        assert health["submissions"] == {
            "active": 0, "review": 0, "published": 0, "rejected": 0, "blocked": 0, "total": 0,
        }  # fmt: skip
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=LIMIT_S) == 0
    assert not (tmp_path / "data" / "control.sock").exists()


def test_control_socket_is_for_its_user_only__and_health_asks_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with registry(data):
        mode = (data / "control.sock").stat().st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
        asked = run("health", "--data", str(data))
        assert (asked.returncode, "running" in asked.stdout) == (0, True)
        assert json.loads(run("health", "--json", "--data", str(data)).stdout)["status"] == "ok"


def test_health_looks_itself__when_no_registry_runs(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with registry(data) as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LIMIT_S) == 0
    looked = run("health", "--data", str(data))
    assert (looked.returncode, "not running" in looked.stdout) == (0, True)


def test_health_says_where_it_looked__when_there_is_no_registry(tmp_path: Path) -> None:
    looked = run("health", "--data", str(tmp_path / "nowhere"))
    assert (looked.returncode, "not_found" in looked.stderr) == (1, True)
    assert not (tmp_path / "nowhere").exists()


def test_second_registry_on_a_folder_is_refused__the_first_goes_on(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with registry(data) as (process, address):
        second = run("up", "--data", str(data), "--port", "0")
        assert second.returncode == 1
        assert "data_folder_owned" in second.stderr
        assert str(process.pid) in second.stderr
        assert get(f"{address}/healthz")["status"] == "ok"


def test_registry_starts_again__after_kill_9(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with registry(data) as (process, _):
        process.kill()
        process.wait(timeout=LIMIT_S)
    assert (data / "control.sock").exists()
    with registry(data) as (_, address):
        assert get(f"{address}/healthz")["status"] == "ok"


def test_health_says_so__when_the_owner_does_not_answer(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with registry(data):
        (data / "control.sock").unlink()
        asked = run("health", "--data", str(data))
        assert (asked.returncode, "registry_unreachable" in asked.stderr) == (1, True)


def test_port_in_use_is_told__with_what_to_do(tmp_path: Path) -> None:
    with registry(tmp_path / "one") as (_, address):
        port = address.rsplit(":", 1)[1]
        second = run("up", "--data", str(tmp_path / "two"), "--port", port)
        assert (second.returncode, "address_unavailable" in second.stderr) == (1, True)
        assert "--port" in second.stderr


def test_file_that_is_not_ours_is_told(tmp_path: Path) -> None:
    (tmp_path / "registry.db").write_bytes(b"not a database, but a long enough file to look at" * 100)
    refused = run("up", "--data", str(tmp_path), "--port", "0")
    assert (refused.returncode, "database_not_ours" in refused.stderr) == (1, True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "abc"), ("PORT", "70000"), ("BATCH_SIZE", "0"), ("LOG_LEVEL", "loud"), ("NO_SUCH", "1")],
)
def test_setting_that_means_nothing_is_told__exit_2(tmp_path: Path, name: str, value: str) -> None:
    refused = run("up", "--data", str(tmp_path), **{f"VSKILL_PLATFORM_{name}": value})
    assert (refused.returncode, "invalid_settings" in refused.stderr) == (2, True)


def test_help_and_version_are_there() -> None:
    assert "up" in run("--help").stdout
    version = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, timeout=LIMIT_S, check=True).stdout
    assert re.fullmatch(r"vskill-platform \d+\.\d+\.\d+\n", version)


def test_installed_script_serves__and_stops_cleanly_on_sigterm(tmp_path: Path) -> None:
    command = [COMMAND, "up", "--data", str(tmp_path), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"}) as process:
        assert process.stderr is not None
        found = next(match for line in process.stderr if (match := re.search(r"is up at (http://\S+),", line)))
        assert get(f"{found[1]}/healthz")["status"] == "ok"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=LIMIT_S) == 0


async def _fill(data: Path, names: list[str], *, repo_url: str) -> None:
    """Submissions that wait in the data folder, as intake leaves them."""
    engine = await open_sqlite(data / "registry.db", clock=SystemClock())
    env = make_env(engine, clock=SystemClock(), folder=data)
    for name in names:
        await run_with_worker_env(env, lambda name=name: submit(name, repo_url=repo_url))
    await engine.close()


def _submissions(address: str) -> dict[str, int]:
    health = get(f"{address}/healthz")
    counts = health["submissions"]
    assert isinstance(counts, dict)
    return counts


async def test_submissions_that_wait_are_published_once_each__also_across_kill_9(tmp_path: Path) -> None:
    data, names = tmp_path / "data", [f"skill-{number:02d}" for number in range(30)]
    files = {f"{name}/SKILL.md": f"---\nname: {name}\ndescription: Greets.\n---\nHi.\n".encode() for name in names}
    make_repository(tmp_path / "acme" / "many.git", files)
    with serve_repositories_in_thread(tmp_path) as source:
        await _fill(data, names, repo_url=f"{source}/acme/many")
        with registry(data, **LOOPBACK_GIT) as (process, address):
            wait_until(lambda: _submissions(address)["published"] >= 3, what="some are published")
            process.kill()
            process.wait(timeout=LIMIT_S)
        with registry(data, **LOOPBACK_GIT) as (_, address):
            wait_until(lambda: _submissions(address)["active"] == 0, what="all are decided")
            assert _submissions(address) == {
                "active": 0, "review": 0, "published": 30, "rejected": 0, "blocked": 0, "total": 30,
            }  # fmt: skip
            listed = json.loads(run("skills", "--limit", "100", "--json", "--data", str(data)).stdout)
            assert sorted((skill["name"], skill["version"]) for skill in listed["skills"]) == [
                (name, "1.0.0") for name in names
            ]
