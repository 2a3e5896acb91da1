"""Errors: pages that help for people, problem documents for everybody else."""

from __future__ import annotations

import httpx

from vskill_platform.domain.ids import skill_key
from vskill_platform.ports.commit import Put
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv


async def test_unknown_path_is_a_page_that_offers_a_search__for_a_browser(client: httpx.AsyncClient) -> None:
    answer = await client.get("/pdf-filler")
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert 'value="pdf filler"' in answer.text


async def test_unknown_path_is_a_problem_document__for_a_program(client: httpx.AsyncClient) -> None:
    for path, accept in (("/nothing", "*/*"), ("/nothing", "application/json"), ("/api/v1/nothing", "text/html")):
        answer = await client.get(path, headers={"Accept": accept})
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


async def test_unknown_path_is_shown_as_text__however_it_is_written(client: httpx.AsyncClient) -> None:
    answer = await client.get("/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E")
    assert answer.status_code == 404
    assert "<script>alert" not in answer.text


async def test_page_is_503_with_what_to_do__when_the_store_is_down(client: httpx.AsyncClient, engine: Engine) -> None:
    await engine.close()
    answer = await client.get("/")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.headers["content-type"].startswith("text/html")
    assert "Nothing is lost" in answer.text
    assert "engine_closed" in answer.text


async def test_page_is_500_with_a_number_for_the_operator__when_a_record_is_broken(
    client: httpx.AsyncClient, env: WorkerEnv
) -> None:
    await env.writes.commit([Put(skill_key("acme/toolbox/broken"), b"{")])
    answer = await client.get("/skills/acme/toolbox/broken")
    assert answer.status_code == 500
    assert answer.headers["content-type"].startswith("text/html")
    assert f'<span class="code">{answer.headers["x-request-id"]}</span>' in answer.text


async def test_error_pages_keep_the_policy_and_are_not_kept(client: httpx.AsyncClient) -> None:
    answer = await client.get("/nothing")
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
