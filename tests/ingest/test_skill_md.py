"""SKILL.md: what is refused, what is taken all the same, and what the specification says about it."""

from __future__ import annotations

from contextlib import suppress

import pytest

from vskill_platform.domain.errors import InvalidFrontmatter
from vskill_platform.domain.lint import ProblemSeverity
from vskill_platform.ingest.frontmatter import MAX_FRONTMATTER_BYTES
from vskill_platform.ingest.plain_yaml import MAX_DEPTH, MAX_NODES, MAX_SCALAR_CHARACTERS
from vskill_platform.ingest.skill_md import MAX_FILE_BYTES, SkillMd, parse_skill_md, split_tools
from vskill_platform.ingest.skill_names import hidden_characters, name_skeleton

GOOD = """---
name: pdf-tools
description: Fills in PDF forms. Use it when the user hands over a PDF form.
license: Apache-2.0
compatibility: Needs Python 3.11
metadata:
  author: acme
  version: 1.0
allowed-tools: Bash(git add *) Read
---
# PDF tools

Open the form.
"""


def parse(header: str, *, body: str = "Do it.\n", folder_name: str | None = None) -> SkillMd:
    return parse_skill_md(f"---\n{header}\n---\n{body}".encode(), folder_name=folder_name)


def codes(skill: SkillMd, severity: ProblemSeverity | None = None) -> list[str]:
    return [problem.code for problem in skill.problems if severity in (None, problem.severity)]


def test_skill_md_gives_every_field__when_it_keeps_the_specification() -> None:
    skill = parse_skill_md(GOOD.encode(), folder_name="pdf-tools")
    assert skill.is_strict_valid
    assert skill.problems == ()
    assert (skill.name, skill.license, skill.compatibility) == ("pdf-tools", "Apache-2.0", "Needs Python 3.11")
    assert skill.description.startswith("Fills in PDF forms.")
    assert skill.metadata == {"author": "acme", "version": "1.0"}
    assert skill.version == "1.0"
    assert skill.allowed_tools == ("Bash(git add *)", "Read")
    assert skill.body == "# PDF tools\n\nOpen the form.\n"
    assert GOOD.split("\n")[skill.body_line - 1] == "# PDF tools"


def test_scalars_stay_as_written__when_yaml_would_resolve_them() -> None:
    skill = parse("name: no\ndescription: 2024-01-01\nversion: 1.10\nuser-invocable: true\nmetadata: {a: 0x10, b: ~}")
    assert (skill.name, skill.description, skill.version) == ("no", "2024-01-01", "1.10")
    assert skill.extra == {"version": "1.10", "user-invocable": "true"}
    assert skill.metadata == {"a": "0x10", "b": "~"}


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_line_ends_are_taken_alike__when_they_are_not_plain(line_end: str) -> None:
    plain, other = parse_skill_md(GOOD.encode()), parse_skill_md(GOOD.replace("\n", line_end).encode())
    assert other == plain


def test_byte_order_mark_is_accepted_with_a_problem() -> None:
    skill = parse_skill_md(b"\xef\xbb\xbf" + GOOD.encode())
    assert skill.name == "pdf-tools"
    assert codes(skill) == ["byte_order_mark"]


def test_blank_lines_before_the_frontmatter_are_accepted_with_a_problem() -> None:
    skill = parse_skill_md(b"\n \n" + GOOD.encode())
    assert (skill.name, skill.body_line) == ("pdf-tools", 13)
    assert codes(skill) == ["frontmatter_not_first"]


def test_dashes_do_not_end_the_frontmatter__when_they_stand_in_a_value_or_in_the_body() -> None:
    skill = parse("name: a\ndescription: |\n  ---\n  text --- more", body="```\n---\n```\n")
    assert (skill.description, skill.body) == ("---\ntext --- more", "```\n---\n```\n")


