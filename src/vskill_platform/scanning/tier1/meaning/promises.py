"""What a skill promises and what its code does: "works offline" beside a request, "read-only" beside a deletion.

A promise counts where it is made: in the description and the SKILL.md for the whole skill, in a script's own comments for
that script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from vskill_platform.scanning.tier1.code.hosts import LOOPBACK
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.meaning.stances import LONGEST_LINE
from vskill_platform.scanning.tier1.patterns import PatternSet, Span, compile_pattern
from vskill_platform.scanning.tier1.skill import Fact, FactKind, FileUnderScan, Observation, Sighting, SkillUnderScan

BROKEN_PROMISE = "broken_promise"
CHECKS = frozenset([BROKEN_PROMISE])
MOST_TEXT = 200_000
SCRIPT_HEAD = 2_000
"""Bytes at the head of a script in which it speaks of itself."""


class Promise(NamedTuple):
    """A promise: how it is worded, which facts or which code break it, and whether the body of the SKILL.md can make it."""

    words: str
    meaning: str
    broken_by: frozenset[FactKind] = frozenset()
    broken_in_code: str | None = None
    counts_in_body: bool = False
    said_of_things: re.Pattern[bytes] | None = None
    """How the words go on where they speak of something else that is so, and not of the skill."""


_REMOVAL = re.compile(
    r"\s*rm\s+(?:-\w+\s+){0,6}(?P<given>(?:[\"']?(?:/tmp/[\w.-]{0,40})?\$[{$]?\w*\}?(?:[./-][\w./-]*)?[\"']?(?:\s+|$)){1,20})$"
)
_TARGET = re.compile(r">\s?(\S+)")
_VARIABLE = re.compile(r"\$\{?(\w+)")
_ASSIGNED = re.compile(
    r"(?m)^[ \t]*(?:local\s+|readonly\s+)?(?P<name>\w+)=[\"']?(?:(?P<made>\$\(mktemp\b)|\$\{?(?P<below>\w+)\}?/|)|"
    r"\b(?:for|read(?:\s+-\w+)*)\s+(?P<looped>\w+)"
)
_OF_ONE_COMMAND = re.compile(rb"`\s?\([^()`\n]{0,40}\Z")
"""The bracket behind a command, in which something is said of that command alone."""
_OF_A_TRIAL = re.compile(rb"(?i)\b(?:dry[- ]?runs?|previews?|trial run|test mode)\b[^\n]*\Z")
_NETWORK = frozenset([FactKind.SENDS, FactKind.REACHES, FactKind.DOWNLOADS])
_DESTROYS = (
    r"\bos\.(?:remove|unlink|rename|replace|rmdir|removedirs|truncate)\(|\bshutil\.(?:rmtree|move)\(|\.unlink\(|"
    r"\bfs\.(?:unlink|rm|rename)\w*\(|(?m:^\s*(?:rm|mv|shred|truncate)\s+)"
)
_WRITES = (
    rf"{_DESTROYS}|\.write_(?:text|bytes)\(|\bopen\([^)\n]{{1,80}},\s*[\"'](?:w|a|x|r\+|wb|ab)[\"']|"
    r"\bfs\.(?:writeFile|appendFile)\w*\("
)
_PROMISES = (
    Promise(
        r"(?i)\b(?:works?|runs?|operates?|entirely|fully|completely|100 ?%|purely|strictly) (?:\w+ )?"
        r"(?:offline|locally|on[- ]device)\b|\b(?:without|needs no|requires no|makes no|no) (?:any )?"
        r"(?:network|internet|external (?:api|network)|outbound) (?:access|calls?|requests?|connections?)",
        meaning="says that it stays offline",
        broken_by=_NETWORK,
    ),
    Promise(
        r"(?i)\b(?:no data|nothing|no text|no files?) (?:ever )?(?:leaves|is (?:ever )?(?:sent|uploaded|transmitted))\b",
        meaning="says that nothing leaves the machine",
        broken_by=frozenset([FactKind.SENDS]),
        said_of_things=re.compile(rb"(?i)[^.!?\n]{0,40}\b(?:except|apart from|other than|besides|unless|but)\b"),
        counts_in_body=True,
    ),
    Promise(
        r"(?i)\bread[- ]only\b|\bno side[- ]effects?\b",
        meaning="says that it only reads",
        broken_in_code=_DESTROYS,
        said_of_things=re.compile(
            rb"(?i)[\s`'\"*_]{0,4}(?:files?|folders?|director(?:y|ies)|file ?systems?|mounts?|volumes?|disks?|drives?|"
            rb"propert(?:y|ies)|attributes?|fields?|columns?|flags?|bits?|paths?|memory|buffers?|variables?|replicas?|"
            rb"roots?|tokens?|keys?|roles?|users?|accounts?|scopes?|cop(?:y|ies)|connections?)\b"
        ),
    ),
    Promise(
        r"(?i)\b(?:does not|doesn't|never|will not|won't) (?:modify|change|write|alter|touch|delete)s? (?:any )?"
        r"(?:files?|anything|your files|disk)\b|\bmakes? no changes to (?:the )?(?:disk|files?)\b",
        meaning="says that it changes no files",
        broken_in_code=_WRITES,
        counts_in_body=True,
    ),
)


def find_broken_promises(skill: SkillUnderScan, observations: Sequence[Observation]) -> Iterator[Sighting]:
    """Scripts that do what the skill, or they themselves, say is not done; once a script and promise."""
    scripts = [file for file in skill.files if file.is_program]
    if not scripts:
        return
    facts = [seen for seen in observations if isinstance(seen, Fact)]
    of_skill = _made_by(skill)
    for file in scripts:
        made = of_skill.union(_made_in(file.encoded[:SCRIPT_HEAD]))
        own = [fact for fact in facts if fact.file == file.path] if made else []
        for number in sorted(made):
            yield from _breaks(_PROMISES[number], file, own)


def _made_by(skill: SkillUnderScan) -> frozenset[int]:
    """The numbers of the promises that a skill makes for all of its scripts."""
    described = _made_in(skill.frontmatter.text.encode()) if skill.frontmatter else []
    body = _made_in(skill.skill_file.encoded[:MOST_TEXT]) if skill.skill_file else []
    return frozenset(
        number for number, promise in enumerate(_PROMISES) if number in (body if promise.counts_in_body else described)
    )


def _made_in(text: bytes) -> list[int]:
    """The numbers of the promises that a text makes."""
    return [number for number in all_words().which(text) if _is_made(_PROMISES[number], text)]


def _is_made(promise: Promise, text: bytes) -> bool:
    spans = compile_pattern(promise.words).spans(text)
    return any(not _is_said_of_something_else(promise, text, span) for span in spans)


def _is_said_of_something_else(promise: Promise, text: bytes, span: Span) -> bool:
    if _OF_ONE_COMMAND.search(text, max(0, span.start - 60), span.start):
        return True
    if _OF_A_TRIAL.search(text, max(0, span.start - 120), span.start):
        return True
    return promise.said_of_things is not None and promise.said_of_things.match(text, span.end) is not None


@cache
def all_words() -> PatternSet:
    """The words of all promises."""
    return PatternSet([promise.words for promise in _PROMISES])


def _breaks(promise: Promise, file: FileUnderScan, facts: Sequence[Fact]) -> Iterator[Sighting]:
    number = next((fact.line for fact in facts if fact.kind in promise.broken_by and not _is_loopback(fact.value)), 0)
    if promise.broken_in_code is not None:
        found = compile_pattern(promise.broken_in_code).spans(file.encoded)
        number = next((line for line in _lines_of(found, file) if not _clears_up(file, line)), 0)
    if 0 < number <= len(file.lines):
        excerpt = make_excerpt(file.lines[number - 1])
        yield Sighting(BROKEN_PROMISE, file.path, number, 1, excerpt, "raw", promise.meaning)


def _lines_of(spans: Iterable[Span], file: FileUnderScan) -> Iterator[int]:
    """The numbers of the lines that something was found in; what is found is the last word, not the blanks before it."""
    line, done = 1, 0
    for span in spans:
        line += file.encoded.count(b"\n", done, span.end)
        done = span.end
        yield line


def _clears_up(file: FileUnderScan, number: int) -> bool:
    """Whether a line only deletes what the script itself has made: in a folder for a moment, or a file that it wrote before."""
    found = _REMOVAL.match(file.lines[number - 1][:LONGEST_LINE])
    if found is None:
        return False
    written = _written(file.text)
    is_own = all(written.get(path, number) < number for path in found["given"].split())
    return is_own or set(_VARIABLE.findall(found["given"])) <= _for_a_moment(file.text)


@lru_cache(maxsize=4)
def _written(script: str) -> dict[str, int]:
    """What a shell script writes to, each with the number of the first line that does."""
    found = [
        (path, number) for number, line in enumerate(script.split("\n"), start=1) for path in _TARGET.findall(line)
    ]
    return dict(reversed(found))


@lru_cache(maxsize=4)
def _for_a_moment(script: str) -> frozenset[str]:
    """The variables of a shell script that never name anything but what `mktemp` made, or something in it."""
    names: set[str] = set()
    others: set[str] = set()
    for found in _ASSIGNED.finditer(script):
        is_made = found["made"] or found["below"] in names
        (names if is_made else others).add(found["name"] or found["looped"])
    return frozenset(names - others)


def _is_loopback(host: str) -> bool:
    return host in LOOPBACK or host.endswith(".local")
