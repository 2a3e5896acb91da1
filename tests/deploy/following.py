"""Clients of a registry that is being restarted: those who ask, and those who follow its events and come again."""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

import httpx

STREAM = "/api/v1/submissions/stream"
_LONGEST_PAUSE_S = 2.0


@dataclass(slots=True)
class Asker:
    """Submits and reads without a pause. Whatever is not an answer of the registry is a request that was lost."""

    client: httpx.AsyncClient
    number: int
    stopping: asyncio.Event
    acknowledged: list[str] = field(default_factory=list)
    answers: Counter[int] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Ask until told to stop."""
        while not self.stopping.is_set():
            place = f"{self.number}-{len(self.acknowledged)}-{len(self.lost)}"
            body = {"repoUrl": f"http://127.0.0.1:1/asker/{place}"}
            submitted = await self._ask("POST", "/api/v1/submissions", json=body)
            if submitted is not None and submitted.status_code == 201:
                identity = submitted.json()["id"]
                self.acknowledged.append(identity)
                await self._ask("GET", f"/api/v1/submissions/{identity}")

    async def _ask(self, method: str, path: str, **options: object) -> httpx.Response | None:
        try:
            answer = await self.client.request(method, path, **options)  # type: ignore[arg-type]
        except httpx.HTTPError as error:
            self.lost.append(f"{method} {path}: {error!r}")
            return None
        self.answers[answer.status_code] += 1
        if answer.status_code not in (200, 201):
            self.lost.append(f"{method} {path}: {answer.status_code}")
        return answer


@dataclass(slots=True)
class Follower:
    """Follows the stream as a browser does: comes again with the last id, after the pause that it was told."""

    client: httpx.AsyncClient
    seen: list[tuple[int, str]] = field(default_factory=list)
    streams: int = 0
    resets: int = 0
    refused: list[int] = field(default_factory=list)
    is_open: asyncio.Event = field(default_factory=asyncio.Event)
    _last_id: str = ""
    _pause_s: float = 0.1

    async def run(self) -> None:
        """Follow for ever."""
        while True:
            with suppress(httpx.HTTPError):  # after a connection that broke one comes again, as after any other
                await self._follow_once()
            await asyncio.sleep(min(self._pause_s, _LONGEST_PAUSE_S))

    async def _follow_once(self) -> None:
        headers = {"Last-Event-ID": self._last_id} if self._last_id else {}
        async with self.client.stream("GET", STREAM, headers=headers) as answer:
            if answer.status_code != 200:
                self.refused.append(answer.status_code)
                return
            self.streams += 1
            event: dict[str, str] = {}
            async for line in answer.aiter_lines():
                if line:
                    name, _, value = line.partition(": ")
                    event[name] = value
                else:
                    self._take(event)
                    event = {}

    def _take(self, event: dict[str, str]) -> None:
        """Only a whole event counts: what the end of a stream cut off comes again."""
        if "retry" in event:
            self._pause_s = int(event["retry"]) / 1000
        if "id" in event:
            self._last_id = event["id"]
            self.is_open.set()
        if event.get("event") == "reset":
            self.resets += 1
        elif "data" in event and "id" in event:
            self.seen.append((int(event["id"]), event["data"]))


def make_client(address: str, trust: ssl.SSLContext) -> httpx.AsyncClient:
    """A client of its own connections, which waits for streams as long as they last."""
    return httpx.AsyncClient(base_url=address, verify=trust, trust_env=False, timeout=httpx.Timeout(20, read=60))