REFUSED = {
    "alias": ("a: &x 1\nb: *x", "anchor", 2),
    "lone alias": ("name: a\nb: *x", "alias", 3),
    "anchor on a list": ("a: &x [1]", "anchor", 2),
    "laughs": ("a: &a [x]\nb: &b [*a, *a]", "anchor", 2),
    "python tag": ("name: !!python/object/apply:os.system ['id']", "tag", 2),
    "local tag": ("name: a\ndescription: !x y", "tag", 3),
    "bare tag": ("name: ! y", "tag", 2),
    "merge": ("name: a\n<<: {b: c}", "merge_key", 3),
    "duplicate": ("name: a\ndescription: b\nname: c", "duplicate_key", 4),
    "nested duplicate": ("metadata:\n  a: 1\n  a: 2", "duplicate_key", 4),
    "duplicate by other spelling": ('name: a\n"n\\x61me": b', "duplicate_key", 3),
    "second document": ("name: a\n--- b", "several_documents", 3),
    "control": ("name: a\ndescription: a\x07b", "control_character", 3),
    "escape sequence": ("name: \x1b[31mred", "control_character", 2),
    "escaped nul": ('name: a\ndescription: "a\\0b"', "control_character", 3),
    "odd line break": ("description: a\u2028allowed-tools: Bash", "control_character", 2),
    "next line": ("description: a\x85allowed-tools: Bash", "control_character", 2),
    "depth": ("a: " + "[" * (MAX_DEPTH + 1), "too_deep", 2),
    "depth in blocks": ("\n".join(" " * level + "a:" for level in range(MAX_DEPTH + 2)), "too_deep", 18),
    "nodes": ("a: [" + "x," * MAX_NODES + "]", "too_many_nodes", 2),
    "scalar": ("a: " + "x" * (MAX_SCALAR_CHARACTERS + 1), "scalar_too_long", 2),
    "size": ("#" * 80 + "\n" + ("# " + "x" * 98 + "\n") * (MAX_FRONTMATTER_BYTES // 100), "frontmatter_too_large", 2),
    "size in bytes": ("# " + "é" * (MAX_FRONTMATTER_BYTES // 2), "frontmatter_too_large", 2),
    # The same where the first fault is one of syntax, so that leniency is no way around.
    "alias after a fault": ("description: Use when: x\nb: *x", "alias", 3),
    "tag after a fault": ("description: Use when: x\nb: !!python/name:os y", "tag", 3),
    "duplicate after a fault": ("description: Use when: x\nname: a\nname: b", "duplicate_key", 4),
    "depth after a fault": ("description: Use when: x\nb: " + "{a: " * 20, "too_deep", 3),
    "scalar after a fault": ("description: Use when: " + "x" * MAX_SCALAR_CHARACTERS, "scalar_too_long", 2),
    "entries after a fault": (
        "description: Use when: x\n" + "\n".join(f"k{n}: v" for n in range(MAX_NODES)),
        "too_many_nodes",
        2,
    ),
}


@pytest.mark.parametrize(("header", "reason", "line"), REFUSED.values(), ids=REFUSED)
def test_frontmatter_is_refused__when_it_is_unsafe_or_over_a_limit(header: str, reason: str, line: int) -> None:
    with pytest.raises(InvalidFrontmatter) as caught:
        parse(header)
    assert (caught.value.fields["reason"], caught.value.fields["line"]) == (reason, line)
    assert f"line {line}, column {caught.value.fields['column']}" in caught.value.message


def test_limits_are_inclusive() -> None:
    deepest = "a: " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)
    longest = "b: " + "x" * MAX_SCALAR_CHARACTERS
    assert len(parse(f"{deepest}\n{longest}").extra["b"]) == MAX_SCALAR_CHARACTERS
    room = MAX_FRONTMATTER_BYTES - len("name: a\n# \n")
    assert parse("name: a\n# " + "x" * room).name == "a"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "fragment", ["[", "{", "{a: ", "- ", "? ", "[\n", "a: [", "'", '"', "%TAG !a! b\n", "\t", "a:\n "]
)
@pytest.mark.parametrize("size", [MAX_FRONTMATTER_BYTES - 100, 1_000_000])
def test_hostile_repetition_ends_soon(fragment: str, size: int) -> None:
    """Without the caps the nested ones take minutes: the time limit of this test is the assertion."""
    with suppress(InvalidFrontmatter):
        parse("x: " + fragment * (size // len(fragment)))


@pytest.mark.parametrize(
    ("content", "reason", "place"),
    [
        (b"---\nname: a\xff\n---\n", "not_utf8", (2, 8)),
        (b"---\r\nname: a\r\n---\r\nab\0", "nul", (4, 3)),
        (b"\xff\xfen\0a\0", "not_utf8", (1, 1)),
        (b"\xed\xa0\x80", "not_utf8", (1, 1)),
    ],
)
def test_file_is_refused_with_its_place__when_it_is_no_text(
    content: bytes, reason: str, place: tuple[int, int]
) -> None:
    with pytest.raises(InvalidFrontmatter) as caught:
        parse_skill_md(content)
    fields = caught.value.fields
    assert (fields["reason"], (fields["line"], fields["column"])) == (reason, place)


def test_file_is_refused__when_it_is_too_large() -> None:
    assert parse_skill_md(b"x" * MAX_FILE_BYTES).name is None
    with pytest.raises(InvalidFrontmatter) as caught:
        parse_skill_md(b"x" * (MAX_FILE_BYTES + 1))
    assert caught.value.fields["reason"] == "file_too_large"


FAULTY = {
    "colon": ("Use when: foo, bar", "Use when: foo, bar"),
    "at": ("@mention the owner", "@mention the owner"),
    "backtick": ("`npm test` and more", "`npm test` and more"),
    "star": ("*bold* words", "*bold* words"),
    "percent": ("%s is formatted", "%s is formatted"),
    "brackets": ("[issue] [priority]", "[issue] [priority]"),
    "quote then text": ('"Foo" does: bar', '"Foo" does: bar'),
    "several lines": ("Use when: foo\n  and bar\n  too", "Use when: foo and bar too"),
    "single quotes": ("'It's: this'", "It's: this"),
    "folded": (">-\n  Use\n\tthis: now", "Use this: now"),
}


@pytest.mark.parametrize(("written", "meant"), FAULTY.values(), ids=FAULTY)
def test_value_is_taken_as_text__when_it_is_no_yaml(written: str, meant: str) -> None:
    skill = parse(f"name: a\ndescription: {written}\nallowed-tools:\n  - Read\n  - Bash\nmetadata:\n  version: 2.0")
    assert skill.description == meant
    assert (skill.name, skill.allowed_tools, skill.version) == ("a", ("Read", "Bash"), "2.0")
    assert "frontmatter_not_yaml" in codes(skill, ProblemSeverity.ERROR)
    assert not skill.is_strict_valid


def test_list_is_read__when_it_is_indented_with_tabs() -> None:
    skill = parse("name: a\ndescription: b\nallowed-tools:\n\t- Read\n\t- Bash(git:*)")
    assert skill.allowed_tools == ("Read", "Bash(git:*)")
    assert "frontmatter_not_yaml" in codes(skill)


def test_not_yaml_problem_names_the_line_and_column() -> None:
    problem = parse("name: a\ndescription: Use when: foo").problems[0]
    assert (problem.code, problem.line) == ("frontmatter_not_yaml", 3)
    assert "column 22" in problem.message


def test_comment_in_a_value_is_told__when_it_cuts_the_value() -> None:
    skill = parse("name: a # one\ndescription: Solves issue # 12 for you\nlicense: 'MIT # 2'")
    assert (skill.description, skill.license) == ("Solves issue", "MIT # 2")
    assert codes(skill) == ["value_cut_by_comment", "value_cut_by_comment"]
    assert [problem.line for problem in skill.problems] == [2, 3]


def test_description_is_the_first_paragraph__when_there_is_no_frontmatter() -> None:
    skill = parse_skill_md(b"# Title\n\nDoes one\nthing.\n\nMore.\n", folder_name="one-thing")
    assert (skill.name, skill.description, skill.body_line) == ("one-thing", "Does one thing.", 1)
    assert codes(skill) == ["frontmatter_missing"]
    assert not skill.is_strict_valid
    assert parse_skill_md(b"").name is None
    assert len(parse_skill_md(b"word " * 1000).description) <= 300


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("---\nname: a\ndescription: b\n", "frontmatter_unclosed"),
        ("---", "frontmatter_unclosed"),
        ("---\njust words\n---\nbody\n", "frontmatter_not_mapping"),
        ("---\n- a\n---\nbody\n", "frontmatter_not_mapping"),
        ("---\n---\nbody\n", "name_missing"),
        ("---\n# only a comment\n---\nbody\n", "description_missing"),
        ("---\n? [a]\n: b\n---\nbody\n", "key_not_text"),
    ],
)
def test_odd_frontmatter_is_a_problem_and_no_error(content: str, code: str) -> None:
    skill = parse_skill_md(content.encode(), folder_name="x")
    assert code in codes(skill, ProblemSeverity.ERROR)
    assert skill.name == "x"


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("name: PDF-Tools\ndescription: b", "name_form"),
        ("name: my skill\ndescription: b", "name_form"),
        ("name: -a\ndescription: b", "name_form"),
        ("name: a-\ndescription: b", "name_form"),
        ("name: a--b\ndescription: b", "name_form"),
        ("name: ../up\ndescription: b", "name_form"),
        (f"name: {'a' * 65}\ndescription: b", "name_too_long"),
        ("description: b", "name_missing"),
        ("name: ''\ndescription: b", "name_missing"),
        ("name: a", "description_missing"),
        ("name: a\ndescription: ' '", "description_missing"),
        (f"name: a\ndescription: {'b' * 1025}", "description_too_long"),
        (f"name: a\ndescription: b\ncompatibility: {'c' * 501}", "compatibility_too_long"),
        ("name: a\ndescription:\n  - b\n  - c", "field_not_text"),
        ("name: a\ndescription: b\nversion: 1.0.0", "unknown_field"),
        ("name: a\ndescription: b\ntriggers:\n  - x", "unknown_field"),
        ("name: a\ndescription: b\nmetadata:\n  a:\n    - b", "metadata_not_text_map"),
        ("name: a\ndescription: b\nmetadata: words", "metadata_not_text_map"),
        ("name: a\ndescription: b\nallowed-tools:\n  - Read", "allowed_tools_not_text"),
        ("name: a\ndescription: b\nmetadata: {}", "frontmatter_brackets"),
        ("name: a\ndescription: b\nmetadata: {a: b}", "frontmatter_brackets"),
        ("{name: a, description: b}", "frontmatter_brackets"),
        ("name: a\ndescription:\tb", "frontmatter_tab"),
    ],
)
def test_breach_of_the_specification_is_an_error_that_is_taken_all_the_same(header: str, code: str) -> None:
    skill = parse(header, folder_name=None)
    assert codes(skill, ProblemSeverity.ERROR) == [code]
    assert not skill.is_strict_valid


