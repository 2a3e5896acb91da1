"""A registry as its clients meet it: real skills, published the whole way, behind the real application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import httpx
from litestar.types import ASGIApp

from tests.pipeline.journey import Journey
from vskill_platform.domain.records import Submission
from vskill_platform.testing.git_repos import Files

OWNER = "127-0-0-1-acme"
SLUG = f"{OWNER}/greeting/greeting"
SKILLS = "/api/v1/skills"
PLACE = f"{SKILLS}/{SLUG}"


@dataclass
class Registry:
    """A journey, its web application, and a client of that."""

    journey: Journey
    app: ASGIApp
    client: httpx.AsyncClient

    async def get(self, path: str, **params: Any) -> httpx.Response:
        """Ask for a path."""
        return await self.client.get(path, params=params or None)

    async def read(self, path: str, **params: Any) -> Any:
        """What is at a path, which must be there."""
        answer = await self.get(path, **params)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:500])
        return answer.json()

    async def refusal(self, path: str, **params: Any) -> tuple[int, str]:
        """Status and code of a problem document."""
        answer = await self.get(path, **params)
        assert answer.headers["Content-Type"] == "application/problem+json", answer.text[:200]
        return answer.status_code, answer.json()["code"]

    async def update(self, name: str, files: Files) -> Submission:
        """Commit other files to a repository that was published from, and publish again."""
        self.journey.repository(name, files)
        (submission,) = await self.journey.take_through(name)
        return submission


def client_of(app: ASGIApp, *, address: str = "192.0.2.1", scheme: str = "http") -> httpx.AsyncClient:
    """A client of the application at an address of its own."""
    transport = httpx.ASGITransport(app=cast("Any", app), client=(address, 1))
    return httpx.AsyncClient(transport=transport, base_url=f"{scheme}://registry")
