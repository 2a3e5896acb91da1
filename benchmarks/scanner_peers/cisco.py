"""cisco-ai-skill-scanner in one process, as its own entry points make it: core analysers, default policy, no model, no network.

Runs in an environment that has nothing of ours, so it imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

FLAGS = {"CRITICAL", "HIGH"}


def main() -> None:
    """Answer each folder on standard input with a line."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from skill_scanner import SkillScanner

    scanner = SkillScanner()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "SKILL.md").write_text("---\nname: warm-up\ndescription: A skill to begin with.\n---\n\nHello.\n")
        scan(scanner, folder)
    print("{}", file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(scan(scanner, json.loads(line))), file=answers, flush=True)


def scan(scanner: object, folder: str) -> dict[str, float | bool]:
    """The answer for one folder. What it cannot load it has not scanned."""
    wall, processor = time.perf_counter(), time.process_time()
    failed = False
    try:
        result = scanner.scan_skill(folder, lenient=True)  # type: ignore[attr-defined]
        flagged = any(finding.severity.value in FLAGS for finding in result.findings)
    except Exception:
        flagged = failed = True
    spent = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    return {**spent, "flagged": flagged, "failed": failed}


if __name__ == "__main__":
    main()
