"""A registry whose scans workers elsewhere run, at a time that the test sets: requests, and a client with a token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import msgspec

from tests.access.conftest import client_of
from vskill_platform.domain.access import Role, Scope
from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.domain.external_provider import parse_providers
from vskill_platform.pipeline.pinning import pin_content
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.external_dispatch import requesting
from vskill_platform.stores.external_scans import ExternalScan, find_external_scan, get_external_scan
from vskill_platform.testing.accounts import make_account, make_token
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.web.app import create_web_app
from vskill_platform.worker_context import run_with_worker_env

SLUG = "acme/skills/pdf"
SECRETS = {"posted": "whsec_" + "QUJD" * 8, "mailed": "whsec_" + "REVG" * 8}
REMOTE: dict[str, object] = {
    "external_scanners": "remote:farm,remote:posted,remote:mailed",
    "external_push": "posted=http://127.0.0.1:9/scan,mailed=http://127.0.0.1:9/scan",
    "external_push_secrets": ",".join(f"{name}={secret}" for name, secret in SECRETS.items()),
    "public_url": "https://registry.example",
    "webhook_protocols": "http",
    "webhook_private_addresses": True,
}
PASS: dict[str, object] = {"status": "PASS", "score": 100, "findings": [], "providerVersion": "2.0"}


@dataclass
class Desk:
    """The registry, its clock, and a client that may run scans."""

    env: WorkerEnv
    clock: FakeClock
    client: httpx.AsyncClient

    async def inside(self, work: Any) -> Any:
        """Await the work with the env in scope."""
        return await run_with_worker_env(self.env, work)

    async def ask(
        self, *, slug: str = SLUG, provider: str = "farm", text: str = "# Hello\n\nimport os\n", **fields: Any
    ) -> ExternalScan:
        """Ask a provider about a skill with this text."""

        async def request() -> ExternalScan:
            content = make_content([SkillFile(path="SKILL.md", content=text.encode())])
            pin = (await pin_content(content, commit="c" * 40)).pin
            settings = self.env.settings
            known = parse_providers(
                settings.external_scanners, push=settings.external_push, secrets=settings.external_push_secrets
            )
            previous = await find_external_scan(slug, provider)
            await self.env.writes.commit(requesting(slug, known[provider], previous=previous, pin=pin, **fields))
            return await self.read(slug=slug, provider=provider)

        scan: ExternalScan = await self.inside(request)
        return scan

    async def read(self, *, slug: str = SLUG, provider: str = "farm") -> ExternalScan:
        """The scan as it is stored."""
        scan = await self.inside(lambda: get_external_scan(slug, provider))
        assert isinstance(scan, ExternalScan)
        return scan

    async def post(self, word: str, **body: Any) -> httpx.Response:
        """Say something about a scan."""
        return await self.client.post(f"/api/v1/external-scans/{word}", content=msgspec.json.encode(body))

    async def claim(self, scan: ExternalScan, *, worker: str = "one") -> dict[str, Any]:
        """Take a scan up."""
        answer = await self.post("claim", provider=scan.provider, id=scan.id, worker=worker)
        assert answer.status_code == 200, answer.text
        taken: dict[str, Any] = answer.json()
        return taken

    async def complete(self, claimed: dict[str, Any], **changes: Any) -> httpx.Response:
        """End a scan that was taken up."""
        said = {name: claimed[name] for name in ("provider", "id", "claim", "contentDigest")}
        return await self.post("complete", **{**said, "result": PASS, **changes})


@asynccontextmanager
async def open_desk(engine: Engine, clock: FakeClock, folder: Path, **settings: object) -> AsyncIterator[Desk]:
    """A registry over an engine, with a client whose token has the scope `scan`."""
    env = make_env(engine, clock=clock, folder=folder, **{**REMOTE, **settings})
    token = await make_token(env, await make_account(env, "farmer", Role.REVIEWER), Scope.SCAN)
    async with client_of(create_web_app(env)) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        client.headers["Content-Type"] = "application/json"
        yield Desk(env, clock, client)
