"""The child processes of a fetch: those of `children`, where a machine that starts none is a source that is out of reach."""

from __future__ import annotations

from asyncio.subprocess import DEVNULL
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from vskill_platform.children import processes
from vskill_platform.children.processes import Ended, ProcessLimits
from vskill_platform.domain.errors import SourceUnreachable


@contextmanager
def starting() -> Iterator[None]:
    """A block that starts a child. Raises SourceUnreachable where this machine starts none."""
    try:
        yield
    except OSError as exc:
        raise SourceUnreachable(
            f"This machine could not start a process to fetch with: {exc.strerror}. Try again later."
        ) from exc


async def run(
    command: Sequence[str],
    *,
    limits: ProcessLimits,
    environment: Mapping[str, str],
    folder: Path,
    stdout: int | IO[bytes] = DEVNULL,
) -> Ended:
    """Run a child to its end, as `children.processes.run` does."""
    with starting():
        return await processes.run(command, limits=limits, environment=environment, folder=folder, stdout=stdout)
