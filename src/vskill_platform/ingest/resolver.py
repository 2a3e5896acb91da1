"""The system's name resolution, in threads of its own.

A name server that does not answer holds a thread for as long as the system's resolver waits. These threads are therefore
not the ones that everything else shares: slow names slow down fetches and nothing more.
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

RESOLVER_THREADS = 8


class SystemResolver:
    """Asks the system for the addresses of a host. Call `close` when no more is asked."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(RESOLVER_THREADS, thread_name_prefix="resolve")

    async def __call__(self, host: str, port: int) -> list[str]:
        """Every address of the host, each once, in the order in which the system wants them tried."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, _look_up, host, port)

    def close(self) -> None:
        """Wait for nobody: what is being looked up has no one left to hear the answer."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
