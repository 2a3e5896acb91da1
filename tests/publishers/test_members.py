"""Members of a publisher: invited by their login names, joining, leaving, and never without an owner."""

from __future__ import annotations

import asyncio

from tests.publishers.site import Site


async def test_member_joins_by_invitation__and_leaves_again(site: Site) -> None:
    ada, grace = await site.person("ada"), await site.person("grace")
    handle = await site.own(ada)
    base = f"/api/v1/publishers/{handle}"
    invited = await ada.post(f"{base}/members", {"login": "Grace"})
    assert [(one["login"], one["isInvited"]) for one in invited["members"]] == [("ada", False), ("grace", True)]
    (seen,) = (await grace.get("/api/v1/account/publishers"))["publishers"]
    assert (seen["isInvited"], seen["role"], seen["members"]) == (True, None, [])
    # An invitation alone lets nobody do anything.
    assert (await grace.ask("POST", f"/api/v1/collections/{handle}", {"name": "mine"})).status_code == 403
    joined = await grace.post(f"{base}/join")
    assert joined["role"] == "member"
    await grace.post(f"/api/v1/collections/{handle}", {"name": "mine"})
    await grace.post(f"{base}/leave")
    assert (await grace.get("/api/v1/account/publishers"))["publishers"] == []
    assert (await grace.ask("POST", f"/api/v1/collections/{handle}", {"name": "more"})).status_code == 403


async def test_last_owner_stays__whoever_asks(site: Site) -> None:
    ada = await site.person("ada")
    handle = await site.own(ada)
    base = f"/api/v1/publishers/{handle}"
    for method, path, body in (
        ("POST", f"{base}/leave", None),
        ("DELETE", f"{base}/members/ada", None),
        ("PUT", f"{base}/members/ada", {"role": "member"}),
    ):
        refused = await ada.ask(method, path, body)
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict"), path


async def test_two_owners_who_remove_each_other_at_once_leave_one(site: Site) -> None:
    ada, grace = await site.person("ada"), await site.person("grace")
    handle = await site.own(ada)
    base = f"/api/v1/publishers/{handle}"
    await ada.post(f"{base}/members", {"login": "grace", "role": "owner"})
    await grace.post(f"{base}/join")
    answers = await asyncio.gather(
        ada.ask("DELETE", f"{base}/members/grace"), grace.ask("DELETE", f"{base}/members/ada")
    )
    assert sorted(answer.status_code for answer in answers) in ([200, 403], [200, 409])
    lists = [(await one.get("/api/v1/account/publishers"))["publishers"] for one in (ada, grace)]
    assert sorted(map(len, lists)) == [0, 1]


async def test_owner_renames_and_changes_roles(site: Site) -> None:
    ada, grace = await site.person("ada"), await site.person("grace")
    handle = await site.own(ada)
    base = f"/api/v1/publishers/{handle}"
    changed = await ada.ask("PUT", base, {"title": "  Acme   Tools ", "kind": "organisation"})
    assert (changed.json()["title"], changed.json()["kind"]) == ("Acme Tools", "organisation")
    assert (await ada.ask("PUT", base, {"title": "x" * 81, "kind": "person"})).status_code == 400
    assert (await ada.ask("POST", f"{base}/members", {"login": "nobody-here"})).status_code == 404
    assert (await ada.ask("PUT", f"{base}/members/grace", {"role": "owner"})).status_code == 404
    await ada.post(f"{base}/members", {"login": "grace"})
    await grace.post(f"{base}/join")
    await ada.ask("PUT", f"{base}/members/grace", {"role": "owner"})
    await ada.post(f"{base}/leave")
    (left,) = (await grace.get("/api/v1/account/publishers"))["publishers"]
    assert [(one["login"], one["role"]) for one in left["members"]] == [("grace", "owner")]
