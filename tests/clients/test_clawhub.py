"""The real `clawhub`, old on Node 20 and new on Node 22: every command of it that touches a registry."""

from __future__ import annotations

import asyncio
import json
import os
import re
import zipfile
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import pytest_asyncio

from tests.clients.clawhub import BAD_FILES, FILES, Person, person
from tests.clients.programs import QUIET, Machine, Ran, npm_program
from tests.clients.registry import HOST_PREFIX, LiveRegistry
from tests.clients.table import proves
from tests.pipeline.journey import skill_md

pytestmark = pytest.mark.clients
ACME = f"{HOST_PREFIX}acme"
NEW, OLD = "0.23.3", "0.20.0"
MORE = {"SKILL.md": skill_md("hello", "More."), "a_b.md": b"1", "A/b.md": b"2", "README.md": b"3", ".hidden": b"4"}


@dataclass
class ClawHub:
    """The program on a machine, and somebody it is signed in as."""

    program: list[str]
    version: str
    machine: Machine
    registry: LiveRegistry
    ada: Person

    @property
    def is_new(self) -> bool:
        """Whether it is the newer one of the two."""
        return self.version == NEW

    async def run(self, *arguments: str) -> Ran:
        """Run a command against the registry, which it finds by its site."""
        return await self.machine.run([*self.program, "--site", self.registry.address, "--no-input", *arguments])

    async def done(self, *arguments: str) -> Ran:
        """Run a command that works."""
        ran = await self.run(*arguments)
        assert ran.code == 0, ran.text
        return ran

    async def sign_in(self) -> None:
        """Store the token of the person."""
        await self.done("login", "--token", self.ada.token)

    async def publish(self, files: dict[str, bytes], *more: str, name: str = "hello") -> Ran:
        """Publish a folder with these files."""
        folder = self.machine.project / "source" / name
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        return await self.run("publish", str(folder), *more)

    async def until_decided(self, slug: str = "ada/registry/hello") -> str:
        """The state that the last push of a skill led to."""
        attempts = (await self.registry.http.get(f"/api/v1/submissions?q={slug.rpartition('/')[2]}")).json()
        identity = attempts["submissions"][0]["id"]
        return (await self.registry.until_decided(identity)).state.value

    def installed(self, name: str) -> dict[str, bytes]:
        """The files of an installed skill, less what the client writes beside them."""
        files = self.machine.files(self.machine.project / "skills" / name)
        return {path: content for path, content in files.items() if not path.startswith(".clawhub/")}

    async def begin(self, *arguments: str) -> asyncio.subprocess.Process:
        """Start a command that waits for a person."""
        return await asyncio.create_subprocess_exec(
            *self.program,
            "--site",
            self.registry.address,
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=self.machine.project,
            env={"PATH": os.environ["PATH"], "HOME": str(self.machine.home), **QUIET},
        )


@pytest_asyncio.fixture(params=[(OLD, 20), (NEW, 22)], ids=lambda param: param[0], loop_scope="package")
async def clawhub(request: pytest.FixtureRequest, machine: Machine, registry: LiveRegistry) -> ClawHub:
    version, node = request.param
    program = npm_program("clawhub", version, node=node)
    return ClawHub(program, version, machine, registry, await person(registry, "ada"))


async def read_until(process: asyncio.subprocess.Process, pattern: str) -> str:
    """What a pattern finds in what a program says, once it says so."""
    assert process.stdout is not None
    said = ""
    async with asyncio.timeout(60):
        while (found := re.search(pattern, said)) is None:
            piece = await process.stdout.read(4096)
            assert piece, said
            said += piece.decode()
    return found[1]


