"""Lines of code that do no harm even where they are run: the samples that courses are made of.

A payload that only prints a word, one that was cut short, an address that was made unusable (hxxp, [.]). Each form takes the
whole line, so nothing else can stand beside it.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib

LONGEST_LINE = 400
_BLOB = r"(?P<blob>[A-Za-z0-9+/]{8,}={0,2})"
_ENCODED = (
    re.compile(rf"echo\s+(?:-n\s+)?[\"']?{_BLOB}[\"']?\s*\|\s*base64\s+(?:-d|-D|--decode)\s*\|\s*(?:ba|z|da)?sh$"),
    re.compile(
        rf"(?i)(?:powershell|pwsh)(?:\.exe)?(?:\s+-(?:nop\w*|noni|w\s+hidden|windowstyle\s+hidden))*\s+-e\w*\s+{_BLOB}$"
    ),
    re.compile(
        rf"(?:exec|eval)\((?:base64\.|__import__\([\"']base64[\"']\)\.)b64decode\(b?[\"']{_BLOB}[\"']\)(?:\.decode\(\))?\)$"
    ),
)
_ESCAPED = re.compile(r"\$\((?:printf|echo -e) '(?P<escapes>(?:\\x[0-9a-fA-F]{2}){2,40})'\)(?:\s+[\w ]{0,60})?$")
_PRINTS = re.compile(
    r"\s*(?:echo|printf|Write-Host|Write-Output|print|console\.log)[\s(]*([\"']?)[\w .,!?:-]{0,80}\1\)?;?\s*$"
)
_CUT = re.compile(
    r"exec\(.{0,120}\bzlib\b.{0,120}b64decode\(b?[\"'](?P<blob>[A-Za-z0-9+/]{8,200})(?:\.\.\.|…)[\"']\)+$"
)
_DEFANGED = re.compile(r"(?i)\bhxxps?://|\w\[\.\]\w|\w\[dot\]\w")
_LIVE = re.compile(r"(?i)\b(?:https?|ftp)://|\b\d{1,3}(?:\.\d{1,3}){3}\b|/dev/tcp")
_MORE_THAN_ONE = re.compile(r"[;&`<>]|\$\(|\|\|")
_WRAPPED = re.compile(r"(?:/bin/)?(?:ba|z|da)?sh -c [\"']?\$\(([^()]*)\)[\"']?")
"""A shell that is given what a command prints."""
_FETCHES = re.compile(r"(?i)^\W*(?:curl|wget|iwr|irm|iex)\b")


def is_inert(line: str) -> bool:
    """Whether a line of code is a sample that can do no harm."""
    code = line.strip()
    return len(code) <= LONGEST_LINE and (_only_prints(code) or _is_cut_short(code) or _is_defanged(code))


def _only_prints(code: str) -> bool:
    escaped = _ESCAPED.match(code)
    if escaped:
        return bytes.fromhex(escaped["escapes"].replace("\\x", "")) in (b"echo", b"printf")
    found = next((match for form in _ENCODED if (match := form.match(code))), None)
    raw = _decoded(found["blob"]) if found else None
    if raw is None:
        return False
    is_wide = len(raw) % 2 == 0 and not any(raw[1::2])
    return _PRINTS.match(raw.decode("utf-16-le" if is_wide else "utf-8", errors="replace")) is not None


def _is_cut_short(code: str) -> bool:
    """Whether a packed payload ends before its end."""
    found = _CUT.match(code)
    raw = _decoded(found["blob"][: len(found["blob"]) // 4 * 4]) if found else None
    if raw is None:
        return False
    reader = zlib.decompressobj()
    try:
        reader.decompress(raw, 10_000)
    except zlib.error:
        return True
    return not reader.eof


def _is_defanged(code: str) -> bool:
    """Whether a single command fetches from an address that was made unusable, and from no other."""
    wrapped = _WRAPPED.fullmatch(code)
    code = wrapped[1] if wrapped else code
    plain = code.replace("''", "").replace('""', "").replace('"', "").replace("'", "")
    if not _FETCHES.match(plain) or _MORE_THAN_ONE.search(code) or _LIVE.search(plain):
        return False
    return _DEFANGED.search(plain) is not None


def _decoded(blob: str) -> bytes | None:
    try:
        return base64.b64decode(blob, validate=True)
    except binascii.Error:
        return None
