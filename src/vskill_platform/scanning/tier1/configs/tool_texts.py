"""Texts that describe tools to an agent: orders hidden in them, and words about other people's tools.

They stand in lists of tools, in the schemas of their parameters, and in the code of MCP servers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.patterns import Pattern

SHORTEST_TEXT = 20
_SCHEMAS = frozenset(["inputschema", "input_schema", "outputschema"])
_TEXTS = frozenset(["description", "title", "hint", "instructions", "prompt", "summary"])
_SERVER_SIGNS = ("McpServer", "FastMCP", ".tool(", ".tool\n", "registerTool", "tools/list", "inputSchema")
_JOINED = re.compile(r"""["'`]\s*\+?\s*\n?\s*\+?\s*["'`]""")
_ORDERS = Pattern(
    r"(?i)<\s*(?:important|system|instructions?|critical|hidden|secret|admin|override|directive)>"
    r"|\bbefore\s+(?:using|calling|invoking|running|executing)\s+(?:this|any|the|other|another)\b[^.\n]{0,60}\btools?\b[^.\n]{0,40}"
    r"\b(?:read|open|fetch|send|include|provide|cat|access|retrieve|pass)\b"
    r"|\b(?:do\s+not|don't|never)\s+(?:tell|mention|inform|notify|reveal|disclose|alert)\b[^.\n]{0,40}\b(?:users?|humans?|anyone|this)\b"
    r"|\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+|your\s+)*(?:previous|prior|earlier|above|safety|system)\s+\w+"
    r"|\b(?:read|cat|open|include|attach|send|pass|provide|upload)\b[^.\n]{0,60}(?:~/\.(?:ssh|aws|gnupg|netrc|kube)\b|\.ssh/|id_rsa|"
    r"/etc/passwd|\b(?:private|ssh)\s+keys?\b|\bconversation\s+history\b|\bsystem\s+prompt\b|\bchat\s+history\b)"
    r"|\b(?:attach|send|pass|upload)\b[^.\n]{0,60}(?:~/\.\w|mcp\.json|[^\w.]\.env\b)"
    r"|\b(?:everything|all)\s+(?:that\s+(?:was|has\s+been)\s+)?(?:said|written|discussed|typed)\s+so\s+far\b"
    r"|\b(?:conversation|chat|messages?|prompt)\b[^.\n]{0,30}\b(?:verbatim|word\s+for\s+word)\b"
    r"|\bnot\s+(?:be\s+)?(?:shown|displayed|visible|mentioned)\s+(?:to\s+the\s+user|in\s+any|anywhere)\b"
    r"|\bleave\s+(?:it|this|them)\s+out\s+when\b|\bmention(?:ing)?\s+(?:it|this)\s+(?:breaks|would|will)\b"
    r"|\bas\s+(?:the\s+)?[`'\"]?side_?note[`'\"]?"
)
_ABOUT_OTHERS = Pattern(
    r"(?i)\b(?:instead\s+of|rather\s+than)\s+(?:using\s+|calling\s+)?(?:any\s+|all\s+)?(?:the\s+)?(?:other|built-?in|default|native)\s+(?:\w+\s+)?tools?\b"
    r"|\b(?:when(?:ever)?|if|every\s+time)\b[^.\n]{0,60}\b(?:other|another|different)\s+(?:\w+\s+)?(?:tool|server)s?\b[^.\n]{0,80}"
    r"\b(?:must|should|always|first|also|instead)\b"
    r"|\b(?:do\s+not|don't|never)\s+(?:use|call|invoke)\s+(?:any\s+|the\s+)?other\s+(?:\w+\s+)?(?:tool|server)s?\b"
    r"|\b(?:tool|server)s?\s+(?:[\w`]+\s+){0,2}of\s+(?:any\s+|the\s+|all\s+)?other\s+(?:tool|server)s?\b"
    r"|\bwhile\s+this\s+(?:server|tool)\s+is\s+(?:connected|running|active|loaded)\b"
    r"|\b(?:redirect|overrid(?:e|es)|supersedes?)\b[^.\n]{0,40}\b(?:behaviou?r|recipient)\s+of\s+(?:the\s+)?(?:other|any|all|every)\b"
    r"|\bthis\s+tool\s+(?:must|should|has\s+to)\s+(?:always\s+)?be\s+(?:called|used|invoked|run)\s+(?:first|before\s+(?:any|every|all))\b"
)


def find_tool_texts(entries: Iterable[Entry]) -> Iterator[tuple[Entry, str]]:
    """The texts of tools that do more than describe them, with the check that each falls under."""
    entries = list(entries)
    if not any(_is_schema(entry) for entry in entries):
        return
    for entry in entries:
        if entry.key.lower() in _TEXTS and len(entry.value) >= SHORTEST_TEXT:
            check = _check_for(entry.value.encode(errors="replace"))
            if check is not None:
                yield entry, check


def find_in_server_code(text: str) -> Iterator[tuple[int, str]]:
    """The lines in the code of an MCP server whose text does more than describe a tool, with the check of each."""
    if not any(sign in text for sign in _SERVER_SIGNS):
        return
    # Texts that the code joins are joined here too, without a change to the number of lines.
    joined = _JOINED.sub(lambda found: "\n" * found.group().count("\n"), text).encode(errors="replace")
    flat = joined.replace(b"\n", b" ")
    for pattern, check in ((_ORDERS, "tool_text_gives_orders"), (_ABOUT_OTHERS, "tool_text_shadows_others")):
        span = next(pattern.spans(flat), None)
        if span is not None:
            yield joined.count(b"\n", 0, span.start) + 1, check


def _is_schema(entry: Entry) -> bool:
    names = [name.lower() for name in entry.names]
    return not _SCHEMAS.isdisjoint(names) or {"parameters", "properties"} <= {*names}


def _check_for(text: bytes) -> str | None:
    if _ORDERS.is_in(text):
        return "tool_text_gives_orders"
    return "tool_text_shadows_others" if _ABOUT_OTHERS.is_in(text) else None
