"""Ways through programs in languages without a parser, read from `data/ways`: one file for each language.

A line of `%% sort: name` begins a half. `secret` reads into `d`, `sent` hands `d` on, `code` fetches into `c`, `run` runs `c`.
`link` connects as `s`, and `obey` does what comes from there. `head` and `tail` stand around both halves.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "ways"
_MARK = re.compile(r"^%% (\w+)(?:: (.+))?\n", re.MULTILINE)


def read_halves(path: Path) -> dict[str, dict[str, str]]:
    """The halves of a language by their sort and name."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    _, *pieces = _MARK.split(path.read_text(encoding="utf-8"))
    for sort, name, text in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        assert (name or "") not in found[sort], f"{path.name} has {sort}: {name} twice"
        found[sort][name or ""] = text
    return found
