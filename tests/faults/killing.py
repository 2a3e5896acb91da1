"""Starts the load in a process of its own, kills it with SIGKILL at a random moment."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

from tests.faults.checker import Deed, Done, Journal, Write
from tests.faults.load_child import Mode

CHILD = Path(__file__).with_name("load_child.py")
FIRST_ACK_LIMIT_S = 30.0
EARLIEST_S, LATEST_S = 0.05, 0.6


def load_and_kill(path: Path, journal: Journal, *, turn: int, moments: random.Random, mode: Mode = Mode.HONEST) -> None:
    """One turn: start, wait for the first acknowledgement, wait a random while, kill. The journal gets what was said."""
    errors = path.with_name(f"child-{turn}.log")
    command = [sys.executable, str(CHILD), str(path), str(turn), mode]
    with errors.open("wb") as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as child:
        assert child.stdout is not None
        lines: list[bytes] = []
        has_begun = threading.Event()
        listener = threading.Thread(target=_listen, args=(child.stdout, lines, has_begun))
        listener.start()
        begun = has_begun.wait(FIRST_ACK_LIMIT_S)
        time.sleep(moments.uniform(EARLIEST_S, LATEST_S))
        child.kill()
        listener.join()
    if not begun or child.returncode >= 0:
        raise RuntimeError(f"the load ended by itself ({child.returncode}): {errors.read_text()}")
    for line in lines:
        note(line.decode(), journal)


def _listen(pipe: IO[bytes], lines: list[bytes], has_begun: threading.Event) -> None:
    for line in pipe:
        lines.append(line)
        if line.startswith(b"ok"):
            has_begun.set()


def note(line: str, journal: Journal) -> None:
    """Enter one line of the load into the journal."""
    match line.split():
        case ["try", *words]:
            journal.attempted.add(_deed(words))
        case ["ok", *words, version]:
            journal.acknowledged[_deed(words)] = int(version)
        case _:
            raise ValueError(f"the load said '{line}'")


def _deed(words: list[str]) -> Deed:
    match words:
        case ["write", item, number]:
            return Write(item, int(number))
        case ["done", item]:
            return Done(item)
        case _:
            raise ValueError(f"the load did '{words}'")