@proves("clawhub 0.20.0", "search")
@proves("clawhub 0.23.3", "search")
@proves("clawhub 0.20.0", "explore")
@proves("clawhub 0.23.3", "explore")
async def test_clawhub_finds_and_lists_skills(clawhub: ClawHub, registry: LiveRegistry) -> None:
    for name in ("greeting", "farewell"):
        await registry.publish(f"acme/tools/{name}")
    found = await clawhub.done("search", "greeting")
    assert ("greeting v1.0.0" in found.output, ACME in found.output) == (True, True)
    for sort in ("newest", "downloads", "rating", "trending"):
        listed = await clawhub.done("explore", "--json", "--sort", sort)
        items = json.loads(listed.output[listed.output.index("{") :])["items"]
        assert {item["slug"] for item in items} == {"greeting", "farewell"}, sort
    assert "farewell" in (await clawhub.done("explore", "--limit", "5")).output
    if clawhub.is_new:
        assert "greeting" in (await clawhub.done("search", "gree", "--prefix")).output
        assert "greeting" not in (await clawhub.done("search", "gree", "--exact")).output


@proves("clawhub 0.20.0", "install")
@proves("clawhub 0.23.3", "install")
@proves("clawhub 0.20.0", "install (ambiguous)")
@proves("clawhub 0.23.3", "install (ambiguous)")
async def test_clawhub_installs_the_verified_files__by_every_name(clawhub: ClawHub, registry: LiveRegistry) -> None:
    await registry.publish("acme/tools/hello", FILES)
    await clawhub.done("install", "hello")
    assert clawhub.installed("hello") == FILES
    await registry.publish("acme/tools/hello", MORE, version="2.0.0")
    await registry.publish("acme/other/hello", FILES)
    refused = await clawhub.run("install", "hello", "--force")
    assert (refused.code, f"@{ACME}/tools.hello" in refused.text, f"@{ACME}/other.hello" in refused.text) == (
        1,
        True,
        True,
    )
    whole = f"{ACME}.tools.hello"
    await clawhub.done("install", whole, "--version", "1.0.0")
    assert clawhub.installed(whole) == FILES
    if clawhub.is_new:
        await clawhub.done("install", f"@{ACME}/tools.hello")
        assert clawhub.installed(f"@{ACME}/tools.hello").keys() == MORE.keys()
    missing = await clawhub.run("install", "nosuch")
    assert (missing.code, "Skill not found" in missing.text) == (1, True)


@proves("clawhub 0.20.0", "update")
@proves("clawhub 0.23.3", "update")
async def test_clawhub_updates_what_it_has_installed__and_knows_when_it_need_not(
    clawhub: ClawHub, registry: LiveRegistry
) -> None:
    await registry.publish("acme/tools/hello", FILES)
    await clawhub.done("install", "hello")
    assert "up to date" in (await clawhub.done("update", "--all")).text
    await registry.publish("acme/tools/hello", MORE, version="2.0.0")
    await clawhub.done("update", "hello")
    assert clawhub.installed("hello")["a_b.md"] == b"1"
    assert "up to date" in (await clawhub.done("update", "--all")).text
    (clawhub.machine.project / "skills" / "hello" / "a_b.md").write_bytes(b"mine")
    assert "local changes" in (await clawhub.done("update", "hello")).text


@proves("clawhub 0.20.0", "install (blocked)")
@proves("clawhub 0.23.3", "install (blocked)")
async def test_clawhub_refuses_a_blocked_skill__also_by_force_and_when_updating(
    clawhub: ClawHub, registry: LiveRegistry
) -> None:
    skill = await registry.publish("acme/tools/hello", FILES)
    await clawhub.done("install", "hello")
    await registry.block(skill)
    ran = await clawhub.run("install", "hello", "--force")
    assert (ran.code, "flagged as malware" in ran.text) == (1, True)
    assert "flagged as malware" in (await clawhub.run("update", "hello")).text


