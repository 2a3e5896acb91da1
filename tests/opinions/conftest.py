"""A registry with external scanners, over each engine that one process can have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.opinions.scanners import WordScanner
from tests.pipeline.conftest import engine
from tests.pipeline.journey import LOOPBACK, Journey, open_journey
from tests.pipeline.shared_scanner import SharedScanner, share_scanner
from vskill_platform.ports.engine import Engine
from vskill_platform.settings import convert_settings

__all__ = ["engine"]


@pytest.fixture(scope="package")
def scanner() -> Iterator[SharedScanner]:
    with share_scanner(convert_settings(LOOPBACK)) as shared:
        yield shared


@pytest.fixture
def settings() -> dict[str, object]:
    return {"external_scanners": "words,more"}


@pytest.fixture
def words() -> WordScanner:
    return WordScanner("words")


@pytest.fixture
def more() -> WordScanner:
    return WordScanner("more")


@pytest.fixture
async def journey(
    engine: Engine,
    scanner: SharedScanner,
    tmp_path: Path,
    settings: dict[str, object],
    words: WordScanner,
    more: WordScanner,
) -> AsyncIterator[Journey]:
    async with open_journey(engine, tmp_path, scanner=scanner, **settings) as opened:
        yield opened.with_env(external={"words": words, "more": more})
