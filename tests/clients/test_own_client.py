"""Our own client against a real registry: finding, installing, verifying and updating, as people do it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.clients.own import OwnClient
from tests.clients.programs import Machine
from tests.clients.registry import LiveRegistry
from tests.clients.secure import secure_door
from tests.clients.table import proves
from tests.pipeline.journey import skill_md
from vskill_platform.client.agents import AGENTS, project_scope, user_scope
from vskill_platform.domain.blocklist import Block, BlockKind, block_key
from vskill_platform.domain.collection import Collection, CollectionItem
from vskill_platform.domain.ids import alias_key
from vskill_platform.domain.submission import Actor
from vskill_platform.ports.commit import Delete, Emit, Put
from vskill_platform.stores.blocklist import blocking
from vskill_platform.stores.collections import create_collection
from vskill_platform.stores.private_paths import open_path

FILES = {"SKILL.md": skill_md(), "references/words.md": b"Hello.\n", "scripts/greet.sh": b"echo hello\n"}
SKILL = "acme/tools/greeting"
PLACE = Path(".agents/skills/greeting")


@pytest.fixture
def own(registry: LiveRegistry, machine: Machine) -> OwnClient:
    return OwnClient(machine, registry.address)


def installed(own: OwnClient, place: Path = PLACE) -> dict[str, bytes]:
    return own.machine.files(own.machine.project / place)


@proves("vskill-platform", "find")
@proves("vskill-platform", "info")
async def test_skill_is_found_and_told_about(registry: LiveRegistry, own: OwnClient) -> None:
    skill = await registry.publish(SKILL, FILES)
    found = await own.run("find", "greet", "people")
    assert (found.code, skill.slug in found.output, "1.0.0" in found.output) == (0, True, True), found.text
    assert (await own.run("find", "nothing-like-it")).code == 1
    told = await own.run("info", "greeting")
    assert told.code == 0, told.text
    assert all(word in told.output for word in (skill.slug, "PASS", skill.content_digest, "Versions: 1.0.0"))
    missing = await own.run("info", "acme/tools/missing")
    assert "(not_found)" in missing.errors


@proves("vskill-platform", "install")
async def test_install_puts_the_published_bytes_for_two_agents__and_locks_them(
    registry: LiveRegistry, own: OwnClient
) -> None:
    skill = await registry.publish(SKILL, FILES)
    (own.machine.project / ".claude").mkdir()
    ran = await own.here("install", "greeting", "-a", "claude-code", "-a", "codex")
    assert ran.code == 0, ran.text
    assert installed(own) == installed(own, Path(".claude/skills/greeting")) == FILES
    locked = own.lock[skill.slug]
    version = await registry.version(skill.slug, "1.0.0")
    assert (locked.server, locked.version, locked.content_digest) == (own.address, "1.0.0", version.content_digest)
    assert (locked.archive_digest, locked.agents) == (version.tar_digest, ("claude-code", "codex"))
    assert locked.folders == (".claude/skills/greeting", ".agents/skills/greeting")
    assert set(own.machine.files()) == {
        "vskill.lock.json",
        *(f"{folder}/{path}" for folder in locked.folders for path in FILES),
    }
    counts = (await registry.http.get(f"/api/v1/skills/{skill.slug}/installs")).json()
    assert counts["installs"] == 1
    assert [request.headers.get("user-agent") for request in registry.wire.requests[:1]] == ["vskill-platform"]


async def test_install_tells_nobody__when_asked_not_to(registry: LiveRegistry, own: OwnClient) -> None:
    skill = await registry.publish(SKILL, FILES)
    assert (await own.here("install", skill.slug, DO_NOT_TRACK="1")).code == 0
    assert (await own.here("install", skill.slug, "--no-report")).code == 0
    assert not [line for line in registry.wire.lines if line.startswith("POST")]


async def test_install_for_the_detected_agents__and_for_all_projects(registry: LiveRegistry, own: OwnClient) -> None:
    skill = await registry.publish(SKILL, FILES)
    home = own.machine.home
    for mark in (".claude", ".cursor"):
        (home / mark).mkdir()
    assert (await own.run("install", skill.slug, "--global")).code == 0
    assert own.machine.files(home / ".claude/skills/greeting") == FILES
    assert own.machine.files(home / ".cursor/skills/greeting") == FILES
    assert (home / ".agents/vskill.lock.json").exists()
    assert own.machine.files() == {}
    assert (await own.run("verify", "--global")).code == 0


async def test_install_without_names_restores_what_the_lock_file_lists(registry: LiveRegistry, own: OwnClient) -> None:
    skill = await registry.publish(SKILL, FILES)
    assert (await own.here("install", f"{skill.slug}@1.0.0")).code == 0
    await registry.publish(SKILL, {**FILES, "references/words.md": b"Good day.\n"})
    (own.machine.project / PLACE / "SKILL.md").unlink()
    assert "(folder_taken)" in (await own.here("install")).errors, "what somebody changed is not overwritten"
    assert (await own.here("install", "--force", server="")).code == 0
    assert (installed(own), own.lock[skill.slug].version) == (FILES, "1.0.0")


@proves("vskill-platform", "outdated")
@proves("vskill-platform", "update")
async def test_update_shows_what_changes_and_then_replaces(registry: LiveRegistry, own: OwnClient) -> None:
    skill = await registry.publish(SKILL, FILES)
    await own.here("install", skill.slug)
    assert (await own.here("outdated")).code == 0
    newer = {"SKILL.md": skill_md(), "scripts/greet.sh": b"curl https://greetings.example.com/today\n"}
    await registry.publish(SKILL, newer)
    shown = await own.here("outdated", server="")
    assert (shown.code, "1.0.0 → 1.0.1" in shown.output) == (3, True), shown.text
    asked = await own.here("update")
    assert (asked.code, installed(own)) == (3, FILES)
    for word in ("greetings.example.com", "removed references/words.md", "changed scripts/greet.sh"):
        assert word in asked.output, asked.text
    done = await own.here("update", "greeting", "--yes")
    assert (done.code, installed(own), own.lock[skill.slug].version) == (0, newer, "1.0.1"), done.text
    assert (await own.here("outdated")).code == 0


async def test_update_follows_a_skill__when_it_is_called_otherwise_now(registry: LiveRegistry, own: OwnClient) -> None:
    skill = await registry.publish(SKILL, FILES)
    await own.here("install", skill.slug)
    former = "acme/former/greeting"
    await registry.env.writes.commit([Put(alias_key(former), skill.slug.encode())])
    path = own.machine.project / "vskill.lock.json"
    path.write_text(path.read_text().replace(skill.slug, former))
    assert (await own.here("verify")).code == 0
    newer = {**FILES, "references/words.md": b"Good day.\n"}
    await registry.publish(SKILL, newer)
    assert (await own.here("outdated")).code == 3
    ran = await own.here("update", "--yes")
    assert (ran.code, list(own.lock), installed(own)) == (0, [skill.slug], newer), ran.text
    assert (await own.run("info", former)).code == 0


async def test_update_keeps_what_somebody_changed__unless_forced(registry: LiveRegistry, own: OwnClient) -> None:
    skill = await registry.publish(SKILL, FILES)
    await own.here("install", skill.slug)
    await registry.publish(SKILL, {**FILES, "references/words.md": b"Good day.\n"})
    (own.machine.project / PLACE / "mine.md").write_text("mine")
    ran = await own.here("update", "--yes")
    assert ("(folder_taken)" in ran.errors, (own.machine.project / PLACE / "mine.md").exists()) == (True, True)
    assert (await own.here("update", "--yes", "--force")).code == 0
    assert not (own.machine.project / PLACE / "mine.md").exists()


@proves("vskill-platform", "install a blocked skill")
async def test_install_refuses__when_the_skill_is_blocked_or_its_version_yanked(
    registry: LiveRegistry, own: OwnClient
) -> None:
    skill = await registry.publish(SKILL, FILES)
    await registry.publish(SKILL, {**FILES, "references/words.md": b"2\n"})
    await registry.yank(skill.slug, "1.0.1")
    yanked = await own.here("install", f"{skill.slug}@1.0.1")
    assert ("(version_yanked)" in yanked.errors, "It leaks names." in yanked.errors) == (True, True), yanked.text
    assert not [line for line in registry.wire.lines if "archive" in line], "its bytes are not even asked for"
    other = await registry.publish("acme/other/parting", {"SKILL.md": skill_md("parting")})
    await registry.block(other)
    blocked = await own.here("install", other.slug)
    assert (blocked.code, "It steals credentials." in blocked.errors) == (1, True), blocked.text
    assert own.machine.files() == {}


async def test_install_refuses_by_the_blocklist_alone__while_the_skill_is_still_published(
    registry: LiveRegistry, own: OwnClient
) -> None:
    skill = await registry.publish(SKILL, FILES)
    given = {
        BlockKind.DIGEST: {"digest": skill.content_digest},
        BlockKind.NAME: {"skill_name": "greeting"},
        BlockKind.REPOSITORY: {"repo_url": skill.repo_url},
    }
    for kind in BlockKind:
        block = Block(kind=kind, reason="It lies.", actor=Actor.ADMIN, created_at=skill.updated_at, **given[kind])
        await registry.env.writes.commit(blocking(block))
        ran = await own.here("install", skill.slug)
        assert ("(skill_blocked)" in ran.errors, f"by its {kind.value}: It lies." in ran.errors) == (True, True), (
            ran.text
        )
        assert "blocked by its" in (await own.run("info", skill.slug)).output
        await registry.env.writes.commit([Delete(block_key(block)), Emit("block.removed", block_key(block), b"{}")])
    assert own.machine.files() == {}
    assert (await own.here("install", skill.slug)).code == 0


@proves("vskill-platform", "verify what was taken back")
@pytest.mark.parametrize("how", ["blocked", "yanked", "withdrawn"])
async def test_installed_skill_is_told_about__when_it_was_taken_back_since(
    registry: LiveRegistry, own: OwnClient, how: str
) -> None:
    skill = await registry.publish(SKILL, FILES)
    await own.here("install", skill.slug)
    if how == "yanked":
        await registry.publish(SKILL, {**FILES, "references/words.md": b"2\n"})
        await registry.yank(skill.slug, "1.0.0")
    elif how == "blocked":
        await registry.block(skill)
    else:
        await registry.quarantine(skill.slug)
    reason = {"yanked": "It leaks names.", "blocked": "It steals credentials.", "withdrawn": "Somebody has to look."}[
        how
    ]
    for command in ("outdated", "verify", "update"):
        ran = await own.here(command)
        assert (ran.code, how in ran.output, reason in ran.output) == (4, True, True), (command, ran.text)
    assert (await own.told("outdated"))["skills"][0]["status"] == how
    assert installed(own) == FILES, "nothing is removed behind somebody's back"


@proves("vskill-platform", "verify")
async def test_verify_names_every_file_that_differs(registry: LiveRegistry, own: OwnClient) -> None:
    skill = await registry.publish(SKILL, FILES)
    await own.here("install", skill.slug)
    assert (await own.here("verify")).code == 0
    folder = own.machine.project / PLACE
    content = bytearray((folder / "references/words.md").read_bytes())
    content[0] ^= 1
    (folder / "references/words.md").write_bytes(content)
    (folder / "scripts/greet.sh").chmod(0o755)
    (folder / "added.md").write_text("new")
    (folder / "link").symlink_to("/etc/passwd")
    ran = await own.here("verify")
    assert ran.code == 3
    place = PLACE.as_posix()
    for line in (
        "changed {}/references/words.md",
        "mode {}/scripts/greet.sh",
        "added {}/added.md",
        "added {}/link symlink",
    ):
        assert line.format(place) in ran.output, ran.text
    assert (await own.here("verify", "--offline", server="http://127.0.0.1:1")).code == 3
    (folder / "SKILL.md").unlink()
    differences = (await own.told("verify", str(folder)))["skills"][0]["folders"][0]["differences"]
    assert {"path": "SKILL.md", "change": "removed", "detail": ""} in differences


async def test_verify_compares_any_folder__with_the_skill_that_it_is_said_to_be(
    registry: LiveRegistry, own: OwnClient, tmp_path: Path
) -> None:
    skill = await registry.publish(SKILL, FILES)
    for path, content in FILES.items():
        (tmp_path / "copy" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "copy" / path).write_bytes(content)
    asked = ("verify", str(tmp_path / "copy"), "--skill")
    assert (await own.here(*asked, f"{skill.slug}@1.0.0")).code == 0
    (tmp_path / "copy" / "SKILL.md").write_bytes(skill_md(body="Something else."))
    assert (await own.here(*asked, "greeting")).code == 3
    assert "--skill" in (await own.here("verify", str(tmp_path / "copy"))).errors


@proves("vskill-platform", "install from a private path")
async def test_private_path_is_an_index_of_its_own__and_its_secret_stays_out_of_everything(
    registry: LiveRegistry, own: OwnClient
) -> None:
    skill = await registry.publish(SKILL, FILES)
    await registry.publish("acme/other/parting", {"SKILL.md": skill_md("parting")})
    await registry.publish(SKILL, {**FILES, "references/words.md": b"2\n"})
    now = skill.updated_at
    item = CollectionItem(slug=skill.slug, version="1.0.0")
    inner = Collection(publisher="acme", name="inner", is_public=False, items=(item,), created_at=now, updated_at=now)
    await registry.inside(lambda: create_collection(inner))
    secret = (await registry.inside(lambda: open_path("acme", "inner", label="", account="user_1"))).secret
    private = f"{own.address}/p/{secret}"
    found = await own.run("find", "e", server=private)
    assert (skill.slug in found.output, "parting" in found.output) == (True, False), found.text
    ran = await own.here("install", "greeting", server=private)
    assert (ran.code, own.lock[skill.slug].version, installed(own)) == (0, "1.0.0", FILES), ran.text
    assert (await own.here("outdated", server=private)).code == 0, "the path pins the version"
    assert (await own.here("outdated")).code == 3
    assert "(not_found)" in (await own.here("install", "parting", server=private)).errors
    assert secret not in (own.machine.project / "vskill.lock.json").read_text() + ran.text + found.text
    gone = await own.here("install", "greeting", server=f"{own.address}/p/vsp_wrong")
    assert ("(not_found)" in gone.errors, "vsp_wrong" in gone.text) == (True, False)
    assert not [line for line in registry.wire.lines if line.startswith("POST") and "installs" in line]


async def test_token_goes_to_the_named_registry_alone__and_that_one_has_to_be_the_one_it_says(
    registry: LiveRegistry, own: OwnClient, tmp_path: Path
) -> None:
    skill = await registry.publish(SKILL, FILES)
    (tmp_path / "token").write_text(f"{await registry.token('anna')}\n")
    await own.here("install", skill.slug, "--token-file", str(tmp_path / "token"))
    assert all(request.headers["authorization"].startswith("Bearer ") for request in registry.wire.requests)
    registry.wire.requests.clear()
    await own.here("outdated", server="", VSKILL_PLATFORM_TOKEN_FILE=str(tmp_path / "token"))
    assert registry.wire.requests
    assert not any("authorization" in request.headers for request in registry.wire.requests)
    refused = await own.run("find", "x", "--token-file", str(tmp_path / "token"), server="http://registry.example")
    assert "unencrypted" in refused.errors
    async with secure_door(registry.address, tmp_path) as door:
        known = await own.run("find", "greet", server=door.address, SSL_CERT_FILE=str(door.trusted))
        assert (known.code, skill.slug in known.output) == (0, True), known.text
        stranger = await own.run("find", "greet", server=door.address)
        assert ("(registry_unreachable)" in stranger.errors, "CERTIFICATE" in stranger.errors) == (True, True)


async def test_commands_say_what_to_do__when_they_cannot_begin(own: OwnClient) -> None:
    for arguments, word in (
        (("find", "x"), "--server"),
        (("install", "a/b"), "owner/repo/skill"),
        (("install", "greeting", "-a", "nobody"), "claude-code"),
        (("install",), "Name a skill"),
        (("verify", "--skill", "a"), "FOLDER"),
    ):
        ran = await own.run(*arguments, server="")
        assert (ran.code, word in ran.errors) == (1, True), ran.text
    assert "(registry_unreachable)" in (await own.run("find", "x", server="http://127.0.0.1:1")).errors


def test_agents_have_the_folders_that_they_read(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "CODEX_HOME": "/opt/codex"}
    mine, project = user_scope(environ), project_scope(tmp_path / "project", environ=environ)
    assert {name: mine.shown(mine.folder_of(agent)) for name, agent in AGENTS.items()} == {
        "shared": "~/.agents/skills",
        "claude-code": "~/.claude/skills",
        "codex": "/opt/codex/skills",
        "cursor": "~/.cursor/skills",
        "gemini-cli": "~/.gemini/skills",
        "github-copilot": "~/.copilot/skills",
        "opencode": "~/.config/opencode/skills",
    }
    here = {name: project.shown(project.folder_of(agent)) for name, agent in AGENTS.items()}
    assert here.pop("claude-code") == ".claude/skills"
    assert set(here.values()) == {".agents/skills"}
    assert [agent.name for agent in project.detect()] == ["shared"]
    (tmp_path / "project" / ".gemini").mkdir(parents=True)
    (tmp_path / ".config" / "opencode").mkdir(parents=True)
    assert [agent.name for agent in project.detect()] == ["gemini-cli", "opencode"]


async def test_commands_of_the_client_start_without_web_engines_and_stores() -> None:
    wanted = "import sys; from vskill_platform.cli import find, info, install, mcp, outdated, update, verify"
    heavy = "('vskill_platform.' + room for room in ('app', 'web', 'engines', 'stores', 'pipeline', 'scanning'))"
    told = f"{wanted}; print([name for name in (*{heavy}, 'litestar', 'mcp', 'numpy') if name in sys.modules])"
    ran = await asyncio.create_subprocess_exec(sys.executable, "-c", told, stdout=asyncio.subprocess.PIPE)
    output, _ = await ran.communicate()
    assert output.decode().strip() == "[]"


@proves("vskill-platform", "uninstall")
async def test_uninstall_removes_the_folders_and_the_entry__without_a_registry(
    registry: LiveRegistry, own: OwnClient
) -> None:
    skill = await registry.publish(SKILL, FILES)
    other = await registry.publish("acme/tools/farewell", {"SKILL.md": skill_md("farewell")})
    await own.here("install", skill.slug, other.slug, "-a", "claude-code", "-a", "codex")
    ran = await own.here("uninstall", "greeting", server="")
    assert (ran.code, skill.slug in ran.output, ".claude/skills/greeting" in ran.output) == (0, True, True), ran.text
    assert set(own.lock) == {other.slug}
    assert {path.split("/")[2] for path in own.machine.files() if "/" in path} == {"farewell"}
    assert (await own.here("verify")).code == 0
    again = await own.here("uninstall", "greeting")
    assert "(not_found)" in again.errors
    assert other.slug in again.errors


async def test_uninstall_from_one_agent_leaves_the_folder_that_another_reads(
    registry: LiveRegistry, own: OwnClient
) -> None:
    skill = await registry.publish(SKILL, FILES)
    await own.here("install", skill.slug, "-a", "claude-code", "-a", "codex", "-a", "cursor")
    told = await own.told("uninstall", skill.slug, "-a", "codex")
    assert told["removed"] == [
        {"slug": skill.slug, "version": "1.0.0", "folders": [], "stillFor": ["claude-code", "cursor"]}
    ]
    assert installed(own) == FILES
    assert (await own.here("uninstall", skill.slug, "-a", "cursor")).code == 0
    assert (installed(own), installed(own, Path(".claude/skills/greeting"))) == ({}, FILES)
    assert own.lock[skill.slug].folders == (".claude/skills/greeting",)
    stranger = await own.here("uninstall", skill.slug, "-a", "codex")
    assert "(invalid_input)" in stranger.errors
    assert "claude-code" in stranger.errors


async def test_uninstall_follows_a_link_between_agents__and_takes_nothing_from_the_other(
    registry: LiveRegistry, own: OwnClient
) -> None:
    skill = await registry.publish(SKILL, FILES)
    (own.machine.project / ".agents/skills").mkdir(parents=True)
    (own.machine.project / ".claude").mkdir()
    (own.machine.project / ".claude/skills").symlink_to("../.agents/skills")
    await own.here("install", skill.slug, "-a", "claude-code", "-a", "codex")
    assert (await own.here("uninstall", skill.slug, "-a", "claude-code")).code == 0
    assert (installed(own), own.lock[skill.slug].agents) == (FILES, ("codex",))


async def test_uninstall_leaves_what_was_changed__until_it_is_forced(registry: LiveRegistry, own: OwnClient) -> None:
    skill = await registry.publish(SKILL, FILES)
    await own.here("install", skill.slug)
    notes = own.machine.project / PLACE / "notes.md"
    notes.write_text("Mine.\n")
    ran = await own.here("uninstall", skill.slug)
    assert "(folder_taken)" in ran.errors
    assert (notes.read_text(), set(own.lock)) == ("Mine.\n", {skill.slug})
    assert (await own.here("uninstall", skill.slug, "--force")).code == 0
    assert (installed(own), own.lock) == ({}, {})


async def test_uninstall_that_cannot_write_the_lock_file_puts_the_skill_back(
    registry: LiveRegistry, own: OwnClient
) -> None:
    skill = await registry.publish(SKILL, FILES)
    await own.here("install", skill.slug)
    lock = own.machine.project / "vskill.lock.json"
    lock.with_name(f".{lock.name}.{os.getpid()}").symlink_to("no-such-folder/file")
    ran = await own.here("uninstall", skill.slug)
    assert "(install_failed)" in ran.errors
    assert (installed(own), set(own.lock)) == (FILES, {skill.slug})
    assert (await own.here("uninstall", skill.slug)).code == 0


async def test_uninstall_of_a_folder_that_is_gone_clears_the_entry(registry: LiveRegistry, own: OwnClient) -> None:
    skill = await registry.publish(SKILL, FILES)
    await own.here("install", skill.slug)
    shutil.rmtree(own.machine.project / PLACE)
    assert (await own.here("uninstall", skill.slug)).code == 0
    assert own.lock == {}
