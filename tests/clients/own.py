"""Our own client as its users run it: the command in this process, on a machine of its own; and a registry that lies."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import msgspec
import structlog
from litestar.types import Receive, Scope, Send
from typer.testing import CliRunner

from tests.clients.programs import QUIET, Machine, Ran
from vskill_platform.app import serving
from vskill_platform.cli.main import app
from vskill_platform.client.lock_file import LockedSkill, LockFile
from vskill_platform.domain.archives import build_tar
from vskill_platform.domain.content import SkillContent, content_digest
from vskill_platform.domain.errors import VskillError
from vskill_platform.domain.ids import sha256_digest

FRESH_HOME = dict.fromkeys(("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "VSKILL_SERVER"))


@dataclass
class OwnClient:
    """The command on a machine, pointed at a registry."""

    machine: Machine
    address: str

    async def run(self, *arguments: str, server: str | None = None, **environ: str) -> Ran:
        """Run a command to its end, in another thread, since the registry is in this one."""
        env: dict[str, str | None] = {**FRESH_HOME, "HOME": str(self.machine.home), "COLUMNS": "200", "NO_COLOR": "1"}
        env["VSKILL_PLATFORM_SERVER"] = self.address if server is None else server
        return await asyncio.to_thread(_invoke, arguments, {**env, **environ})

    async def here(self, command: str, *arguments: str, **options: str) -> Ran:
        """The same in the machine's project."""
        return await self.run(command, *arguments, "--project", str(self.machine.project), **options)

    async def told(self, command: str, *arguments: str, **options: str) -> Any:
        """What a command in the project says as JSON, whatever it ends with."""
        ran = await self.here(command, *arguments, "--json", **options)
        return json.loads(ran.output)

    @property
    def lock(self) -> dict[str, LockedSkill]:
        """What the project's lock file lists."""
        path = self.machine.project / "vskill.lock.json"
        return msgspec.json.decode(path.read_bytes(), type=LockFile).skills if path.exists() else {}


def _invoke(arguments: tuple[str, ...], env: Mapping[str, str | None]) -> Ran:
    with _logs_as_they_are():
        result = CliRunner().invoke(app, list(arguments), env=env)
    error = result.exception
    if isinstance(error, VskillError):
        return Ran(1, result.stdout, f"({error.code}) {error.message}")
    if error is not None and not isinstance(error, SystemExit):
        raise error
    return Ran(result.exit_code, result.stdout, result.stderr)


@contextmanager
def _logs_as_they_are() -> Iterator[None]:
    """A command sets up logs for its process, which is that of the registry here."""
    before, handlers = structlog.get_config(), list(logging.getLogger().handlers)
    try:
        yield
    finally:
        structlog.configure(**before)
        logging.getLogger().handlers[:] = handlers


def process_env(machine: Machine, address: str) -> dict[str, str]:
    """The environment of the command as a process of its own."""
    return {**QUIET, "HOME": str(machine.home), "VSKILL_PLATFORM_SERVER": address}


@dataclass
class Liar:
    """A registry that answers what it is told to: recorded answers of a real one, with lies among them."""

    answers: dict[str, bytes] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    stalled: set[str] = field(default_factory=set)
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the end of the path."""
        path = scope["path"]
        body = next((body for end, body in self.answers.items() if path.endswith(end)), None)
        more = next((more for end, more in self.headers.items() if path.endswith(end)), {})
        is_cut, is_stalled = path.endswith(tuple(self.cut)), path.endswith(tuple(self.stalled))
        found = b"{}" if body is None else body
        sent = found[: len(found) // 2] if is_cut or is_stalled else found
        headers = [(name.encode(), value.encode()) for name, value in more.items()]
        headers.append((b"content-length", b"%d" % len(found)))
        await send({"type": "http.response.start", "status": 404 if body is None else 200, "headers": headers})
        await send({"type": "http.response.body", "body": sent, "more_body": is_cut or is_stalled})
        if is_stalled:
            self.reached.set()
            await receive()
            await receive()
        if is_cut:
            raise ConnectionResetError("cut")

    def publish(self, archive: bytes, content: SkillContent, **changes: Any) -> None:
        """Say that an archive is the version, with digests that agree with what is claimed."""
        version = json.loads(self.answers["/versions/1.0.0"])
        version["tar"] = {"digest": sha256_digest(archive), "size": len(archive), "url": ""}
        version["files"] = [
            {
                "path": file.path,
                "size": len(file.content),
                "sha256": sha256_digest(file.content).removeprefix("sha256:"),
                "executable": file.executable,
            }
            for file in content.files
        ]
        version["contentDigest"] = content_digest(content)
        self.answers["/versions/1.0.0"] = json.dumps({**version, **changes}).encode()
        self.answers["/archive.tar"] = archive

    def publish_content(self, content: SkillContent) -> None:
        """Publish files as a real registry does."""
        self.publish(build_tar(content), content)


async def learn(http: httpx.AsyncClient, slug: str) -> dict[str, bytes]:
    """All that a real registry says of a skill, by the ends of paths."""
    place = f"/api/v1/skills/{slug}"
    ways = {f"/{slug}": "", "/versions/1.0.0": "/versions/1.0.0", "/archive.tar": "/versions/1.0.0/archive.tar"}
    answers = {end: (await http.get(f"{place}{way}")).content for end, way in ways.items()}
    return {**answers, "/blocklist/check": b'{"blocked": false, "entries": []}'}


@asynccontextmanager
async def lying(answers: Mapping[str, bytes]) -> AsyncIterator[tuple[Liar, str]]:
    """A liar that knows these answers, and where it is."""
    liar = Liar(dict(answers))
    async with serving(liar) as address:
        yield liar, address
