"""Skills that packages ship, which nobody wrote for a scanner: `python -m tools.packaged_skills OUT [NAME ...]`.

Each name is that of a Python package, or `npm:NAME` for one of Node; without any, those of `tools/packaged_skills.txt` are
fetched. Every skill in them is laid out once, with an index for `vskill-platform eval OUT/index.jsonl --rows ROWS`. Somebody
published them to be used, so nearly all that is flagged is a false alarm; some are not honest, which is for a reader to tell.
The index names as their source which half they are in, by the hash of the SKILL.md: rules are mended by looking into one half,
and the other is only counted.
They are data to scan, and no part of the repository.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

from tools.packages import Entry, entries_of

AT_ONCE = 4
MOST_FILES, MOST_BYTES = 400, 2_000_000
"""Files of a skill, and bytes of a file, beyond which it is left out or cut."""
HALVES = ("looked-into", "counted")
_NAMES = Path(__file__).with_suffix(".txt")
_SKILL_FILE = "skill.md"
_NO_NAME = re.compile(r"[^\w.-]+")


def main(arguments: list[str]) -> int:
    """Fetch the packages and lay out their skills."""
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    out = Path(arguments[0])
    names = arguments[1:] or _NAMES.read_text(encoding="utf-8").split()
    rows: list[dict[str, str]] = []
    seen: set[bytes] = set()
    with ThreadPoolExecutor(AT_ONCE) as several:
        for number, (name, skills) in enumerate(several.map(_skills_of, names), start=1):
            rows += [_laid_out(out, name, folder, files) for folder, files in skills if _is_new(files, seen)]
            print(f"{number} of {len(names)} packages, {len(rows)} skills", flush=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / "index.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    print(f"vskill-platform eval {out / 'index.jsonl'} says how many of them are flagged.")
    return 0


def _skills_of(name: str) -> tuple[str, list[tuple[str, list[Entry]]]]:
    return name, list(skills_in(entries_of(name, most_bytes=MOST_BYTES)))


def skills_in(entries: Iterable[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """The skills of a package: each folder with a `SKILL.md` that is in no other such folder, and all that is below it."""
    found = list(entries)
    folders = {str(PurePosixPath(path).parent) for path, _ in found if PurePosixPath(path).name.lower() == _SKILL_FILE}
    outermost = {folder for folder in folders if folders.isdisjoint(map(str, PurePosixPath(folder).parents))}
    files: dict[str, list[Entry]] = {folder: [] for folder in sorted(outermost)}
    for path, content in found:
        for folder in outermost.intersection(map(str, PurePosixPath(path).parents)):
            files[folder].append(Entry(str(PurePosixPath(path).relative_to(folder)), content))
    return ((folder, some) for folder, some in files.items() if len(some) <= MOST_FILES)


def _is_new(files: list[Entry], seen: set[bytes]) -> bool:
    """Whether no skill before this one had the same SKILL.md."""
    digest = _digest(files)
    is_new = digest not in seen
    seen.add(digest)
    return is_new


def _digest(files: list[Entry]) -> bytes:
    return hashlib.sha256(next(content for path, content in files if path.lower() == _SKILL_FILE)).digest()


def _laid_out(out: Path, name: str, folder: str, files: list[Entry]) -> dict[str, str]:
    """Write a skill, and say in a row of the index where. Paths that lead out of its folder are left out."""
    package = _NO_NAME.sub("-", name).strip("-.")
    own = f"{package}/{_NO_NAME.sub('-', folder).strip('-.')[-120:]}"
    for path, content in files:
        if ".." not in PurePosixPath(path).parts:
            (out / own / path).parent.mkdir(parents=True, exist_ok=True)
            (out / own / path).write_bytes(content)
    return {"path": own, "label": "benign", "source": HALVES[_digest(files)[-1] % 2]}


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