@proves("clawhub 0.20.0", "install (yanked)")
@proves("clawhub 0.23.3", "install (yanked)")
async def test_clawhub_takes_the_version_before_a_yanked_one__and_is_told_why(
    clawhub: ClawHub, registry: LiveRegistry
) -> None:
    skill = await registry.publish("acme/tools/hello", FILES)
    await registry.publish("acme/tools/hello", MORE, version="2.0.0")
    await registry.yank(skill.slug, "2.0.0", reason="It leaks names.")
    refused = await clawhub.run("install", "hello", "--version", "2.0.0")
    assert (refused.code, "It leaks names." in refused.text) == (1, True)
    await clawhub.done("install", "hello", "--force")
    assert clawhub.installed("hello") == FILES


@proves("clawhub 0.20.0", "install (bad digest)")
@proves("clawhub 0.23.3", "install (bad digest)")
async def test_clawhub_checks_no_digest__so_the_registry_says_it_beside_the_bytes(
    clawhub: ClawHub, registry: LiveRegistry
) -> None:
    skill = await registry.publish("acme/tools/hello", FILES)
    with registry.wire.spoiling("/download"):
        assert (await clawhub.run("install", "hello")).code == 0
    version = await registry.version(skill.slug, "1.0.0")
    sent = await registry.http.get("/clawhub/api/v1/download?slug=hello&version=1.0.0")
    assert sent.headers["ETag"] == f'"{version.zip_digest}"'


@proves("clawhub 0.20.0", "inspect")
@proves("clawhub 0.23.3", "inspect")
@proves("clawhub 0.20.0", "skill verify")
@proves("clawhub 0.23.3", "skill verify")
async def test_clawhub_inspects_and_verifies_without_installing(clawhub: ClawHub, registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/hello", FILES)
    await registry.publish("acme/tools/hello", MORE, version="2.0.0")
    await clawhub.sign_in()
    shown = await clawhub.done("inspect", "hello", "--versions", "--files")
    assert all(word in shown.text for word in ("2.0.0", "1.0.0", "a_b.md", "CLEAN")), shown.text
    file = await clawhub.done("inspect", "hello", "--version", "1.0.0", "--file", "scripts/hi.sh")
    assert "echo hi" in file.output
    told = await clawhub.done("skill", "verify", "hello", "--version", "1.0.0")
    document = json.loads(told.output[told.output.index("{") :])
    version = await registry.version(skill.slug, "1.0.0")
    assert (document["decision"], document["artifact"]["contentDigest"]) == ("pass", version.content_digest)
    assert version.zip_digest in (await clawhub.done("skill", "verify", "hello", "--version", "1.0.0", "--card")).output
    await registry.block(await registry.skill(skill.slug))
    failed = await clawhub.run("skill", "verify", "hello")
    assert (failed.code, '"decision": "fail"' in failed.output) == (1, True)
    assert "MALICIOUS" in (await clawhub.run("inspect", "hello")).text


@proves("clawhub 0.20.0", "login --token")
@proves("clawhub 0.23.3", "login --token")
@proves("clawhub 0.20.0", "whoami")
@proves("clawhub 0.23.3", "whoami")
async def test_clawhub_signs_in_with_a_token(clawhub: ClawHub) -> None:
    await clawhub.sign_in()
    assert "ada" in (await clawhub.done("whoami")).text
    refused = await clawhub.run("login", "--token", "vsk_nothing")
    assert (refused.code, "not one of ours" in refused.text) == (1, True)


@proves("clawhub 0.20.0", "login --device")
@proves("clawhub 0.23.3", "login --device")
async def test_clawhub_signs_in_by_a_code__that_a_person_approves(clawhub: ClawHub, registry: LiveRegistry) -> None:
    process = await clawhub.begin("login", "--device")
    code = await read_until(process, r"enter code: ([A-Z]{4}-[A-Z]{4})")
    approved = await clawhub.ada.submit_form("/cli/device", code=code, decision="approve")
    assert "signed in as ada" in approved.text
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, "Logged in as @ada" in output.decode()) == (0, True), output
    assert "ada" in (await clawhub.done("whoami")).text


