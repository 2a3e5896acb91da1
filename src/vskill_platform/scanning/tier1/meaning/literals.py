"""Patterns in the code of a program that looks for something: a raw string or a regular expression that no shell can carry out.

Only what a rule found in the text as it is written is weighed so. What the code does with the string is for the readers of
code to say, and they are not asked here.
"""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.patterns import compile_pattern

PYTHON_SUFFIXES = (".py", ".pyi")
JAVASCRIPT_SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
SHELL_SUFFIXES = (".sh", ".bash", ".zsh")
FEWEST_SIGNS = 3
"""Signs of a pattern in what a rule found, of different kinds."""
_PYTHON = re.compile(
    r"(?P<prefix>(?<!\w)[A-Za-z]{0,2})(?:\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^'\\]|\\.)*)')"
)
_JAVASCRIPT = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|"
    r"(?:^|(?<=[=(,:\[!&|?{}]))\s*/(?P<pattern>(?:[^/\\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+)/[a-z]*"
)
_LABEL = re.compile(r"\s*\(?\*(?:\"[^\"$`]*\"|'[^']*')\*(?:\s*\|\s*\*(?:\"[^\"$`]*\"|'[^']*')\*)*\)")
"""A label of a shell's `case` in which nothing is run."""
_SIGN = re.compile(r"\\[sSbBwWdD][*+?]?|\[\^|\(\?[:i=!<]|\\[|.()$]|\)[?*+]|\][*+?{]|\.[*+]|\{\d+,\d*\}")
"""What only a regular expression has."""
_USABLE = re.compile(r"(?i)://[\w-]+(?:\.[\w-]+)+|\b\d{1,3}(?:\.\d{1,3}){3}\b|\$[A-Za-z_{(]")
"""An address or a variable, which something that is carried out would have."""
_RUNS = re.compile(r"(?i)system|popen|subprocess|exec|eval|spawn|run|call|check_output|shell|\$\(")


def is_in_pattern(path: str, line: str, at: int, *, rule: str) -> bool:
    """Whether what the pattern of a rule found at a place of code is itself a pattern, on a line that runs nothing."""
    if path.endswith(SHELL_SUFFIXES):
        return _is_label(line, at)
    literals = (
        _PYTHON if path.endswith(PYTHON_SUFFIXES) else _JAVASCRIPT if path.endswith(JAVASCRIPT_SUFFIXES) else None
    )
    if literals is None or '"""' in line or "'''" in line:
        return False
    found = next((literal for literal in literals.finditer(line) if literal.start() <= at < literal.end()), None)
    if found is None or not _is_raw(found) or _USABLE.search(found[0]):
        return False
    signs = {sign[0] for sign in _SIGN.finditer(_matched(rule, line, at))}
    return len(signs) >= FEWEST_SIGNS and _RUNS.search(literals.sub("", line)) is None


def _is_label(line: str, at: int) -> bool:
    """Whether a place is in what a branch of a shell's `case` compares with: quoted, and with anything before and behind."""
    label = _LABEL.match(line)
    return label is not None and at < label.end()


def _matched(rule: str, line: str, at: int) -> str:
    """What the pattern finds at the place."""
    data, offset = line.encode(), len(line[:at].encode())
    spans = compile_pattern(rule).spans(data)
    return next((data[start:end].decode(errors="ignore") for start, end in spans if start <= offset < end), "")


def _is_raw(literal: re.Match[str]) -> bool:
    """Whether nothing but a reader of patterns makes sense of the backslashes in a literal."""
    known = literal.groupdict()
    return known["pattern"] is not None if "pattern" in known else known["prefix"].lower() in ("r", "rb", "br")
