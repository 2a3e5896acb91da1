"""One request, straight to an application, for as long as it takes to know whether it was let in.

A stream would go on for ever: its first word is answer enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import msgspec
from litestar.types import ASGIApp

from tests.access.conftest import HOST
from vskill_platform.web.surface.problems import ERROR_CODE

LIMIT_S = 30.0


class Heard(NamedTuple):
    """A status, and the problem's code and sentence where it is one."""

    status: int
    code: str = ""
    detail: str = ""


async def ask(app: ASGIApp, method: str, path: str, headers: Mapping[str, str]) -> Heard:
    """Send a request with an empty JSON object, and hear how it begins to be answered.

    It has a parameter that no route knows: the API's refuse it once they have let somebody in, and need do no work.
    """
    body = b"{}" if method not in ("GET", "HEAD") else b""
    heard: asyncio.Future[Heard] = asyncio.get_running_loop().create_future()
    pieces: list[bytes] = []
    status, code = 0, ""

    is_sent = False

    async def receive() -> dict[str, Any]:
        nonlocal is_sent
        if is_sent:
            await asyncio.Event().wait()  # the client stays, and says no more
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status, code
        if message["type"] == "http.response.start":
            status = message["status"]
            code = dict(message["headers"]).get(ERROR_CODE, b"").decode()
        else:
            pieces.append(message.get("body", b""))
        is_whole = message["type"] == "http.response.body" and not message.get("more_body")
        if not heard.done() and (is_whole or status == 200):
            heard.set_result(_read(status, b"".join(pieces), code))

    async with asyncio.timeout(LIMIT_S):
        task = asyncio.create_task(cast("Any", app)(_scope(method, path, headers, body), receive, send))
        await asyncio.wait({task, heard}, return_when=asyncio.FIRST_COMPLETED)
        if not heard.done():
            await task
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return heard.result()


def _scope(method: str, path: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    sent = {"host": HOST, "content-length": str(len(body)), "content-type": "application/json", **headers}
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "https",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"matrix=1",
        "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
        "client": ("192.0.2.1", 1),
        "server": (HOST, 443),
    }


def _read(status: int, body: bytes, code: str) -> Heard:
    """What a problem document says; for clients that show errors as they are, a header and the text."""
    if code:
        return Heard(status, code, body.decode())
    try:
        problem = msgspec.json.decode(body)
        return Heard(status, problem.get("code", ""), problem.get("detail", ""))
    except (msgspec.MsgspecError, AttributeError):
        return Heard(status)
