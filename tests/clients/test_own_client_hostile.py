"""Our own client against a registry that lies, a wire that alters, a disk that fills up, and its own sudden death."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tarfile
import zlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.acceptance.forked import COMMAND
from tests.clients.own import Liar, OwnClient, learn, lying, process_env
from tests.clients.programs import Machine
from tests.clients.registry import LiveRegistry, open_registry
from tests.clients.table import proves
from tests.pipeline.journey import skill_md
from vskill_platform.client.lock_file import LockedSkill, holding
from vskill_platform.client.placing import clear_leftovers
from vskill_platform.client.unpacking import unpack
from vskill_platform.domain.archives import build_tar
from vskill_platform.domain.content import SkillContent, SkillFile, make_content
from vskill_platform.domain.errors import ArchiveRefused, InstallFailed
from vskill_platform.engines.memory import open_memory
from vskill_platform.ingest.limits import skill_limits
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.scanner import Scanner
from vskill_platform.settings import Settings

LIMITS = skill_limits(Settings())
FILES = {"SKILL.md": skill_md(), "words.md": b"Hello.\n"}
SLUG = "127-0-0-1-acme/tools/greeting"
PLACE = ".agents/skills/greeting"


def content_of(files: dict[str, bytes]) -> SkillContent:
    return make_content([SkillFile(path=path, content=content) for path, content in files.items()])


@pytest_asyncio.fixture(scope="module", loop_scope="package")
async def learnt(scanner: Scanner, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a real registry says of a skill."""
    folder = tmp_path_factory.mktemp("learnt")
    engine = await open_memory(clock=SystemClock())
    async with open_registry(engine, folder, scanner=scanner) as registry:
        assert (await registry.publish("acme/tools/greeting", FILES)).slug == SLUG
        answers = await learn(registry.http, SLUG)
    await engine.close()
    return answers


@pytest_asyncio.fixture(loop_scope="package")
async def liar(learnt: dict[str, bytes], machine: Machine) -> AsyncIterator[tuple[Liar, OwnClient]]:
    """A registry that has learnt its answers from a real one and lies when told to, and a client that believes in it."""
    async with lying(learnt) as (liar, address):
        yield liar, OwnClient(machine, address)


def spoil(liar: Liar) -> None:
    archive = bytearray(liar.answers["/archive.tar"])
    archive[600] ^= 1
    liar.answers["/archive.tar"] = bytes(archive)


def truncate(liar: Liar) -> None:
    liar.answers["/archive.tar"] = liar.answers["/archive.tar"][:-512]


def lengthen(liar: Liar) -> None:
    liar.answers["/archive.tar"] += b"\0" * 512


def cut(liar: Liar) -> None:
    liar.cut.add("/archive.tar")


def swap(liar: Liar) -> None:
    liar.answers["/archive.tar"] = build_tar(
        content_of({"SKILL.md": skill_md(body="Swapped."), "words.md": b"Hello.\n"})
    )


def swap_with_its_digest(liar: Liar) -> None:
    """Everything agrees but the digest of the content, which is that of the files before."""
    before = json.loads(liar.answers["/versions/1.0.0"])
    content = content_of({"SKILL.md": skill_md(body="Swapped."), "words.md": b"Hello.\n"})
    liar.publish(build_tar(content), content, contentDigest=before["contentDigest"], files=before["files"])


def contradict(liar: Liar) -> None:
    version = json.loads(liar.answers["/versions/1.0.0"])
    version["files"][0]["sha256"] = "0" * 64
    liar.answers["/versions/1.0.0"] = json.dumps(version).encode()


def tell_of_another(liar: Liar) -> None:
    version = json.loads(liar.answers["/versions/1.0.0"])
    liar.answers["/versions/1.0.0"] = json.dumps({**version, "slug": "acme/tools/other"}).encode()


