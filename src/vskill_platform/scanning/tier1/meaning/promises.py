"""What a skill promises and what its code does: "works offline" beside a request, "read-only" beside a deletion.

A promise counts where it is made: in the description and the SKILL.md for the whole skill, in a script's own comments for
that script.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.patterns import compile_pattern
from vskill_platform.scanning.tier1.skill import Fact, FactKind, FileUnderScan, Observation, Sighting, SkillUnderScan

BROKEN_PROMISE = "broken_promise"
CHECKS = frozenset([BROKEN_PROMISE])
MOST_TEXT = 200_000


class Promise(NamedTuple):
    """A promise: how it is worded, and which facts break it."""

    words: str
    broken_by: frozenset[FactKind]
    changes_files: bool


_PROMISES = (
    Promise(
        r"(?i)\b(?:(?:works?|runs?|operates?|processed|stays?|entirely|fully|completely|100 ?%|purely|only|"
        r"strictly) (?:\w+ )?(?:offline|locally|local|on[- ]device)"
        r"|(?:without|no|never|needs no|requires no|makes no|does not (?:use|need|make|access)) (?:any |"
        r"an? )?(?:network|internet|external (?:api|service|network|request)|outbound|"
        r"remote)(?: \w+)?(?: access| calls?| requests?| connection)?"
        r"|(?:no|nothing|no data|never) (?:ever )?(?:leaves|is sent|are sent|sends|is uploaded|is transmitted|"
        r"goes over)\b[^.\n]{0,40})",
        frozenset([FactKind.SENDS, FactKind.REACHES, FactKind.DOWNLOADS]),
        changes_files=False,
    ),
    Promise(
        r"(?i)(?:\bread[- ]only\b[^.\n]{0,30}(?:skill|tool|operation|access|mode|:|,|;|\.|$)|\b(?:does not|"
        r"doesn't|never|will not|won't|makes? no|without) (?:modify|modif\w+|change|changing|changes?|write|"
        r"writing|alter\w*|touch\w*|delete|deleting)\b[^.\n]{0,30}(?:files?|disk|anything|data|system|config\w*|"
        r"source)|\bno side[- ]effects?\b)",
        frozenset(),
        changes_files=True,
    ),
)
_CHANGES = (
    r"\bos\.(?:remove|unlink|rename|replace|rmdir|removedirs|truncate)\(|\bshutil\.(?:rmtree|move)\(|\.unlink\(|"
    r"\.write_(?:text|bytes)\("
    r"|\bopen\([^)\n]{1,80},\s*[\"'](?:w|a|x|r\+|wb|ab)[\"']|\bfs\.(?:writeFile|unlink|rm|rename|"
    r"appendFile)\w*\(|(?m:^\s*(?:rm|mv|shred|truncate)\s+)"
)


def find_broken_promises(skill: SkillUnderScan, observations: Sequence[Observation]) -> Iterator[Sighting]:
    """Scripts that do what the skill, or they themselves, say is not done; once a script."""
    facts = [seen for seen in observations if isinstance(seen, Fact)]
    scripts = [file for file in skill.files if FileKind.SCRIPT in file.kinds and FileKind.MARKDOWN not in file.kinds]
    promised = skill.skill_file.encoded[:MOST_TEXT] if skill.skill_file else b""
    for file in scripts:
        own = [fact for fact in facts if fact.file == file.path]
        for promise in _PROMISES:
            words = compile_pattern(promise.words)
            if words.is_in(promised) or words.is_in(file.encoded[:MOST_TEXT]):
                yield from _breaks(promise, file, own)


def _breaks(promise: Promise, file: FileUnderScan, facts: Sequence[Fact]) -> Iterator[Sighting]:
    broken = next((fact for fact in facts if fact.kind in promise.broken_by and not _is_loopback(fact.value)), None)
    if broken is not None:
        line = file.lines[broken.line - 1] if 0 < broken.line <= len(file.lines) else ""
        yield Sighting(
            BROKEN_PROMISE, file.path, broken.line, 1, make_excerpt(line), broken.layer, "says that it stays local"
        )
    elif promise.changes_files:
        span = next(compile_pattern(_CHANGES).spans(file.encoded), None)
        if span is not None:
            number = file.encoded.count(b"\n", 0, span.start) + 1
            excerpt = make_excerpt(file.lines[number - 1])
            yield Sighting(BROKEN_PROMISE, file.path, number, 1, excerpt, "raw", "says that it changes nothing")


def _is_loopback(host: str) -> bool:
    return host in {"localhost", "127.0.0.1", "::1", "0.0.0.0"} or host.endswith(".local")  # noqa: S104
