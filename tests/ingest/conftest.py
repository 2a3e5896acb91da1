"""A source that fetches from loopback, a git server there, and the certificate of one that speaks TLS."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import uvloop

from tests.ingest.git_server import GitServer, git_server
from vskill_platform.ingest.git import GitSource
from vskill_platform.settings import Settings
from vskill_platform.testing.certificates import make_certificate

UNDER_BOTH_LOOPS = {"test_proxy", "test_both_loops"}
"""Modules whose tests run under the loop of the standard library and under the one that the registry runs on."""

LOOPBACK = Settings(git_protocols="https,http", allow_private_addresses=True, fetch_time_limit_s=30)


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    if item.path.stem in UNDER_BOTH_LOOPS:
        return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
    return {"asyncio": asyncio.new_event_loop}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[GitServer]:
    folder = tmp_path / "served"
    folder.mkdir()
    async with git_server(folder) as served:
        yield served


@pytest.fixture
async def source(workspace: Path) -> AsyncIterator[GitSource]:
    async with GitSource(LOOPBACK, folder=workspace) as opened:
        yield opened


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost and its key in one file, made for this run."""
    return make_certificate(tmp_path_factory.mktemp("certificate"), "DNS:localhost")


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context
