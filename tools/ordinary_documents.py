"""Honest text that nobody wrote for a scanner: what installed packages say of themselves, with some of their code, as skills.

`python -m tools.ordinary_documents OUT [SITE_PACKAGES]` lays them out with an index for `vskill-platform eval OUT/index.jsonl`.
Every skill that is flagged there is a false alarm. They are data to scan, and no part of the repository.
"""

from __future__ import annotations

import json
import random
import re
import sys
import sysconfig
from email.parser import Parser
from pathlib import Path

MOST_DESCRIPTION = 40_000
MOST_CODE = 30_000
SMALLEST_FILE, LARGEST_FILE = 500, 30_000
_SUFFIXES = (".py", ".sh", ".js", ".ps1", ".md")
_NO_LETTER = re.compile(r"[^a-z0-9]+")


def main(arguments: list[str]) -> int:
    """Lay out the skills."""
    if not 1 <= len(arguments) <= 2:
        print(__doc__, file=sys.stderr)
        return 2
    out = Path(arguments[0])
    packages = Path(arguments[1] if len(arguments) > 1 else sysconfig.get_path("purelib"))
    rows = [_lay_out(info, out) for info in sorted(packages.glob("*.dist-info")) if (info / "METADATA").is_file()]
    (out / "index.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    print(f"{len(rows)} skills. vskill-platform eval {out / 'index.jsonl'} says which of them are flagged.")
    return 0


def _lay_out(info: Path, out: Path) -> dict[str, str]:
    metadata = Parser().parsestr((info / "METADATA").read_text(encoding="utf-8", errors="replace"))
    name = _NO_LETTER.sub("-", str(metadata["Name"]).lower()).strip("-")
    described = json.dumps(str(metadata["Summary"] or name)[:500])
    body = str(metadata.get_payload())[:MOST_DESCRIPTION]
    folder = out / name / "scripts"
    folder.mkdir(parents=True, exist_ok=True)
    head = f"---\nname: {name}\ndescription: {described}\n---\n\n"
    (out / name / "SKILL.md").write_text(f"{head}{body}\n", encoding="utf-8")
    for path in _code(info):
        relative = path.relative_to(info.parent).as_posix().replace("/", "_")
        (folder / relative[-90:]).write_bytes(path.read_bytes())
    return {"path": name, "label": "benign", "source": "packages"}


def _code(info: Path) -> list[Path]:
    """Some files of the package, the same ones each time."""
    record = info / "RECORD"
    lines = record.read_text(encoding="utf-8").splitlines() if record.is_file() else []
    names = [line.partition(",")[0] for line in lines]
    paths = [info.parent / name for name in names if name.endswith(_SUFFIXES) and not name.startswith("..")]
    sizes = {path: path.stat().st_size for path in paths if path.is_file()}
    fitting = sorted(path for path, size in sizes.items() if SMALLEST_FILE < size < LARGEST_FILE)
    random.Random(info.name).shuffle(fitting)
    chosen: list[Path] = []
    for path in fitting:
        if sum(sizes[each] for each in chosen) + sizes[path] <= MOST_CODE:
            chosen.append(path)
    return chosen


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
