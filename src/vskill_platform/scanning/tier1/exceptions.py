"""When a match does not count: what a rule's `unless` says, weighed by where it stands.

An `unless` is one pattern for authors of rules. Here it falls into parts, because an attacker can write any word anywhere:

- trusted hosts count when every address in the match itself goes to one of them, host and all; `{installers}` stands for
  those that are known for what they install;
- all else is part of the thing that was matched: in prose its sentence is looked at, elsewhere only the match, or the
  beginning of its line where the pattern asks for that.

Words of warning are not among them. Whether a text quotes or warns is for `meaning/context.py` to say, for every rule alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vskill_platform.scanning.tier1.code.hosts import INSTALLER_ADDRESS
from vskill_platform.scanning.tier1.patterns import compile_pattern

_FLAGS = re.compile(r"^\(\?([a-z]+)\)")
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]|.", re.DOTALL)
_ADDRESS = re.compile(rb"https?://[^\s\"'`|<>)\]]+", re.IGNORECASE)
_WITHOUT_SCHEME = re.compile(
    rb"[\s\"']((?:[a-z0-9-]+\.)+[a-z]{2,}(?:/[^\s\"'`|<>)\]]*)?)(?=[\s\"'`)]|$)", re.IGNORECASE
)
"""An address as curl takes it where nobody says http."""
_SENTENCE_END = re.compile(rb"[.!?]\s+(?=[A-Z])")
_HOST = re.compile(rb"https?://([^/?#:@]*)(?:[/?#:]|$)(?![^/?#]*@)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Exceptions:
    """The parts of an `unless`."""

    trusted: str | None
    form: str | None
    beginning: str | None

    def cover(self, matched: bytes, line: bytes, *, is_prose: bool) -> bool:
        """Whether a match does not count."""
        if self.beginning is not None and compile_pattern(self.beginning).is_in(line):
            return True
        if self.form is not None and compile_pattern(self.form).is_in(
            _sentence(matched, line) if is_prose else matched
        ):
            return True
        return self.trusted is not None and _goes_only_to(self.trusted, matched)


def _sentence(matched: bytes, line: bytes) -> bytes:
    """The sentence of a line that a match stands in: what the next one says is about something else."""
    start = max(0, line.find(matched))
    before = max((found.end() for found in _SENTENCE_END.finditer(line, 0, start)), default=0)
    after = _SENTENCE_END.search(line, start + len(matched))
    return line[before : after.start() if after else len(line)]


def split_exceptions(unless: str) -> Exceptions:
    """The parts of an `unless`, each a pattern of its own."""
    parts: dict[str, list[str]] = {"trusted": [], "form": [], "beginning": []}
    flags = ""
    for alternative in _alternatives(unless.replace("{installers}", INSTALLER_ADDRESS)):
        if found := _FLAGS.match(alternative):
            flags = found[1]
            alternative = alternative[found.end() :]
        parts[_kind_of(alternative)].append(f"(?{flags}:{alternative})" if flags else f"(?:{alternative})")
    return Exceptions(**{kind: "|".join(found) or None for kind, found in parts.items()})


def _kind_of(alternative: str) -> str:
    if "://" in alternative and r"\." in alternative:
        return "trusted"
    return "beginning" if alternative.startswith("^") else "form"


def _alternatives(pattern: str) -> list[str]:
    """The pattern between the bars that stand outside of all parentheses."""
    found, depth = [""], 0
    for token in _TOKEN.findall(pattern):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "|" and depth == 0:
            found.append("")
        else:
            found[-1] += token
    return found


def _goes_only_to(trusted: str, matched: bytes) -> bool:
    """Whether there is an address in the match, and every one has a trusted host: the whole host, and no name before it."""
    addresses = _ADDRESS.findall(matched) or [b"https://" + bare for bare in _WITHOUT_SCHEME.findall(matched)]
    return bool(addresses) and all(_is_trusted(trusted, address) for address in addresses)


def _is_trusted(trusted: str, address: bytes) -> bool:
    host = _HOST.match(address)
    span = next(compile_pattern(trusted).spans(address), None)
    return host is not None and span is not None and span.start == 0 and span.end >= host.end(1)
