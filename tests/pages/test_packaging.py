"""A wheel carries everything that pages are made of: templates, static files and the documents."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
WEB = ROOT / "src/vskill_platform/web"


def test_wheel_has_templates_static_files_and_documents(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    packed = {name.partition("/share/doc/vskill-platform/")[2] or name for name in zipfile.ZipFile(wheel).namelist()}
    ours = [path for folder in ("templates", "static") for path in (WEB / folder).rglob("*") if path.is_file()]
    assert len(ours) > 20
    assert {path.relative_to(ROOT / "src").as_posix() for path in ours} <= packed
    assert {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")} <= packed
