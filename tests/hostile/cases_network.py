"""Servers that are private, elsewhere, slow, endless or broken, and packs that unfold to more than there is."""

from __future__ import annotations

import asyncio
import itertools
import socket
import zlib
from functools import partial

from litestar.enums import ScopeType
from litestar.types import Receive, Scope, Send

from tests.hostile.corpus import Attack, case
from tests.hostile.stage import Stage
from vskill_platform.testing.git_server import serve_application
from vskill_platform.testing.hostile_packs import delta_bomb, endless_pack, pack_of_files, pack_server
from vskill_platform.testing.hostile_servers import (
    ADVERTISEMENT,
    Behaviour,
    answer,
    drip,
    endless_body,
    endless_head,
    hang_up,
    hostile_server,
    redirect,
    silence,
)
from vskill_platform.testing.ports import free_port

IMPATIENT: dict[str, object] = {"fetch_time_limit_s": 0.4}
GIB = 2**30


def drip_head() -> Behaviour:
    """Sends the head of its answer a byte at a time."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for byte in itertools.chain(b"HTTP/1.1 200 OK\r\nX-Slow: ", itertools.cycle(b"x")):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.2)

    return behave


def gzip_bomb(*, mib: int) -> Behaviour:
    """Refs that unfold to this much, from a kilobyte for each MiB."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = squeeze.compress(bytes(2**20)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    first = zlib.compressobj(9, zlib.DEFLATED, -15)
    line = first.compress(b"001e# service=git-upload-pack\n0000") + first.flush(zlib.Z_FULL_FLUSH)
    body = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + line + block * mib
    return answer(200, head=ADVERTISEMENT + b"Content-Encoding: gzip\r\n", body=body)


async def served_by(stage: Stage, *, behave: Behaviour, settings: dict[str, object] | None = None) -> Attack:
    server = await stage.keep(hostile_server(behave))
    bindings = await stage.source(**(settings or {}))
    return Attack(url=f"http://127.0.0.1:{server.port}/owner/{stage.name}", bindings=bindings)


async def redirected(stage: Stage, *, to: str, status: int = 301) -> Attack:
    there = to.format(port=stage.traps.listener.port) + "/info/refs?service=git-upload-pack"
    return await served_by(stage, behave=redirect(there, status=status))


ASKS = b'WWW-Authenticate: Basic realm="Password for the registry"\r\n'
BEHAVIOURS: dict[str, Behaviour] = {
    "H1-credentials-prompt": answer(401, head=ASKS),
    "H1-credentials-prompt-negotiate": answer(401, head=b"WWW-Authenticate: Negotiate\r\n"),
    "SRC-private": answer(403),
    "SRC-gone-410": answer(410),
    "SRC-not-git": answer(200, head=b"Content-Type: text/html\r\n", body=b"<html>hello</html>"),
    "SRC-server-error": answer(500),
    "SRC-hang-up": hang_up(),
    "H3-endless-head": endless_head(),
}
SLOW: dict[str, Behaviour] = {
    "H1-slow-drip": drip(every_s=0.2),
    "H3-slowloris-head": drip_head(),
    "H3-slowloris-silence": silence(),
}
REDIRECTS = {
    "H1-redirect-file": "file:///etc/passwd",
    "H1-redirect-private": "http://127.0.0.1:{port}/owner/name",
    "H1-redirect-metadata": "http://169.254.169.254/latest",
    "H3-redirect-ext": "ext::sh -c touch% proof",
    "H3-redirect-userinfo": "http://user:secret@127.0.0.1:{port}/owner/name",
}
for _id, _behave in BEHAVIOURS.items():
    case(_id)(partial(served_by, behave=_behave))
for _id, _behave in SLOW.items():
    case(_id)(partial(served_by, behave=_behave, settings=IMPATIENT))
for _id, _to in REDIRECTS.items():
    case(_id)(partial(redirected, to=_to))

case("SRC-one-byte-a-second")(partial(served_by, behave=drip(every_s=1.0), settings={"fetch_time_limit_s": 3}))
case("H3-endless-body")(partial(served_by, behave=endless_body(), settings={"fetch_max_bytes": 1_000_000}))
case("H3-endless-body-at-size")(partial(served_by, behave=endless_body(), settings={"fetch_time_limit_s": 900}))
case("H3-gzip-bomb")(partial(served_by, behave=gzip_bomb(mib=64)))
case("H3-gzip-bomb-at-size")(partial(served_by, behave=gzip_bomb(mib=1200)))


