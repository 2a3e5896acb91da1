"""Rules folders for tests."""

from __future__ import annotations

from pathlib import Path

RULE = r"""
category = "data-exfiltration"
owasp = "AST01"
[[rules]]
id = "XAC-001"
title = "Names the inner host"
severity = "high"
applies_to = ["markdown", "script"]
pattern = '''(?i)\bintranet\.acme\.example\b[\w/]*'''
unless = '''(?i)/public\b'''
message = "The skill names a host of ours."
why = "It cannot be reached from outside."
fix = "Take the public name."
matches = ["see http://intranet.acme.example/x", "INTRANET.ACME.EXAMPLE"]
ignores = ["the intranet of acme", "intranet.acme.example/public", "Never connect to intranet.acme.example."]
"""

YARA = """
rule drop_box : acme {
  meta:
    description = "The skill names a drop box."
    severity = "critical"
    category = "data-exfiltration"
    owasp = "AST02"
    why = "What is dropped there is gone."
    fix = "Do not drop anything there."
  strings:
    $a = "drop.acme.example"
    $b = "box.acme.example"
  condition:
    any of them
}
rule plain { condition: filesize > 10MB }
"""


def make_pack(folder: Path, **files: str) -> str:
    """A rules folder with these files; `a_toml` is a.toml. Each test has one of its own: a process reads a folder once."""
    folder.mkdir()
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(text)
    return str(folder)
