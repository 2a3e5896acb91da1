"""Small answers that unfold into large ones: the process that unfolds them runs into its limits, and nothing else does."""

from __future__ import annotations

import gzip
import hashlib
import struct
import zlib
from pathlib import Path

from tests.ingest.git_server import GitServer
from tests.ingest.looking import files_below, refused
from vskill_platform.domain.content import OmittedKind
from vskill_platform.domain.errors import RepositoryTooLarge
from vskill_platform.ingest.git import GitSource
from vskill_platform.testing.git_repos import SKILL_MD, make_repository
from vskill_platform.testing.hostile_servers import ADVERTISEMENT, answer, hostile_server

BLOB, REF_DELTA = 3, 7
COPIED = 0xFFFFFF


def pack(*objects: bytes) -> bytes:
    """A pack of entries that are already encoded."""
    body = b"PACK" + struct.pack(">II", 2, len(objects)) + b"".join(objects)
    return body + hashlib.sha1(body).digest()


def entry(kind: int, content: bytes, *, base: bytes = b"") -> bytes:
    size = len(content)
    head = [(kind << 4) | (size & 0x0F)]
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head) + base + zlib.compress(content)


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def delta_bomb(*, times: int) -> bytes:
    """A blob of 16 MiB of nothing, and one that is that blob many times over: some 20 KB in all."""
    base = bytes(COPIED)
    copy = bytes([0b11110000 | 0x80, 0xFF, 0xFF, 0xFF])
    delta = varint(len(base)) + varint(len(base) * times) + copy * times
    id = hashlib.sha1(b"blob %d\0" % len(base) + base).digest()
    return pack(entry(BLOB, base), entry(REF_DELTA, delta, base=id))


def in_side_band(body: bytes) -> bytes:
    chunks = (body[start : start + 65000] for start in range(0, len(body), 65000))
    return b"".join(b"%04x\x01" % (len(chunk) + 5) + chunk for chunk in chunks) + b"0000"


async def test_fetch_refuses_a_delta_bomb(server: GitServer, source: GitSource, workspace: Path) -> None:
    make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD})
    bomb = delta_bomb(times=200)
    assert len(bomb) < 50_000

    def change(body: bytes) -> bytes:
        begin, word, _ = body.partition(b"packfile\n")
        return begin + word + in_side_band(bomb) if word else body

    server.change = change
    await refused(source, server.url(), RepositoryTooLarge)
    [opened] = workspace.iterdir()
    assert files_below(opened) == []


async def test_fetch_refuses_refs__that_unfold_to_more_than_memory(source: GitSource) -> None:
    line = b"001e# service=git-upload-pack\n0000"
    body = gzip.compress(line + bytes(600 * 2**20), compresslevel=1)
    async with hostile_server(answer(200, head=ADVERTISEMENT + b"Content-Encoding: gzip\r\n", body=body)) as server:
        await refused(source, f"http://127.0.0.1:{server.port}/o/n", RepositoryTooLarge)


async def test_fetch_leaves_out_a_file__that_unfolds_to_more_than_it_may(server: GitServer, source: GitSource) -> None:
    repository = make_repository(server.folder / "repo.git", {"SKILL.md": SKILL_MD, "zeros": bytes(30 * 2**20)})
    repository._run(["config", "uploadpack.allowFilter", "false"])
    async with source.fetch(server.url()) as snapshot:
        content = await snapshot.read_skill("")
    assert [(entry.path, entry.kind, entry.detail) for entry in content.omitted] == [
        ("zeros", OmittedKind.TOO_LARGE, str(30 * 2**20))
    ]
    assert server.sent_bytes < 1_000_000
