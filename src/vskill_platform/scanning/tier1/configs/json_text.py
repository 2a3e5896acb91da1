"""Reads JSON the way lenient programs do: with comments, commas at the end, single quotes and keys without quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.configs.structured import MOST_BYTES, Collector, Reading

_TOKEN = re.compile(
    r"""[ \t\r\n\ufeff]+|//[^\n]*|\#[^\n]*|/\*|"(?>[^"\\\n]|\\.)*+"?|'(?>[^'\\\n]|\\.)*+'?|[{}\[\]:,]|[^\s{}\[\]:,"'/\#]+|.""",
    re.DOTALL,
)
"""Each alternative takes what it can and never comes back, so that a text is walked over once."""


def read_json(text: str) -> Reading:
    """The values of the text."""
    collector = Collector()
    for token, line in _tokens(text[:MOST_BYTES]):
        _take(collector, token, line)
        if collector.is_full:
            break
    reading = collector.end()
    return reading._replace(is_cut=True) if len(text) > MOST_BYTES else reading


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    at, line = 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        assert found is not None, "the last alternative takes anything"
        token = found.group()
        at = found.end()
        if token == "/*":
            end = text.find("*/", at)
            end = len(text) if end < 0 else end + 2
            line += text.count("\n", at, end)
            at = end
        elif token[0] in " \t\r\n\ufeff":
            line += token.count("\n")
        elif not token.startswith(("//", "#")):
            yield token, line


def _take(collector: Collector, token: str, line: int) -> None:
    match token[0]:
        case "{" | "[":
            if collector.needs_key:
                collector.is_broken = True
            collector.open(is_mapping=token == "{", line=line)
        case "}" | "]":
            collector.close(is_mapping=token == "}")
        case ":" | ",":
            pass
        case _:
            is_closed = token[0] not in "\"'" or (len(token) > 1 and token[-1] == token[0])
            collector.is_broken = collector.is_broken or not is_closed
            if collector.needs_key:
                collector.take_key(_plain(token))
            else:
                collector.take_value(_plain(token), line)


def _plain(token: str) -> str:
    """The text that a token stands for."""
    quote = token[0]
    if quote not in "\"'":
        return token
    inside = token[1:-1] if len(token) > 1 and token[-1] == quote else token[1:]
    if "\\" not in inside:
        return inside
    try:
        return str(json.loads(f'"{inside}"')) if quote == '"' else inside.replace("\\'", "'")
    except ValueError:
        return inside.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
