"""The documentation as pages: every document, every link between them, and nothing besides."""

from __future__ import annotations

import re
from pathlib import Path

import httpx

from vskill_platform.web.pages.documents import documents, pictures

DOCS = Path(__file__).parents[2] / "docs"


def test_every_document_is_served() -> None:
    assert set(documents()) == {path.relative_to(DOCS).as_posix().removesuffix(".md") for path in DOCS.rglob("*.md")}


async def test_every_document_is_a_page_whose_links_lead_somewhere(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/docs")).text
    for name, document in documents().items():
        assert f'href="/docs/{name}"' in listed
        answer = await client.get(f"/docs/{name}")
        assert answer.status_code == 200
        assert "<h1" in answer.text
        assert f"<title>{document.title[:10]}" in answer.text.replace("&#39;", "'")
        for linked in set(re.findall(r'(?:href|src)="/docs/([^"#]+)', answer.text)):
            assert linked in documents() or linked in pictures(), (name, linked)


async def test_link_to_a_heading_finds_it(client: httpx.AsyncClient) -> None:
    for name in documents():
        page = (await client.get(f"/docs/{name}")).text
        for target, fragment in re.findall(r'href="/docs/([^"#]+)#([^"]+)"', page):
            assert f'id="{fragment}"' in (await client.get(f"/docs/{target}")).text, (name, target, fragment)


async def test_pictures_of_documents_are_served_in_a_sandbox(client: httpx.AsyncClient) -> None:
    assert pictures()
    for name, (kind, content) in pictures().items():
        answer = await client.get(f"/docs/{name}")
        assert (answer.status_code, answer.content) == (200, content)
        assert answer.headers["content-type"].startswith(kind)
        assert "sandbox" in answer.headers["content-security-policy"]


async def test_documentation_gives_nothing_outside_of_it(client: httpx.AsyncClient) -> None:
    for path in ("nothing", "..%2FREADME", "%2e%2e/LICENSE", "images", "images/"):
        assert (await client.get(f"/docs/{path}", follow_redirects=True)).status_code in (400, 404), path


async def test_address_of_the_file_leads_to_the_page(client: httpx.AsyncClient) -> None:
    answer = await client.get("/docs/reference/errors.md")
    assert (answer.status_code, answer.headers["location"]) == (302, "/docs/reference/errors")
