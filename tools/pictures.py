"""Draws docs/images/ from real runs: the demo in a terminal, and pages of a registry in a browser. `make pictures` runs it."""

from __future__ import annotations

from pathlib import Path

from tools.page_pictures import draw_pages
from tools.terminal_pictures import draw_demo

FOLDER = Path(__file__).parents[1] / "docs" / "images"


def main() -> None:
    """Draw every picture."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in (draw_demo(FOLDER), *draw_pages(FOLDER)):
        print(f"docs/images/{path.name}, {path.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