@case("H3-redirect-chain")
async def redirect_chain(stage: Stage) -> Attack:
    """Ten servers, each of which sends on to the next, and the last to a private address."""
    there = f"http://127.0.0.1:{stage.traps.listener.port}/owner/name/info/refs?service=git-upload-pack"
    for status in (301, 302, 303, 307, 308) * 2:
        server = await stage.keep(hostile_server(redirect(there, status=status)))
        there = f"http://127.0.0.1:{server.port}/owner/name/info/refs?service=git-upload-pack"
    return Attack(url=there.split("/info/")[0])


@case("H1-cve-2023-22490")
async def dumb_server(stage: Stage) -> Attack:
    """A server of plain files, whose list of alternates leads to this machine and to the listener."""
    repository = stage.repository({"SKILL.md": stage.skill_md()})
    commit = (repository.path / "refs/heads/main").read_bytes()
    there = f"http://127.0.0.1:{stage.traps.listener.port}/objects\nfile:///etc\n"
    (repository.path / "objects/info").mkdir()
    (repository.path / "objects/info/http-alternates").write_text(there)
    (repository.path / "info").mkdir()
    (repository.path / "info/refs").write_bytes(commit.strip() + b"\trefs/heads/main\n")

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == ScopeType.HTTP
        file = repository.path / scope["path"].split("name/", 1)[-1]
        found = file.is_file()
        await send({"type": "http.response.start", "status": 200 if found else 404, "headers": []})
        await send({"type": "http.response.body", "body": file.read_bytes() if found else b"", "more_body": False})

    address = await stage.keep(serve_application(serve))
    return Attack(url=f"{address}/owner/name", bindings=await stage.source())


@case("SRC-host-down")
async def host_down(stage: Stage) -> Attack:
    return Attack(url=f"http://127.0.0.1:{free_port()}/owner/{stage.name}")


@case("SRC-host-unknown")
async def host_unknown(stage: Stage) -> Attack:
    async def resolve(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    return Attack(url=f"http://nowhere.example/owner/{stage.name}", bindings=await stage.source(resolve=resolve))


async def huge_pack(stage: Stage, *, settings: dict[str, object]) -> Attack:
    server = await stage.keep(pack_server(endless_pack(claimed_bytes=5 * GIB)))
    return Attack(url=server.url, bindings=await stage.source(**settings))


case("H1-huge-pack")(partial(huge_pack, settings={"fetch_max_bytes": 2_000_000}))
case("H1-huge-pack-at-size")(partial(huge_pack, settings={}))


async def bombed(stage: Stage, *, times: int) -> Attack:
    packed = pack_of_files({"SKILL.md": stage.skill_md()}, more=delta_bomb(times=times))
    server = await stage.keep(pack_server(packed))
    return Attack(url=server.url, bindings=await stage.source())


case("H1-delta-bomb")(partial(bombed, times=40))
case("H1-delta-bomb-at-size")(partial(bombed, times=1000))


@case("H1-pack-of-another-commit")
async def pack_of_another_commit(stage: Stage) -> Attack:
    """The server names one commit and hands over another's objects."""
    packed = pack_of_files({"SKILL.md": stage.skill_md()})
    packed.commit = "2" * 40
    server = await stage.keep(pack_server(packed))
    return Attack(url=server.url, bindings=await stage.source())


@case("H1-pack-damaged")
async def pack_damaged(stage: Stage) -> Attack:
    packed = pack_of_files({"SKILL.md": stage.skill_md()})
    whole = b"".join(packed.pieces())
    packed.pieces = lambda: iter([whole[:30] + bytes([whole[30] ^ 0x55]) + whole[31:]])
    server = await stage.keep(pack_server(packed))
    return Attack(url=server.url, bindings=await stage.source())


@case("SRC-large-file")
async def large_file(stage: Stage) -> Attack:
    """A file over the limit beside an honest skill, from a server that sends it though it was asked not to."""
    packed = pack_of_files({"SKILL.md": stage.skill_md(), "zeros": bytes(30 * 2**20)})
    server = await stage.keep(pack_server(packed))
    return Attack(url=server.url, bindings=await stage.source())
