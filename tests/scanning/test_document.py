"""Markdown as blocks and sections, held against a full parser where they must agree: code, headings, comments."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.corpus.cases import read_corpus
from vskill_platform.scanning.tier1.markdown.document import BlockKind, Document

PARSER = MarkdownIt("commonmark").enable("table")
MOST_DIFFERENT = 0.01
"""The share of real texts in which lists that hold fences may be read otherwise than by the full parser."""

LINES = st.sampled_from(
    [
        "",
        "text",
        "more text here",
        "# One",
        "## Two",
        "```",
        "```bash",
        "~~~ python title",
        "````",
        "    indented",
        "> quoted",
        "| a | b |",
        "***",
    ]
)
HARD_LINES = st.sampled_from(
    [
        "---",
        "===",
        "> ```",
        "- ```",
        "1. ~~~",
        "\t```",
        "x ```",
        "``` `",
        "<b>",
        "   <div>",
        "<!-- ```",
        "-->",
        "```" * 150,
    ]
)
"""What a fence may stand in or look like, and what keeps one from being one."""


def document(text: str) -> Document:
    return Document(text.split("\n"))


def theirs(text: str) -> tuple[list[tuple[int, str]], list[int]]:
    """Where the full parser sees fenced blocks and headings."""
    tokens = PARSER.parse(text)
    fences = [(token.map[0] + 2, token.info.strip()) for token in tokens if token.type == "fence" and token.map]
    headings = [token.map[0] + 1 for token in tokens if token.type == "heading_open" and token.map and token.level == 0]
    return fences, headings


def ours(text: str) -> tuple[list[tuple[int, str]], list[int]]:
    blocks = document(text).blocks
    fences = [(block.first_line, block.info) for block in blocks if block.kind is BlockKind.FENCE]
    return fences, [block.first_line for block in blocks if block.kind is BlockKind.HEADING]


@given(st.lists(LINES, max_size=12))
def test_document_sees_the_fences_of_a_full_parser__in_any_text(lines: list[str]) -> None:
    text = "\n".join(["start", *lines])
    assert ours(text)[0] == theirs(text)[0]


@given(st.lists(st.one_of(LINES, HARD_LINES), max_size=9))
def test_document_sets_the_same_apart__whether_or_not_all_its_blocks_are_read(lines: list[str]) -> None:
    at_once, read = Document(lines), Document(lines)
    wanted = [block for block in read.blocks if block.kind in {BlockKind.FENCE, BlockKind.FRONTMATTER}]
    assert list(at_once.set_apart) == list(read.set_apart) == wanted


def test_document_agrees_with_a_full_parser__on_real_texts() -> None:
    files = [file.content.decode(errors="replace") for case in read_corpus() for file in case.content.files]
    texts = [text.partition("\n---\n")[2].replace("\r\n", "\n") for text in files if text.startswith("---\n")]
    different = [text for text in texts if ours(text) != theirs(text)]
    assert len(texts) > 50
    assert len(different) <= MOST_DIFFERENT * len(texts)


def test_document_has_sections_by_heading__with_the_way_to_each() -> None:
    sections = document("intro\n\n# A\ntext\n\n## B\n\n- item\n\n# C\n").sections
    assert [(section.titles, section.first_line) for section in sections] == [
        ((), 1),
        (("A",), 3),
        (("A", "B"), 6),
        (("C",), 10),
    ]


def test_document_takes_frontmatter_for_one_block__and_not_for_a_rule() -> None:
    blocks = document("---\nname: a\n---\n\n# T\n").blocks
    assert [(block.kind, block.text) for block in blocks] == [
        (BlockKind.FRONTMATTER, "name: a"),
        (BlockKind.HEADING, "T"),
    ]


def test_document_reads_on_behind_a_comment__that_spans_lines() -> None:
    kinds = [block.kind for block in document("<!-- a\n\n# no\n-->\n# Yes\n").blocks]
    assert kinds == [BlockKind.COMMENT, BlockKind.HEADING]


def test_document_takes_the_rest_for_code__when_a_fence_is_not_closed() -> None:
    (fence,) = document("```sh\na\nb").fences
    assert (fence.text, fence.language, fence.first_line, fence.last_line) == ("a\nb", "sh", 2, 3)


def test_document_finds_fences_in_lists_and_quotes__without_their_marks() -> None:
    fences = document("- step\n  ```sh\n  ls\n  ```\n\n> ```python\n> import os\n> ```\n").fences
    assert [(fence.language, fence.text.strip()) for fence in fences] == [("sh", "ls"), ("python", "import os")]


def test_document_finds_the_block_of_a_line__and_none_between_blocks() -> None:
    read = document("# T\n\ntext\nmore\n\n```sh\nls\n```\n")
    found = [read.block_at(line) for line in range(1, 9)]
    assert [block and block.kind.value for block in found] == [
        "heading",
        None,
        "paragraph",
        "paragraph",
        None,
        "fence",
        "fence",
        "fence",
    ]
    section = read.section_at(7)
    assert section is not None
    assert section.title == "T"


def test_document_has_nothing__in_an_empty_text() -> None:
    assert document("").blocks == ()
    assert document("").section_at(1) is None
    assert document("").block_at(1) is None
