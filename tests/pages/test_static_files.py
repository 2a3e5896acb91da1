"""Static files: kept for ever under their own hash, pressed, asked about cheaply, and nothing besides them."""

from __future__ import annotations

import gzip
import re

import httpx

from vskill_platform.web.static_files import static_files, static_url


async def test_static_file_is_kept_for_ever__under_its_own_hash(client: httpx.AsyncClient) -> None:
    answer = await client.get(static_url("site.css"))
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/css; charset=utf-8"


async def test_static_file_is_kept_by_nobody__under_another_hash(client: httpx.AsyncClient) -> None:
    answer = await client.get("/static/0123456789ab/site.css")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")


async def test_static_file_comes_pressed__for_whoever_takes_gzip(client: httpx.AsyncClient) -> None:
    url = static_url("htmx.min.js")
    plain = await client.get(url, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    async with client.stream("GET", url, headers={"Accept-Encoding": "gzip"}) as answer:
        pressed = b"".join([chunk async for chunk in answer.aiter_raw()])
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"].lower() == "accept-encoding"
    assert gzip.decompress(pressed) == plain.content
    assert answer.headers["etag"] != plain.headers["etag"]


async def test_static_file_answers_304__to_whoever_has_it(client: httpx.AsyncClient) -> None:
    url = static_url("site.css")
    tag = (await client.get(url)).headers["etag"]
    answer = await client.get(url, headers={"If-None-Match": tag})
    assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)


async def test_static_file_answers_head_with_the_headers_alone(client: httpx.AsyncClient) -> None:
    answer = await client.head(static_url("site.css"))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/css; charset=utf-8"


async def test_static_files_give_nothing_outside_the_folder(client: httpx.AsyncClient) -> None:
    for name in ("..%2Frendering.py", "../static_files.py", "%2e%2e%2fstatic_files.py", "licences", "%2Fetc%2Fpasswd"):
        assert (await client.get(f"/static/x/{name}")).status_code in (400, 404), name
    assert (await client.get("/static/x/site.css%00.js")).status_code == 400


def test_style_sheet_names_files_by_the_address_they_are_kept_under() -> None:
    named = re.findall(rb'url\("([^"]+)"\)', static_files()["site.css"].content)
    assert named == [static_url("inter.woff2").encode()]