@proves("clawhub 0.20.0", "login")
async def test_clawhub_signs_in_by_the_browser_of_its_machine(clawhub: ClawHub, registry: LiveRegistry) -> None:
    if clawhub.is_new:
        return
    process = await clawhub.begin("login")
    address = await read_until(process, r"Opening browser: (\S+)\n")
    asked = parse_qs(urlsplit(address).query)
    done = await clawhub.ada.submit_form(
        "/cli/auth", redirect_uri=asked["redirect_uri"][0], label="CLI token", state=asked["state"][0]
    )
    target = done.text.partition('id="handover" href="')[2].partition('"')[0].replace("&amp;", "&")
    handed = {name: values[0] for name, values in parse_qs(urlsplit(target).fragment).items()}
    async with httpx.AsyncClient() as browser:
        assert (await browser.post(target.partition("/callback")[0] + "/token", json=handed)).status_code == 200
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, "Logged in as @ada" in output.decode()) == (0, True), output


@proves("clawhub 0.20.0", "publish")
@proves("clawhub 0.23.3", "publish")
@proves("clawhub 0.20.0", "publish (failed)")
@proves("clawhub 0.23.3", "publish (failed)")
async def test_clawhub_publishes_through_the_queue__and_a_failed_attempt_uses_up_no_version(
    clawhub: ClawHub, registry: LiveRegistry
) -> None:
    await clawhub.sign_in()
    assert (await clawhub.publish(BAD_FILES, "--version", "1.0.0")).code == 0
    assert await clawhub.until_decided() == "TIER1_FAILED"
    (clawhub.machine.project / "source" / "hello" / "scripts" / "run.py").unlink()
    published = await clawhub.publish(FILES, "--version", "1.0.0")
    assert published.code == 0, published.text
    assert ("pending security scans" in published.text) is clawhub.is_new
    assert await clawhub.until_decided() == "PUBLISHED"
    taken = await clawhub.publish({"SKILL.md": skill_md("hello", "Other.")}, "--version", "1.0.0")
    assert (taken.code, "exists with other bytes" in taken.text) == (1, True)
    assert (await clawhub.publish({}, "--version", "1.1.0")).code == 0
    assert await clawhub.until_decided() == "PUBLISHED"
    await clawhub.done("install", "hello")
    assert clawhub.installed("hello")["SKILL.md"] == skill_md("hello", "Other.")


@proves("clawhub 0.20.0", "sync")
@proves("clawhub 0.23.3", "sync")
async def test_clawhub_syncs_a_folder_of_skills(clawhub: ClawHub, registry: LiveRegistry) -> None:
    await clawhub.sign_in()
    folder = clawhub.machine.project / "mine" / "hello"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(FILES["SKILL.md"])
    ran = await clawhub.run("sync", "--root", str(folder.parent), "--all")
    assert ran.code == 0, ran.text
    assert await clawhub.until_decided() == "PUBLISHED"


@proves("clawhub 0.20.0", "scan")
@proves("clawhub 0.23.3", "scan")
@proves("clawhub 0.20.0", "scan download")
@proves("clawhub 0.23.3", "scan download")
async def test_clawhub_scans_again_and_keeps_the_report(clawhub: ClawHub, registry: LiveRegistry) -> None:
    await clawhub.ada.send_and_wait()
    await clawhub.sign_in()
    ran = await clawhub.done("scan", "--slug", "hello", "--update", "--output", "report.zip")
    assert "Scan complete" in ran.text
    assert "report.json" in zipfile.ZipFile(clawhub.machine.project / "report.zip").namelist()
    await clawhub.done("scan", "download", "hello", "--version", "1.0.0", "--output", "kept.zip")
    assert zipfile.is_zipfile(clawhub.machine.project / "kept.zip")


