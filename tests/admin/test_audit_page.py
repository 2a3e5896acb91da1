"""The audit log on the panel and as an API: filtered, exported, verified, and for those alone who may see it."""

from __future__ import annotations

import msgspec

from tests.admin.judging import assert_refused, signed_in
from tests.admin.test_acting import read_entries
from vskill_platform.domain.access import Role
from vskill_platform.domain.audit import AuditEntry, Chain, audit_key
from vskill_platform.ports.commit import Put
from vskill_platform.ports.env import WorkerEnv

AUDIT = "/api/v1/admin/audit"


async def act_some(env: WorkerEnv) -> None:
    """Four entries of bea's."""
    async with signed_in(env, Role.SUPER_ADMIN, name="bea") as bea:
        for source in ("github.com/a", "github.com/b"):
            for way in ("", "/remove"):
                body = {"source": source, "reason": f"<i>{source}</i>"}
                assert (await bea.post(f"/api/v1/admin/vendors{way}", json=body)).status_code == 200


async def test_log_is_filtered_and_exported__as_a_chain_that_anybody_can_follow(env: WorkerEnv) -> None:
    await act_some(env)
    async with signed_in(env, Role.AUDITOR) as olga:
        some = (await olga.get(f"{AUDIT}?act=vendors.add&limit=1")).json()
        older = (await olga.get(f"{AUDIT}?act=vendors.add&limit=1&before={some['before']}")).json()
        nobody = (await olga.get(f"{AUDIT}?actor=nobody")).json()
        wrong = await olga.get(f"{AUDIT}?from=yesterday")
        page = await olga.get("/admin/audit?act=vendors&actor=bea")
        lines = (await olga.get(f"{AUDIT}/export.ndjson")).content.splitlines()
    assert ([one["number"] for one in some["entries"]], [one["number"] for one in older["entries"]]) == ([3], [1])
    assert (nobody["entries"], nobody["lookedAt"], wrong.status_code) == ([], 4, 400)
    assert "&lt;i&gt;github.com/a&lt;/i&gt;" in page.text
    entries = [msgspec.json.decode(line, type=AuditEntry) for line in lines]
    assert entries == await read_entries(env)
    chain = Chain()
    assert [chain.follow(line) for line in lines] == [None] * len(entries)


async def test_verification_says_which_entry_was_changed(env: WorkerEnv) -> None:
    await act_some(env)
    async with signed_in(env, Role.AUDITOR) as olga:
        whole = (await olga.post(f"{AUDIT}/verify", json={})).json()
        entry = (await read_entries(env))[1]
        forged = msgspec.structs.replace(entry, actor="olga")
        await env.writes.commit([Put(audit_key(2), msgspec.json.encode(forged))])
        broken = (await olga.post(f"{AUDIT}/verify", json={})).json()
    assert (whole["isWhole"], whole["entries"], whole["entry"]) == (True, 4, None)
    assert (broken["isWhole"], broken["entry"]) == (False, 2)
    assert "Entry 2 was changed" in broken["detail"]


async def test_log_is_refused__for_who_may_not_see_it(env: WorkerEnv) -> None:
    calls: dict[str, dict[str, str] | None] = {
        AUDIT: None,
        f"{AUDIT}/export.ndjson": None,
        f"{AUDIT}/verify": {},
        "/admin/audit": None,
    }
    await assert_refused(env, Role.REVIEWER, Role.SUBMITTER, calls=calls)
