"""A child process that says what it does, line by line, and that a test kills, pauses or waits for."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LIMIT_S = 60.0
ROOT = Path(__file__).parents[2]


class Child:
    """A running module. `lines` is what it has said so far; once it `has_ended` there will be no more."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.lines: list[str] = []
        self.has_ended = False
        self.process = process
        self._log = log
        self._news = threading.Condition()
        self._listener = threading.Thread(target=self._listen, args=(process.stdout,))
        self._listener.start()

    def _listen(self, pipe: IO[bytes]) -> None:
        for line in pipe:
            with self._news:
                self.lines.append(line.decode().rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self.has_ended = True
            self._news.notify_all()

    def wait_for(self, holds: Callable[[list[str]], bool]) -> None:
        """Wait until what it has said is enough. Raises if it ends before, or says nothing for too long."""
        deadline = time.monotonic() + LIMIT_S
        with self._news:
            while not holds(self.lines):
                if self.has_ended or not self._news.wait(deadline - time.monotonic()):
                    raise RuntimeError(f"the child said {len(self.lines)} lines and no more: {self._log.read_text()}")

    def pause(self, seconds: float) -> None:
        """Stop it in its tracks for so long."""
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it with SIGKILL. Raises if it had ended by itself."""
        self.process.kill()
        if self.wait() != -signal.SIGKILL:
            raise RuntimeError(f"the child ended by itself ({self.process.returncode}): {self._log.read_text()}")

    def wait(self) -> int:
        """Its exit code, once all that it said has been heard."""
        code = self.process.wait(timeout=LIMIT_S)
        self._listener.join()
        return code

    def explain(self) -> str:
        """What it wrote to its log."""
        return self._log.read_text()


@contextmanager
def running(module: str, arguments: Sequence[str], *, log: Path) -> Iterator[Child]:
    """A module of ours as a child; killed at the end if it still runs."""
    command = [sys.executable, "-m", module, *arguments]
    with (
        log.open("wb") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, cwd=ROOT) as process,
    ):
        child = Child(process, log)
        try:
            yield child
        finally:
            process.kill()
            child.wait()
