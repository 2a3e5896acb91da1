"""Where shell code stands in a skill: scripts, fenced blocks, recipes of containers, of CI and of make.

Each piece keeps its lines: line for line it is as long as the text that it was taken from, so that places stay true.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from vskill_platform.scanning.tier1.code.shell import make, suspects
from vskill_platform.scanning.tier1.code.shell.held_scripts import SUFFIXES as HOLDS_SCRIPTS
from vskill_platform.scanning.tier1.code.shell.held_scripts import held_scripts
from vskill_platform.scanning.tier1.file_kinds import Shape, suffix_of
from vskill_platform.scanning.tier1.languages import Language, language_of_fence
from vskill_platform.scanning.tier1.markdown.document import Block, BlockKind
from vskill_platform.scanning.tier1.skill import FileUnderScan, SkillUnderScan

UNNAMED_FENCES = frozenset(
    [
        "",
        "text",
        "txt",
        "plaintext",
        "plain",
        "cmd",
        "bat",
        "batch",
        "dos",
        "fish",
        "output",
        "session",
        "sh-session",
        "shell-session",
        "code",
        "copy",
        "cron",
        "crontab",
    ]
)
"""What fenced blocks call themselves in which people also put commands."""
_DATA = (
    "json jsonc json5 jsonl toml ini xml html css scss less sql graphql csv diff patch md mdx markdown http log logs svg mermaid "
    "c cpp c++ h dart elixir haskell clojure solidity nginx properties env dotenv vue svelte astro latex tex"
)
_OF_DATA = frozenset(_DATA.split())
"""Languages of blocks in which a backtick is no sign of a command."""
_OF_JSON = frozenset(["json", "jsonc", "json5"])
_STRING = re.compile(r"\"((?>[^\"\\\n]+|\\.){1,400})\"")
_LABEL = re.compile(r"^(?:shell|bash|sh|cmd|run|exec|command)[ \t]*:[ \t]*")
"""What says before a command that it is one."""
_PROMPT = re.compile(r"(?m)^([ \t]*)((?:\([\w.-]+\)[ \t]*)?(?:[\w.-]+@[\w.-]+[^\n$#%]{0,60})?[$%❯➜][ \t]+)")
_INSTRUCTION = re.compile(r"(?im)^[ \t]*(?:ONBUILD[ \t]+)?(RUN|CMD|ENTRYPOINT|HEALTHCHECK|ADD)[ \t]+")
_DOCUMENT = re.compile(r"<<-?['\"]?\w+['\"]?[ \t]*\n")
_FLAGS = re.compile(r"(?:--[\w-]+(?:=\S+)?[ \t]+)+")
_KEY = re.compile(
    r"^([ \t]*(?:-[ \t]+)?)(run|script|before_script|after_script|command|cmd|entrypoint|bash|sh|inline|args|"
    r"user_data|UserData|Fn::Base64)[ \t]*:[ \t]*(?:!Sub[ \t]*)?(.*)$"
)
_COMMAND_OF_PROVISIONER = re.compile(
    r"\b(?:command|user_data|inline|program)[ \t]*=[ \t]*(?:\"((?>[^\"\\\n]+|\\.){1,4000})\"|<<-?(\w{1,40})[ \t]*\n|"
    r"(\[[^\n]{1,4000}))"
)
_LISTED = re.compile(r"\"((?>[^\"\\]+|\\.)*)\"|'([^']*)'|([^\s,\]\"'][^,\]\n]*)")
"""A word of a list, with or without quotes."""
_FENCE_MARK = re.compile(r"(?m)^[ \t]*`{3,}[\w-]*[ \t]*$")
"""A line with which a block begins or ends, in a block that shows how blocks are written."""
_ITEM = re.compile(r"^[ \t]*-[ \t]+(.*)$")
_QUOTED = re.compile(r"[:=][ \t]*\"([^\"]{12,2000})\"")
"""A command that is the value of a setting."""
_SPAN = re.compile(r"`{1,2}!?([^`]{8,4000})`")
_COMMAND_LINE = re.compile(
    r"^[ \t>]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?(?:\$[ \t]+)?((?:sudo[ \t]+)?(?:curl|wget|bash|sh|zsh|nc|ncat|echo|"
    r"printf|cat|python3?|node|eval|source|base64|scp|rsync|git|npx|pip3?|npm|"
    r"powershell|tar|rm|chmod|crontab|env|printenv|dig|nslookup|osascript)[ \t].*[|;&:@<>$/-].*)$"
)
LONGEST_LINE = 20_000
_WITH_PROSE = frozenset([BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.QUOTE, BlockKind.TABLE])


class ShellText(NamedTuple):
    """A piece of shell code. `is_shown` says that it stands in a text for readers."""

    file: str
    text: str
    first_line: int
    is_shown: bool


def shell_texts(skill: SkillUnderScan) -> Iterator[ShellText]:
    """All shell code of a skill, file by file."""
    for file in skill.files:
        if file.shape is Shape.TEXT:
            yield from _texts(file)


def _texts(file: FileUnderScan) -> Iterator[ShellText]:
    if file.language is Language.SHELL:
        yield ShellText(file.path, file.text, 1, is_shown=False)
    if file.is_markdown:
        yield from sorted([*_fences(file), *_prose(file)], key=lambda text: text.first_line)
    name = file.path.rpartition("/")[2].lower()
    whole = ShellText(file.path, file.text, 1, is_shown=False)
    if name.startswith(("dockerfile", "containerfile")) or name.endswith(".dockerfile"):
        yield from _instructions(whole)
    elif suffix_of(file.path) in HOLDS_SCRIPTS:
        if suffix_of(file.path) in {"yml", "yaml"}:
            yield from _yaml_commands(whole)
        for text, first_line in held_scripts(file.text):
            yield whole._replace(text=text, first_line=first_line)
    elif suffix_of(file.path) in {"tf", "hcl"}:
        yield from _provisioners(whole)
    elif name in {"makefile", "gnumakefile", "justfile"} or name.endswith(".mk"):
        yield from _recipes(whole)


def _fences(file: FileUnderScan) -> Iterator[ShellText]:
    for block in file.document.fences:
        language = language_of_fence(block.language)
        if language is Language.SHELL or (language is None and block.language in UNNAMED_FENCES):
            text = _FENCE_MARK.sub("", block.text) if "```" in block.text else block.text
            yield from _session(ShellText(file.path, text, block.first_line, is_shown=True))
        elif read := _OF_FENCE.get(block.language):
            yield from read(ShellText(file.path, block.text, block.first_line, is_shown=True))


def _prose(file: FileUnderScan) -> Iterator[ShellText]:
    """Commands in running text: between backticks, or on a line that begins with one."""
    for number in suspects.suspect_lines(file.encoded):
        line = file.lines[number - 1][:LONGEST_LINE]
        found = _SPAN.findall(line) if "`" in line else _COMMAND_LINE.findall(line)
        fence = _fence_at(file, number)
        if fence is not None and fence.language in _OF_JSON:
            values = (_LABEL.sub("", value) for value in _STRING.findall(line) if " " in value)
            yield from (ShellText(file.path, value.replace('\\"', '"'), number, is_shown=True) for value in values)
            continue
        if "`" in line and fence is not None and not _is_known(fence.language):
            yield from (ShellText(file.path, written, number, is_shown=True) for written in found)
            continue
        block = file.document.block_at(number) if found and fence is None else None
        if block is not None and block.kind in _WITH_PROSE:
            for written in found:
                text = written.replace("\\|", "|") if block.kind is BlockKind.TABLE else written
                yield ShellText(file.path, text, number, is_shown=True)
                yield from (ShellText(file.path, inner, number, is_shown=True) for inner in _QUOTED.findall(text))


def _fence_at(file: FileUnderScan, line: int) -> Block | None:
    """The fenced block that a line stands in, which can be told without any other block."""
    fences = file.document.fences
    at = bisect_right(fences, line, key=lambda fence: fence.first_line) - 1
    return fences[at] if at >= 0 and line <= fences[at].last_line else None


def _is_known(language: str) -> bool:
    """Whether a fenced block is read as what it is; in what nobody runs, commands are what they are in prose."""
    return language_of_fence(language) is not None or any(
        language in known for known in (UNNAMED_FENCES, _OF_FENCE, _OF_DATA)
    )


def _session(given: ShellText) -> Iterator[ShellText]:
    """What is typed in a session: each prompt begins anew, because what stands between may be no code at all."""
    if "$" not in given.text and "%" not in given.text:
        yield given
        return
    prompts = list(_PROMPT.finditer(given.text))
    if not prompts:
        yield given
        return
    starts = [found.start() for found in prompts]
    if starts[0] > 0:
        yield given._replace(text=given.text[: starts[0]])
    for found, end in zip(prompts, [*starts[1:], len(given.text)], strict=True):
        line = given.first_line + given.text.count("\n", 0, found.start())
        yield given._replace(text=found[1] + given.text[found.end() : end], first_line=line)


def _instructions(given: ShellText) -> Iterator[ShellText]:
    """RUN and its like, each with the lines that continue it."""
    line, counted = given.first_line, 0
    for found in _INSTRUCTION.finditer(given.text):
        end = _end_of_instruction(given.text, found.end())
        text = given.text[found.end() : end]
        flags = _FLAGS.match(text)
        text = _without_document(text[flags.end() :] if flags else text)
        line, counted = line + given.text.count("\n", counted, found.end()), found.end()
        if found[1].upper() == "ADD":
            text = "" if flags and "--checksum" in flags[0] else _as_download(text)
        yield given._replace(text=_from_list(text), first_line=line)


def _as_download(text: str) -> str:
    """What an ADD of an address does, as a command; any other ADD does nothing here."""
    words = text.split()
    return f"curl -o {words[1]} {words[0]}" if len(words) == 2 and "://" in words[0] else ""


def _without_document(text: str) -> str:
    """The lines of a here-document that is the whole instruction; its first line is left empty."""
    found = _DOCUMENT.match(text)
    return "\n" + text[found.end() :] if found else text


def _end_of_instruction(text: str, start: int) -> int:
    end = start
    while True:
        newline = text.find("\n", end)
        if newline < 0:
            return len(text)
        line = text[end:newline].rstrip()
        document = re.search(r"<<-?['\"]?(\w+)", line[:500])
        if document and (closing := text.find(f"\n{document[1]}", newline)) >= 0:
            return closing + len(document[1]) + 1
        if not line.endswith("\\") and not line.lstrip().startswith("#"):
            return newline
        end = newline + 1


def _from_list(text: str) -> str:
    """`["sh", "-c", "..."]` as the words of a command."""
    plain = text.strip()
    if not plain.startswith("["):
        return text
    words = (max(found) for found in _LISTED.findall(plain[1:LONGEST_LINE]))
    return " ".join("'" + word.replace('\\"', '"').replace("'", "'\\''") + "'" for word in words)


def _yaml_commands(given: ShellText) -> Iterator[ShellText]:
    """What stands behind `run:` and its like, taken by indentation: a pipeline file need not be valid to be read."""
    lines = given.text.split("\n")
    number = 0
    while number < len(lines):
        found = _KEY.match(lines[number][:LONGEST_LINE]) if ":" in lines[number] else None
        number += 1
        if not found:
            continue
        value = found[3].strip()
        if value and value[0] not in "|>":
            yield given._replace(text=_from_list(_unquoted(value)), first_line=given.first_line + number - 1)
            continue
        indent = len(found[1].replace("-", " ").expandtabs())
        end = number
        while end < len(lines) and (
            not lines[end].strip()
            or _indent(lines[end]) > indent
            or (not value and lines[end].lstrip().startswith("- "))
        ):
            end += 1
        block = lines[number:end]
        if not value:
            block = [
                _unquoted(item[1].strip()) if (item := _ITEM.match(line[:LONGEST_LINE])) else line for line in block
            ]
        if block:
            text = "\n".join(line.strip() for line in block)
            yield given._replace(text=text, first_line=given.first_line + number)
        number = end


def _indent(line: str) -> int:
    return len(line.expandtabs()) - len(line.expandtabs().lstrip())


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1].replace('\\"', '"').replace("''", "'") if is_quoted else text


def _provisioners(given: ShellText) -> Iterator[ShellText]:
    """Commands that Terraform runs on the machine, and what it gives to new ones to run."""
    line, counted, at = given.first_line, 0, 0
    while found := _COMMAND_OF_PROVISIONER.search(given.text, at):
        quoted, mark, listed = found.groups()
        start = found.end() if mark else found.start(1 if quoted else 3)
        end = max(start, given.text.find(mark, start, start + LONGEST_LINE)) if mark else found.end()
        line, counted = line + given.text.count("\n", counted, start), start
        text = quoted.replace('\\"', '"') if quoted else _from_list(listed) if listed else given.text[start:end]
        yield given._replace(text=text, first_line=line)
        at = end


def _recipes(given: ShellText) -> Iterator[ShellText]:
    """What make hands to a shell."""
    for text in make.recipes(given.text.split("\n")):
        if text.strip():
            yield given._replace(text=text)


_OF_FENCE = {
    "makefile": _recipes,
    "make": _recipes,
    "dockerfile": _instructions,
    "docker": _instructions,
    "containerfile": _instructions,
    "yaml": _yaml_commands,
    "yml": _yaml_commands,
    "hcl": _provisioners,
    "terraform": _provisioners,
    "tf": _provisioners,
}
"""How shell code is taken out of fenced blocks that are no shell code themselves."""
