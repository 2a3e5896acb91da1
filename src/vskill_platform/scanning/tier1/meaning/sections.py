"""What stands in one section of a text, taken together: something to fetch, a reason why one must, and the step that runs it.

Campaigns spread the three over a list, a code block and a note, so that no line is remarkable. The section is what a person
or an agent works through, so it is read as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.markdown.document import BlockKind, Section
from vskill_platform.scanning.tier1.patterns import Pattern, PatternSet, compile_pattern
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting, SkillUnderScan

LOCKED_ARCHIVE = "locked_archive_to_run"
FOREIGN_PREREQUISITE = "foreign_prerequisite"
CHECKS = frozenset([LOCKED_ARCHIVE, FOREIGN_PREREQUISITE])
LONGEST_SECTION = 60_000

_WELL_KNOWN = (
    r"(?:github\.com/(?:cli|microsoft|google|hashicorp|docker|kubernetes|nodejs|python|astral-sh|denoland|"
    r"oven-sh|rust-lang|golang|"
    r"aws|Azure|git-for-windows|Homebrew|koalaman|jqlang|BurntSushi|ImageMagick|FFmpeg)/|git-scm\.com|(?:www\.|"
    r"docs\.)?python\.org|"
    r"nodejs\.org|(?:www\.|docs\.|desktop\.)?docker\.com|(?:www\.)?rust-lang\.org|go\.dev|brew\.sh|"
    r"code\.visualstudio\.com|"
    r"(?:www\.)?postgresql\.org|(?:www\.)?ffmpeg\.org|developer\.\w+\.com|cloud\.google\.com|aws\.amazon\.com|"
    r"learn\.microsoft\.com|"
    r"(?:www\.)?java\.com|adoptium\.net|(?:www\.)?libreoffice\.org|cli\.github\.com|deno\.(?:land|com)|bun\.sh|"
    r"astral\.sh)"
)
_OWN_NETWORK = r"(?:127|10|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))\."
_PATTERNS = {
    "archive": (
        r"(?i)(?:https?://|\]\()[^\s)>\"'`]{3,300}\.(?:zip|rar|7z|tar\.gz|tgz|iso|cab)\b|\b[\w.-]{2,80}\.(?:zip|"
        r"rar|7z)\b"
    ),
    "program": (
        r"(?i)(?:https?://|\]\()[^\s)>\"'`]{3,300}\.(?:exe|msi|dmg|pkg|apk|appimage|scr|bat|cmd|ps1|jar|deb|rpm|"
        r"vbs|hta|run|command|zip|rar|7z)(?:[\s)>\"'`?#,]|$)"
        r"|https?://[^\s)>\"'`]{3,200}/releases/(?:latest/)?download/|https?://\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}"
        r"|https?://(?:[\w-]+\.)*(?:glot\.io|pastebin\.com|paste\.\w+|rentry\.(?:co|org)|hastebin\.\w+|"
        r"ghostbin\.\w+|dpaste\.\w+|"
        r"bit\.ly|tinyurl\.com|is\.gd|t\.co|cutt\.ly|rebrand\.ly|ngrok[\w.-]*|trycloudflare\.com|transfer\.sh|"
        r"file\.io|gofile\.io|"
        r"mediafire\.com|mega\.nz|anonfiles?\.\w+|workers\.dev|pages\.dev|duckdns\.org|webhook\.site)\b"
    ),
    "password": (
        r"(?i)(?:\b(?:pass(?:word|code|phrase)?|pwd|contraseña|mot de passe|passwort|senha)\b|"
        r"пароль|密码|密碼|パスワード|비밀번호)"
        r"[^\n]{0,40}?(?::|=| is\b|：|«|»|`|\*\*|\")"
    ),
    "unpack": (
        r"(?i)\b(?:extract|unzip|unpack|unrar|7z x|decompress|open the archive|expand)\b|распаку|解压|解壓|"
        r"extra(?:e|er|iga)|entpack|décompress|展開|압축"
    ),
    "run": (
        r"(?i)\b(?:run|execute|launch|start|install|open|double-?click|paste)\b|запуст|运行|執行|执行|ejecut|exécut|"
        r"ausführ|実行|실행"
    ),
    "unguard": (
        r"(?i)\bxattr\s+-\w*[cd]\w*\s|\bUnblock-File\b|\bspctl\s+--(?:master|global)-disable|\b(?:Set|Add)-MpPreference\b"
    ),
    "must": (
        r"(?i)\b(?:prerequisites?|required?|requires|requirements?|must|mandatory|needed|necessary|"
        r"before (?:you|using|first|any)|"
        r"won't work|will not work|does not work|cannot (?:work|function|run)|first\b|do not (?:skip|continue|"
        r"proceed)|setup|set-up)\b|"
        r"необходим|обязательн|必须|必須|前提|obligatori|prérequis|voraussetzung|pré-requisit|필수"
    ),
}


_FETCHED = ("archive", "program")
"""Patterns without which the others need not be looked for."""
_HINT = (
    r"(?i)[\w)](?:\.(?:exe|msi|dmg|pkg|apk|appimage|scr|bat|cmd|ps1|jar|deb|rpm|vbs|hta|run|command|zip|rar|7z|tgz|iso|cab|gz))"
    r"(?:[\s)>\"'`?#,]|$)|/releases/|://\d|"
    r"(?:paste|glot\.|rentry|bin\.|bit\.ly|tinyurl|is\.gd|t\.co/|cutt\.|rebrand|ngrok|trycloud|transfer\.sh|file\.io|gofile|"
    r"mediafire|mega\.nz|anonfile|workers\.dev|pages\.dev|duckdns|webhook\.site)"
)
"""What a text must have for any of its sections to be looked at."""


def find_in_sections(skill: SkillUnderScan) -> Iterator[Sighting]:
    """Sections that have one unpack a locked archive and run it, or fetch a foreign program because one must."""
    for file in skill.files:
        if file.is_markdown and compile_pattern(_HINT).is_in(file.encoded):
            for section in file.document.sections:
                yield from _in_section(file, section)


def _in_section(file: FileUnderScan, section: Section) -> Iterator[Sighting]:
    blocks = [block for block in section.blocks if block.kind is not BlockKind.FRONTMATTER]
    text = "\n".join(block.text for block in blocks)[:LONGEST_SECTION].encode()
    fetched = {name for name in map(_FETCHED.__getitem__, _may_be_fetched().which(text)) if _find(name, text)}
    if not fetched:
        return
    seen = fetched | {name for name in _PATTERNS if name not in _FETCHED and _find(name, text)}
    if {"archive", "password", "run"} <= seen and {"unpack", "must"} & seen:
        yield _sighting(LOCKED_ARCHIVE, file, section, "archive", "archive, password, run")
    if {"program", "run", "must"} <= seen and not _is_well_known("program", text):
        yield _sighting(FOREIGN_PREREQUISITE, file, section, "program", "a program from elsewhere, a must, run")
    elif {"archive", "run", "unguard"} <= seen and not _is_well_known("archive", text):
        yield _sighting(
            FOREIGN_PREREQUISITE, file, section, "archive", "an archive from elsewhere, its quarantine, run"
        )


@cache
def _may_be_fetched() -> PatternSet:
    """Tells in one quick pass what a section may have to fetch: the patterns themselves count, and counting is slow."""
    return PatternSet([_PATTERNS[name] for name in _FETCHED])


def _find(name: str, text: bytes) -> bool:
    return _pattern(name).is_in(text)


@cache
def _pattern(name: str) -> Pattern:
    return compile_pattern(_PATTERNS[name])


def _is_well_known(sign: str, text: bytes) -> bool:
    """Whether everything of that sign in the section comes from where everybody gets it, or from the machine's own network."""
    known = compile_pattern(rf"(?i)^(?:https?://|\]\()?(?:https?://)?(?:{_WELL_KNOWN}|{_OWN_NETWORK})")
    return all(known.is_in(text[span.start : span.end]) for span in _pattern(sign).spans(text))


def _sighting(check: str, file: FileUnderScan, section: Section, sign: str, detail: str) -> Sighting:
    for block in section.blocks:
        span = next(_pattern(sign).spans(block.text.encode()), None)
        if span is not None:
            before = block.text.encode()[: span.start]
            line = block.first_line + before.count(b"\n")
            column = len(before[before.rfind(b"\n") + 1 :].decode(errors="ignore")) + 1
            excerpt = make_excerpt(file.lines[line - 1], start=column - 1)
            return Sighting(check, file.path, line, column, excerpt, "prose", detail)
    return Sighting(check, file.path, section.first_line, 1, make_excerpt(section.title), "prose", detail)
