"""ClawHub's API as any client of it sees it, also where the real one never goes."""

from __future__ import annotations

import io
import zipfile
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio

from tests.clients.clawhub import API, BAD_FILES, FILES, Person, describe, person
from tests.clients.registry import HOST_PREFIX, LiveRegistry
from tests.pipeline.journey import skill_md
from vskill_platform.domain.access import Role, Scope
from vskill_platform.domain.errors import InvalidInput
from vskill_platform.stores.device_codes import LASTS_S
from vskill_platform.stores.pause import pause_queue
from vskill_platform.web.clients.clawhub.fingerprint import collation_key
from vskill_platform.web.pages.devices import check_loopback

ACME = f"{HOST_PREFIX}acme"


@pytest_asyncio.fixture(loop_scope="package")
async def ada(registry: LiveRegistry) -> Person:
    return await person(registry, "ada")


async def test_site_names_the_api_whole__and_the_place_to_sign_in(registry: LiveRegistry) -> None:
    for name in ("clawhub", "clawdhub"):
        told = (await registry.http.get(f"/.well-known/{name}.json")).json()
        assert told == {"apiBase": f"{registry.address}/clawhub", "authBase": registry.address}


async def test_name_means_one_skill_or_all_that_are_meant_are_named(registry: LiveRegistry) -> None:
    tools, other = [(await registry.publish(f"acme/{repo}/greeting")).slug for repo in ("tools", "other")]
    alone = (await registry.publish("bob/tools/farewell")).slug
    asked = {
        "farewell": alone,
        "Farewell": alone,
        "tools.farewell": alone,
        f"{ACME}.tools.greeting": tools,
        f"tools.greeting?ownerHandle={ACME}": tools,
        f"other.greeting?ownerHandle=@{ACME}": other,
    }
    for name, slug in asked.items():
        told = (await registry.http.get(f"{API}/skills/{name}")).json()
        assert (told["skill"]["canonicalSlug"], told["skill"]["slug"]) == (slug, name.partition("?")[0].lower()), name
    for name in ("greeting", f"greeting?ownerHandle={ACME}"):
        refused = await registry.http.get(f"{API}/skills/{name}")
        assert (refused.status_code, refused.json()["code"]) == (409, "AMBIGUOUS_SKILL_SLUG")
        refs = [match["ref"] for match in refused.json()["matches"]]
        assert refs == [f"@{ACME}/other.greeting", f"@{ACME}/tools.greeting"]
        for match in refused.json()["matches"]:
            query = f"{API}/skills/{match['slug']}?ownerHandle={match['ownerHandle']}"
            assert (await registry.http.get(query)).status_code == 200
    for name in ("nosuch", "farewell?ownerHandle=acme", "a.b.c.d", "..", "-", "naïve", "x" * 300):
        missing = await registry.http.get(f"{API}/skills/{name}")
        assert missing.status_code in (400, 404), name
    assert missing.text.startswith("Skill not found")


async def test_errors_are_plain_text_with_their_code_and_both_families_of_rate_headers(registry: LiveRegistry) -> None:
    paths = (f"{API}/skills/nosuch", f"{API}/whoami", "/clawhub/nowhere", f"{API}/resolve?slug=nosuch&hash=0")
    for path, status in zip(paths, (404, 401, 404, 404), strict=True):
        heard = await registry.http.get(path, headers={"Accept": "text/html, */*"})
        assert (heard.status_code, heard.headers["Content-Type"]) == (status, "text/plain; charset=utf-8"), path
        assert heard.headers["X-Error-Code"]
        assert {"x-ratelimit-limit", "x-ratelimit-reset", "ratelimit-limit", "ratelimit-reset"} <= set(heard.headers)
    assert "skill not found" in heard.text.lower()


