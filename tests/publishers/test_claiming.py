"""Claiming a publisher: by a commit that holds the challenge, within an hour, once, and for what comes from there alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pipeline.journey import skill_md
from tests.publishers.site import Person, Site
from vskill_platform.domain.publisher import CLAIM_FILE, CLAIM_LASTS_MS, MAX_CLAIM_FILE_BYTES, place_of
from vskill_platform.domain.slug import owner_handle
from vskill_platform.stores.publishers import owner_of
from vskill_platform.testing.git_repos import BareRepository, Entry, symlink

BOTH = pytest.mark.parametrize("engine_name", ["memory", "sqlite"], indirect=True)
NAME = "acme/greeting"


async def begin(site: Site, person: Person, name: str = NAME) -> dict[str, Any]:
    """A published repository and an open claim of its owner."""
    site.repository(name)
    await site.publish(site.url(name))
    claim: dict[str, Any] = await person.post("/api/v1/account/claims", {"repoUrl": site.url(name)})
    return claim


def commit(site: Site, content: bytes | Entry, *, branch: str = "main", name: str = NAME) -> None:
    """Commit a claim file."""
    repository = BareRepository(site.repositories / f"{name}.git")
    repository.commit({"SKILL.md": skill_md(), CLAIM_FILE: content}, branch=branch)


@BOTH
async def test_claim_makes_an_owner__by_a_commit_to_the_default_branch(site: Site) -> None:
    ada = await site.person("ada")
    claim = await begin(site, ada)
    verify = f"/api/v1/account/claims/{claim['id']}/verify"
    refused = await ada.ask("POST", verify)
    assert (refused.status_code, refused.json()["code"]) == (422, "claim_not_proven")
    commit(site, f"# who we are\n  {claim['token']}\nmore\n".encode())
    publisher = await ada.post(verify)
    assert (publisher["handle"], publisher["role"]) == (owner_handle(site.url(NAME)), "owner")
    assert publisher["places"] == [place_of(site.url(NAME))]
    assert [member["login"] for member in publisher["members"]] == ["ada"]
    owner = await site.inside(lambda: owner_of(f"{publisher['handle']}/greeting/greeting"))
    assert owner is not None
    assert owner.role_of(ada.id) == "owner"
    # The challenge is used up.
    assert (await ada.ask("POST", verify)).status_code == 404
    assert (await ada.get("/api/v1/account/claims"))["claims"] == []


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lambda token: b"x" + token, id="in a longer line"),
        pytest.param(lambda token: token[:-1], id="cut short"),
        pytest.param(symlink, id="as the target of a link"),
        pytest.param(lambda token: token + b"\n" + b"#" * MAX_CLAIM_FILE_BYTES, id="in a file that is too large"),
    ],
)
async def test_claim_is_not_proven__by_anything_else_than_the_line(site: Site, content: Any) -> None:
    ada = await site.person("ada")
    claim = await begin(site, ada)
    commit(site, content(claim["token"].encode()))
    refused = await ada.ask("POST", f"/api/v1/account/claims/{claim['id']}/verify")
    assert (refused.status_code, refused.json()["code"]) == (422, "claim_not_proven")
    assert not [key for key in await site.everything() if key.startswith("publisher:")]


async def test_claim_is_not_proven__by_another_branch(site: Site) -> None:
    ada = await site.person("ada")
    claim = await begin(site, ada)
    commit(site, claim["token"].encode(), branch="aside")
    refused = await ada.ask("POST", f"/api/v1/account/claims/{claim['id']}/verify")
    assert refused.json()["code"] == "claim_not_proven"


async def test_claim_is_worth_nothing__to_another_account(site: Site) -> None:
    ada, mel = await site.person("ada"), await site.person("mel")
    claim = await begin(site, ada)
    commit(site, claim["token"].encode())
    assert (await mel.ask("POST", f"/api/v1/account/claims/{claim['id']}/verify")).status_code == 404
    own = await mel.post("/api/v1/account/claims", {"repoUrl": site.url(NAME)})
    refused = await mel.ask("POST", f"/api/v1/account/claims/{own['id']}/verify")
    assert refused.json()["code"] == "claim_not_proven"


@BOTH
async def test_claim_ends__after_an_hour(site: Site) -> None:
    ada = await site.person("ada")
    claim = await begin(site, ada)
    commit(site, claim["token"].encode())
    site.clock.shift(CLAIM_LASTS_MS / 1000)
    assert (await ada.ask("POST", f"/api/v1/account/claims/{claim['id']}/verify")).status_code == 404


async def test_claim_is_refused__where_nothing_is_published(site: Site) -> None:
    ada = await site.person("ada")
    site.repository(NAME)
    refused = await ada.ask("POST", "/api/v1/account/claims", {"repoUrl": site.url(NAME)})
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")


async def test_claim_does_not_take_a_handle__that_has_an_owner(site: Site) -> None:
    ada, mel = await site.person("ada"), await site.person("mel")
    claim = await begin(site, ada)
    commit(site, claim["token"].encode())
    await ada.post(f"/api/v1/account/claims/{claim['id']}/verify")
    later = await mel.post("/api/v1/account/claims", {"repoUrl": site.url(NAME)})
    commit(site, later["token"].encode())
    refused = await mel.ask("POST", f"/api/v1/account/claims/{later['id']}/verify")
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert (await mel.get("/api/v1/account/publishers"))["publishers"] == []


async def test_owner_of_one_place_owns_nothing__of_another_with_the_same_handle(site: Site) -> None:
    # `a/b` and `a-b` on one host come to the same handle.
    mel = await site.person("mel")
    claim = await begin(site, mel, "acme-tools/greeting")
    commit(site, claim["token"].encode(), name="acme-tools/greeting")
    publisher = await mel.post(f"/api/v1/account/claims/{claim['id']}/verify")
    theirs = await site.publish(site.url("acme/tools/other"), skill="other")
    assert theirs.startswith(f"{publisher['handle']}/")
    assert await site.inside(lambda: owner_of(theirs)) is None
    path = f"/api/v1/publishers/{publisher['handle']}/skills/other/other/withdraw"
    assert (await mel.ask("POST", path, {"reason": "Mine now."})).status_code == 403


async def test_operator_grants_transfers_and_removes__each_audited(site: Site) -> None:
    ada, mel = await site.person("ada"), await site.person("mel")
    operator = await site.operator()
    body = {"repoUrl": site.url(NAME), "login": "ada", "reason": "It is theirs."}
    handle = (await operator.post("/api/v1/admin/publishers", body))["handle"]
    assert [one["handle"] for one in (await ada.get("/api/v1/account/publishers"))["publishers"]] == [handle]
    admin = f"/api/v1/admin/publishers/{handle}"
    assert (await operator.ask("POST", f"{admin}/transfer", {"login": "mel", "reason": " "})).status_code == 400
    moved = await operator.post(f"{admin}/transfer", {"login": "mel", "reason": "Ada has left."})
    assert [member["login"] for member in moved["members"]] == ["mel"]
    assert (await ada.get("/api/v1/account/publishers"))["publishers"] == []
    await operator.post(f"{admin}/remove", {"reason": "In bad faith."})
    assert (await mel.get("/api/v1/account/publishers"))["publishers"] == []
    assert (await operator.get("/api/v1/admin/publishers"))["publishers"] == []
    stored = await site.everything()
    told = b"".join(value for key, value in stored.items() if key.startswith("audit:"))
    for act in (b"publisher.grant", b"publisher.transfer", b"publisher.remove"):
        assert told.count(act) == 1
    assert not [key for key in stored if key.startswith("membership:")]
