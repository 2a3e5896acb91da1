"""The environments that scanners are installed into: one below the scanners' folder for each, from pinned and hashed files.

An environment counts once its stamp is there, and the stamp is the last thing that an installation writes. It names the
requirements and the Python that the environment was made for: where either is another today, it has to be made again.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import NamedTuple

import msgspec

REQUIREMENTS = Path(__file__).parent / "requirements"
STAMP_NAME = "installed.json"


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """What an environment was made from."""

    requirements: str
    python: str


class Environment(NamedTuple):
    """Where a scanner is installed, or is to be."""

    name: str
    folder: Path

    @property
    def python(self) -> Path:
        """The environment's Python."""
        return self.folder / "bin" / "python"

    @property
    def requirements(self) -> Path:
        """The pinned and hashed file that it is made from."""
        return REQUIREMENTS / f"{self.name}.txt"

    @property
    def stamp(self) -> Path:
        """What says that it is whole."""
        return self.folder / STAMP_NAME

    def wanted(self) -> Stamp:
        """The stamp that it has to have today."""
        digest = hashlib.sha256(self.requirements.read_bytes()).hexdigest()
        return Stamp(requirements=digest, python=f"{sys.version_info.major}.{sys.version_info.minor}")

    def pinned_version(self) -> str:
        """The version of the scanner that the requirements pin."""
        lines = self.requirements.read_text(encoding="utf-8").splitlines()
        found = next((line for line in lines if line.startswith(f"{self.name}==")), "")
        return found.removeprefix(f"{self.name}==").split(" ")[0]

    def missing_because(self) -> str:
        """Why it cannot be used, with the command that mends it; empty where it can."""
        advice = f"Run `vskill-platform scanners install {self.name}`."
        try:
            stamp = msgspec.json.decode(self.stamp.read_bytes(), type=Stamp)
        except FileNotFoundError:
            return f"{self.name} is not installed. {advice}"
        except (OSError, msgspec.MsgspecError):
            return f"The installation of {self.name} cannot be read. {advice}"
        if stamp != self.wanted():
            return f"The installation of {self.name} is from before an upgrade. {advice}"
        return ""


def environment_of(name: str, *, folder: str, data: str) -> Environment:
    """The environment of a scanner below the operator's folder, or below the data folder where there is none."""
    root = Path(folder) if folder else Path(data) / "scanners"
    return Environment(name, (root / name).absolute())
