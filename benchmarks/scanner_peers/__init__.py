"""Our scanner beside cisco-ai-skill-scanner: the same folders, one process each, by turns, offline and without a language model.

Each process is handed one folder at a time, all of them twice. The second round counts: what a scanner makes ready when it
first needs it is part of its start. What is counted is the time that it takes to read and scan a folder, by its own clocks.
The folders are those below `VSKILL_BENCH_SKILLS`, or our own corpus laid out on disk. The other scanner lives in an
environment that the registry would ask it in, below `.venv/scanners`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.report import Row, at_least, told
from benchmarks.scan_speed import FOLDER_VARIABLE
from benchmarks.scanner_peers.environment import peer_python
from benchmarks.scanner_peers.folders import lay_out_corpus
from benchmarks.scanner_peers.process import ScannerProcess, Tally
from vskill_platform.ingest.folder import find_skill_folders

TARGET = 25
ROUNDS = 2
HERE = Path(__file__).parent


async def run() -> list[Row]:
    """Skills a second for each, and how many times faster ours is."""
    with tempfile.TemporaryDirectory() as scratch:
        given = os.environ.get(FOLDER_VARIABLE)
        folders = find_skill_folders(Path(given) if given else lay_out_corpus(Path(scratch)))
        ours, theirs = _by_turns(folders)
    set_name = "the folder of VSKILL_BENCH_SKILLS" if given else "our own corpus"
    detail = f"{len(folders)} skills of {set_name}, one process, no start counted"
    return [
        told("scanner_ours", ours.skills_per_second, unit="/s", detail=f"{detail}; {ours}"),
        told("scanner_cisco", theirs.skills_per_second, unit="/s", detail=f"{detail}; {theirs}"),
        at_least(
            "scanner_peer_ratio",
            ours.skills_per_second / theirs.skills_per_second,
            target=TARGET,
            detail=f"by the wall clock; {theirs.processor_s / ours.processor_s:.1f}x by processor time",
        ),
    ]


def _by_turns(folders: list[Path]) -> tuple[Tally, Tally]:
    """Both scan each folder, one after the other, so that whatever else the machine does meets both."""
    with (
        ScannerProcess([sys.executable, str(HERE / "ours.py")]) as ours,
        ScannerProcess([peer_python(), "-I", str(HERE / "cisco.py")]) as theirs,
    ):
        for _ in range(ROUNDS):
            ours.tally, theirs.tally = Tally(), Tally()
            for folder in folders:
                ours.scan(folder)
                theirs.scan(folder)
        return ours.tally, theirs.tally
