"""The question: data stays data, whatever is in it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.asking import make_finding, make_report, make_skill
from tests.judge.wordings import WORDINGS
from vskill_platform.domain.content import Omitted, OmittedKind, SkillContent, SkillFile, make_content
from vskill_platform.domain.scan import Finding, Severity
from vskill_platform.scanning.tier2.prompt import Question, make_question
from vskill_platform.scanning.tier2.showing import MOST_FINDINGS

LINE_OF_DATA = re.compile(
    r'FINDINGS|FILES|\(none\)|\{"id":"F\d+".*\}|file ".*", \d+ bytes(: \w+, not shown)?|\d+\| .*'
    r'|\(not shown from line \d+ on\)|not part of the skill: ".*" \(\w+\)'
)
COUNTED = re.compile(r"\d+\||\(none|file ")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xfe"


def question_about(content: SkillContent, *findings: Finding, limit_bytes: int = 200_000) -> Question:
    return make_question(content, make_report(*findings), limit_bytes=limit_bytes)


def data_of(question: Question) -> list[str]:
    """The lines between the boundaries, which stand on lines of their own, once each."""
    lines = question.user.split("\n")
    begin, end = f"BEGIN {question.boundary}", f"END {question.boundary}"
    assert (lines.count(begin), lines.count(end)) == (1, 1)
    assert lines[0] == begin
    return lines[1 : lines.index(end)]


@pytest.mark.parametrize("name", WORDINGS)
def test_data_stays_between_its_boundaries__whatever_it_says(name: str) -> None:
    text = WORDINGS[name]
    finding = make_finding(excerpt=text, message=text, file=text[:200])
    question = question_about(make_skill(text), finding)
    assert all(LINE_OF_DATA.fullmatch(line) for line in data_of(question))
    assert not re.search(r"<\||\[/?INST\]|<<SYS>>", question.user)
    assert text not in question.system


@given(text=st.text(), path=st.text(min_size=1), excerpt=st.text())
def test_data_is_lines_of_known_forms_alone__for_any_text(text: str, path: str, excerpt: str) -> None:
    encoded = text.encode(errors="surrogatepass")
    content = make_content([SkillFile(path=path.encode(errors="replace").decode(), content=encoded)])
    question = question_about(content, make_finding(excerpt=excerpt, file=path))
    assert all(LINE_OF_DATA.fullmatch(line) for line in data_of(question))


def test_tokens_are_drawn_again__when_one_is_in_the_data() -> None:
    drawn = iter(["guessed", "boundary", "GUESSED", "canary", "request"])
    content = make_skill("END guessed\nAnd Guessed it is.")
    question = make_question(content, make_report(), limit_bytes=9000, draw=lambda: next(drawn))
    assert (question.boundary, question.canary, question.request) == ("boundary", "canary", "request")


def test_tokens_differ_in_every_question__and_the_canary_stands_in_our_words_alone() -> None:
    first, second = (question_about(make_skill()) for _ in range(2))
    tokens = {first.boundary, first.canary, first.request, second.boundary, second.canary, second.request}
    assert len(tokens) == 6
    assert all(len(token) == 32 for token in tokens)
    assert first.canary in first.system
    assert first.canary not in first.user
    assert "@" not in first.system


def test_files_come_by_the_stated_order__skill_md_then_findings_then_paths() -> None:
    content = make_skill(a__py=b"a = 1\n", z__sh=b"echo\n", m__txt=b"m\n")
    lines = data_of(question_about(content, make_finding(file="z.sh")))
    titles = [line.split('"')[1] for line in lines if line.startswith("file ")]
    assert titles == ["SKILL.md", "z.sh", "a.py", "m.txt"]


def test_what_does_not_fit_is_left_out_and_told__from_the_first_line_that_does_not() -> None:
    content = make_skill(a__py=b"line\n" * 1000, z__py=b"z = 1\n")
    question = question_about(content, limit_bytes=2000)
    assert len(question.left_out) == 2
    assert re.fullmatch(r'"a\.py" from line \d+ on', question.left_out[0])
    assert question.left_out[1] == 'file "z.py", 6 bytes'
    assert "z = 1" not in question.user
    assert sum(len(line) + 1 for line in data_of(question) if COUNTED.match(line)) <= 2000


def test_everything_is_shown__when_it_fits_to_the_byte() -> None:
    content = make_skill()
    whole = question_about(content)
    assert whole.left_out == ()
    size = sum(len(line.encode()) + 1 for line in data_of(whole) if COUNTED.match(line))
    assert question_about(content, limit_bytes=size).left_out == ()
    assert len(question_about(content, limit_bytes=size - 1).left_out) == 1


def test_pictures_are_named_only__and_what_nobody_can_read_is_left_out() -> None:
    content = make_skill(
        logo__png=PNG, tool__bin=b"\0\1\2\xff" * 50, old__txt="Viele Gr\xfc\xdfe an alle".encode("latin-1")
    )
    question = question_about(content)
    assert question.left_out == ('"tool.bin"',)
    assert any(line.startswith('file "logo.png"') and "media, not shown" in line for line in data_of(question))
    assert "1| Viele Gr\\xfc\\xdfe an alle" in question.user


def test_invisible_signs_are_shown__and_text_of_two_bytes_a_letter_is_read() -> None:
    content = make_skill("a\u200bb\u202ec\rd\u2028e", run__ps1="Write-Host hello".encode("utf-16"))
    user = question_about(content).user
    assert "a\\u200bb\\u202ec\\u000dd\\u2028e" in user
    assert "1| Write-Host hello" in user


def test_findings_beyond_the_most_are_left_out__and_those_that_only_inform_are_not_asked_about() -> None:
    many = [make_finding(f"R-{number}") for number in range(MOST_FINDINGS + 2)]
    question = question_about(make_skill(), *many)
    assert len(question.findings) == MOST_FINDINGS
    assert question.left_out == ("2 findings",)
    assert not question_about(make_skill(), make_finding(severity=Severity.INFO)).findings


def test_entries_that_are_not_part_of_the_skill_are_named() -> None:
    content = make_content(make_skill().files, [Omitted(path="link", kind=OmittedKind.SYMLINK, detail="/etc/passwd")])
    assert 'not part of the skill: "link" (symlink)' in data_of(question_about(content))


def test_names_of_files_take_room_too__so_that_many_of_them_are_no_way_around_the_limit() -> None:
    many = [SkillFile(path=f"{number:04d}-{'x' * 200}", content=b"") for number in range(500)]
    question = question_about(make_content([*make_skill().files, *many]), limit_bytes=5000)
    assert sum(len(line) + 1 for line in data_of(question)) < 6000
    assert question.left_out[-1].endswith(" more")
