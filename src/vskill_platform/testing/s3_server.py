"""An S3-compatible server in a process of its own on a free loopback port, for tests: moto's, which keeps all in memory."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import NamedTuple

LIMIT_S = 60.0


class S3Server(NamedTuple):
    """A running server, and a key that it takes."""

    endpoint: str
    access_key_id: str = "test-key"
    secret_access_key: str = "test-secret"

    def make_bucket(self, name: str) -> None:
        """Make a bucket."""
        self.request("PUT", name)

    def request(self, method: str, path: str, *, content: bytes = b"") -> bytes:
        """Ask the server something behind everybody's back. It wants to see a signature, and does not check it."""
        credential = f"AWS4-HMAC-SHA256 Credential={self.access_key_id}/20200101/us-east-1/s3/aws4_request"
        headers = {"Authorization": f"{credential}, SignedHeaders=host, Signature=0"}
        request = urllib.request.Request(f"{self.endpoint}/{path}", data=content, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return bytes(answer.read())


@contextmanager
def running_s3_server() -> Iterator[S3Server]:
    """The server, killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    reader = Thread(target=lambda: _read_to_the_end(process), daemon=True)
    try:
        endpoint = _endpoint(process)
        reader.start()
        yield S3Server(endpoint)
    finally:
        process.kill()
        process.wait(timeout=LIMIT_S)
        if reader.ident is not None:
            reader.join(timeout=LIMIT_S)
        assert process.stderr is not None
        process.stderr.close()


def _read_to_the_end(process: subprocess.Popen[str]) -> None:
    """The server logs every request: a pipe that nobody reads would fill up and hold it."""
    assert process.stderr is not None
    for _ in process.stderr:
        pass


def _endpoint(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    seen: list[str] = []
    for line in process.stderr:
        seen.append(line)
        found = re.search(r"Running on (http://\S+)", line)
        if found:
            return found[1]
    raise AssertionError(f"the S3 server did not come up: {''.join(seen)}")
