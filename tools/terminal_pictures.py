"""What the demo prints, as a picture."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

COMMAND = Path(sys.executable).with_name("vskill-platform")
WIDTH = 118
LINES = 46


def draw_demo(folder: Path) -> Path:
    """Run the demo and draw the beginning of what it prints."""
    done = subprocess.run(
        [COMMAND, "demo"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"},
    )
    path = folder / "demo.svg"
    path.write_text(_draw(_last_screen(done.stdout), title="vskill-platform demo"))
    return path


def _last_screen(output: str) -> str:
    """The output without the drafts of a table that was drawn again and again."""
    start = output.rfind("Submissions")
    head = output[: output.index("\n\n") + 2] if "\n\n" in output else ""
    return head + "\n".join(output[start:].splitlines()[:LINES])


def _draw(ansi: str, *, title: str) -> str:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(ansi), soft_wrap=True)
    svg = console.export_svg(title=title)
    without_fonts = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    return re.sub(r"[ \t]+$", "", without_fonts, flags=re.MULTILINE)
