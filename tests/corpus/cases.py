"""The scanner's own corpus: skills written for it, each in one readable file.

A case is a text file. Its head has lines of `# key: value`; then come the files of the skill, each behind `-- path --`.
`-- path base64 --` stands before bytes in base64, `-- path escaped --` before text in which `\\u200b`, `\\U000e0041` and
`\\x00` stand for those characters, so that nothing invisible is in the repository. `-- path executable --` sets the bit.

A pair is a clean case and what was planted in it: its head names `host`, as `benign/group/name`. With `plant`, as
`SKILL.md:12`, the text of `-- planted --` goes behind that line of that file; without, the files of the case stand in place
of the host's.

Rules are improved by looking at what goes wrong in one half of the cases; the other half is only measured. `half` in the
head says which (`looked` or `measured`); where there is none, a hash of the name does.

`steps` has single files alone, as the only program of a skill that says nothing of what they do, a file for each author. Entries are parted by
a line of `%%`, and the first line of each is its path.

`passages` has sentences alone, one passage a line, a file for each author: those that the scanner's weights were learnt from
(`make learn`) and those that are only measured (`python -m tests.corpus.measure_passages`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from vskill_platform.domain.content import SkillContent, SkillFile, make_content

FOLDER = Path(__file__).parent
STEPS = FOLDER / "steps"
AROUND_STEPS = b"---\nname: x-tool\ndescription: Keeps the project tidy.\n---\n\n# X\n\nRun the script when asked.\n"
_HEAD = re.compile(r"# (\w+): (.+)")
_FILE = re.compile(r"-- (\S+)((?: (?:base64|escaped|executable))*) --$", re.MULTILINE)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2}))")


class Case(NamedTuple):
    """One skill of the corpus. `name` is its path without the extension; its first part is the kind of case."""

    name: str
    head: dict[str, str]
    content: SkillContent

    @property
    def kind(self) -> str:
        """`benign`, `malicious`, `tricks` or `pairs`."""
        return self.name.partition("/")[0]

    @property
    def half(self) -> str:
        """`looked` at while rules are improved, or only `measured`."""
        by_hash = "measured" if hashlib.sha256(self.name.encode()).digest()[0] % 2 else "looked"
        return self.head.get("half", by_hash)

    @property
    def is_malicious(self) -> bool:
        """Whether the case is to be flagged."""
        return self.kind != "benign"


class Step(NamedTuple):
    """One file alone, in a skill around it."""

    name: str
    path: str
    content: SkillContent

    @property
    def is_malicious(self) -> bool:
        """Whether the step is to be flagged."""
        return self.name.startswith("steps/malicious")


@cache
def read_corpus() -> tuple[Case, ...]:
    """All cases in the order of their names."""
    paths = sorted(path for path in FOLDER.glob("*/**/*.txt") if path.parent != STEPS)
    return tuple(read_case(path) for path in paths)


@cache
def read_steps() -> tuple[Step, ...]:
    """All steps, named by their file and their number there."""
    return tuple(
        Step(f"steps/{path.stem}/{number}", *_step_of(entry))
        for path in sorted(STEPS.glob("*.txt"))
        for number, entry in enumerate(path.read_text(encoding="utf-8").split("\n%%\n"), start=1)
        if entry.strip()
    )


def _step_of(entry: str) -> tuple[str, SkillContent]:
    path, _, text = entry.strip("\n").partition("\n")
    files = [SkillFile(path="SKILL.md", content=AROUND_STEPS), SkillFile(path=path.strip(), content=f"{text}\n".encode())]
    return path.strip(), make_content(files)


@cache
def read_known_gaps() -> frozenset[str]:
    """The names of the cases that go wrong today."""
    lines = (FOLDER / "known_gaps.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def read_passages(half: str, kind: str) -> list[str]:
    """Passages without a skill around them, `learnt` or only `measured`, `malicious` or `benign`."""
    return [passage for passages in passages_by_author(half, kind) for passage in passages]


def passages_by_author(half: str, kind: str) -> Iterator[list[str]]:
    """The same, file by file."""
    for path in sorted((FOLDER / "passages" / half).glob(f"{kind}-*.jsonl")):
        yield [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]


@cache
def read_case(path: Path) -> Case:
    """The case in a file."""
    text = path.read_text(encoding="utf-8")
    first = _FILE.search(text)
    if first is None:
        raise ValueError(f"{path} has no line such as -- SKILL.md --")
    head = {found[1]: found[2].strip() for found in _HEAD.finditer(text[: first.start()])}
    name = path.relative_to(FOLDER).with_suffix("").as_posix()
    files = list(_files(text))
    return Case(name, head, _content(head, files))


def _files(text: str) -> Iterator[SkillFile]:
    marks = [*_FILE.finditer(text)]
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        flags = mark[2].split()
        body = text[mark.end() + 1 : end]
        if "base64" in flags:
            content = base64.b64decode(body)
        else:
            content = (_ESCAPE.sub(_character, body) if "escaped" in flags else body).encode()
        yield SkillFile(path=mark[1], content=content, executable="executable" in flags)


def _character(found: re.Match[str]) -> str:
    return chr(int(found[1] or found[2] or found[3], 16))


def _content(head: dict[str, str], files: list[SkillFile]) -> SkillContent:
    if "host" not in head:
        return make_content(files)
    host = {file.path: file for file in read_case(FOLDER / f"{head['host']}.txt").content.files}
    changed = [_planted(head["plant"], host, files[0].content)] if "plant" in head else files
    return make_content([*(host | {file.path: file for file in changed}).values()])


def _planted(plant: str, host: dict[str, SkillFile], text: bytes) -> SkillFile:
    """The file of the host with a text behind a line."""
    path, _, line = plant.rpartition(":")
    lines = host[path].content.splitlines(keepends=True)
    content = b"".join([*lines[: int(line)], text, *lines[int(line) :]])
    return SkillFile(path=path, content=content, executable=host[path].executable)
