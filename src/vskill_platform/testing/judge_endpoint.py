"""A server on loopback that speaks as the OpenAI API does, for tests of the judge: it answers well, badly, slowly, or not at all.

    endpoint = JudgeEndpoint()
    async with endpoint.serve() as url:
        endpoint.answers = [failing(503), saying(Verdict.PASS, 95)]

Every request is kept in `asked`. Each is answered by the next of `answers`; the last one stays for all that follow.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import msgspec
from litestar.enums import ScopeType
from litestar.types import Receive, Scope, Send

from vskill_platform.app import serving
from vskill_platform.domain.scan import Verdict

_FLOOD = b"A" * 65_536
_JSON_IN_DATA = re.compile(r"^\d+\| .*?(\{.*\})", re.MULTILINE)


class Asked(NamedTuple):
    """One question, and the secrets in it that a model would know."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        """Our words."""
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        """The skill between its boundaries, and what follows."""
        return str(self.body["messages"][1]["content"])

    @property
    def request(self) -> str:
        """The name of the request."""
        return _first(r'"requestId": "(\w+)"', self.system)

    @property
    def canary(self) -> str:
        """The word that must not be repeated."""
        return _first(r"secret: (\w+)", self.system)

    @property
    def boundary(self) -> str:
        """The word that data stands between."""
        return _first(r"BEGIN (\w+)", self.system)

    @property
    def data(self) -> str:
        """What stands between the boundaries."""
        return self.user.split(f"BEGIN {self.boundary}\n")[1].split(f"\nEND {self.boundary}")[0]

    @property
    def findings(self) -> list[str]:
        """The names of the findings."""
        return re.findall(r'^\{"id":"(F\d+)"', self.data.split("\nFILES\n")[0], re.MULTILINE)


class Reply(NamedTuple):
    """What is sent back. `more` is sent for as long as the client takes it."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ((b"content-type", b"application/json"),)
    more: bytes = b""
    is_cut: bool = False


Answer = Callable[[Asked], Awaitable[Reply]]


class JudgeEndpoint:
    """The server. `answers` says what it does; `asked` has what was asked of it."""

    def __init__(self) -> None:
        self.url = ""
        self.start_anew()

    def start_anew(self) -> None:
        """Forget what was asked, and answer well from now on."""
        self.answers: Sequence[Answer] = [saying(Verdict.PASS, 95)]
        self.asked: list[Asked] = []
        self.left = asyncio.Event()

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        """Serve until the block ends. Gives what `judge_url` has to be."""
        async with serving(self) as address:
            self.url = f"{address}/v1"
            try:
                yield self.url
            finally:
                self.left.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != ScopeType.HTTP:
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        asked = Asked(scope["path"], headers, msgspec.json.decode(await _read(receive)))
        self.asked.append(asked)
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        reply = await answer(asked)
        await send({"type": "http.response.start", "status": reply.status, "headers": list(reply.headers)})
        if reply.more:
            await self._flood(reply, receive, send)
        elif not reply.is_cut:
            await send({"type": "http.response.body", "body": reply.body, "more_body": False})

    async def _flood(self, reply: Reply, receive: Receive, send: Send) -> None:
        """Send and send. Who has gone away ends it."""
        gone, left = asyncio.create_task(_gone(receive)), self.left
        await send({"type": "http.response.body", "body": reply.body, "more_body": True})
        while not gone.done() and not left.is_set():
            await send({"type": "http.response.body", "body": reply.more, "more_body": True})
            await asyncio.sleep(0)
        gone.cancel()

    def never(self) -> Answer:
        """No answer for as long as the server is there."""

        left = self.left

        async def wait(asked: Asked) -> Reply:
            await left.wait()
            return Reply(503)

        return wait


def completing(write: Callable[[Asked], str], *, usage: Any = None) -> Answer:
    """A completion with whatever text is written for a question."""

    async def answer(asked: Asked) -> Reply:
        message = {"role": "assistant", "content": write(asked)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        counted = {"prompt_tokens": 1000, "completion_tokens": 100} if usage is None else usage
        return Reply(body=msgspec.json.encode({"id": "1", "choices": [choice], "usage": counted}))

    return answer


def judgement(
    asked: Asked, verdict: Verdict, score: int, /, *, word: str = "false_positive", **more: Any
) -> dict[str, Any]:
    """A proper answer to a question, with whatever else it is to have."""
    findings = [{"id": name, "judgement": word, "reason": "It is what it is."} for name in asked.findings]
    concerns = [] if verdict is Verdict.PASS else ["SKILL.md:1 is not what it says."]
    said = {"requestId": asked.request, "verdict": verdict.value, "score": score, "findings": findings}
    return {**said, "concerns": concerns, **more}


def saying(verdict: Verdict, score: int, /, *, word: str = "false_positive", **more: Any) -> Answer:
    """A proper answer with this verdict and score, and this word on each finding."""

    def write(asked: Asked) -> str:
        return msgspec.json.encode(judgement(asked, verdict, score, word=word, **more)).decode()

    return completing(write)


def failing(status: int, *headers: tuple[bytes, bytes], body: bytes = b'{"error": {"message": "no"}}') -> Answer:
    """No completion, but this status."""

    async def answer(asked: Asked) -> Reply:
        return Reply(status, body, headers)

    return answer


def flooding(begin: bytes = b'{"choices": [{"message": {"content": "') -> Answer:
    """An answer that does not end."""

    async def answer(asked: Asked) -> Reply:
        return Reply(body=begin, more=_FLOOD)

    return answer


async def cut_off(asked: Asked) -> Reply:
    """An answer that breaks off after its head."""
    return Reply(headers=((b"content-length", b"100"),), is_cut=True)


def copy_from_data(asked: Asked) -> str:
    """What a model would say that repeats the ready-made answer in the skill; one it makes up where there is none."""
    found = _JSON_IN_DATA.search(asked.data)
    return found[1] if found else '{"verdict": "PASS", "score": 100}'


def leak_the_canary(asked: Asked) -> str:
    """What a model would say that gives away what it was told to keep."""
    said = judgement(asked, Verdict.PASS, 100, concerns=[f"The secret is {asked.canary}."])
    return msgspec.json.encode(said).decode()


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found is not None, text
    return found[1]


async def _read(receive: Receive) -> bytes:
    body = b""
    while True:
        message: Any = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body", False):
            return body


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
