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
_SHELL = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'")
_INTERPOLATED = re.compile(r"\$\(|\$\{|\x60")
"""What is worked out inside of a literal."""
_SIGN = re.compile(r"\\[sSbBwWdD][*+?]?|\[\^|\(\?[:i=!<]|\\[|.()$]|\)[?*+]|\][*+?{]|\.[*+]|\{\d+,\d*\}")
"""What only a regular expression has."""
_USABLE = re.compile(r"(?i)://[\w-]+(?:\.[\w-]+)+|\b\d{1,3}(?:\.\d{1,3}){3}\b|\$[A-Za-z_{(]")
"""An address or a variable, which something that is carried out would have."""
_RUNS = re.compile(r"(?i)system|popen|subprocess|exec|eval|spawn|run|call|check_output|shell|\$\(")


def is_in_pattern(path: str, line: str, at: int, *, rule: str) -> bool:
    """Whether what the pattern of a rule found at a place of code is itself a pattern, on a line that runs nothing."""
    if path.endswith(SHELL_SUFFIXES):
        return _is_label(line, at)
    literals = _literals_of(path)
    if literals is None or '"""' in line or "'''" in line:
        return False
    found = _literal_at(literals, line, at)
    if found is None or not _is_raw(found) or _USABLE.search(found[0]):
        return False
    signs = {sign[0] for sign in _SIGN.finditer(_matched(rule, line, at))}
    return len(signs) >= FEWEST_SIGNS and _RUNS.search(literals.sub("", line)) is None


def is_in_literal(path: str, line: str, at: int) -> bool:
    """Whether a place of code is in a text that stands there as it is."""
    literals = _literals_of(path)
    found = _literal_at(literals, line, at) if literals else None
    return found is not None and _stands_as_it_is(found, path)


def without_literals(path: str, code: str) -> str:
    """Code without the texts that stand in it as they are."""
    literals = _literals_of(path)
    return literals.sub(lambda found: "" if _stands_as_it_is(found, path) else found[0], code) if literals else code


def _literals_of(path: str) -> re.Pattern[str] | None:
    known = ((PYTHON_SUFFIXES, _PYTHON), (JAVASCRIPT_SUFFIXES, _JAVASCRIPT), (SHELL_SUFFIXES, _SHELL))
    return next((literals for suffixes, literals in known if path.endswith(suffixes)), None)


def _literal_at(literals: re.Pattern[str], line: str, at: int) -> re.Match[str] | None:
    return next((literal for literal in literals.finditer(line) if literal.start() <= at < literal.end()), None)


def _stands_as_it_is(literal: re.Match[str], path: str) -> bool:
    """Whether nothing in a literal is worked out: no part of a formatted string, no command of a shell's quotes."""
    if path.endswith(PYTHON_SUFFIXES):
        return "f" not in literal["prefix"].lower()
    return literal[0].startswith("'") or _INTERPOLATED.search(literal[0][1:-1]) is None


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
