"""Commands in the texts of a program: those that fetch, those that send, and those that run a file that the program wrote."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import islice

from vskill_platform.scanning.tier1.code.others.program import Text

MOST_TEXTS = 20
LONGEST_PATH = 200
INTERPRETER = (
    r"(?:/\S{1,40}/)?(?:(?:ba|z|da|k)?sh|python[\d.]*|ruby|perl|node|php|lua|pwsh|powershell(?:\.exe)?|"
    r"cmd(?:\.exe)?|open|start|mshta|rundll32|"
    r"regsvr32|msiexec|wscript|cscript|osascript|chmod)"
)
"""What runs, opens or readies a file that is named behind it."""
_TRANSFERS = re.compile(r"(?:^|[\s|;&(`])(?:curl|wget)(?:\.exe)?(?=\s|$)")
_IS_TRANSFER = re.compile(r"(?:/\S{1,40}/)?(?:curl|wget|nc|ncat)(?:\.exe)?")
_SENDS = re.compile(
    r"(?:^|[\s|;&(`])(?:curl|wget)(?:\.exe)?(?=\s)[^|;&\n]{0,300}(?:\s(?:-d|-F|-T)|--data|--form|--upload-file|--post-|[?&]\w{1,30}=)|"
    r"\|\s*(?:curl|nc|ncat)\b"
)
_OPTION_THAT_SENDS = re.compile(
    r"(?:-d|-F|-T|--data[\w-]*|--form[\w-]*|--upload-file|--post-(?:data|file))(?:[=@ ].*)?"
)
_SAVES_TO = re.compile(r"\s(?:-\w{0,6}o|--output|-O)[\s=]{1,3}[\"'\\]{0,2}([^\s\"';&|>\\]{2,200})")
_BROWSER_KEY = re.compile(
    r"\bsecurity\s+find-generic-password\b[^|;&\n]{0,80}\b(?:Chrome|Chromium|Brave|Edge|Opera|Vivaldi|Arc)\b|\bsecurity\s+dump-keychain\b"
)
_STEPS = re.compile(r"&&|\|\||[;\n]")
_OPENS = re.compile(r"(?:/\S{1,40}/)?(?:open|start|chmod)\b", re.IGNORECASE)
_RUNS_FILE = re.compile(
    rf"(?:(?:sudo|nohup|exec|env)\s+)*(?:{INTERPRETER}(?:\s+[-/+][\w=]+)*\s+)?[\"'\\]{{0,2}}(?P<path>[^\s\"';&|]+)",
    re.IGNORECASE,
)
_LOOKS_LIKE_PATH = re.compile(r"[^\s\"'<>|*?]{0,180}(?:[/\\.])[^\s\"'<>|*?]{1,180}")
_DATA_FILE = re.compile(
    r"\.(?:pdf|csv|tsv|json\w?|txt|md|html?|xml|ya?ml|png|jpe?g|gif|svg|webp|mp[34]|wav|docx?|xlsx?|pptx?|zip|tar|t?gz|"
    r"log|sql|db|parquet|lock|toml|ini|css)$",
    re.IGNORECASE,
)


def fetches(texts: Sequence[Text]) -> bool:
    """Whether a command in some texts brings something from the network."""
    pieces = [text.inner for text in texts[:MOST_TEXTS]]
    return any(map(_TRANSFERS.search, pieces)) and any(
        "://" in piece or "$" in piece or "{" in piece for piece in pieces
    )


def may_send(texts: Sequence[Text]) -> bool:
    """Whether a command in some texts hands something to the network."""
    pieces = [text.inner for text in texts[:MOST_TEXTS]]
    if any(map(_SENDS.search, pieces)):
        return True
    by_words = any(map(_IS_TRANSFER.fullmatch, pieces))
    return by_words and any(_OPTION_THAT_SENDS.fullmatch(piece) for piece in pieces)


def asks_for_browser_key(texts: Sequence[Text]) -> bool:
    """Whether a command in some texts asks for the key that a browser encrypts its passwords with."""
    return any(map(_BROWSER_KEY.search, [text.inner for text in texts[:MOST_TEXTS]]))


def saved_to(texts: Sequence[Text]) -> Iterator[str]:
    """The files that a command in some texts saves what it fetched to."""
    for text in texts[:MOST_TEXTS]:
        if _TRANSFERS.search(text.inner):
            yield from _SAVES_TO.findall(text.inner)


def files_named(texts: Sequence[Text]) -> Iterator[str]:
    """The texts that are paths of files which may be run."""
    for text in islice(texts, MOST_TEXTS):
        path = text.inner
        if len(path) <= LONGEST_PATH and "://" not in path and _LOOKS_LIKE_PATH.fullmatch(path):
            yield path


def runs_one_of(paths: Container[str], texts: Sequence[Text]) -> bool:
    """Whether a command in some texts, or the first of them alone, runs one of some files."""
    pieces = [text.inner.strip() for text in texts[:MOST_TEXTS]]
    return any(
        path in paths and not _DATA_FILE.search(path)
        for number, piece in enumerate(pieces)
        for path in (_run_by(piece) if number == 0 else [piece] if _is_interpreter(pieces[0]) else [])
    )


def _is_interpreter(piece: str) -> bool:
    found = re.fullmatch(INTERPRETER, piece, re.IGNORECASE)
    return found is not None and not _OPENS.fullmatch(piece)


def _run_by(command: str) -> Iterator[str]:
    for step in islice(_STEPS.split(command), MOST_TEXTS):
        found = _RUNS_FILE.match(step.strip())
        if found and not _OPENS.match(step.strip()):
            yield found["path"]
