"""Adding harmless content never improves a verdict: what is bad stays as bad, however much good stands around it."""

from __future__ import annotations

import pytest

from tests.corpus.cases import Case, read_corpus
from vskill_platform.domain.content import SkillContent, SkillFile, make_content
from vskill_platform.scanning.tier1.scan import scan_content

EVERY = 12
MALICIOUS = [
    case for number, case in enumerate(case for case in read_corpus() if case.is_malicious) if number % EVERY == 0
]

SECTION = b"\n\n## House style\n\nKeep sentences short. Never use jargon. Avoid surprises; explain every warning to the user.\n"
FILES = {
    "references/style.md": b"# Style\n\nAttackers, malware and other dangers are never mentioned here.\n" + SECTION,
    "scripts/count.py": b'"""Counts words."""\nimport sys\n\nprint(len(sys.stdin.read().split()))\n',
    ".skillignore": b"*\n",
    "LICENSE": b"Do what you like with it.\n",
}


def with_files(content: SkillContent) -> SkillContent:
    taken = {file.path for file in content.files}
    added = [SkillFile(path=path, content=body) for path, body in FILES.items() if path not in taken]
    return make_content([*content.files, *added])


def with_section(content: SkillContent) -> SkillContent:
    """A harmless section at the end of every Markdown file; behind a fence that was left open it would be code."""
    return make_content(
        [
            SkillFile(path=file.path, content=file.content + SECTION, executable=file.executable)
            if file.path.endswith(".md") and file.content.count(b"```") % 2 == 0
            else file
            for file in content.files
        ]
    )


@pytest.mark.parametrize("add", [with_files, with_section])
@pytest.mark.parametrize("case", MALICIOUS, ids=lambda case: case.name)
def test_harmless_content_does_not_help(case: Case, add: object) -> None:
    assert callable(add)
    before, after = scan_content(case.content), scan_content(add(case.content))
    assert after.score <= before.score
    assert after.flagged >= before.flagged
    lost = {found.rule_id for found in before.findings} - {found.rule_id for found in after.findings}
    assert lost == set()