async def test_lists_page_through_everything__without_growing(registry: LiveRegistry) -> None:
    for name in ("greeting", "greeter", "farewell"):
        await registry.publish(f"acme/tools/{name}")
    seen, cursor = [], ""
    for _ in range(5):
        page = (await registry.http.get(f"{API}/skills?limit=1&sort=createdAt&cursor={cursor}")).json()
        seen += [item["slug"] for item in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen == ["farewell", "greeter", "greeting"]
    beginning = (await registry.http.get(f"{API}/skills?prefix=greet")).json()["items"]
    assert {item["slug"] for item in beginning} == {"greeting", "greeter"}
    exact = (await registry.http.get(f"{API}/search?q=greeting&mode=exact")).json()["results"]
    assert [(hit["slug"], hit["ownerHandle"]) for hit in exact] == [("greeting", ACME)]
    assert (await registry.http.get(f"{API}/skills?cursor=x")).status_code == 400


async def test_skill_says_what_clients_take__and_never_a_licence_they_refuse(registry: LiveRegistry) -> None:
    files = {"SKILL.md": skill_md("greeting", license="Apache-2.0")}
    await registry.publish("acme/tools/greeting", files)
    told = (await registry.http.get(f"{API}/skills/greeting")).json()
    assert (told["latestVersion"]["license"], told["skill"]["spdxLicense"]) == (None, "Apache-2.0")
    assert told["moderation"] == {
        **told["moderation"],
        "isSuspicious": False,
        "isMalwareBlocked": False,
        "verdict": "clean",
    }
    assert told["skill"]["updatedAt"] > 1_700_000_000_000
    verdicts = {"items": [{"slug": "greeting", "version": "1.0.0"}, {"slug": "nosuch", "version": "1.0.0"}]}
    answered = (await registry.http.post(f"{API}/skills/-/security-verdicts", json=verdicts)).json()["items"]
    assert [(one["decision"], one["verdict"]) for one in answered] == [("pass", "clean"), ("fail", None)]


async def test_blocked_skill_is_flagged__and_its_bytes_are_not_handed_out(registry: LiveRegistry, ada: Person) -> None:
    skill = await registry.publish("acme/tools/greeting")
    await registry.block(skill)
    for name in ("greeting", f"greeting?ownerHandle={ACME}"):
        told = (await registry.http.get(f"{API}/skills/{name}")).json()
        assert (told["latestVersion"], told["moderation"]["isMalwareBlocked"]) == (None, True)
    for path in ("download?slug=greeting", "skills/greeting/versions/1.0.0", "skills/greeting/file?path=SKILL.md"):
        refused = await registry.http.get(f"{API}/{path}")
        assert (refused.status_code, "flagged as malicious" in refused.text) == (403, True), path
    moderation = (await ada.ask("GET", f"{API}/skills/greeting/moderation")).json()["moderation"]
    assert moderation["verdict"] == "malicious"
    verified = (await registry.http.get(f"{API}/skills/greeting/verify")).json()
    assert (verified["ok"], verified["decision"]) == (False, "fail")


async def test_yanked_and_held_versions_say_why(registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting")
    await registry.publish("acme/tools/greeting", {"SKILL.md": skill_md(body="More.")}, version="2.0.0")
    await registry.yank(skill.slug, "2.0.0", reason="It leaks names.")
    gone = await registry.http.get(f"{API}/skills/greeting/versions/2.0.0")
    assert (gone.status_code, "It leaks names." in gone.text) == (410, True)
    listed = (await registry.http.get(f"{API}/skills/greeting/versions")).json()["items"]
    assert [one["version"] for one in listed] == ["1.0.0"]
    await registry.quarantine(skill.slug, reason="Somebody looks at it.")
    held = await registry.http.get(f"{API}/skills/greeting")
    assert (held.status_code, "Somebody looks at it." in held.text) == (410, True)


async def test_fingerprint_orders_paths_as_the_client_does() -> None:
    ordered = [
        "a_b",
        "a-b",
        "a.md",
        "a/b",
        "A/b",
        "ab",
        "aB",
        "Ab",
        "b1",
        "b10",
        "b2",
        "README.md",
        "scripts.md",
        "scripts/x.sh",
        "SKILL.md",
    ]
    assert sorted(sorted(ordered), key=collation_key) == ordered


async def test_upload_is_for_one_account_and_one_file(registry: LiveRegistry, ada: Person) -> None:
    bob = await person(registry, "bob")
    content = FILES["SKILL.md"]
    opened = (await ada.ask("POST", f"{API}/skills/-/upload-url", describe("SKILL.md", content))).json()
    assert opened["uploadTicket"] not in opened["uploadUrl"]
    for who, sent, status in ((bob, content, 404), (ada, content[:-1] + b"x", 400), (ada, content + b"x", 413)):
        assert (await who.ask("POST", opened["uploadUrl"], content=sent)).status_code == status
    assert (await ada.ask("POST", opened["uploadUrl"], content=content)).status_code == 200
    filed = {**describe("SKILL.md", content), "storageId": "x", "uploadTicket": opened["uploadTicket"]}
    assert (await bob.publish([filed])).status_code == 404
    assert (await ada.publish([{**filed, "path": "other.md"}])).status_code == 409
    for path, size in (("../SKILL.md", 1), ("a.md", 10**9)):
        said = {**describe(path, b""), "size": size}
        assert (await ada.ask("POST", f"{API}/skills/-/upload-url", said)).status_code in (413, 422)


async def test_ticket_is_used_up_by_what_it_was_published_for(registry: LiveRegistry, ada: Person) -> None:
    files = [await ada.upload(path, content) for path, content in FILES.items()]
    first = await ada.publish(files)
    assert (first.status_code, first.json()["publicationStatus"]) == (200, "pending"), first.text
    assert (await registry.until_decided(first.json()["attemptId"])).state == "PUBLISHED"
    again = await ada.publish(files, version="1.0.1")
    assert (again.status_code, "Ask for a new upload URL" in again.text) == (404, True)


async def test_form_is_published__by_the_same_way_and_rules(registry: LiveRegistry, ada: Person) -> None:
    assert await ada.send_and_wait() == "PUBLISHED"
    skill = await registry.skill("ada/registry/hello")
    assert (skill.version, skill.publisher) == ("1.0.0", "ada")
    archive = (await registry.http.get(f"{API}/download?slug=hello&ownerHandle=ada&version=1.0.0")).content
    assert sorted(zipfile.ZipFile(io.BytesIO(archive)).namelist()) == sorted(FILES)
    same = await ada.send()
    assert (same.status_code, same.json()["publicationStatus"]) == (200, "published")
    other = await ada.send({"SKILL.md": skill_md("hello", "Other.")})
    assert (other.status_code, "exists with other bytes" in other.text) == (409, True)
    bob = await person(registry, "bob")
    stolen = await bob.send(version="2.0.0", ownerHandle="ada")
    assert (stolen.status_code, "not a publisher of yours" in stolen.text) == (403, True)
    for files in ({"README.md": b"x"}, {**FILES, "../x": b"x"}):
        assert (await ada.send(files, version="3.0.0")).status_code == 422
    assert (await ada.send({**FILES, "large.txt": b"x" * (6 * 1024 * 1024)}, version="3.0.0")).status_code == 422


async def test_failed_attempt_uses_up_no_version__and_a_pending_one_is_told(
    registry: LiveRegistry, ada: Person
) -> None:
    assert await ada.send_and_wait(BAD_FILES) == "TIER1_FAILED"
    await registry.inside(lambda: pause_queue(reason="A test."))
    sent = (await ada.send()).json()
    waiting = await ada.send({"SKILL.md": skill_md("hello", "Other.")}, version="1.0.1")
    assert (waiting.status_code, sent["attemptId"] in waiting.text) == (409, True)


async def test_publishing_needs_a_token_that_may(registry: LiveRegistry) -> None:
    reader = await person(registry, "reader", Role.SUBMITTER, Scope.READ)
    refused = await reader.send()
    assert (refused.status_code, refused.headers["X-Error-Code"]) == (403, "not_allowed")
    assert (await registry.http.post(f"{API}/skills", json={})).status_code == 401


async def test_owner_takes_back_and_gives_back__and_nobody_else(registry: LiveRegistry, ada: Person) -> None:
    bob = await person(registry, "bob")
    await ada.send_and_wait()
    await ada.send_and_wait({"SKILL.md": skill_md("hello", "More.")}, version="1.1.0")
    skill, owner = f"{API}/skills/hello", {"ownerHandle": "ada"}
    for method, path in (("DELETE", skill), ("DELETE", f"{skill}/versions/1.1.0"), ("POST", f"{skill}/tags/latest")):
        assert (await bob.ask(method, path, owner)).status_code == 403, path
    assert (await ada.ask("DELETE", f"{skill}/versions/1.1.0", owner)).json() == {"ok": True}
    assert (await registry.skill("ada/registry/hello")).version == "1.0.0"
    assert (await ada.ask("POST", f"{skill}/versions/1.1.0/restore", owner)).json() == {"ok": True}
    assert (await ada.ask("POST", f"{skill}/tags/latest", {**owner, "version": "1.1.0"})).json()["ok"]
    assert (await ada.ask("POST", f"{skill}/tags/latest", {**owner, "version": "1.0.0"})).status_code == 422
    assert (await ada.ask("DELETE", skill, {**owner, "reason": "A pause."})).json() == {"ok": True}
    gone = await registry.http.get(skill)
    assert (gone.status_code, "A pause." in gone.text, "Skill not found" in gone.text) == (410, True, True)
    assert (await bob.ask("POST", f"{skill}/undelete", owner)).status_code == 403
    assert (await ada.ask("POST", f"{skill}/undelete", owner)).json() == {"ok": True}
    submission = (await registry.skill("ada/registry/hello")).submission_id
    assert (await registry.until_decided(submission)).state == "PUBLISHED"
    assert (await registry.http.get(skill)).status_code == 200


async def test_moderator_puts_aside_and_answers_reports(registry: LiveRegistry, ada: Person) -> None:
    moderator = await person(registry, "mod", Role.REVIEWER)
    await registry.publish("acme/tools/greeting")
    first = (await ada.ask("POST", f"{API}/skills/greeting/report", {"reason": "It is a copy."})).json()
    again = (await ada.ask("POST", f"{API}/skills/greeting/report", {"reason": "It is a copy."})).json()
    assert (first["reported"], again["alreadyReported"], again["reportId"]) == (True, True, first["reportId"])
    assert (await ada.ask("GET", f"{API}/skills/-/reports")).status_code == 403
    listed = (await moderator.ask("GET", f"{API}/skills/-/reports?status=open")).json()
    assert [(one["reportId"], one["slug"]) for one in listed["items"]] == [(first["reportId"], "greeting")]
    answer = {"status": "confirmed", "note": "It is.", "finalAction": "hide"}
    triage = f"{API}/skills/-/reports/{first['reportId']}/triage"
    assert (await ada.ask("POST", triage, answer)).status_code == 403
    assert (await moderator.ask("POST", triage, answer)).json()["actionTaken"] == "hide"
    assert (await registry.http.get(f"{API}/skills/greeting")).status_code == 410
    assert (await moderator.ask("POST", f"{API}/skills/greeting/undelete", {"reason": "Looked at."})).json()["ok"]
    assert (await moderator.ask("DELETE", f"{API}/skills/greeting", {"reason": "Again."})).json()["ok"]


async def test_scan_tells_the_kept_report__and_only_the_owner_has_it_made_anew(
    registry: LiveRegistry, ada: Person
) -> None:
    bob = await person(registry, "bob")
    await ada.send_and_wait()
    source = {"kind": "published", "slug": "hello", "ownerHandle": "ada"}
    kept = (await bob.ask("POST", f"{API}/skills/-/scan", {"source": source, "update": False})).json()
    told = (await bob.ask("GET", f"{API}/skills/-/scan/{kept['scanId']}")).json()
    assert (told["status"], told["report"]["staticAnalysis"]["status"]) == ("succeeded", "clean")
    assert (await bob.ask("POST", f"{API}/skills/-/scan", {"source": source, "update": True})).status_code == 403
    anew = (await ada.ask("POST", f"{API}/skills/-/scan", {"source": source, "update": True})).json()
    assert anew["scanId"] != kept["scanId"]
    await registry.until_decided(anew["jobId"])
    zipped = (await ada.ask("GET", f"{API}/skills/-/scan/{anew['scanId']}/download")).content
    assert set(zipfile.ZipFile(io.BytesIO(zipped)).namelist()) == {"manifest.json", "report.json"}
    by_name = await ada.ask("GET", f"{API}/skills/-/scan/download/hello?version=1.0.0&kind=skill&ownerHandle=ada")
    assert by_name.status_code == 200
    failed = await person(registry, "carol")
    assert await failed.send_and_wait(BAD_FILES) == "TIER1_FAILED"
    sent = (await failed.send(BAD_FILES, version="1.0.1")).json()["attemptId"]
    assert (await bob.ask("GET", f"{API}/skills/-/scan/{sent}.1")).status_code == 404
    assert (await failed.ask("GET", f"{API}/skills/-/scan/{sent}.1")).status_code == 200


async def test_stars_installs_and_handles_belong_to_the_account(registry: LiveRegistry, ada: Person) -> None:
    await registry.publish("acme/tools/greeting")
    stars = f"{API}/stars/greeting"
    answers = [(await ada.ask(method, stars)).json() for method in ("POST", "POST", "DELETE", "DELETE")]
    assert [one.get("alreadyStarred", one.get("alreadyUnstarred")) for one in answers] == [False, True, False, True]
    event = {"event": "install", "slug": "greeting", "version": "1.0.0"}
    assert (await ada.ask("POST", "/clawhub/api/cli/telemetry/install", event)).json() == {"ok": True}
    assert (await ada.ask("GET", f"{API}/whoami")).json()["user"]["handle"] == "ada"
    made = await ada.ask("POST", f"{API}/publishers", {"handle": "ada-tools"})
    assert (made.status_code, made.json()["created"]) == (200, True)
    assert (await ada.ask("GET", f"{API}/whoami")).json()["user"]["handle"] == "ada-tools"
    assert (await ada.ask("POST", f"{API}/publishers", {"handle": "second"})).status_code == 403
    for path in ("skills/greeting/rename", "skills/greeting/merge", "skills/greeting/transfer", "packages"):
        refused = await ada.ask("POST", f"{API}/{path}", {})
        assert (refused.status_code, refused.headers["X-Error-Code"]) == (422, "not_supported"), path


async def test_program_is_signed_in_by_a_code__once_and_by_who_approves_it(registry: LiveRegistry, ada: Person) -> None:
    begun = (await registry.http.post("/api/cli/device/code", json={"label": "my\nlaptop", "scope": "read"})).json()
    assert (begun["verification_uri"], begun["expires_in"]) == (f"{registry.address}/cli/device", LASTS_S)
    asking = {"device_code": begun["device_code"], "grant_type": "urn:ietf:params:oauth:grant-type:device_code"}
    answers = [(await registry.http.post("/api/cli/device/token", json=asking)) for _ in range(2)]
    assert [one.json()["error"] for one in answers] == ["authorization_pending", "slow_down"]
    assert {one.status_code for one in answers} == {400}
    for code in (begun["device_code"], "BBBB-BBBB", ""):
        assert (await ada.submit_form("/cli/device", code=code, decision="approve")).status_code == 400
    stranger = await registry.http.post("/cli/device", data={"code": begun["user_code"], "decision": "approve"})
    assert stranger.status_code == 401
    shown = await ada.submit_form("/cli/device", code=begun["user_code"].replace("-", " ").lower())
    assert ("mylaptop" in shown.text, "Let it in" in shown.text) == (True, True)
    approved = await ada.submit_form("/cli/device", code=begun["user_code"], decision="approve")
    assert "signed in as ada" in approved.text
    given = (await registry.http.post("/api/cli/device/token", json=asking)).json()
    ada.token = given["access_token"]
    assert (await ada.ask("GET", f"{API}/whoami")).json()["user"]["handle"] == "ada"
    assert given["scope"] == "read submit manage"
    again = await registry.http.post("/api/cli/device/token", json=asking)
    assert again.json()["error"] == "expired_token"
    assert (await ada.submit_form("/cli/device", code=begun["user_code"], decision="approve")).status_code == 400


async def test_program_is_not_signed_in__when_the_code_is_turned_down(registry: LiveRegistry, ada: Person) -> None:
    begun = (await registry.http.post("/api/cli/device/code", json={})).json()
    assert (await ada.submit_form("/cli/device", code=begun["user_code"], decision="deny")).status_code == 200
    asking = {"device_code": begun["device_code"]}
    assert (await registry.http.post("/api/cli/device/token", json=asking)).json()["error"] == "access_denied"
    page = await registry.http.get("/cli/device")
    assert (page.status_code, page.headers["Location"]) == (303, "/login?next=%2Fcli%2Fdevice")


async def test_codes_are_limited__for_each_address(registry: LiveRegistry) -> None:
    answers = [await registry.http.post("/api/cli/device/code", json={}) for _ in range(21)]
    assert [one.status_code for one in answers] == [200] * 20 + [429]
    assert int(answers[-1].headers["Retry-After"]) > 0


async def test_program_on_the_same_machine_is_handed_a_token__and_no_other_place_is(
    registry: LiveRegistry, ada: Person
) -> None:
    callback = "http://127.0.0.1:4711/callback"
    query = {"redirect_uri": callback, "label_b64": "bXkgbGFwdG9w", "state": "s1"}
    first = await registry.http.get("/cli/auth", params=query)
    assert first.status_code == 303
    assert parse_qs(urlsplit(first.headers["Location"]).query)["next"][0].startswith("/cli/auth?redirect_uri=")
    shown = await registry.http.get("/cli/auth", params=query, headers=ada.browser)
    assert ("my laptop" in shown.text, "vsk_" in shown.text) == (True, False)
    done = await ada.submit_form("/cli/auth", redirect_uri=callback, label="my laptop", state="s1")
    target = done.text.partition('id="handover" href="')[2].partition('"')[0].replace("&amp;", "&")
    assert target.startswith(f"{callback}#")
    handed = parse_qs(urlsplit(target).fragment)
    assert (handed["state"], handed["registry"]) == (["s1"], [f"{registry.address}/clawhub"])
    ada.token = handed["token"][0]
    assert (await ada.ask("GET", f"{API}/whoami")).status_code == 200
    elsewhere = await ada.submit_form("/cli/auth", redirect_uri="http://evil.example.net:80/", label="x", state="s")
    assert (elsewhere.status_code, "vsk_" in elsewhere.text) == (400, False)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://127.0.0.1:1/",
        "http://evil.example.net:1/",
        "http://127.0.0.1@evil.example.net:1/",
        "http://127.0.0.1/",
        "http://127.0.0.1:x/",
        "http://10.0.0.1:1/",
        "javascript:alert(1)",
        "http://127.0.0.1:1/\\@evil",
        "http://localhost.evil.example.net:1/",
        "//127.0.0.1:1/",
    ],
)
def test_token_is_handed_to_no_other_machine(address: str) -> None:
    with pytest.raises(InvalidInput):
        check_loopback(address)
