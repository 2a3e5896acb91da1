"""Submitting, a submission, the queue and trust, as a browser asks for them."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.acceptance.running import inside
from vskill_platform.domain.blocklist import Block, BlockKind
from vskill_platform.domain.submission import Actor, SubmissionState
from vskill_platform.pipeline.blocking import block_and_stop
from vskill_platform.pipeline.intake import submit_repository
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.pause import pause_queue
from vskill_platform.testing.submissions import putting_submission, submission_at

HOSTILE = '"><script>alert(1)</script>'
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}


async def put(env: WorkerEnv, state: SubmissionState, **fields: object) -> str:
    submission = submission_at(state, updated_ms=env.clock.now_ms(), **fields)
    await env.writes.commit(putting_submission(submission))
    return submission.id


async def test_form_takes_a_repository_in__and_leads_to_its_submission(client: httpx.AsyncClient) -> None:
    answer = await client.post("/submit", content="url=acme%2Fskills&skill=", headers=FORM)
    assert answer.status_code == 303
    assert re.fullmatch(r"/submissions/sub_\w+\?answer=created", answer.headers["location"])
    shown = await client.get(answer.headers["location"])
    assert "github.com/acme/skills" in shown.text
    assert "Thank you. It is in the queue." in shown.text


async def test_form_comes_back_with_the_reason__when_the_address_is_none(client: httpx.AsyncClient) -> None:
    answer = await client.post("/submit", content="url=not+an+address", headers=FORM)
    assert answer.status_code == 422
    assert "is not an address of a repository" in answer.text
    assert 'value="not an address"' in answer.text


async def test_form_says_when_to_come_again__when_an_address_submits_too_often(client: httpx.AsyncClient) -> None:
    for number in range(10):
        taken = await client.post("/submit", content=f"url=acme%2Fskills{number}", headers=FORM)
        assert taken.status_code == 303
    assert (await client.post("/submit", content="url=nothing", headers=FORM)).status_code == 422
    refused = await client.post("/submit", content="url=acme%2Fmore", headers=FORM)
    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= 3600
    assert "10 submissions an hour are allowed from one address" in refused.text
    assert 'value="acme/more"' in refused.text


@pytest.mark.parametrize("path", ["/submit", "/submissions/sub_1/again"])
async def test_form_is_refused__when_another_site_sends_it(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.post(path, content="url=acme%2Fskills", headers={**FORM, "Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert "No submission" not in answer.text


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "For example"),
        ("acme/skills", "can be submitted"),
        ("acme", "is not an address"),
        ("https://user:secret@github.com/acme/skills", "user name or password"),
        (HOSTILE, "is not an address"),
        ("acme/known", "was submitted before"),
        ("acme/blocked", "on the blocklist"),
    ],
)
async def test_check_says_what_is_known_of_an_address(
    client: httpx.AsyncClient, env: WorkerEnv, url: str, says: str
) -> None:
    await inside(env, lambda: submit_repository("acme/known"))
    entry = Block(
        kind=BlockKind.REPOSITORY, repo_url="https://github.com/acme/blocked", reason="Stole keys.",
        actor=Actor.ADMIN, created_at="2026-11-16T00:00:00.000Z",
    )  # fmt: skip
    await inside(env, lambda: block_and_stop(entry))
    answer = await client.get("/submit/check", params={"url": url})
    assert answer.status_code == 200
    assert says in answer.text
    assert "<script>alert" not in answer.text
    assert ("Look which skills it has" in answer.text) == (says in ("can be submitted", "was submitted before"))


async def test_submission_is_404_as_a_page__when_there_is_none(client: httpx.AsyncClient) -> None:
    for path in ("/submissions/sub_nothing", "/submissions/sub_nothing/part"):
        answer = await client.get(path)
        assert (answer.status_code, "There is nothing" in answer.text) == (404, True)


async def test_submission_that_waits_says_where_in_the_line(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    for name in ("acme/one", "acme/two", "acme/three"):
        taken = await inside(env, lambda name=name: submit_repository(name))
    page = await client.get(f"/submissions/{taken.submission.id}")
    assert "Number 3 of 3 in the line" in page.text


async def test_submission_page_shows_words_of_others_as_text(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    identity = await put(
        env, SubmissionState.REJECTED, skill_name=HOSTILE, repo_url=f"javascript:{HOSTILE}", reason=HOSTILE
    )
    for path in (f"/submissions/{identity}", "/queue", "/trust?show=rejected"):
        answer = await client.get(path, params={"answer": HOSTILE} if "sub_" in path else None)
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
        assert 'href="javascript' not in answer.text


async def test_queue_filters_by_category_and_state__with_counts_of_all(
    client: httpx.AsyncClient, env: WorkerEnv
) -> None:
    for number in range(3):
        await put(env, SubmissionState.PUBLISHED, skill_name=f"good-{number}")
    await put(env, SubmissionState.TIER1_FAILED, skill_name="bad")
    for wanted, names in (("published", 3), ("TIER1_FAILED", 1), ("rejected", 1), ("BLOCKED", 0), ("", 4)):
        answer = await client.get("/queue", params={"state": wanted})
        assert answer.text.count("<tr data-") + answer.text.count('<tr id="sub_') == names
        counts = dict(re.findall(r'data-count="(\w+)">([\d,]+)<', answer.text))
        assert counts == {"total": "4", "active": "0", "review": "0", "published": "3", "rejected": "1", "blocked": "0"}


async def test_queue_says_what_it_takes__when_asked_for_what_there_is_not(client: httpx.AsyncClient) -> None:
    for query in ("state=nowhere", "sort=colour", "page=0", "page=x", "page=99999999999", "q=" + "a" * 600):
        answer = await client.get(f"/queue?{query}")
        assert (answer.status_code, query) == (400, query)
        assert answer.headers["content-type"].startswith("text/html")


async def test_queue_charts_say_that_nothing_is_known__before_anybody_has_counted(client: httpx.AsyncClient) -> None:
    text = (await client.get("/queue")).text
    assert text.count("<td>unknown</td>") == 24 * 5
    assert text.count('role="img"') == 3


async def test_queue_tells_of_a_pause(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    await inside(env, lambda: pause_queue(reason="We move house."))
    assert "We move house." in (await client.get("/queue")).text


async def test_page_keeps_its_policy__when_the_browser_has_it_already(client: httpx.AsyncClient) -> None:
    first = await client.get("/trust")
    again = await client.get("/trust", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    assert again.headers["content-security-policy"] == first.headers["content-security-policy"]


@pytest.mark.parametrize("show", ["verified", "blocked", "rejected"])
async def test_trust_has_words_for_nothing__in_every_list(client: httpx.AsyncClient, show: str) -> None:
    answer = await client.get(f"/trust?show={show}")
    assert (answer.status_code, 'class="empty"' in answer.text) == (200, True)


async def test_trust_shows_the_measured_figures(client: httpx.AsyncClient) -> None:
    text = (await client.get("/trust")).text
    assert len(re.findall(r"\d+ of [\d,]+ flagged", text)) == 4


@pytest.mark.parametrize("path", ["/queue", "/trust?show=blocked", "/trust?show=verified", "/trust?show=rejected"])
async def test_list_is_503__when_the_store_is_down(client: httpx.AsyncClient, engine: Engine, path: str) -> None:
    await engine.close()
    answer = await client.get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