@proves("clawhub 0.20.0", "star")
@proves("clawhub 0.23.3", "star")
@proves("clawhub 0.20.0", "unstar")
@proves("clawhub 0.23.3", "unstar")
async def test_clawhub_stars_and_unstars(clawhub: ClawHub, registry: LiveRegistry) -> None:
    await registry.publish("acme/tools/hello", FILES)
    await clawhub.sign_in()
    for command, word in (("star", "Starred"), ("star", "already starred"), ("unstar", "Unstarred")):
        assert word in (await clawhub.done(command, "hello", "--yes")).text


@proves("clawhub 0.20.0", "delete")
@proves("clawhub 0.23.3", "delete")
@proves("clawhub 0.20.0", "undelete")
@proves("clawhub 0.23.3", "undelete")
@proves("clawhub 0.20.0", "hide")
@proves("clawhub 0.23.3", "hide")
@proves("clawhub 0.20.0", "unhide")
@proves("clawhub 0.23.3", "unhide")
async def test_clawhub_takes_back_and_gives_back(clawhub: ClawHub, registry: LiveRegistry) -> None:
    await clawhub.ada.send_and_wait()
    await clawhub.sign_in()
    for away, back in (("delete", "undelete"), ("hide", "unhide")):
        await clawhub.done(away, "hello", "--yes", "--reason", "A pause.")
        assert "A pause." in (await clawhub.run("install", "hello")).text
        await clawhub.done(back, "hello", "--yes")
        assert await clawhub.until_decided() == "PUBLISHED"
    await clawhub.done("install", "hello")


@proves("clawhub 0.23.3", "delete --version")
@proves("clawhub 0.23.3", "undelete --version")
@proves("clawhub 0.23.3", "skill tag")
async def test_clawhub_yanks_and_restores_a_version(clawhub: ClawHub, registry: LiveRegistry) -> None:
    if not clawhub.is_new:
        return
    await clawhub.ada.send_and_wait()
    await clawhub.ada.send_and_wait(MORE, version="1.1.0")
    await clawhub.sign_in()
    await clawhub.done("delete", "hello", "--version", "1.1.0", "--yes")
    assert (await registry.skill("ada/registry/hello")).version == "1.0.0"
    await clawhub.done("undelete", "hello", "--version", "1.1.0", "--yes")
    await clawhub.done("skill", "tag", "hello", "1.1.0", "--yes")
    refused = await clawhub.run("skill", "tag", "hello", "1.0.0", "--yes")
    assert (refused.code, "highest version" in refused.text) == (1, True)


@proves("clawhub 0.20.0", "publisher create")
@proves("clawhub 0.23.3", "publisher create")
async def test_clawhub_takes_a_handle(clawhub: ClawHub) -> None:
    await clawhub.sign_in()
    assert "Created publisher" in (await clawhub.done("publisher", "create", "ada-tools")).text
    assert "ada-tools" in (await clawhub.done("whoami")).text


@proves("clawhub 0.20.0", "skill rename")
@proves("clawhub 0.23.3", "skill rename")
@proves("clawhub 0.20.0", "skill merge")
@proves("clawhub 0.23.3", "skill merge")
@proves("clawhub 0.20.0", "transfer")
@proves("clawhub 0.23.3", "transfer")
@proves("clawhub 0.20.0", "package")
@proves("clawhub 0.23.3", "package")
async def test_clawhub_is_told_in_a_sentence_what_there_is_not(clawhub: ClawHub, registry: LiveRegistry) -> None:
    await clawhub.ada.send_and_wait()
    await clawhub.sign_in()
    wishes = {
        "not renamed": ["skill", "rename", "hello", "hallo", "--yes"],
        "or merged": ["skill", "merge", "hello", "hallo", "--yes"],
        "change their publisher": ["transfer", "request", "hello", "bob", "--yes"],
        "no packages": ["package", "explore", "x"],
    }
    for words, arguments in wishes.items():
        ran = await clawhub.run(*arguments)
        assert (ran.code, words in ran.text) == (1, True), ran.text
    await clawhub.done("transfer", "list")
