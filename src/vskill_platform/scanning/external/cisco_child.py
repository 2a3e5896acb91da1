"""cisco-ai-skill-scanner in a long-lived process: core analysers, default policy, no model, no network.

Runs in the scanner's own environment, which has nothing of ours, so it imports nothing of ours. It speaks in frames, each with
its length before it, as `scanning/frames.py` does: an empty one when it is ready, and then an answer to each folder.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

HEADER = struct.Struct(">I")


def main() -> int:
    """Answer each folder that is named on standard input, until that ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from skill_scanner import SkillScanner  # type: ignore[import-not-found,unused-ignore]

    scanner = SkillScanner()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "SKILL.md").write_text("---\nname: warm-up\ndescription: A skill to begin with.\n---\n\nHello.\n")
        _scan(scanner, folder)
    _write(answers, b"")
    while len(header := sys.stdin.buffer.read(HEADER.size)) == HEADER.size:
        folder = sys.stdin.buffer.read(HEADER.unpack(header)[0]).decode()
        _write(answers, json.dumps(_scan(scanner, folder)).encode())
    return 0


def _scan(scanner: Any, folder: str) -> dict[str, Any]:
    """The findings, or why there are none. What it cannot load it has not scanned."""
    try:
        result = scanner.scan_skill(folder, lenient=True)
    except MemoryError:
        os._exit(1)
    except Exception as exc:
        return {"error": f"{type(exc).__name__}: {exc}"[:500]}
    found = [*result.findings, *result.suppressed_findings]
    failed = [str(one.get("analyzer", "")) for one in result.analyzers_failed]
    return {"findings": [_told(finding) for finding in found], "failed": failed}


def _told(finding: Any) -> dict[str, Any]:
    return {
        "rule": str(finding.rule_id),
        "category": str(finding.category.value),
        "severity": str(finding.severity.value),
        "file": str(finding.file_path or ""),
        "line": int(finding.line_number or 0),
        "message": str(finding.title or finding.description)[:1000],
        "fix": str(finding.remediation or "")[:1000],
    }


def _write(answers: Any, data: bytes) -> None:
    answers.write(HEADER.pack(len(data)) + data)
    answers.flush()


if __name__ == "__main__":
    sys.exit(main())
