"""The bytes of versions: exactly those that were verified, as files and as archives, or an error."""

from __future__ import annotations

import base64
import gc
import hashlib
from pathlib import Path

import httpx
import pytest

from tests.api.skills.registry import PLACE, Registry, client_of
from tests.pipeline.journey import skill_md
from vskill_platform.app import serving
from vskill_platform.domain.archives import read_tar
from vskill_platform.domain.content import content_digest
from vskill_platform.stores import contents
from vskill_platform.stores.byte_room import ByteRoom
from vskill_platform.testing.git_repos import executable

pytestmark = pytest.mark.asyncio(loop_scope="package")
VERSION = f"{PLACE}/versions/1.0.0"
FOREVER = "private, max-age=31536000, immutable"
FILES = {
    "SKILL.md": skill_md(),
    "scripts/hi.sh": executable(b"echo hi\n"),
    "notes/gr\u00fc\u00dfe & mehr.md": "Gr\u00fc\u00dfe\n".encode(),
    "page.html": b"<script>alert(1)</script>\n",
    "dot.png": b"\x89PNG\r\n\x1a\n" + bytes(8),
}


async def test_every_byte_is_what_was_verified__in_files_and_archives(registry: Registry) -> None:
    await registry.journey.publish("acme/greeting", FILES)
    answer = await registry.get(VERSION)
    assert answer.headers["Cache-Control"] == "no-cache"
    version = answer.json()
    assert {file["path"] for file in version["files"]} == set(FILES)
    for file in version["files"]:
        got = await registry.get(f"{VERSION}/files/{file['path']}")
        assert got.status_code == 200, (file, got.text)
        assert hashlib.sha256(got.content).hexdigest() == file["sha256"], file["path"]
        assert got.headers["ETag"] == f'"sha256:{file["sha256"]}"'
        assert got.headers["Content-Type"] in ("text/plain; charset=utf-8", "application/octet-stream")
        assert got.headers["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in got.headers["Content-Security-Policy"]
        assert got.headers["Content-Disposition"].startswith("attachment;")
        assert got.headers["Cache-Control"] == FOREVER
    for kind in ("zip", "tar"):
        got = await registry.get(version[kind]["url"])
        assert f"sha256:{hashlib.sha256(got.content).hexdigest()}" == version[kind]["digest"]
        assert got.headers["ETag"] == f'"{version[kind]["digest"]}"'
        digest = base64.b64encode(hashlib.sha256(got.content).digest()).decode()
        assert got.headers["Repr-Digest"] == f"sha-256=:{digest}:"
        assert int(got.headers["Content-Length"]) == version[kind]["size"] == len(got.content)
        assert got.headers["Cache-Control"] == FOREVER
        known = await registry.client.get(version[kind]["url"], headers={"If-None-Match": got.headers["ETag"]})
        assert (known.status_code, known.content) == (304, b"")
    content = read_tar((await registry.get(version["tar"]["url"])).content)
    assert content_digest(content) == version["contentDigest"]


async def test_large_archive_comes_whole__in_pieces(registry: Registry) -> None:
    text = b"Greet the user kindly.\n" * 40_000
    await registry.journey.publish("acme/greeting", {"SKILL.md": skill_md(), **{f"{n}.md": text for n in "abcd"}})
    version = (await registry.get(VERSION)).json()
    assert version["zip"]["size"] > 2 * 1024 * 1024
    got = await registry.get(version["zip"]["url"])
    assert f"sha256:{hashlib.sha256(got.content).hexdigest()}" == version["zip"]["digest"]


async def test_changed_or_missing_blob_is_an_error__and_never_other_bytes(registry: Registry) -> None:
    await registry.journey.publish("acme/greeting", FILES)
    version = (await registry.get(VERSION)).json()
    tar = _blob_file(registry, version["tar"]["digest"])
    whole = tar.read_bytes()
    tar.chmod(0o600)
    tar.write_bytes(whole.replace(b"echo hi", b"echo ho"))
    ways = [version["tar"]["url"], f"{VERSION}/files/scripts/hi.sh", f"{PLACE}/versions/compare?from=1.0.0&to=1.0.0"]
    for way in ways:
        answer = await registry.get(way)
        assert (answer.status_code, answer.json()["code"]) == (500, "blob_corrupt"), way
        assert b"echo ho" not in answer.content
    tar.unlink()
    for way in ways:
        answer = await registry.get(way)
        assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable"), way
        assert "Retry-After" in answer.headers
    assert (await registry.get(version["zip"]["url"])).status_code == 200


def _blob_file(registry: Registry, digest: str) -> Path:
    (found,) = registry.journey.repositories.parent.joinpath("blobs").rglob(f"*{digest.removeprefix('sha256:')[8:]}*")
    return found


async def test_downloads_are_counted_once_an_hour__and_not_where_no_bytes_were_sent(registry: Registry) -> None:
    await registry.journey.publish("acme/greeting", FILES)
    await registry.client.head(f"{VERSION}/archive.zip")
    digest = (await registry.get(VERSION)).json()["zip"]["digest"]
    await registry.client.get(f"{VERSION}/archive.zip", headers={"If-None-Match": f'"{digest}"'})
    assert (await registry.read(f"{PLACE}/installs"))["downloads"] == 0
    for way in ("archive.zip", "archive.zip", "archive.tar"):
        await registry.get(f"{VERSION}/{way}")
    assert (await registry.read(f"{PLACE}/installs"))["downloads"] == 1
    async with client_of(registry.app, address="192.0.2.9") as other:
        await other.get(f"{VERSION}/archive.zip")
    assert (await registry.read(f"{PLACE}/installs"))["downloads"] == 2


async def test_archives_are_refused_for_a_moment__when_slow_clients_hold_all_the_room(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    await registry.journey.publish("acme/greeting", FILES)
    size = (await registry.get(VERSION)).json()["zip"]["size"]
    room = ByteRoom(2 * size)
    monkeypatch.setattr(contents, "ROOM", room)
    async with serving(registry.app) as address, httpx.AsyncClient(base_url=address) as client:
        held = [room.hold(bytes(size)), room.hold(bytes(size))]
        for way in ("archive.zip", "archive.tar", "files/SKILL.md"):
            refused = await client.get(f"{VERSION}/{way}")
            assert (refused.status_code, refused.json()["code"]) == (503, "registry_busy"), way
            assert int(refused.headers["Retry-After"]) > 0
        held.clear()
        for _ in range(5):
            assert (await client.get(f"{VERSION}/archive.zip")).status_code == 200
            assert (await client.head(f"{VERSION}/archive.zip")).status_code == 200
    gc.collect()
    assert room.taken == 0
