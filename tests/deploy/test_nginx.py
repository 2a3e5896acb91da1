"""The nginx example in front of other servers: streams come through as they are written, and so does git."""

from __future__ import annotations

import asyncio
import http.client
import os
import subprocess
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

from litestar.types import Receive, Scope, Send

from tests.acceptance.commands import LIMIT_S
from tests.deploy.nginx_server import HOST, running_nginx
from vskill_platform.testing.git_repos import make_repository
from vskill_platform.testing.git_server import serve_application_in_thread, serve_repositories_in_thread


def place_of(address: str) -> str:
    return urlsplit(address).netloc


def test_event_stream_comes_through_as_it_is_written(tmp_path: Path) -> None:
    has_arrived = Event()

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers, "trailers": False})
        await send({"type": "http.response.body", "body": b"data: first\n\n", "more_body": True})
        arrived = await asyncio.to_thread(has_arrived.wait, LIMIT_S / 2)
        last = b"data: second\n\n" if arrived else b"data: held back\n\n"
        await send({"type": "http.response.body", "body": last, "more_body": False})

    with (
        serve_application_in_thread(stream) as address,
        running_nginx(tmp_path, upstreams=[place_of(address)]) as front,
    ):
        connection = front.connect()
        connection.request("GET", "/api/v1/stream")
        answer = connection.getresponse()
        assert answer.readline() == b"data: first\n"
        has_arrived.set()
        assert answer.read() == b"\ndata: second\n\n"
        connection.close()


def test_git_clones_through_the_example(tmp_path: Path) -> None:
    make_repository(tmp_path / "repositories" / "acme" / "greeting.git", {"SKILL.md": b"Hi."})
    (tmp_path / "nginx").mkdir()
    with (
        serve_repositories_in_thread(tmp_path / "repositories") as address,
        running_nginx(tmp_path / "nginx", upstreams=[place_of(address)]) as front,
    ):
        source, target = f"{front.address}/acme/greeting.git", tmp_path / "clone"
        trusting = {**os.environ, "GIT_SSL_CAINFO": str(front.authority)}
        command = ["git", "clone", "--quiet", source, str(target)]
        cloned = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S, env=trusting)
        assert cloned.returncode == 0, cloned.stderr
    assert (target / "SKILL.md").read_bytes() == b"Hi."


def test_request_without_tls_is_sent_to_tls__and_a_large_one_is_refused(tmp_path: Path) -> None:
    with running_nginx(tmp_path, upstreams=[f"{HOST}:1"]) as front:
        connection = http.client.HTTPConnection(HOST, front.plain_port, timeout=LIMIT_S)
        connection.request("GET", "/api/v1/submissions/x?y", headers={"Host": "skills.example.org"})
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Location"]) == (
            308,
            "https://skills.example.org/api/v1/submissions/x?y",
        )
        connection.close()
        assert front.ask("POST", "/api/v1/submissions", body=b"x" * 1025 * 1024).status == 413
        assert front.ask("GET", "/").status == 502
