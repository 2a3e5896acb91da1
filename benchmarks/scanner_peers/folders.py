"""Our own corpus as folders, for scanners that read from the disk."""

from __future__ import annotations

from pathlib import Path

from tests.corpus.cases import read_corpus


def lay_out_corpus(folder: Path) -> Path:
    """Write every case of the corpus below the folder."""
    for case in read_corpus():
        for file in case.content.files:
            path = folder / case.name / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
    return folder
