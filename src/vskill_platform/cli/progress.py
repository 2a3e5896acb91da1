"""How far long work has come, on standard error."""

from __future__ import annotations

import time

from rich.console import Console

_SILENT_S = 2.0
_BETWEEN_S = 1.0


class ProgressLines:
    """Says nothing of what is over in two seconds, and then a line a second."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, emoji=False)
        self._next_s = time.monotonic() + _SILENT_S

    def tell(self, doing: str, done: int, total: int | None) -> None:
        """Print a line if it is time for one."""
        now_s = time.monotonic()
        if now_s < self._next_s:
            return
        self._next_s = now_s + _BETWEEN_S
        share = f" of {total:,} ({100 * done // total} %)" if total else ""
        self._console.print(f"{doing}: {done:,}{share}")