@pytest.mark.parametrize(
    "header",
    [
        f"name: {'a' * 64}\ndescription: {'b' * 1024}\ncompatibility: {'c' * 500}",
        'name: a1-b2\ndescription: "Use when: it matters"\nmetadata:\n  a: "[b]"',
        "name: '7'\ndescription: >\n  folded\n  text\nallowed-tools: Read, Write",
    ],
)
def test_skill_md_is_strictly_valid__when_it_is_at_the_limits(header: str) -> None:
    assert parse(header).is_strict_valid


def test_name_must_be_the_folders_name() -> None:
    assert codes(parse("name: a\ndescription: b", folder_name="c")) == ["name_not_folder"]
    assert codes(parse("name: a\ndescription: b", folder_name="a")) == []


def test_unknown_fields_are_kept__with_what_is_nested_as_json() -> None:
    skill = parse("name: a\ndescription: b\ntags: [x, ü]\nhooks: {on: [y]}\nmetadata: {requires: {bins: [git]}, k: v}")
    assert skill.extra == {"tags": '["x", "ü"]', "hooks": '{"on": ["y"]}'}
    assert skill.metadata == {"requires": '{"bins": ["git"]}', "k": "v"}


def test_version_is_that_of_the_metadata__when_there_are_two() -> None:
    assert parse("name: a\nversion: 1.0\nmetadata: {version: 2.0}").version == "2.0"
    assert parse("name: a\nversion: 1.0\nmetadata: {author: b}").version == "1.0"


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        ("Read Write", ("Read", "Write")),
        ("Read, Write,Edit", ("Read", "Write", "Edit")),
        ("Bash(git:*), Bash(npm run test:*) Read", ("Bash(git:*)", "Bash(npm run test:*)", "Read")),
        ("Bash(a (b, c) d) X", ("Bash(a (b, c) d)", "X")),
        ("a) b (c d", ("a)", "b", "(c d")),
        ("", ()),
    ],
)
def test_tools_are_split_outside_parentheses(text: str, tools: tuple[str, ...]) -> None:
    assert split_tools(text) == tools


