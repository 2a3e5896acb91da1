"""Fetches documents that nobody wrote for a scanner: `python -m tools.fetch_documents FOLDER [--most N] [NAME ...]`.

They are what packages say of themselves: the description of a Python package, and the Markdown of one for Node, `npm:NAME`.
Without names those are taken that Debian has under `python3-` and `node-`. `make learn DOCUMENTS="... FOLDER"` learns from
them what honest text looks like (`tools/learn_likeness.py`); the more there are, the less is taken wrongly for an attack.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email import message_from_string
from pathlib import Path

from tools.packages import NODE, entries_of

AT_ONCE = 8
SHORTEST, LONGEST = 800, 60_000
"""Letters of a document that is worth reading, and that are kept of one."""
MOST_OF_PACKAGE = 6
_BORING = ("license", "licence", "changelog")


def main(arguments: list[str]) -> int:
    """Fetch the documents that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--most", type=int, default=10_000, help="packages that are asked for at most")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    names = (given.names or list(_names_of_debian()))[: given.most]
    fetched = 0
    with ThreadPoolExecutor(AT_ONCE) as several:
        for number, count in enumerate(several.map(lambda name: fetch(name, given.folder), names), start=1):
            fetched += count
            if number % 100 == 0 or number == len(names):
                print(f"{number} of {len(names)} packages, {fetched} documents", flush=True)
    return 0


def fetch(name: str, folder: Path) -> int:
    """How many documents of a package were laid down."""
    kept = folder / f"{name.replace('/', '~').replace(':', '~')}.md"
    if kept.exists():
        return 0
    documents = [text for text in _documents_of(name) if len(text) >= SHORTEST][:MOST_OF_PACKAGE]
    for number, text in enumerate(documents):
        kept.with_suffix(f".{number}.md" if number else ".md").write_text(text[:LONGEST], encoding="utf-8")
    return len(documents)


def _names_of_debian() -> Iterator[str]:
    listed = subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True, check=True).stdout.split()
    for name in sorted(listed):
        if name.startswith("python3-") and not name.endswith(("-doc", "-dbg", "-dev")):
            yield name.removeprefix("python3-")
        elif name.startswith("node-"):
            yield NODE + name.removeprefix("node-")


def _documents_of(name: str) -> Iterator[str]:
    """What stands in a wheel below its fields; the Markdown of a package for Node."""
    is_node = name.startswith(NODE)
    for _, content in entries_of(name, most_bytes=LONGEST, wanted=_is_document if is_node else _has_fields):
        text = content.decode(errors="replace")
        yield text if is_node else str(message_from_string(text).get_payload())


def _is_document(path: str) -> bool:
    plain = path.lower()
    return plain.endswith(".md") and not any(word in plain for word in _BORING)


def _has_fields(path: str) -> bool:
    return path.endswith(".dist-info/METADATA")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
