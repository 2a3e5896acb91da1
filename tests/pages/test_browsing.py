"""The list of skills, the start page and the publishers: what an address asks for is what is shown, with true figures."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.pages.planting import ON_EVERY_ENGINE, plant
from vskill_platform.domain.scan import Capabilities
from vskill_platform.domain.skill import CertTier
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.web.pages.paging import make_paging

ASKED = [
    ("?q=notes", ["write-notes"]),
    ("?tier=VERIFIED", ["write-notes"]),
    ("?capability=network", ["fill-forms"]),
    ("?category=writing&publisher=zeta", ["plan-trips"]),
    ("?publisher=acme&publisher=zeta&sort=name", ["fill-forms", "plan-trips", "write-notes"]),
    ("?sort=installs", ["plan-trips", "fill-forms", "write-notes"]),
    ("?q=nothing-like-this-at-all", []),
    ("?page=7", []),
    ("?utm_source=mail&sort=name&q=", ["fill-forms", "plan-trips", "write-notes"]),
]
NETWORK = Capabilities(network_hosts=("example.com",))


def names(page: str) -> list[str]:
    """The skills of a list, in its order."""
    return re.findall(r'<h3><a href="/skills/[^"]+">([^<]+)</a></h3>', page)


async def plant_some(env: WorkerEnv) -> None:
    await plant(env, slug="acme/tools/fill-forms", category="documents", score=90, installs=3, capabilities=NETWORK)
    await plant(env, slug="acme/tools/write-notes", category="writing", tier=CertTier.VERIFIED)
    await plant(env, slug="zeta/kit/plan-trips", category="writing", installs=12)


@ON_EVERY_ENGINE
async def test_list_shows_what_matches_with_counts(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    await plant_some(env)
    page = (await client.get("/skills")).text
    assert sorted(names(page)) == ["fill-forms", "plan-trips", "write-notes"]
    assert "3 skills" in page
    counts = dict(re.findall(r'choice-word">([^<]+)</span><span class="soft number small">(\d+)</span>', page))
    assert counts == {
        "Verified": "1",
        "Scanned": "2",
        "Reaches the network": "1",
        "writing": "2",
        "documents": "1",
        "acme": "2",
        "zeta": "1",
    }


@ON_EVERY_ENGINE
async def test_list_answers_its_address(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    await plant_some(env)
    for query, found in ASKED:
        answer = await client.get(f"/skills{query}")
        assert answer.status_code == 200
        assert names(answer.text) == found, query


async def test_list_pushes_the_address_without_what_says_nothing(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    answer = await client.get("/skills?q=&tier=SCANNED&sort=&page=2")
    assert answer.headers["hx-push-url"] == "/skills?tier=SCANNED&page=2"


async def test_list_leaves_the_order_to_the_search__unless_somebody_chose_one(
    client: httpx.AsyncClient, env: WorkerEnv
) -> None:
    await plant_some(env)
    for query, first, chosen in (
        ("", "Recently updated", None),
        ("?sort=updated", "Recently updated", None),
        ("?q=notes", "Best match", None),
        ("?q=notes&sort=updated", "Best match", "updated"),
        ("?sort=name", "Recently updated", "name"),
    ):
        page = (await client.get(f"/skills{query}")).text
        assert f'<option value="">{first}</option>' in page, query
        assert re.findall(r'<option value="(\w+)" selected>', page) == ([] if chosen is None else [chosen]), query


async def test_list_offers_a_way_on__when_nothing_matches(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    assert "Nothing is published yet" in (await client.get("/skills")).text
    await plant_some(env)
    page = (await client.get("/skills?q=zzzz&tier=SCANNED")).text
    assert "No published skill matches" in page
    assert 'href="/skills?q=zzzz"' in page
    assert "There is no page 9" in (await client.get("/skills?page=9")).text


async def test_list_refuses_what_it_cannot_mean(client: httpx.AsyncClient) -> None:
    for query in ("page=0", "page=-1", "page=x", "page=99999999999", "sort=password", f"q={'a' * 513}"):
        answer = await client.get(f"/skills?{query}")
        assert (answer.status_code, answer.headers["content-type"][:9]) == (400, "text/html"), query
    for query in ("q=%00", "q=%ff"):
        assert (await client.get(f"/skills?{query}")).status_code == 400, query


async def test_list_has_pages_that_lead_to_each_other(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    for number in range(27):
        await plant(env, slug=f"acme/tools/skill-{number:02}")
    first = (await client.get("/skills?sort=name&tier=SCANNED")).text
    assert names(first) == [f"skill-{number:02}" for number in range(25)]
    assert "1–25 of 27 skills" in first
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    second = (await client.get(following[1].replace("&amp;", "&"))).text
    assert names(second) == ["skill-25", "skill-26"]


async def test_start_page_counts_what_is_there(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    await plant_some(env)
    page = (await client.get("/")).text
    figures = re.findall(r'<dt>([^<]+)</dt><dd class="number">(?:<a [^>]+>)?([\d,]+)', page)
    assert dict(figures)["Published skills"] == "3"
    assert dict(figures)["Publishers"] == "2"
    assert page.index("plan-trips", page.index("Most installed")) < page.index(
        "fill-forms", page.index("Most installed")
    )


async def test_publishers_are_listed_with_their_skills(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    await plant_some(env)
    page = (await client.get("/publishers")).text
    assert page.index("/publishers/acme") < page.index("/publishers/zeta")
    assert "/publishers/acme" not in (await client.get("/publishers?q=ze")).text
    assert names((await client.get("/publishers/zeta")).text) == ["plan-trips"]
    assert (await client.get("/publishers/nobody")).status_code == 404


async def test_slug_without_its_last_part_leads_to_the_list(client: httpx.AsyncClient) -> None:
    answer = await client.get("/skills/acme/tools")
    assert (answer.status_code, answer.headers["location"]) == (302, "/skills?q=tools&publisher=acme")


@pytest.mark.parametrize(("number", "count"), [(1, 1), (1, 3), (5, 9), (9, 9), (12, 9)])
def test_paging_shows_the_ends_and_what_is_near(number: int, count: int) -> None:
    paging = make_paging("/x", number=number, size=10, total=count * 10, parameters={"q": "a b"})
    shown = [link.number for link in paging.pages if link.href is not None]
    assert {1, count} <= set(shown)
    assert shown == sorted(shown)
    assert (paging.next is None) == (number >= count)
    assert all(link.href is None or link.href.startswith("/x?q=a+b") for link in paging.pages)
