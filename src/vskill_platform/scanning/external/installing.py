"""Installs a scanner into an environment of its own, from the pinned and hashed file that comes with this package."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from vskill_platform.domain.errors import ScannerNotInstalled
from vskill_platform.scanning.external.environments import Environment

LAST_LINES = 5
Tell = Callable[[str], None]


def install(environment: Environment, *, tell: Tell) -> None:
    """Make the environment anew. `tell` hears what is going on, line by line.

    Its stamp goes first and comes last, so an installation that ends half-way is not taken for a whole one. Raises
    ScannerNotInstalled.
    """
    environment.folder.parent.mkdir(parents=True, exist_ok=True)
    with _alone(environment):
        environment.stamp.unlink(missing_ok=True)
        shutil.rmtree(environment.folder, ignore_errors=True)
        tell(f"Creating {environment.folder}")
        bare = ["--without-pip"] if _find_uv() else []
        _run(environment, [sys.executable, "-m", "venv", *bare, str(environment.folder)], tell=tell)
        tell(f"Installing {environment.name} {environment.pinned_version()} and what it needs")
        _run(environment, _install_command(environment), tell=tell)
        _write_stamp(environment)


def _install_command(environment: Environment) -> list[str]:
    """uv where it is at hand, which takes seconds; else the environment's own pip, which takes minutes."""
    python, pinned, uv = str(environment.python), str(environment.requirements), _find_uv()
    if uv is not None:
        return [uv, "pip", "install", "--python", python, "--compile-bytecode", "--require-hashes", "-r", pinned]
    pip = (python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off")
    return [*pip, "--require-hashes", "-r", pinned]


def _find_uv() -> str | None:
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.exists() else shutil.which("uv")


def _run(environment: Environment, command: Sequence[str], *, tell: Tell) -> None:
    last: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            last = [*last[1 - LAST_LINES :], line.strip()]
            tell(line.strip())
    if child.returncode != 0:
        raise ScannerNotInstalled(
            f"{environment.name} could not be installed: {Path(command[0]).name} ended with status {child.returncode}. "
            f"It said: {' '.join(last)} The machine must reach a package index; see docs/howto/second-opinions.md.",
            name=environment.name,
        )


def _write_stamp(environment: Environment) -> None:
    """The stamp appears whole or not at all."""
    half = environment.stamp.with_suffix(".part")
    with half.open("wb") as file:
        file.write(msgspec.json.encode(environment.wanted()))
        file.flush()
        os.fsync(file.fileno())
    half.replace(environment.stamp)


@contextmanager
def _alone(environment: Environment) -> Iterator[None]:
    """Nobody else installs the same meanwhile. Raises ScannerNotInstalled where somebody does."""
    with environment.folder.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            raise ScannerNotInstalled(
                f"{environment.name} is being installed by another command. Wait until that has ended.",
                name=environment.name,
            ) from exc
        yield