def test_allowed_tools_may_be_a_list() -> None:
    assert parse("name: a\nallowed-tools:\n- Read\n- Bash(git add *)").allowed_tools == ("Read", "Bash(git add *)")
    assert "allowed_tools_unbalanced" in codes(parse("name: a\nallowed-tools: Bash(git"))


NAMES = {
    "NFKC": ("ﬁle-tools", "name_not_normal"),
    "fullwidth": ("ｐｄｆ", "name_not_normal"),
    "mixed script": ("pаypal", "name_mixed_script"),
    "confusable": ("сору", "name_confusable"),
    "bidi": ("a\u202egnp", "name_hidden_characters"),
    "zero width": ("pdf\u200btools", "name_hidden_characters"),
    "joiner": ("pdf\u200dtools", "name_hidden_characters"),
    "tag characters": ("pdf\U000e0041\U000e0042", "name_hidden_characters"),
    "selector": ("pdf\ufe0f", "name_hidden_characters"),
    "supplementary selector": ("pdf\U000e0101", "name_hidden_characters"),
    "filler": ("pdf\u3164", "name_hidden_characters"),
    "trailing dot": ("pdf.", "name_edges"),
    "trailing space": ("'pdf '", "name_edges"),
    "device": ("con", "name_is_device"),
    "device with ending": ("LPT1.txt", "name_is_device"),
    "sharp s": ("straße", "name_case_unstable"),
    "bytes": ("é" * 128, "name_too_many_bytes"),
}