def compress(liar: Liar) -> None:
    """An archive that the library would unpack to far more than was stated."""
    liar.answers["/archive.tar"] = zlib.compress(b"\0" * 50_000_000)
    liar.headers["/archive.tar"] = {"Content-Encoding": "deflate"}


def claim_too_much(liar: Liar) -> None:
    liar.publish(b"\0" * 1024, content_of(FILES), tar={"digest": "", "size": 10**12})


LIES: list[tuple[Callable[[Liar], None], str, str]] = [
    (spoil, "archive_refused", "the archive has another digest"),
    (truncate, "archive_refused", "bytes for the archive and sent"),
    (lengthen, "archive_refused", "bytes for the archive and sent more"),
    (cut, "registry_unreachable", "does not answer"),
    (swap, "archive_refused", "the archive has another digest"),
    (swap_with_its_digest, "archive_refused", "its files have another digest"),
    (contradict, "archive_refused", "contradicts itself"),
    (tell_of_another, "archive_refused", "contradicts itself"),
    (compress, "archive_refused", "coding"),
    (claim_too_much, "archive_refused", "over a limit"),
]


@proves("vskill-platform", "install altered bytes")
async def test_install_leaves_nothing__when_what_comes_is_not_what_was_published(
    liar: tuple[Liar, OwnClient],
) -> None:
    told, own = liar
    honest = dict(told.answers)
    for lie, code, why in LIES:
        told.answers, told.headers, told.cut = dict(honest), {}, set()
        lie(told)
        ran = await own.here("install", SLUG, "--no-report", "--force")
        assert (ran.code, f"({code})" in ran.errors, why in ran.errors) == (1, True, True), (lie.__name__, ran.text)
        assert own.machine.files() == {}, lie.__name__
    told.answers, told.headers, told.cut = dict(honest), {}, set()
    assert (await own.here("install", SLUG, "--no-report")).code == 0, "without a lie it works"


def entry(name: str, **fields: Any) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    return info


