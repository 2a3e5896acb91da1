"""Sample repositories for `vskill-platform demo`: good ones, bad ones, and one for each way that a submission can end.

They are plain data. Nothing in them is ever run here; the addresses in the bad ones belong to nobody, because they are
reserved for documentation.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from vskill_platform.domain.submission import SubmissionState

_REPOSITORIES = Path(__file__).parent / "repositories"


class SampleRepository(NamedTuple):
    """A repository to make and submit. `expected` is where each of its skills ends, or the submission if it has none."""

    name: str
    shows: str
    expected: SubmissionState

    @property
    def files(self) -> dict[str, bytes]:
        """The files, by their paths in the repository."""
        folder = _REPOSITORIES / self.name.replace("/", "-")
        paths = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}

    @property
    def executables(self) -> frozenset[str]:
        """The paths of the files that are scripts, and are to be executable in the repository."""
        return frozenset(path for path, content in self.files.items() if content.startswith(b"#!"))


SAMPLES: tuple[SampleRepository, ...] = (
    SampleRepository("acme/greeting", "one good skill, at the root", SubmissionState.PUBLISHED),
    SampleRepository("acme/toolbox", "three good skills, one with a script", SubmissionState.PUBLISHED),
    SampleRepository("acme/deploy", "an honest skill that wants root: a person decides", SubmissionState.NEEDS_REVIEW),
    SampleRepository(
        "shady/helper", "runs what it downloads and sends private keys away", SubmissionState.TIER1_FAILED
    ),
    SampleRepository("shady/prompt", "tells the agent to deceive its user", SubmissionState.TIER1_FAILED),
    SampleRepository("acme/tangled", "frontmatter that says two things at once", SubmissionState.REJECTED),
    SampleRepository("acme/empty", "no skill at all", SubmissionState.REJECTED),
)
