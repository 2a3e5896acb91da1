"""A real nginx with the example configuration, on free loopback ports. Only ports, addresses and paths are other ones."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme

from tests.acceptance.commands import LIMIT_S
from tests.deploy.deployment import SITE, UPSTREAM
from vskill_platform.testing.ports import free_port
from vskill_platform.testing.waits import wait_until

HOST = "127.0.0.1"
_INSTALL = ("apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "nginx-light")
_MAIN = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr warn;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/conf.d/*.conf;
}}
"""


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


class Front(NamedTuple):
    """An nginx that runs, and how a client reaches it."""

    plain_port: int
    port: int
    trust: ssl.SSLContext
    authority: Path

    @property
    def address(self) -> str:
        """Where it serves, by TLS."""
        return f"https://{HOST}:{self.port}"

    def connect(self, *, source: str = HOST) -> http.client.HTTPSConnection:
        """A connection by TLS from one of this machine's loopback addresses."""
        return http.client.HTTPSConnection(
            HOST, self.port, context=self.trust, timeout=LIMIT_S, source_address=(source, 0)
        )

    def ask(self, method: str, path: str, *, body: bytes = b"", source: str = HOST, **headers: str) -> Answer:
        """One request and its whole answer. Headers are given with _ for -."""
        connection = self.connect(source=source)
        try:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body=body or None, headers=given)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()


def find_nginx() -> str:
    """The program; root on Debian installs it, as make does with what it needs. Elsewhere the test says what it lacks."""
    found = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(_INSTALL, check=False, capture_output=True, timeout=120)
        found = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        pytest.skip("nginx is not installed: sudo apt-get install nginx-light")
    return found


@contextmanager
def running_nginx(folder: Path, *, upstreams: Sequence[str]) -> Iterator[Front]:
    """nginx in front of these addresses (host:port), stopped at the end."""
    program, authority = find_nginx(), trustme.CA()
    front = Front(free_port(), free_port(), ssl.create_default_context(), folder / "authority.pem")
    authority.configure_trust(front.trust)
    authority.cert_pem.write_to_path(str(front.authority))
    _write_certificate(folder, authority)
    _write_configuration(folder, front, upstreams)
    command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert checked.returncode == 0, checked.stderr
    assert "[warn]" not in checked.stderr
    process = subprocess.Popen(command)
    try:
        wait_until(lambda: _answers(front), what="nginx answers")
        yield front
    finally:
        process.terminate()
        process.wait(timeout=LIMIT_S)


def _answers(front: Front) -> bool:
    connection = front.connect()
    try:
        connection.connect()
    except ConnectionRefusedError:
        return False
    finally:
        connection.close()
    return True


def _write_certificate(folder: Path, authority: trustme.CA) -> None:
    certificate = authority.issue_cert(HOST, "skills.example.org")
    certificate.private_key_pem.write_to_path(str(folder / "privkey.pem"))
    for part in certificate.cert_chain_pems:
        part.write_to_path(str(folder / "fullchain.pem"), append=True)


def _write_configuration(folder: Path, front: Front, upstreams: Sequence[str]) -> None:
    (folder / "conf.d").mkdir()
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(_MAIN.format(folder=folder, user=user))
    (folder / "conf.d" / SITE.name).write_text(_adapt_site(folder, front))
    (folder / "conf.d" / UPSTREAM.name).write_text(_adapt_upstream(upstreams))


def _adapt_site(folder: Path, front: Front) -> str:
    text, dropped = re.subn(r"    listen \[::\]:\d+.*\n", "", SITE.read_text())
    assert dropped == 2
    for old, new in {
        "listen 80;": f"listen {HOST}:{front.plain_port};",
        "listen 443 ssl;": f"listen {HOST}:{front.port} ssl;",
        "/etc/ssl/vskill-platform/fullchain.pem": f"{folder}/fullchain.pem",
        "/etc/ssl/vskill-platform/privkey.pem": f"{folder}/privkey.pem",
    }.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def _adapt_upstream(upstreams: Sequence[str]) -> str:
    """The example with these servers in place of its own: the first line of servers, once for each."""
    text = UPSTREAM.read_text()
    lines = re.findall(r"    server \S+ .*\n", text)
    assert len(lines) == 2
    servers = "".join(re.sub(r"server \S+", f"server {address}", lines[0]) for address in upstreams)
    return text.replace("".join(lines), servers)
