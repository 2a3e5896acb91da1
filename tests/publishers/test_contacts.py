"""E-mail addresses: kept apart, told to their owner and the operator alone, and erased for good."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import apsw
import pytest
from structlog.testing import capture_logs

from tests.acceptance.commands import run
from tests.publishers.site import Site
from vskill_platform.app.env import open_env
from vskill_platform.domain.access import Role
from vskill_platform.domain.contact import contact_key
from vskill_platform.pipeline.intake import Submitter, submit_repository
from vskill_platform.settings import convert_settings
from vskill_platform.stores.contacts import find_contact
from vskill_platform.testing.accounts import in_request

URL = "https://github.com/acme/greeting"
ADDRESS = "Ada.Lovelace@example.org"
BOTH = pytest.mark.parametrize("engine_name", ["memory", "sqlite"], indirect=True)


async def places_of(site: Site, folder: Path, address: str) -> list[str]:
    """Where an address stands, in any case: keys, values, events, and files of the blobs."""
    wanted = address.lower().encode()
    found = [
        key
        for key, value in (await site.everything()).items()
        if wanted in value.lower() or wanted in key.lower().encode()
    ]
    events = (await site.env.events.read(0, limit=1000)).events
    found += [
        f"event {event.kind}" for event in events if wanted in event.data.lower() + event.subject.lower().encode()
    ]
    files = [path for path in (folder / "blobs").rglob("*") if path.is_file()]
    return found + [str(path) for path in files if wanted in path.read_bytes().lower()]


@BOTH
async def test_address_stands_in_one_record__and_nowhere_once_it_is_erased(site: Site, tmp_path: Path) -> None:
    with capture_logs() as logs:
        nobody, ada = await site.nobody(), await site.person("ada", email=ADDRESS.upper())
        made = await nobody.post("/api/v1/submissions", {"repoUrl": URL, "email": ADDRESS})
        other = await ada.post("/api/v1/submissions", {"repoUrl": f"{URL}-2", "email": ADDRESS.lower()})
        expected = {contact_key(made["id"]), contact_key(other["id"]), f"user:{ada.id}"}
        assert set(await places_of(site, tmp_path, ADDRESS)) == expected
        operator = await site.operator()
        body = {"email": f" {ADDRESS} ", "reason": f"{ADDRESS} asked for it."}
        assert (await operator.post("/api/v1/admin/contacts/erase", body))["erased"] == 3
        assert await places_of(site, tmp_path, ADDRESS) == []
        assert (await operator.post("/api/v1/admin/contacts/erase", body))["erased"] == 0
    assert ADDRESS.lower() not in str(logs).lower()
    told = b"".join(value for key, value in (await site.everything()).items() if key.startswith("audit:"))
    assert told.count(b"(the address) asked for it.") == 2


async def test_address_is_told_to_its_owner_and_the_operator_alone(site: Site) -> None:
    ada, mel, nobody = await site.person("ada"), await site.person("mel"), await site.nobody()
    root, auditor = await site.person("root", Role.SUPER_ADMIN), await site.person("una", Role.AUDITOR)
    made = await ada.post("/api/v1/submissions", {"repoUrl": URL, "email": ADDRESS})
    (own,) = (await ada.get("/api/v1/account/submissions"))["submissions"]
    assert own["email"] == ADDRESS
    assert ADDRESS in (await ada.client.get("/account/submissions")).text
    admin = f"/api/v1/admin/contacts/{made['id']}"
    assert (await root.get(admin))["email"] == ADDRESS
    for person, expected in ((nobody, 401), (mel, 403), (auditor, 403)):
        assert (await person.ask("GET", admin)).status_code == expected
    public = [
        f"/api/v1/submissions/{made['id']}",
        f"/submissions/{made['id']}",
        "/api/v1/submissions",
        "/api/v1/export",
    ]
    for person in (nobody, mel, root):
        for path in public:
            assert ADDRESS not in (await person.client.get(path)).text, path
    assert ADDRESS not in repr(await site.inside(lambda: find_contact(made["id"])))
    assert ADDRESS not in repr(Submitter(account=ada.id, contact=ADDRESS))
    assert ADDRESS not in repr((await site.person("eve", email=ADDRESS)).account)


async def test_owner_erases_own_addresses__and_nobody_elses(site: Site, tmp_path: Path) -> None:
    ada, mel = await site.person("ada"), await site.person("mel")
    first = await ada.post("/api/v1/submissions", {"repoUrl": URL, "email": ADDRESS})
    await ada.post("/api/v1/submissions", {"repoUrl": f"{URL}-2", "email": ADDRESS})
    theirs = await mel.post("/api/v1/submissions", {"repoUrl": f"{URL}-3", "email": ADDRESS})
    assert (await mel.ask("DELETE", f"/api/v1/account/contact/{first['id']}")).status_code == 404
    assert (await ada.ask("DELETE", f"/api/v1/account/contact/{first['id']}")).status_code == 200
    answer = await ada.ask("DELETE", "/api/v1/account/contact")
    assert answer.json()["erased"] == 1
    assert await places_of(site, tmp_path, ADDRESS) == [contact_key(theirs["id"])]


async def test_address_that_is_none_is_refused__and_not_told(site: Site) -> None:
    nobody = await site.nobody()
    refused = await nobody.ask("POST", "/api/v1/submissions", {"repoUrl": URL, "email": "secret-of-mine"})
    assert refused.status_code == 400
    assert "secret-of-mine" not in refused.text
    assert await site.everything() == {}


async def test_later_submitter_is_not_told_the_address__of_the_one_before(site: Site) -> None:
    ada, mel = await site.person("ada"), await site.person("mel")
    made = await ada.post("/api/v1/submissions", {"repoUrl": URL, "email": ADDRESS})
    await ada.post(f"/api/v1/account/submissions/{made['id']}/withdraw")
    await mel.post("/api/v1/submissions", {"repoUrl": URL})
    (row,) = (await mel.get("/api/v1/account/submissions"))["submissions"]
    assert (row["id"], row["email"]) == (made["id"], None)


def test_operator_erases_an_address__from_the_command_line(tmp_path: Path) -> None:
    data = str(tmp_path / "data")

    async def leave() -> None:
        async with open_env(convert_settings({"data": data})) as env:
            await in_request(env, lambda: submit_repository(URL, submitter=Submitter(contact=ADDRESS)))

    asyncio.run(leave())
    erased = run("erase-email", ADDRESS.upper(), "--data", data)
    assert (erased.returncode, erased.stdout.strip()) == (0, "The address is erased from 1 record."), erased.stderr
    with contextlib.closing(apsw.Connection(str(tmp_path / "data" / "registry.db"))) as database:
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    kept = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert kept
    assert [path.name for path in kept if ADDRESS.lower().encode() in path.read_bytes().lower()] == []
