"""Web, worker and cron as processes of their own on one PostgreSQL: they share the work, and none is missed when it goes."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Event

import pytest

from tests.acceptance.commands import LIMIT_S, run
from tests.acceptance.process_group import ProcessGroup, Running, process_group, read
from vskill_platform.metrics import describe_metrics
from vskill_platform.testing.git_repos import make_repository
from vskill_platform.testing.git_server import serve_repositories_in_thread
from vskill_platform.testing.postgres_server import PostgresServer
from vskill_platform.testing.waits import wait_until

SKILL = "---\nname: {name}\ndescription: Greets.\n---\nHi.\n"


@pytest.fixture
def group(postgres_url: str, tmp_path: Path) -> Iterator[ProcessGroup]:
    with process_group(postgres_url, tmp_path / "data") as started:
        yield started


@contextmanager
def repositories(folder: Path, number: int) -> Iterator[list[str]]:
    """So many repositories with one skill each, served; gives their addresses."""
    for index in range(number):
        name = f"skill-{index:02d}"
        make_repository(folder / "acme" / f"{name}.git", {f"{name}/SKILL.md": SKILL.format(name=name).encode()})
    with serve_repositories_in_thread(folder) as source:
        yield [f"{source}/acme/skill-{index:02d}" for index in range(number)]


def submit(address: str, repo_url: str) -> str:
    body = json.dumps({"repoUrl": repo_url}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/api/v1/submissions", data=body, headers=headers)
    with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
        return str(json.load(answer)["id"])


def view(address: str, identity: str) -> dict[str, object]:
    return dict(json.loads(read(f"{address}/api/v1/submissions/{identity}")))


def are_published(address: str, identity: str) -> bool:
    """Whether a submission of a repository has expanded and all of its skills are published."""
    found = view(address, identity)
    children = found["children"]
    assert isinstance(children, list)
    return found["state"] == "EXPANDED" and all(child["state"] == "PUBLISHED" for child in children)


def published(address: str) -> int:
    return int(json.loads(read(f"{address}/healthz"))["submissions"]["published"])


def listed(group: ProcessGroup) -> list[tuple[str, str]]:
    found = json.loads(group.command("skills", "--limit", "1000", "--json").stdout)
    return sorted((skill["name"], skill["version"]) for skill in found["skills"])


def test_submission_through_one_web_is_published_for_the_other__by_whichever_worker(
    group: ProcessGroup, tmp_path: Path
) -> None:
    first, second = group.start("web"), group.start("web")
    others = [group.start(role) for role in ("worker", "worker", "cron", "cron")]
    with repositories(tmp_path, 6) as urls:
        ids = [submit(first.address, url) for url in urls]
        wait_until(lambda: all(are_published(second.address, one) for one in ids), what="all are published")
    assert listed(group) == [(f"skill-{index:02d}", "1.0.0") for index in range(6)]
    assert [running.stop() for running in (first, second, *others)] == [0] * 6


def test_others_finish__when_a_worker_is_killed_in_the_middle(group: ProcessGroup, tmp_path: Path) -> None:
    web, doomed = group.start("web"), group.start("worker")
    with repositories(tmp_path, 12) as urls:
        ids = [submit(web.address, url) for url in urls]
        wait_until(lambda: doomed.metrics()["vskill_batches_in_work"] > 0, what="the worker works")
        doomed.kill()
        assert published(web.address) < 24, "nothing was left for the other to do"
        group.start("worker")
        wait_until(lambda: all(are_published(web.address, one) for one in ids), what="the other has finished")
    assert listed(group) == [(f"skill-{index:02d}", "1.0.0") for index in range(12)]


def test_rolling_restart_loses_nothing_and_burns_no_attempt__under_a_stream_of_submissions(
    postgres_server: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    database = postgres_url.rsplit("/", 1)[1]
    postgres_server.execute(KEEP_ATTEMPTS, database=database)
    patient = {"VSKILL_PLATFORM_LEASE_S": "600", "VSKILL_PLATFORM_DRAIN_GRACE_S": "0.5"}
    with process_group(postgres_url, tmp_path / "data", **patient) as group, repositories(tmp_path, 60) as urls:
        webs = [group.start("web"), group.start("web")]
        others = [(role, group.start(role)) for role in ("worker", "worker", "cron")]
        is_over = Event()
        with ThreadPoolExecutor(1) as pool:
            stream = pool.submit(_stream, webs, urls, is_over)
            try:
                for role, running in others:
                    assert running.stop() == 0
                    group.start(role)
                for number, replaced in enumerate(list(webs)):
                    webs[number] = group.start("web")
                    assert replaced.stop() == 0
            finally:
                is_over.set()
            acknowledged = stream.result(timeout=LIMIT_S)
        assert len(acknowledged) > 5, "there was no stream to speak of"
        wait_until(lambda: all(are_published(webs[0].address, one) for one in acknowledged), what="all are published")
    attempts = postgres_server.execute("SELECT attempts, count(*) FROM done GROUP BY 1", database=database)
    assert attempts == f"1|{2 * len(acknowledged)}"


KEEP_ATTEMPTS = """
CREATE TABLE public.done (attempts integer);
CREATE FUNCTION public.keep_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO public.done VALUES (OLD.attempts); RETURN NULL; END $$;
CREATE TRIGGER keep_attempts AFTER DELETE ON vskill.message FOR EACH ROW EXECUTE FUNCTION public.keep_attempts();
"""
"""How many attempts each message took, noted when it is done: nothing else remembers it."""


def _stream(webs: list[Running], urls: list[str], is_over: Event) -> list[str]:
    """Submit one after the other until it is over, to a web server that answers, and give what was acknowledged."""
    acknowledged: list[str] = []
    for url in urls:
        for turn in count():
            try:
                acknowledged.append(submit(webs[turn % len(webs)].address, url))
                break
            except (urllib.error.URLError, ConnectionError):
                assert turn < 50, "no web server takes a submission"
        if is_over.wait(0.1):
            break
    return acknowledged


def test_web_finishes_the_request_it_has_begun__and_accepts_no_other_after_sigterm(
    group: ProcessGroup, tmp_path: Path
) -> None:
    web = group.start("web")
    port = int(web.address.rsplit(":", 1)[1])
    body = json.dumps({"repoUrl": "https://example.com/acme/skills"}).encode()
    head = (
        f"POST /api/v1/submissions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S) as begun:
        begun.sendall(f"{head}\r\nExpect: 100-continue\r\n\r\n".encode())
        assert begun.recv(1024).startswith(b"HTTP/1.1 100")
        web.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not _accepts(port), what="nothing more is accepted")
        with pytest.raises(subprocess.TimeoutExpired):
            web.process.wait(timeout=1)  # it waits for the request
        begun.sendall(body)
        answer = begun.recv(4096)
    assert answer.startswith(b"HTTP/1.1 201"), answer
    assert web.process.wait(timeout=LIMIT_S) == 0
    assert _ask(group, "health", "--json")["queue"]["waiting"] == 1  # type: ignore[index]


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S).close()
    except ConnectionRefusedError:
        return False
    return True


def test_one_cron_works_and_another_takes_over__when_it_is_killed(group: ProcessGroup) -> None:
    crons = [group.start("cron") for _ in range(3)]
    wait_until(lambda: len(_holders(crons)) == 1, what="one cron has the lease")
    wait_until(lambda: _sweepers(crons) != [], what="it sweeps")
    [dead] = _holders(crons)
    assert _sweepers(crons) == [dead]
    dead.kill()
    crons.remove(dead)
    wait_until(lambda: len(_holders(crons)) == 1, what="another has taken over")
    [stopped] = _holders(crons)
    assert stopped.stop() == 0
    crons.remove(stopped)
    wait_until(lambda: _holders(crons) == crons, what="the last has taken over from one that gave up the lease")


_RUNS = 'vskill_cron_runs_total{outcome="ok",task="sweep"}'


def _sweepers(crons: list[Running]) -> list[Running]:
    return [cron for cron in crons if cron.metrics().get(_RUNS, 0) > 0]


def _holders(crons: list[Running]) -> list[Running]:
    return [cron for cron in crons if cron.metrics()["vskill_cron_holder"] == 1]


@pytest.mark.parametrize("role", ["web", "worker", "cron"])
def test_process_of_several_is_refused_on_sqlite__and_told_of_up(tmp_path: Path, role: str) -> None:
    refused = run(role, "--data", str(tmp_path / "data"), VSKILL_PLATFORM_DATABASE_URL="")
    assert (refused.returncode, "engine_single_process" in refused.stderr) == (1, True)
    assert "vskill-platform up" in refused.stderr
    assert not (tmp_path / "data").exists()


def test_up_works_on_postgresql__with_commands_beside_it(group: ProcessGroup, tmp_path: Path) -> None:
    up = group.start("up")
    with repositories(tmp_path, 1) as [url]:
        submitted = group.command("submit", url, "--wait", "--json")
        assert submitted.returncode == 0, submitted.stderr
        identity = json.loads(submitted.stdout)["id"]
        assert json.loads(group.command("status", identity, "--json").stdout)["state"] == "EXPANDED"
    [(slug, _)] = [(skill["slug"], skill["name"]) for skill in _ask(group, "skills", "--json")["skills"]]
    assert _ask(group, "health", "--json")["submissions"]["published"] == 2
    assert group.command("stuck").returncode == group.command("dlq").returncode == 0
    assert "new run" in group.command("rescan", slug).stdout
    blocked = _ask(group, "block", "--name", "skill-00", "--reason", "test", "--json")
    assert blocked["key"] in group.command("blocklist").stdout
    assert group.command("unblock", blocked["key"]).returncode == 0
    assert "illegal_transition" in group.command("approve", identity, "--reason", "test").stderr
    assert group.command("requeue", "sub_nothing").returncode == 1
    assert not (tmp_path / "data" / "control.sock").exists()
    assert up.stop() == 0


def _ask(group: ProcessGroup, *arguments: str) -> dict[str, object]:
    return dict(json.loads(group.command(*arguments).stdout))


def test_process_tells_its_health_and_metrics__on_an_address_of_its_own(group: ProcessGroup) -> None:
    known = {sample for metric in describe_metrics() for sample in metric.samples}
    for role in ("web", "worker", "cron"):
        running = group.start(role)
        assert json.loads(read(f"{running.health}/healthz"))["status"] == "alive"
        assert json.loads(read(f"{running.health}/readyz")) | {"pid": 0, "version": ""} == {
            "status": "ready", "role": role, "pid": 0, "version": "",
        }  # fmt: skip
        samples = running.metrics()
        assert (samples["vskill_store_readable"], samples['vskill_queue_messages{state="waiting"}']) == (1, 0)
        ours = {name.partition("{")[0] for name in samples if name.startswith("vskill_")}
        assert ours <= known
        if role == "web":
            proxied = urllib.request.Request(f"{running.address}/metrics", headers={"X-Forwarded-For": "127.0.0.1"})
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(proxied, timeout=LIMIT_S)


def test_password_is_told_to_nobody__in_output_logs_and_errors(postgres_url: str, tmp_path: Path) -> None:
    secret = "hunter2-hunter2"
    url = postgres_url.replace("postgres@", f"postgres:{secret}@")
    with process_group(url, tmp_path / "data", VSKILL_PLATFORM_LOG_LEVEL="debug") as group:
        worker = group.start("worker")
        answers = [group.command("health")]
        worker.stop()
    refused = [
        run("worker", VSKILL_PLATFORM_DATABASE_URL=broken)
        for broken in (
            f"postgresql://postgres:{secret}/x@127.0.0.1/none",
            f"postgresql://postgres:{secret}@127.0.0.1:1/none",
            url.rsplit("/", 1)[0] + "/no_such_database",
        )
    ]
    assert all(answer.returncode == 0 for answer in answers)
    assert all(answer.returncode != 0 for answer in refused)
    told = [*worker.lines, *(text for answer in (*answers, *refused) for text in (answer.stdout, answer.stderr))]
    assert any("postgres:***@" in text for text in told)
    assert not any(secret in text for text in told)
