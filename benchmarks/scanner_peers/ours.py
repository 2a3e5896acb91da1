"""Our scanner in one process: reads a folder as `vskill-platform scan` does, and scans it with everything on."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.domain.errors import UnreadableSkill
from vskill_platform.ingest.folder import read_folder
from vskill_platform.ingest.limits import skill_limits
from vskill_platform.scanning.tier1.scan import scan_content
from vskill_platform.settings import Settings

LIMITS = skill_limits(Settings())


def main() -> None:
    """Answer each folder on standard input with a line."""
    scan_content(make_content([SkillFile(path="SKILL.md", content=b"---\nname: warm-up\n---\n")]))
    print("{}", flush=True)
    for line in sys.stdin:
        print(json.dumps(scan(Path(json.loads(line)))), flush=True)


def scan(folder: Path) -> dict[str, float | bool]:
    """The answer for one folder."""
    wall, processor = time.perf_counter(), time.process_time()
    failed = False
    try:
        flagged = scan_content(read_folder(folder, limits=LIMITS)).flagged
    except UnreadableSkill:
        flagged = failed = True
    spent = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    return {**spent, "flagged": flagged, "failed": failed}


if __name__ == "__main__":
    main()
