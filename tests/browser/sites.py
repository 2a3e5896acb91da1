"""A registry for the browser: the real command on a free port, and the git server that its skills come from."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from litestar.types import ASGIApp, Receive, Scope, Send

from tests.acceptance.commands import LIMIT_S
from tests.acceptance.process_group import ProcessGroup, process_group
from vskill_platform.cli.registry import open_registry
from vskill_platform.domain.access import Role
from vskill_platform.domain.submission import CATEGORY_OF, Category, SubmissionState
from vskill_platform.settings import load_settings
from vskill_platform.testing.git_repos import BareRepository, make_repository
from vskill_platform.testing.git_server import serve_application_in_thread
from vskill_platform.testing.waits import until
from vskill_platform.web.api.admin.accounts import ChangedAccount, NewAccount
from vskill_platform.web.clients.git_http import GitHttp, repositories_below
from vskill_platform.web.secure_sessions import SESSION_COOKIE
from vskill_platform.web.session_cookies import HINT_COOKIE

PASSWORD = "grey otters swim upstream"
"""Of every account that tests make here."""
View = dict[str, Any]


@dataclass(slots=True)
class Gate:
    """What keeps a git server from answering until a test has seen what it wants to see."""

    _is_open: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._is_open.set()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Let nothing through for as long as the block lasts."""
        self._is_open.clear()
        try:
            yield
        finally:
            self._is_open.set()

    def before(self, application: ASGIApp) -> ASGIApp:
        """The application behind the gate."""

        async def gated(scope: Scope, receive: Receive, send: Send) -> None:
            await asyncio.to_thread(self._is_open.wait, LIMIT_S)
            await application(scope, receive, send)

        return gated


def skill_md(name: str, *, description: str = "Greets people.", body: str = "Say hello.") -> bytes:
    """A SKILL.md."""
    return f"---\nname: {name}\ndescription: {description}\n---\n{body}\n".encode()


@dataclass(slots=True)
class Site:
    """A registry, the address of its pages, and the folder, address and gate of the repositories it may fetch."""

    group: ProcessGroup
    address: str
    folder: Path
    source: str
    gate: Gate
    sessions: dict[Role, str] = field(default_factory=dict)

    def make_repository(self, name: str, files: Mapping[str, bytes]) -> tuple[BareRepository, str]:
        """A repository and its address; `name` is `owner/repository`."""
        repository = make_repository(self.folder / f"{name}.git", dict(files))
        return repository, f"{self.source}/{name}"

    async def submit(self, url: str, *, skill: str = "") -> str:
        """Submit an address, or one skill of it, by the API. Returns the submission's id."""
        async with httpx.AsyncClient(base_url=self.address, timeout=LIMIT_S) as client:
            answer = await client.post("/api/v1/submissions", json={"repoUrl": url, "skillName": skill})
            return str(answer.raise_for_status().json()["id"])

    async def look(self, identity: str) -> View:
        """A submission as the API tells it."""
        async with httpx.AsyncClient(base_url=self.address, timeout=LIMIT_S) as client:
            return dict((await client.get(f"/api/v1/submissions/{identity}")).raise_for_status().json())

    async def until_decided(self, identity: str) -> View:
        """A repository's submission once it and each of its skills is decided."""

        async def decided() -> View | None:
            view = await self.look(identity)
            return None if any(_is_active(part) for part in [view, *view["children"]]) else view

        return await until(decided, what=f"{identity} is decided")

    async def publish(self, name: str, files: Mapping[str, bytes]) -> list[View]:
        """Submit a repository and have the operator approve whatever was not let pass. Returns its skills."""
        _, url = self.make_repository(name, files)
        view = await self.until_decided(await self.submit(url))
        for child in view["children"]:
            if child["state"] != SubmissionState.PUBLISHED:
                await self.approve(child["id"])
        return list((await self.look(view["id"]))["children"])

    async def session(self, role: Role) -> str:
        """The secret of a session of the site's account with a role, which is made for the first who asks."""
        if role not in self.sessions:
            name = role.value.lower().replace("_", "-")
            self.sessions[role] = await self.join(await self.invite(name, role), name)
        return self.sessions[role]

    async def cookies(self, role: Role) -> Any:
        """The cookies with which a browser comes as the site's account with a role."""
        place = self.address.replace("http://", "https://")
        return [
            {"name": name, "value": value, "url": place, "secure": True, "httpOnly": name == SESSION_COOKIE}
            for name, value in ((SESSION_COOKIE, await self.session(role)), (HINT_COOKIE, "1"))
        ]

    async def invite(self, name: str, role: Role) -> str:
        """Have the operator make an account. Returns the path of the link that sets its password."""
        settings = load_settings(self.group.environment)
        async with open_registry(settings) as registry:
            wanted = NewAccount(name=name, role=role, reason="A test wants it.")
            made = await registry.post("/api/v1/admin/accounts", ChangedAccount, wanted)
        assert made.link is not None
        return made.link

    async def join(self, link: str, name: str, *, password: str = PASSWORD) -> str:
        """Use a link. Returns the secret of the session that it opens."""
        token = link.partition("token=")[2]
        form = {"token": token, "name": name, "password": password, "again": password}
        async with httpx.AsyncClient(base_url=self.address, timeout=LIMIT_S) as client:
            answer = await client.post("/setup", data=form)
            assert answer.status_code == 303, answer.text
            return str(answer.cookies[SESSION_COOKIE])

    async def approve(self, identity: str) -> None:
        """Have the operator publish what the scan did not let pass, and a reviewer too where that takes two."""
        reason = "A test wants it published."
        done = await asyncio.to_thread(self.group.command, "approve", identity, "--reason", reason)
        assert done.returncode == 0, done.stderr
        if (await self.look(identity))["state"] == SubmissionState.PUBLISHED:
            return
        cookies = {"Cookie": f"{SESSION_COOKIE}={await self.session(Role.REVIEWER)}", "Origin": self.address}
        async with httpx.AsyncClient(base_url=self.address, timeout=LIMIT_S, headers=cookies) as second:
            answer = await second.post("/api/v1/admin/review/approve", json={"id": identity, "reason": reason})
            assert answer.json().get("outcome") == "published", answer.text


def _is_active(view: View) -> bool:
    return CATEGORY_OF[SubmissionState(view["state"])] is Category.ACTIVE


@contextmanager
def running_site(database_url: str, folder: Path, *, host: str = "127.0.0.1", **settings: str) -> Iterator[Site]:
    """A registry and its git server, until the block ends. Without a database it is on SQLite."""
    repositories = folder / "repositories"
    repositories.mkdir(parents=True)
    gate = Gate()
    with (
        serve_application_in_thread(gate.before(GitHttp(repositories_below(repositories)))) as source,
        process_group(database_url, folder / "data", **settings) as group,
    ):
        running = group.start("up")
        yield Site(group, running.address, repositories, source.replace("127.0.0.1", host), gate)
