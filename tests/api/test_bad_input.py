"""What cannot be asked is refused with 400 and the words that are allowed."""

from __future__ import annotations

import httpx
import pytest

SUBMISSIONS = "/api/v1/submissions"
LISTS = [SUBMISSIONS, f"{SUBMISSIONS}/search?q=pdf", "/api/v1/rejections", "/api/v1/blocklist"]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("limit=0", ">= 1"),
        ("limit=501", "<= 500"),
        ("limit=99999999999999999999999999", "<= 500"),
        ("limit=-1", ">= 1"),
        ("limit=ten", "limit"),
        ("limit=", "limit"),
        ("limit=1e3", "limit"),
        ("limit=5&limit=6", "at most once"),
        ("colour=red", "limit"),
        ("LIMIT=5", "limit"),
    ],
)
async def test_list_refuses_in_words__what_it_cannot_do(client: httpx.AsyncClient, query: str, told: str) -> None:
    for path in LISTS:
        answer = await client.get(f"{path}{'&' if '?' in path else '?'}{query}")
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input"), path
        assert told in answer.json()["detail"], path


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("offset=1000001", "<= 1000000"),
        ("offset=-1", ">= 0"),
        ("state=nonsense", "NEEDS_REVIEW"),
        ("verdict=maybe", "CONCERNS"),
        ("sort=colour", "skillName"),
        ("sortDir=sideways", "desc"),
        ("q=" + "x" * 513, "512"),
        ("repoUrl=" + "x" * 2001, "2000"),
    ],
)
async def test_list_of_submissions_says_what_is_allowed(client: httpx.AsyncClient, query: str, told: str) -> None:
    answer = await client.get(f"{SUBMISSIONS}?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
    assert told in answer.json()["detail"]
    assert answer.json()["detail"].startswith(query.partition("=")[0])
