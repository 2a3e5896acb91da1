"""Starts the load in a process of its own and kills it with SIGKILL at a random moment."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from pathlib import Path

from tests.faults.checker import Deed, Done, Journal, Write
from tests.faults.children import running
from tests.faults.engines import EngineKind
from tests.faults.load_child import Mode

CHILD = "tests.faults.load_child"
EARLIEST_S, LATEST_S = 0.05, 0.6


@dataclass(frozen=True)
class Store:
    """A store that is loaded and killed: its engine, what it is called, and a folder for what children log."""

    kind: EngineKind
    location: str
    folder: Path


def load_and_kill(
    store: Store, journal: Journal, *, turn: int, moments: random.Random, mode: Mode = Mode.HONEST
) -> None:
    """One turn: start, wait for the first acknowledgement, wait a random while, kill. The journal gets what was said."""
    arguments = [store.kind.name, store.location, str(turn), mode]
    with running(CHILD, arguments, log=store.folder / f"child-{turn}.log") as child:
        child.wait_for(lambda lines: any(line.startswith("ok") for line in lines))
        time.sleep(moments.uniform(EARLIEST_S, LATEST_S))
        child.kill()
    for line in child.lines:
        note(line, journal)


def note(line: str, journal: Journal) -> None:
    """Enter one line of the load into the journal."""
    match line.split():
        case ["try", *words]:
            journal.attempted.add(_deed(words))
            journal.refused.discard(_deed(words))
        case ["ok", *words, version]:
            journal.acknowledged[_deed(words)] = int(version)
        case ["no", *words]:
            journal.refused.add(_deed(words))
        case ["unknown", *words]:
            journal.unknown.add(_deed(words))
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
