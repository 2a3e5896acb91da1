"""The environment of the other scanner: made once under `build/`, and again when its requirements change."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path("build/scanner-peers")
REQUIREMENTS = Path("requirements/peers.txt")
LIMIT_S = 1800


def peer_python() -> str:
    """The Python of the environment, which is made first where it is missing or of other requirements."""
    stamp, wanted = FOLDER / "requirements.sha256", hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    python = FOLDER / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"Installing {REQUIREMENTS} into {FOLDER} (450 MB)", file=sys.stderr, flush=True)
        shutil.rmtree(FOLDER, ignore_errors=True)
        _run("venv", "--python", sys.executable, str(FOLDER))
        _run("pip", "install", "--python", str(python), "--require-hashes", "-r", str(REQUIREMENTS))
        stamp.write_text(wanted)
    return str(python.absolute())


def _run(*arguments: str) -> None:
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([str(uv), *arguments, "--quiet"], check=True, timeout=LIMIT_S)
