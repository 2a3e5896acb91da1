"""A scanner in a process of its own, which is handed one folder at a time and answers with a line of JSON.

The answer has the seconds that it took by the wall clock and on the processor, and whether the scanner flags the skill.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

START_LIMIT_S = 300
SCAN_LIMIT_S = 300
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")


class ScannerFailed(Exception):
    """A scanner ended, or did not answer in time. There is no figure then."""


@dataclass(slots=True)
class Tally:
    """What a scanner has done so far."""

    skills: int = 0
    flagged: int = 0
    failed: int = 0
    wall_s: float = 0.0
    processor_s: float = 0.0

    @property
    def skills_per_second(self) -> float:
        """By the wall clock."""
        return self.skills / self.wall_s

    def count(self, answer: dict[str, Any]) -> None:
        """Add one answer."""
        self.skills += 1
        self.flagged += answer["flagged"]
        self.failed += answer["failed"]
        self.wall_s += answer["wall"]
        self.processor_s += answer["processor"]

    def __str__(self) -> str:
        return (
            f"{self.wall_s:.1f} s, {self.processor_s:.1f} s of processor, {self.flagged} flagged, {self.failed} failed"
        )


class ScannerProcess:
    """The process, from the moment it is ready until the block ends. No proxy, no key and no home of ours reach it."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self.tally = Tally()

    def __enter__(self) -> Self:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**kept, **NO_NETWORK, "HF_HUB_OFFLINE": "1"},
        )
        self._answer(START_LIMIT_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def scan(self, folder: Path) -> None:
        """Scan a folder and count it."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(str(folder.absolute())).encode() + b"\n")
        self._process.stdin.flush()
        self.tally.count(self._answer(SCAN_LIMIT_S))

    def _answer(self, limit_s: float) -> dict[str, Any]:
        assert self._process.stdout
        ready, _, _ = select.select([self._process.stdout], [], [], limit_s)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            raise ScannerFailed(f"{self._command[-1]} ended or did not answer within {limit_s} s")
        return dict(json.loads(line))