@pytest.mark.parametrize(("name", "code"), NAMES.values(), ids=NAMES)
def test_name_is_pointed_out__when_it_is_not_what_it_seems(name: str, code: str) -> None:
    assert code in codes(parse(f"name: {name}\ndescription: b"), ProblemSeverity.WARNING)


@pytest.mark.parametrize("name", ["pdf-tools", "größe", "日本語", "データ分析", "привет", "café", "한국어"])
def test_name_is_not_pointed_out__when_it_is_an_honest_word(name: str) -> None:
    assert codes(parse(f"name: {name}\ndescription: b"), ProblemSeverity.WARNING) in ([], ["name_case_unstable"])


def test_name_gives_way_to_the_folders__when_nothing_could_hold_it() -> None:
    assert parse(f"name: {'x' * 300}\ndescription: b", folder_name="short").name == "short"


def test_skeletons_are_equal__when_names_look_alike() -> None:
    assert name_skeleton("pаypal") == name_skeleton("paypal") == name_skeleton("PAYPAL") == name_skeleton("paypa1")
    assert name_skeleton("modern") == name_skeleton("modem")
    assert name_skeleton("pdf\u200b-tools") == name_skeleton("pdf-tools") != name_skeleton("pdf-tool")


@pytest.mark.parametrize("text", ["plain\ntext", "👩‍💻 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می‌خواهم", "naïve Größe 日本語", "1️⃣"])
def test_text_hides_nothing__when_joiners_and_selectors_do_their_work(text: str) -> None:
    assert hidden_characters(text) == ()


def test_hidden_characters_of_a_description_are_named() -> None:
    skill = parse("name: a\ndescription: good\u202e skill\u200b\U000e0041")
    assert codes(skill) == ["description_hidden_characters"]
    assert "U+200B, U+202E, U+E0041" in skill.problems[0].message


def test_body_is_pointed_out__when_it_is_empty_or_has_controls() -> None:
    assert codes(parse("name: a\ndescription: b", body=" \n")) == ["body_empty"]
    skill = parse("name: a\ndescription: b", body="one\ntwo \x1b[8m\n")
    assert [(problem.code, problem.line) for problem in skill.problems] == [("control_character", 6)]
