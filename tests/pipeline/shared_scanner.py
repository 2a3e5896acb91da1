"""One pool of scanning processes for many tests, whichever event loop each of them runs in.

Processes take longer to start than most tests take, and belong to the loop that started them. So the pool lives in a thread
with a loop of its own, and tests hand their scans over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import Any, TypeVar

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.scan import ScanReport
from vskill_platform.ports.scanner import NO_CHANGES
from vskill_platform.scanning.pool import ScannerPool
from vskill_platform.settings import Settings

T = TypeVar("T")


class SharedScanner:
    """The pool, as a test in any loop sees it."""

    def __init__(self, pool: ScannerPool, loop: asyncio.AbstractEventLoop) -> None:
        self._pool = pool
        self._loop = loop

    async def scan(self, content: SkillContent, *, changes: Mapping[str, str] = NO_CHANGES) -> ScanReport:
        """The report on this content."""
        return await asyncio.wrap_future(
            asyncio.run_coroutine_threadsafe(self._pool.scan(content, changes=changes), self._loop)
        )


@contextmanager
def share_scanner(settings: Settings) -> Iterator[SharedScanner]:
    """A scanner that tests share, until the block ends."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="shared-scanner")
    thread.start()

    def wait(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    pool = ScannerPool(settings)
    try:
        wait(pool.__aenter__())
        yield SharedScanner(pool, loop)
    finally:
        wait(pool.close())
        wait(loop.shutdown_default_executor())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
