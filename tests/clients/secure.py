"""The registry behind TLS, as a proxy would serve it: clients that send tokens over nothing less need it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from vskill_platform.testing.certificates import make_certificate

_CHUNK = 65536


@dataclass(frozen=True)
class SecureDoor:
    """Where it is, and the file by which its certificate is believed."""

    address: str
    trusted: Path

    @property
    def env(self) -> dict[str, str]:
        """What a Python client needs to believe the certificate."""
        return {"REQUESTS_CA_BUNDLE": str(self.trusted), "SSL_CERT_FILE": str(self.trusted)}


@asynccontextmanager
async def secure_door(address: str, folder: Path) -> AsyncIterator[SecureDoor]:
    """TLS in front of a server on loopback, for as long as the block lasts."""
    certificate = await asyncio.to_thread(make_certificate, folder, "IP:127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    inner = urlsplit(address)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_server = await asyncio.open_connection(inner.hostname, inner.port)
        await asyncio.gather(_pass_on(reader, to_server[1]), _pass_on(to_server[0], writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        yield SecureDoor(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", certificate)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, ssl.SSLError):
        while piece := await reader.read(_CHUNK):
            writer.write(piece)
            await writer.drain()
    with suppress(OSError, ssl.SSLError):
        writer.close()
        await writer.wait_closed()
