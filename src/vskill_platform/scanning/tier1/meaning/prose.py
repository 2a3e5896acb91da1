"""The prose of a skill: Markdown and plain text without the code in it, and the sentences that its settings hold for an agent."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.file_kinds import FileKind, Shape, suffix_of
from vskill_platform.scanning.tier1.markdown.document import Block, BlockKind
from vskill_platform.scanning.tier1.skill import FileUnderScan, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import LineIndex, View

PROSE_FENCES = frozenset(["", "text", "txt", "markdown", "md", "plain", "plaintext", "prompt", "xml", "html", "yaml"])
"""What fenced blocks call themselves that may be read as sentences."""
PROSE_SUFFIXES = frozenset(["", "txt", "text", "rst", "adoc", "org"])
_FOR_READERS = frozenset([FileKind.ANY, FileKind.MARKDOWN])
_HYPHENATED = re.compile(r"-\n[ \t]*([a-z]{2,20})\b[ \t]?")
"""The end of a line and the rest of a word, if the line ends in a letter and a hyphen."""
_LETTER = re.compile(r"[^\W\d_]")
_SENTENCE = re.compile(r"[ \t]{0,12}[A-Z][a-z]{0,20}(?:,? [a-z'’]{1,20}){5}")
"""A line of a sentence, which is none of code, whatever the block calls itself."""
_OF_SETTINGS = frozenset(["json", "jsonc", "json5", "yaml", "yml", "toml"])
_VALUE = re.compile(
    r"\"(?P<quoted>[A-Z][a-z]{0,20}(?:,? [\w'’`./\\-]{1,30}){5}(?:[^\"\\\n]|\\.)*)"
    r"|[:,\[{][ \t]*'(?P<single>[A-Z][a-z]{0,20}(?:,? [\w’`./\\-]{1,30}){5}(?:[^'\n]|'')*)"
    r"|(?m:^)[ \t]*(?:- )?(?:[\w.-]{1,60}[ \t]?[:=][ \t]*)?'?(?P<plain>[A-Z][a-z]{0,20}(?:,? [\w'’`./\\-]{1,30}){5}[^\n]*)"
)
"""A value that begins as a sentence does: in quotes, or as a line has it."""
_FOR_AGENT = re.compile(
    r"(?i)(?:system|prompt|instruction|persona|guideline|fact|memor|preamble|directive|behaviou?r|policy|rule|note|hint)"
    r"\w{0,20}[\"']?[ \t]*[:=]"
)
"""A key of what an agent is told; what a trial is to be said to it has others."""
_TRIALS = re.compile(r"(?i)(?:^|[/_.-])(?:evals?|tests?|fixtures?|expected|cases|locales?|i18n)(?:[/_.-]|$)")
"""Where skills keep what others might say to them, and the texts of their pages."""


def prose_views(skill: SkillUnderScan) -> Iterator[View]:
    """Each text for readers, with an empty line for every line of code in it: the lines stay the same lines."""
    for file in skill.files:
        if file.shape is Shape.TEXT and (file.is_markdown or suffix_of(file.path) in PROSE_SUFFIXES):
            text = _without_code(file) if file.is_markdown else file.text
            plain = _unhyphenated(text) if file.is_markdown and "-\n" in text else text
            data = file.encoded if plain == file.text else plain.encode()
            yield View(
                file=file.path,
                layer="prose",
                kinds=file.kinds,
                data=data,
                locate=LineIndex(data).locate,
                has_lines_of_file=plain == text,
            )
        elif data := _said_in_settings(file):
            yield View(file=file.path, layer="prose", kinds=_FOR_READERS, data=data, locate=LineIndex(data).locate)


def _said_in_settings(file: FileUnderScan) -> bytes:
    """The sentences that are values in settings of an agent, each in its line, and nothing else; empty without any."""
    is_settings = file.shape is Shape.TEXT and suffix_of(file.path) in _OF_SETTINGS and not _TRIALS.search(file.path)
    text = file.text if is_settings else ""
    if not _FOR_AGENT.search(text):
        return b""
    parts, at = list[str](), 0
    for found in _VALUE.finditer(text):
        parts.append("\n" * text.count("\n", at, found.start()))
        quoted = found["quoted"] or found["single"]
        parts.append(found["plain"] if quoted is None else f"- {quoted}. ".replace("\\n", "  "))
        at = found.end()
    return "".join(parts).encode()


def _without_code(file: FileUnderScan) -> str:
    lines = list(file.lines)
    for block in file.document.set_apart:
        if not _is_prose(block, of_lines=len(lines)):
            kept = [line if _SENTENCE.match(line) else "" for line in lines[block.first_line - 1 : block.last_line]]
            lines[block.first_line - 1 : block.last_line] = kept
    return "\n".join(lines)


def _unhyphenated(text: str) -> str:
    """The text with each word in one line that goes on in the next one. The pattern begins with what is rare."""
    parts, at = list[str](), 0
    for found in _HYPHENATED.finditer(text):
        if found.start() > at and _LETTER.match(text, found.start() - 1):
            parts += (text[at : found.start()], found[1], "\n")
            at = found.end()
    return "".join((*parts, text[at:]))


def _is_prose(block: Block, *, of_lines: int) -> bool:
    """Whether a fenced block may be read as sentences: by its name, or because it is never closed and may be no block at all."""
    return block.kind is BlockKind.FENCE and (block.language in PROSE_FENCES or block.last_line >= of_lines)
