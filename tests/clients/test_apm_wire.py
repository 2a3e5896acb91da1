"""apm's registry API as any client of it sees it, also where the real one never goes."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile

import httpx

from tests.clients.registry import LiveRegistry
from tests.ingest.test_zip_packages import pack
from tests.pipeline.journey import skill_md
from vskill_platform.domain.access import Role, Scope
from vskill_platform.domain.publisher import PublisherKind
from vskill_platform.stores.pause import pause_queue
from vskill_platform.stores.publishers import make_publisher, putting_publisher
from vskill_platform.stores.tokens import find_token
from vskill_platform.web.clients.apm_publishing import ZIP_OVERHEAD_BYTES

PACKAGES = "/apm/v1/packages"
TOOLS = "127-0-0-1-acme/tools"
PROBLEM = "application/problem+json"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def basic(token: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(f'somebody:{token}'.encode()).decode()}"}


def package(body: str = "Greet the user by name.") -> bytes:
    return pack({"apm.yml": b"name: demo\n", ".apm/skills/greeting/SKILL.md": skill_md(body=body)})


async def test_versions_are_what_can_be_had__under_every_name_of_a_package(registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting")
    await registry.publish("acme/tools/greeting", {"SKILL.md": skill_md(body="Say hello.")}, version="1.1.0")
    await registry.yank(skill.slug, "1.1.0", reason="It leaks names.")
    version = await registry.version(skill.slug, "1.0.0")
    expected = {
        "package": skill.slug,
        "versions": [
            {
                "version": "1.0.0",
                "digest": version.zip_digest,
                "published_at": version.published_at,
                "size_bytes": version.zip_size,
            }
        ],
    }
    names = [f"{TOOLS}/greeting", f"{TOOLS.replace('/', '%2F')}/greeting", f"{TOOLS}_greeting", TOOLS, TOOLS.upper()]
    for name in names:
        assert (await registry.http.get(f"{PACKAGES}/{name}/versions")).json() == expected, name
        archive = await registry.http.get(f"{PACKAGES}/{name}/versions/1.0.0/download")
        assert archive.headers["Content-Type"] == "application/zip"
        assert f"sha256:{hashlib.sha256(archive.content).hexdigest()}" == version.zip_digest
    assert zipfile.ZipFile(io.BytesIO(archive.content)).namelist() == ["SKILL.md"]


async def test_refusals_are_problem_documents(registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting")
    await registry.publish("acme/tools/greeting", {"SKILL.md": skill_md(body="Say hello.")}, version="1.1.0")
    await registry.yank(skill.slug, "1.0.0", reason="It leaks names.")
    refusals = {
        f"{skill.slug}/versions/1.0.0/download": (410, "version_yanked"),
        f"{skill.slug}/versions/9.9.9/download": (404, "not_found"),
        "acme/nothing/versions": (404, "not_found"),
        "acme/No.Such/versions": (404, "not_found"),
    }
    for path, (status, code) in refusals.items():
        answer = await registry.http.get(f"{PACKAGES}/{path}")
        assert (answer.status_code, answer.json()["code"], answer.headers["Content-Type"]) == (status, code, PROBLEM)
    await registry.quarantine(skill.slug, reason="Somebody has to look.")
    held = await registry.http.get(f"{PACKAGES}/{TOOLS}/versions")
    assert (held.status_code, "Somebody has to look." in held.json()["detail"]) == (410, True)


async def test_push_says_pending__until_the_version_is_published(registry: LiveRegistry) -> None:
    token = await registry.token("acme", Role.SUBMITTER, Scope.MANAGE)
    place = f"{PACKAGES}/acme/greeting/versions/1.0.0"
    await registry.inside(lambda: pause_queue(reason="a test"))
    taken = await registry.http.put(place, content=package(), headers=basic(token))
    said = taken.json()
    assert (taken.status_code, said["package"], said["version"]) == (201, "acme/greeting", "1.0.0")
    assert (said["status"], said["published_at"]) == ("pending", None)
    assert (await registry.http.get(f"{PACKAGES}/acme/greeting/versions")).status_code == 404
    again = await registry.http.put(place, content=package(), headers=bearer(token))
    assert (again.status_code, again.json()["submission_id"]) == (201, said["submission_id"])
    other = await registry.http.put(
        f"{PACKAGES}/acme/greeting/versions/1.0.1", content=package("Say hello."), headers=bearer(token)
    )
    assert (other.status_code, other.json()["code"], other.headers["Retry-After"]) == (423, "push_pending", "10")


async def test_push_is_refused__before_its_body_is_read(registry: LiveRegistry) -> None:
    await registry.publish("acme/tools/greeting")
    manager = await registry.token("acme", Role.SUBMITTER, Scope.MANAGE)
    read = await registry.token("reader", Role.SUBMITTER, Scope.READ)

    async def push(
        name: str, headers: dict[str, str], *, version: str = "1.0.0", content: bytes = b"x"
    ) -> httpx.Response:
        return await registry.http.put(f"{PACKAGES}/{name}/versions/{version}", content=content, headers=headers)

    assert (await push("acme/greeting", {})).status_code == 401
    assert (await push("acme/greeting", bearer("vsk_nothing"))).json()["code"] == "credential_refused"
    assert (await push("acme/greeting", basic("vsk_nothing"))).json()["code"] == "credential_refused"
    assert (await push("acme/greeting", {"Authorization": "Basic %%%"})).status_code == 401
    assert (await push("acme/greeting", bearer(read))).status_code == 403
    assert (await push("acme/greeting", bearer(manager), version="one")).status_code == 400
    assert (await push("acme/Greeting", bearer(manager))).status_code == 400
    assert "not a publisher of yours" in (await push(TOOLS, bearer(manager))).json()["detail"]
    assert (await push("acme/greeting", bearer(manager))).json()["code"] == "unreadable_skill"
    too_much = bytes(registry.env.settings.skill_max_bytes + ZIP_OVERHEAD_BYTES + 1)
    assert (await push("acme/greeting", bearer(manager), content=too_much)).status_code == 413
    await registry.inside(lambda: _own_handle(registry, manager, TOOLS.partition("/")[0]))
    assert "is a repository here" in (await push(TOOLS, bearer(manager))).json()["detail"]


async def _own_handle(registry: LiveRegistry, token: str, handle: str) -> None:
    """Make the owner of a token the owner of a handle."""
    found = await find_token(token)
    assert found is not None
    publisher = make_publisher(handle, kind=PublisherKind.PERSON, owner=found.account.id)
    await registry.env.writes.commit(putting_publisher(publisher, found=None))


async def test_password_is_no_token__anywhere_else(registry: LiveRegistry) -> None:
    token = await registry.token("acme")
    assert (await registry.http.get("/api/v1/account", headers=bearer(token))).status_code == 200
    assert (await registry.http.get("/api/v1/account", headers=basic(token))).status_code == 401
