"""The doctor's look at this machine: settings, folder, disk, blobs, git, scanner."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import stat
from pathlib import Path
from uuid import uuid4

import msgspec

from vskill_platform.app.control import SOCKET_NAME
from vskill_platform.app.doctor.finding import Finding, broken, doubtful, well
from vskill_platform.app.stores import BLOBS_NAME, open_blobs
from vskill_platform.domain.alert import NO_DISK_BYTES
from vskill_platform.domain.content import SkillContent, SkillFile
from vskill_platform.domain.errors import StoreUnavailable
from vskill_platform.engines.ownership import find_owner
from vskill_platform.ingest.git_commands import find_git
from vskill_platform.notify.machine import free_room
from vskill_platform.ports.clock import SystemClock
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.scanning.tier1.all_sets import are_compiled
from vskill_platform.scanning.tier1.compiled_sets import is_supported
from vskill_platform.settings import Settings

OLDEST_GIT = (2, 34)
_SKILL_MD = b"---\nname: doctor\ndescription: A skill that the doctor has scanned.\n---\nSay hello.\n"
SAMPLE = SkillContent(files=(SkillFile(path="SKILL.md", content=_SKILL_MD),))


async def look_at_settings(settings: Settings) -> list[Finding]:
    """Settings that are valid and still not what a registry for others should have."""
    findings = [well("settings", "All are known and in range.")]
    if settings.allow_private_addresses:
        advice = "Leave VSKILL_PLATFORM_ALLOW_PRIVATE_ADDRESSES off unless all submitters are trusted."
        findings.append(doubtful("settings", "Repositories may be fetched from private networks.", advice=advice))
    if "http" in (word.strip() for word in settings.git_protocols.split(",")):
        advice = "Use https alone in VSKILL_PLATFORM_GIT_PROTOCOLS."
        findings.append(doubtful("settings", "Repositories may be fetched without encryption.", advice=advice))
    return findings


async def look_at_folder(settings: Settings) -> list[Finding]:
    """The data folder: whose it is, who may read it, and whether somebody works there."""
    return [await asyncio.to_thread(_look_at_folder, settings)]


def _look_at_folder(settings: Settings) -> Finding:
    folder = Path(settings.data)
    if not folder.exists():
        place = next(parent for parent in folder.absolute().parents if parent.exists())
        if os.access(place, os.W_OK | os.X_OK):
            return well("data folder", f"{folder} is not there; the first start will make it.")
        return broken(
            "data folder", f"{folder} is not there, and {place} cannot be written.", advice="Make it, or name another."
        )
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return broken(
            "data folder", f"{folder} cannot be written by this user.", advice="Run as the user that owns it."
        )
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        return doubtful("data folder", f"{folder} is open to other users.", advice=f"chmod 700 {folder}")
    if settings.database_url:
        return well("data folder", f"{folder} can be used.")
    return _look_at_owner(folder)


def _look_at_owner(folder: Path) -> Finding:
    owner, socket = find_owner(folder), folder / SOCKET_NAME
    if owner is None:
        return well("data folder", f"{folder} can be used; no registry runs on it.")
    if not socket.exists():
        return broken(
            "control socket",
            f"Process {owner} owns {folder}, and {socket} is not there.",
            advice="Restart that process.",
        )
    if stat.S_IMODE(socket.stat().st_mode) != 0o600:
        return broken("control socket", f"{socket} is open to other users.", advice=f"chmod 600 {socket}")
    return well("control socket", f"Process {owner} runs the registry in {folder}, and {socket} is for its user alone.")


async def look_at_disk(settings: Settings) -> list[Finding]:
    """Room where the data folder is, or will be."""
    room = await asyncio.to_thread(free_room, settings.data)
    detail = f"{room.free_bytes / 1024**3:.1f} GiB free for {room.folder}."
    if room.free_bytes < NO_DISK_BYTES:
        return [broken("disk", detail, advice="Make room: writes will be refused.")]
    if room.free_bytes < settings.alert_disk_free_bytes:
        return [doubtful("disk", detail, advice="Make room before it runs out.")]
    return [well("disk", detail)]


async def look_at_blobs(settings: Settings) -> list[Finding]:
    """Write, read back and delete a blob of our own, away from those of the registry."""
    if settings.blobs_url:
        trial = {"blobs_url": f"{settings.blobs_url.rstrip('/')}/doctor-{uuid4().hex}"}
        await _try_blobs(msgspec.structs.replace(settings, **trial))
        return [well("blobs", f"Written, read and deleted at {settings.blobs_url}.")]
    folder = Path(settings.data)
    if not await asyncio.to_thread(folder.exists):
        return [well("blobs", f"In {folder / BLOBS_NAME}, which the first start will make.")]
    place = folder / f".doctor-{uuid4().hex}"
    try:
        await _try_blobs(msgspec.structs.replace(settings, data=str(place)))
    finally:
        await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
    if settings.database_url:
        advice = (
            "Every process must see this very folder; for several machines name a bucket in VSKILL_PLATFORM_BLOBS_URL."
        )
        return [doubtful("blobs", f"Written, read and deleted in the folder {folder}.", advice=advice)]
    return [well("blobs", f"Written, read and deleted in the folder {folder}.")]


async def _try_blobs(settings: Settings) -> None:
    """Raises what the blobs raise; a store that does not give back what it was given is broken, and says so itself."""
    clock = SystemClock()
    sample = f"written by the doctor {uuid4()}".encode()
    blobs = open_blobs(settings, clock=clock)
    digest = await blobs.put(sample)
    await blobs.get(digest)
    if await blobs.collect([], put_before_ms=clock.now_ms() + 60_000) != 1:
        raise StoreUnavailable("A blob was written and could not be deleted again. Permit this key to delete.")


async def look_at_git(settings: Settings) -> list[Finding]:
    """git is there and new enough."""
    git = find_git()
    process = await asyncio.create_subprocess_exec(
        str(git), "--version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    told = (await process.communicate())[0].decode(errors="replace").strip()
    found = re.search(r"(\d+)\.(\d+)", told)
    if found is None:
        return [broken("git", f"{git} does not say its version.", advice="Install git 2.34 or newer.")]
    if (int(found[1]), int(found[2])) < OLDEST_GIT:
        return [broken("git", f"{told} at {git} is too old.", advice="Install git 2.34 or newer.")]
    return [well("git", f"{told} at {git}.")]


async def look_at_scanner(settings: Settings) -> list[Finding]:
    """A scanning process starts with the rules of the settings, and scans."""
    async with ScannerPool(msgspec.structs.replace(settings, scan_processes=1)) as pool:
        report = await pool.scan(SAMPLE)
    if report.limits_hit:
        advice = "Give it more: VSKILL_PLATFORM_SCAN_MEMORY_BYTES, VSKILL_PLATFORM_SCAN_TIME_LIMIT_S."
        return [broken("scanner", f"A small scan hit a limit: {', '.join(report.limits_hit)}.", advice=advice)]
    found = [well("scanner", f"A process scanned by rules {report.ruleset_version} in {report.duration_ms:.0f} ms.")]
    if is_supported() and not await asyncio.to_thread(are_compiled):
        advice = "Run `vskill-platform compile-rules` once, as the user who installed the software."
        found.append(doubtful("scanner", "Its patterns are not compiled ahead: scans are slower.", advice=advice))
    return found