def archive_of(*entries: tuple[tarfile.TarInfo, bytes], form: int = tarfile.USTAR_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for info, content in entries:
            info.size = len(content)
            info.mtime = 0
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


SKILL_ENTRY = (entry("SKILL.md"), FILES["SKILL.md"])
WHOLE = build_tar(content_of(FILES))


def forged(**files: bytes) -> bytes:
    """An archive that is as registries write them but for the names in it."""
    return build_tar(content_of({**FILES, **files}))


FORGED: dict[str, tuple[bytes, str]] = {
    "traversal": (forged(**{"../../evil": b"x"}), "has the part '..'"),
    "absolute": (forged(**{"/tmp/evil": b"x"}), "is absolute"),
    "backslash": (forged(**{"..\\evil": b"x"}), "Windows"),
    "names that fold": (forged(**{"skill.MD": b"another"}), "may not be installed"),
    "git's own folder": (forged(**{".git/config": b"x"}), "git's own folder"),
    "too many files": (forged(**{f"f{number:04}": b"" for number in range(LIMITS.files)}), "files"),
    "too deep": (forged(**{"/".join("d" * (LIMITS.depth + 2)): b"x"}), "depth"),
    "symlink": (archive_of((entry("link", type=tarfile.SYMTYPE, linkname="/etc/passwd"), b"")), "holds a link"),
    "hard link": (archive_of((entry("link", type=tarfile.LNKTYPE, linkname="SKILL.md"), b"")), "holds a link"),
    "device": (archive_of((entry("device", type=tarfile.CHRTYPE), b"")), "is no file"),
    "folder": (archive_of((entry("folder", type=tarfile.DIRTYPE), b"")), "is no file"),
    "long name of pax": (archive_of((entry("a/" * 150 + "b"), b"x"), form=tarfile.PAX_FORMAT), "is no file"),
    "same name twice": (archive_of(SKILL_ENTRY, (entry("SKILL.md"), b"another")), "may not be installed"),
    "another order": (archive_of((entry("b"), b"x"), (entry("a"), b"x")), "another order"),
    "something after the end": (WHOLE + b"more" * 128, "beside its files"),
    "another owner": (archive_of((entry("SKILL.md", uid=7), FILES["SKILL.md"])), "beside its files"),
    "a size that is none": (WHOLE.replace(b"00000000007\0", b"0000000000z\0"), "number"),
    "a file that goes on": (WHOLE.replace(b"00000000007\0", b"00000777777\0"), "middle of a file"),
    "a file without end": (WHOLE.replace(b"00000000007\0", b"77777777777\0"), "bytes"),
    "no archive": (b"#!/bin/sh\n" * 100, "is no file"),
}


@pytest.mark.parametrize("how", FORGED)
def test_archive_is_refused__when_no_registry_writes_such(how: str) -> None:
    archive, why = FORGED[how]
    with pytest.raises(ArchiveRefused, match=re.escape(why)):
        unpack(archive, limits=LIMITS)


def test_archive_is_read__when_a_registry_has_written_it() -> None:
    content = make_content(
        [SkillFile(path="SKILL.md", content=b"x" * 700), SkillFile(path="d/é.sh", content=b"", executable=True)]
    )
    assert unpack(build_tar(content), limits=LIMITS) == content


async def test_install_leaves_nothing__when_the_archive_climbs_out_of_its_folder(
    liar: tuple[Liar, OwnClient],
) -> None:
    told, own = liar
    for how in ("traversal", "symlink"):
        told.publish(FORGED[how][0], content_of({**FILES, "../../evil": b"x"}))
        ran = await own.here("install", SLUG, "--no-report")
        assert "(archive_refused)" in ran.errors, ran.text
        assert not [path for path in own.machine.project.parent.rglob("*") if path.is_file() or path.is_symlink()]


async def test_install_leaves_nothing__when_it_is_killed_in_the_middle(liar: tuple[Liar, OwnClient]) -> None:
    told, own = liar
    told.stalled.add("/archive.tar")
    process = await asyncio.create_subprocess_exec(
        *(COMMAND, "install", SLUG, "--no-report"),
        cwd=own.machine.project,
        env={"PATH": os.environ["PATH"], **process_env(own.machine, own.address)},
    )
    async with asyncio.timeout(60):
        await told.reached.wait()
        process.kill()
        assert await process.wait() == -signal.SIGKILL
    assert own.machine.files() == {}


ENDING = """
import os, sys
from pathlib import Path
from vskill_platform.client.placing import place
from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.domain.errors import InstallFailed
from vskill_platform.ingest.limits import skill_limits
from vskill_platform.settings import Settings
content = make_content([SkillFile(path="SKILL.md", content=b"new"), SkillFile(path="d/new.md", content=b"new")])
how = sys.argv[2]
steps = ("os.rename", "os.mkdir", "shutil.rmtree", "os.remove") if how == "killed" else ("os.rename",)
def replace(root, left):
    def end(event, arguments):
        nonlocal left
        if event in steps:
            left -= 1
            if left == -1 and how == "killed":
                os.kill(os.getpid(), 9)
            if left == -1:
                raise OSError(28, "No space left on device")
    sys.addaudithook(end)
    try:
        place(content, [root / "a" / "skill", root / "b" / "skill"], limits=skill_limits(Settings()))
    except InstallFailed:
        os._exit(1)
    os._exit(0)
for step in range(100):
    root = Path(sys.argv[1]) / str(step)
    for agent in ("a", "b"):
        (root / agent / "skill").mkdir(parents=True)
        (root / agent / "skill" / "SKILL.md").write_bytes(b"old")
    child = os.fork() or replace(root, step)
    if os.waitpid(child, 0)[1] == 0:
        break
"""
"""Replaces a skill in two folders again and again; each time the process ends, or a step fails, one step later than before."""


async def end_at_every_step(folder: Path, how: str) -> list[Path]:
    ran = await asyncio.create_subprocess_exec(sys.executable, "-c", ENDING, str(folder), how)
    assert await ran.wait() == 0
    return sorted(folder.iterdir(), key=lambda path: int(path.name))


def has_new(parent: Path) -> bool:
    """Whether the new skill lies there, and nothing else; the old one and nothing else is the only other way it may be."""
    found = {str(path.relative_to(parent)): path.read_bytes() for path in parent.rglob("*") if path.is_file()}
    new = {"skill/SKILL.md": b"new", "skill/d/new.md": b"new"}
    assert found in ({"skill/SKILL.md": b"old"}, new), (parent, found)
    assert [path.name for path in parent.iterdir()] == ["skill"]
    return found == new


async def test_skill_is_whole__whenever_a_client_dies_while_it_replaces_one(tmp_path: Path) -> None:
    steps = await end_at_every_step(tmp_path, "killed")
    for step in steps:
        clear_leftovers(step / "a")
        clear_leftovers(step / "b")
    seen = [has_new(step / agent) for step in steps for agent in ("a", "b")]
    assert (len(steps) > 10, seen[0], seen[-1]) == (True, False, True), "the last one has come to its end"


async def test_skill_is_as_it_was_for_every_agent__whenever_a_step_fails(tmp_path: Path) -> None:
    *failed, done = await end_at_every_step(tmp_path, "failed")
    assert [has_new(step / agent) for step in failed for agent in ("a", "b")] == [False] * 2 * len(failed)
    assert (len(failed), has_new(done / "a"), has_new(done / "b")) == (4, True, True), "two renames for each agent"


def test_project_is_changed_by_one_client_at_a_time(tmp_path: Path) -> None:
    with holding(tmp_path), pytest.raises(InstallFailed, match="Another client"), holding(tmp_path, limit_s=0.01):
        pass
    with holding(tmp_path, limit_s=0):
        assert list(tmp_path.iterdir()) == []


def no_room() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


async def test_install_changes_nothing__when_the_disk_takes_no_more(liar: tuple[Liar, OwnClient]) -> None:
    told, own = liar
    assert (await own.here("install", SLUG, "--no-report")).code == 0
    before = own.machine.files()
    content = content_of({**FILES, "large.md": b"x" * 5000})
    told.publish(build_tar(content), content)
    ran = await asyncio.to_thread(
        subprocess.run,
        [COMMAND, "install", SLUG, "--no-report"],
        cwd=own.machine.project,
        env={"PATH": os.environ["PATH"], **process_env(own.machine, own.address)},
        preexec_fn=no_room,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, "install_failed" in ran.stderr) == (1, True), ran.stderr
    assert own.machine.files() == before


def change_name(skill: dict[str, Any]) -> None:
    skill["name"] = "../../evil"


def change_agent(skill: dict[str, Any]) -> None:
    skill["agents"] = ["../../evil"]


def change_file(skill: dict[str, Any]) -> None:
    skill["files"][0]["sha256"] = "0" * 64


def change_server(skill: dict[str, Any]) -> None:
    skill["server"] = "file:///etc/passwd"


def change_slug(skill: dict[str, Any]) -> None:
    skill["slug"] = "acme/../evil"


def forget_digest(skill: dict[str, Any]) -> None:
    del skill["contentDigest"]


@pytest.fixture
def lock_path(machine: Machine) -> Path:
    return machine.project / "vskill.lock.json"


async def test_lock_file_is_refused__when_somebody_has_altered_it(
    liar: tuple[Liar, OwnClient], lock_path: Path
) -> None:
    told, own = liar
    await own.here("install", SLUG, "--no-report")
    whole = lock_path.read_text()
    for change in (change_name, change_agent, change_file, change_server, change_slug, forget_digest):
        lock = json.loads(whole)
        change(lock["skills"][SLUG])
        lock_path.write_text(json.dumps(lock))
        for command in ("outdated", "verify", "update", "install"):
            ran = await own.here(command)
            assert "(invalid_lock)" in ran.errors, (change.__name__, command, ran.text)
        assert lock_path.read_text() == json.dumps(lock), "it is not written over"
    for text in ("{", "[]", json.dumps({**json.loads(whole), "lockVersion": 2}), "\udcff"):
        lock_path.write_bytes(text.encode(errors="surrogateescape"))
        assert "(invalid_lock)" in (await own.here("install", SLUG)).errors, text
    assert told.reached.is_set() is False


async def test_verify_asks_the_registry__when_lock_file_and_folder_were_altered_together(
    registry: LiveRegistry, machine: Machine, lock_path: Path
) -> None:
    own = OwnClient(machine, registry.address)
    await registry.publish("acme/tools/greeting", FILES)
    await own.here("install", SLUG)
    evil = content_of({**FILES, "words.md": b"Evil.\n"})
    (machine.project / PLACE / "words.md").write_bytes(b"Evil.\n")
    liar = Liar({"/versions/1.0.0": b"{}"})
    liar.publish_content(evil)
    told = json.loads(liar.answers["/versions/1.0.0"])
    lock = json.loads(lock_path.read_text())
    lock["skills"][SLUG] |= {"files": told["files"], "contentDigest": told["contentDigest"]}
    lock_path.write_text(json.dumps(lock))
    assert (await own.here("verify", "--offline")).code == 0, "among themselves they agree"
    ran = await own.here("verify")
    assert (ran.code, "has published" in ran.output) == (3, True), ran.text
    restored = await own.here("install")
    assert "(archive_refused)" in restored.errors, restored.text


async def test_install_keeps_what_is_not_its_own__until_it_is_forced(liar: tuple[Liar, OwnClient]) -> None:
    _, own = liar
    folder = own.machine.project / PLACE
    folder.mkdir(parents=True)
    (folder / "mine.md").write_text("mine")
    ran = await own.here("install", SLUG, "--no-report")
    assert ("(folder_taken)" in ran.errors, own.machine.files()) == (True, {f"{PLACE}/mine.md": b"mine"}), ran.text
    assert (await own.here("install", SLUG, "--no-report", "--force")).code == 0
    assert own.machine.files(folder) == FILES


async def test_install_follows_no_link__out_of_the_project_or_at_its_target(
    liar: tuple[Liar, OwnClient], tmp_path: Path
) -> None:
    _, own = liar
    outside = tmp_path / "outside"
    outside.mkdir()
    for path, content in FILES.items():
        (outside / path).write_bytes(content)
    skills = own.machine.project / ".agents" / "skills"
    skills.mkdir(parents=True)
    (skills / "greeting").symlink_to(outside)
    assert "(folder_taken)" in (await own.here("install", SLUG, "--no-report")).errors
    assert (await own.here("install", SLUG, "--no-report", "--force")).code == 0
    assert own.machine.files(outside) == FILES
    (own.machine.project / ".claude").symlink_to(outside)
    ran = await own.here("install", SLUG, "--no-report", "-a", "claude-code")
    assert ("(folder_taken)" in ran.errors, own.machine.files(outside)) == (True, FILES), ran.text


async def test_two_skills_of_a_name_do_not_replace_each_other(registry: LiveRegistry, machine: Machine) -> None:
    own = OwnClient(machine, registry.address)
    first = await registry.publish("acme/tools/greeting", FILES)
    second = await registry.publish("umbrella/tools/greeting", FILES)
    assert "Several skills" in (await own.here("install", "greeting")).errors
    assert (await own.here("install", first.slug)).code == 0
    ran = await own.here("install", second.slug)
    assert ("(folder_taken)" in ran.errors, list(own.lock)) == (True, [first.slug]), ran.text
    assert (await own.here("install", second.slug, "--force")).code == 0
    locked: dict[str, LockedSkill] = own.lock
    assert list(locked) == [second.slug]
