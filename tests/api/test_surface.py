"""The layer around every route: addresses, methods, types, validators, compression, origins, ids."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
import pytest
import structlog
from litestar import Response, Router, get, post
from litestar.response import Stream

from vskill_platform.app import serving
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.access import ACCESS, ANYONE
from vskill_platform.web.application import create_app
from vskill_platform.web.surface.rate_limits import LIMITED

PROBLEM = "application/problem+json"
SUBMISSIONS = "/api/v1/submissions"
BODY = {"repoUrl": "https://github.com/acme/skills"}
STREAMED: list[str] = []


@get("/api/v1/test/long")
async def long_text() -> Response[bytes]:
    return Response(b"text " * 2000, media_type="text/plain")


@get("/api/v1/test/kept")
async def kept_for_good() -> Response[bytes]:
    return Response(
        b"zip", media_type="application/zip", headers={"ETag": '"v1"', "Cache-Control": "public, max-age=60, immutable"}
    )


@get("/api/v1/test/stream")
async def endless() -> Stream:
    async def pieces() -> Any:
        STREAMED.append("began")
        try:
            while True:
                yield b"piece\n"
                await asyncio.sleep(0)
        finally:
            STREAMED.append("ended")

    return Stream(pieces(), media_type="text/event-stream")


@get("/api/v1/test/log")
async def logging_route() -> dict[str, str]:
    return {"request": str(structlog.contextvars.get_contextvars().get("request"))}


@post("/submit-form")
async def take_form() -> dict[str, str]:
    return {}


OPEN_ROUTES = Router(
    "/", route_handlers=[long_text, kept_for_good, endless, logging_route, take_form], opt={ACCESS: ANYONE}
)


@pytest.fixture
async def own(env: WorkerEnv) -> Any:
    """Routes that show one thing each."""
    transport = httpx.ASGITransport(app=cast("Any", create_app(env, [OPEN_ROUTES], state={LIMITED: True})))
    async with httpx.AsyncClient(transport=transport, base_url="http://registry") as opened:
        yield opened


def check_problem(answer: httpx.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.headers["Content-Type"], answer.json()["code"]) == (status, PROBLEM, code)
    assert answer.json()["detail"].endswith(".")
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "target",
    [
        b"/api/v1/submissions/%zz",
        b"/api/v1/submissions/%",
        b"/api/v1/submissions/%ff%fe",
        b"/api/v1/submissions/a%00b",
        b"/api/v1/submissions/a%0d%0ab",
        b"/api/v1/submissions/a%c2%85b",
        b"/api/v1/submissions/../x",
        b"/api/v1/submissions/%2e%2E/x",
        b"/?q=%",
        b"/?q=%ff",
        b"/?q=a%07",
        b"/?q=%ed%a0%80",
    ],
)
async def test_address_is_refused__when_it_is_no_clean_text(address: str, target: bytes) -> None:
    status, head, body = await ask_raw(address, b"GET " + target + b" HTTP/1.1\r\nHost: registry\r\n\r\n")
    assert (status, b"invalid_input" in body) == (400, True)
    assert PROBLEM.encode() in head


@pytest.mark.parametrize("target", [b"/\xff\xfe", b"/?q=\xc3\xa4", b"/a\x01b", b"/a b", b""])
async def test_request_line_that_is_no_http_is_refused__with_400(address: str, target: bytes) -> None:
    status, _, _ = await ask_raw(address, b"GET " + target + b" HTTP/1.1\r\nHost: registry\r\n\r\n")
    assert status == 400


async def test_address_is_refused__when_it_is_too_long(address: str) -> None:
    async with httpx.AsyncClient(base_url=address) as client:
        check_problem(await client.get("/" + "a" * 4096), 414, "address_too_long")
        check_problem(await client.get("/?q=" + "a" * 32_768), 414, "address_too_long")


async def test_slash_at_the_end_leads_to_the_address_without(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/v1/submissions/sub_x/?a=b")
    assert (answer.status_code, answer.headers["Location"]) == (308, "/api/v1/submissions/sub_x?a=b")
    check_problem(await client.post(SUBMISSIONS + "/", json=BODY), 404, "not_found")
    for elsewhere in ("//evil.example/", "/a//b", "/a//"):
        assert (await client.get(httpx.URL("http://registry", raw_path=elsewhere.encode()))).status_code == 404


async def test_head_answers_as_get_does__without_a_body(client: httpx.AsyncClient) -> None:
    for path in ("/", "/healthz", "/api/v1/submissions/sub_x", "/nowhere"):
        got, asked = await client.get(path), await client.head(path)
        assert (asked.status_code, asked.content) == (got.status_code, b"")
        varying = {"x-request-id", "ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset"}
        kept = [{k: v for k, v in answer.headers.items() if k not in varying} for answer in (got, asked)]
        assert kept[0] == kept[1]


async def test_head_ends_a_stream__as_soon_as_its_head_is_sent(env: WorkerEnv) -> None:
    STREAMED.clear()
    async with (
        serving(create_app(env, [OPEN_ROUTES], state={})) as served,
        httpx.AsyncClient(base_url=served) as client,
    ):
        answer = await client.head("/api/v1/test/stream")
        assert (answer.status_code, answer.content) == (200, b"")
    assert STREAMED == ["began", "ended"]


async def test_method_is_refused_with_those_that_are_allowed(client: httpx.AsyncClient) -> None:
    answer = await client.delete("/api/v1/submissions/sub_x")
    check_problem(answer, 405, "method_not_allowed")
    assert {"GET", "HEAD", "OPTIONS"} <= set(answer.headers["Allow"].split(", "))
    assert "POST" not in answer.headers["Allow"]
    options = await client.options(SUBMISSIONS)
    assert (options.status_code, "POST" in options.headers["Allow"]) == (204, True)
    check_problem(await client.request("BREW", SUBMISSIONS), 405, "method_not_allowed")


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
        {},
    ],
)
async def test_body_of_another_type_is_415__on_the_api(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    check_problem(await client.post(SUBMISSIONS, content=b"{}", headers=headers), 415, "unsupported_content_type")


async def test_forms_of_pages_are_taken__outside_the_api(own: httpx.AsyncClient) -> None:
    assert (await own.post("/submit-form", data={"a": "b"})).status_code == 201


async def test_answer_is_304_while_the_client_has_it__by_a_tag_that_is_another_for_compressed_bytes(
    own: httpx.AsyncClient,
) -> None:
    plain = await own.get("/api/v1/test/long", headers={"Accept-Encoding": "gzip;q=0"})
    packed = await own.get("/api/v1/test/long", headers={"Accept-Encoding": "br, gzip"})
    assert "Content-Encoding" not in plain.headers
    assert (packed.headers["Content-Encoding"], packed.content) == ("gzip", plain.content)
    assert int(packed.headers["Content-Length"]) < len(plain.content) // 10
    assert plain.headers["ETag"] != packed.headers["ETag"]
    for answer in (plain, packed):
        assert (answer.headers["Vary"], answer.headers["Cache-Control"]) == ("Accept-Encoding", "no-cache")
        for known in (answer.headers["ETag"], f'"x", {answer.headers["ETag"]}', "*", "W/" + answer.headers["ETag"]):
            again = await own.get("/api/v1/test/long", headers={"If-None-Match": known})
            assert (again.status_code, again.content) == (304, b"")
            assert "Content-Length" not in again.headers
            assert (again.headers["Vary"], "ETag" in again.headers) == ("Accept-Encoding", True)
    assert (await own.get("/api/v1/test/long", headers={"If-None-Match": '"other"'})).status_code == 200


async def test_tag_and_policy_of_a_route_stand(own: httpx.AsyncClient) -> None:
    answer = await own.get("/api/v1/test/kept")
    assert (answer.headers["ETag"], answer.headers["Cache-Control"]) == ('"v1"', "public, max-age=60, immutable")
    assert "Content-Encoding" not in answer.headers
    again = await own.get("/api/v1/test/kept", headers={"If-None-Match": '"v1"'})
    assert (again.status_code, again.headers["Cache-Control"]) == (304, "public, max-age=60, immutable")


async def test_gzip_over_the_wire_is_what_it_says(env: WorkerEnv) -> None:
    async with serving(create_app(env, [OPEN_ROUTES], state={})) as served:
        ask = b"GET /api/v1/test/long HTTP/1.1\r\nHost: r\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
        status, head, body = await ask_raw(served, ask)
    assert (status, b"content-encoding: gzip" in head.lower()) == (200, True)
    assert gzip.decompress(body) == b"text " * 2000


async def test_any_origin_may_read_the_api__and_none_may_write(client: httpx.AsyncClient) -> None:
    far = {"Origin": "https://other.example"}
    read = await client.get("/api/v1/submissions/sub_x", headers=far)
    assert (read.headers["Access-Control-Allow-Origin"], "ETag" in read.headers["Access-Control-Expose-Headers"]) == (
        "*",
        True,
    )
    assert read.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    page = await client.get("/", headers=far)
    assert "Access-Control-Allow-Origin" not in page.headers
    assert page.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    for method, leave in (("GET", True), ("HEAD", True), ("POST", False), ("DELETE", False)):
        asked = await client.options(SUBMISSIONS, headers={**far, "Access-Control-Request-Method": method})
        assert (asked.status_code, "Access-Control-Allow-Methods" in asked.headers) == (204, leave)
        assert "POST" not in asked.headers.get("Access-Control-Allow-Methods", "")
    for marks in (far, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "null"}):
        written = await client.post(SUBMISSIONS, json=BODY, headers=marks)
        check_problem(written, 403, "cross_site_refused")
        assert "Access-Control-Allow-Origin" not in written.headers
    for marks in ({"Sec-Fetch-Site": "same-origin"}, {"Origin": "http://registry"}, {}):
        assert (await client.post(SUBMISSIONS, json=BODY, headers=marks)).status_code in (200, 201)


async def test_request_has_an_id__that_the_log_has_too(own: httpx.AsyncClient) -> None:
    answer = await own.get("/api/v1/test/log")
    assert len(answer.headers["X-Request-Id"]) == 32
    assert answer.json() == {"request": answer.headers["X-Request-Id"]}
    given = await own.get("/api/v1/test/log", headers={"X-Request-Id": "proxy-12345"})
    assert given.headers["X-Request-Id"] == "proxy-12345"
    forged = await own.get("/api/v1/test/log", headers={"X-Request-Id": "a b\tc" * 4})
    assert len(forged.headers["X-Request-Id"]) == 32


async def test_body_is_refused__when_it_is_longer_than_it_says_it_may_be(address: str) -> None:
    async def endless_body() -> Any:
        for _ in range(100):
            yield b'{"repoUrl": "' + b"x" * 1000

    headers = {"Content-Type": "application/json"}
    async with httpx.AsyncClient(base_url=address) as client:
        check_problem(await client.post(SUBMISSIONS, content=endless_body(), headers=headers), 413, "body_too_large")
        check_problem(await client.post(SUBMISSIONS, content=b"x" * 20_000, headers=headers), 413, "body_too_large")


async def ask_raw(address: str, request: bytes) -> tuple[int, bytes, bytes]:
    """Send bytes as they are, and read one answer."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        lines = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:] if b": " in line)
        body = await reader.readexactly(int(lines.get(b"content-length", b"0")))
        return int(head.split(b" ", 2)[1]), head, body
    finally:
        writer.close()
        await writer.wait_closed()
