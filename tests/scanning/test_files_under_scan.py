"""What is known of a file: its text and bytes, where its fenced blocks stand, which of its sections are worth looking at."""

from __future__ import annotations

import pytest

from vskill_platform.scanning.tier1.file_kinds import Shape, shape_of
from vskill_platform.scanning.tier1.meaning.section_signs import HINT, IS_FETCHED, signs_in
from vskill_platform.scanning.tier1.meaning.sections import LONGEST_SECTION, _may_fetch
from vskill_platform.scanning.tier1.skill import FileUnderScan
from vskill_platform.scanning.tier1.structure import LONGEST_LINE, _has_long_line
from vskill_platform.scanning.tier1.views.glance import signs_of
from vskill_platform.scanning.tier1.views.view import fence_spans

CONTENTS = (
    b"",
    b"plain\n",
    b"caf\xc3\xa9\n",
    b"\xef\xbb\xbfmarked\n",
    b"one\r\ntwo\rthree\n",
    b"broken \xff\xfe and so on, in a text that is long enough for it\n",
    b"nul \0 inside",
    "wide text".encode("utf-16"),
    b"\xff\xfeodd",
    b"\xed\xa0\x80 a surrogate, in a text that is long enough for it\n",
    bytes(range(256)),
)


@pytest.mark.parametrize("content", CONTENTS)
def test_bytes_are_those_of_the_text(content: bytes) -> None:
    file = FileUnderScan("notes.md", content)
    assert file.encoded == file.text.encode()
    assert file.shape is shape_of(file.path, content)
    assert "\r" not in file.text
    if file.shape is Shape.TEXT and not content.startswith((b"\xff\xfe", b"\xef\xbb\xbf")) and b"\r" not in content:
        assert file.text == content.decode(errors="replace")


@pytest.mark.parametrize(
    "text",
    [
        "```\n```\n",
        "```\none\n```\nbetween é\n~~~sh\ntwo\n\nthree\n~~~\nbehind\n",
        "before\n```sh\nnever closed é",
        "```sh\nnever closed, with an end\n",
        "```",
        "> ```sh\n> quoted é\n> ```\n\n```\nx\n```",
        "- item\n  ```py\n  x\n  ```\n",
    ],
)
def test_fenced_blocks_stand_where_their_lines_do(text: str) -> None:
    file = FileUnderScan("notes.md", text.encode())
    lines = [f"{line}\n" for line in text.split("\n")]
    for block, (start, end) in zip(file.document.fences, fence_spans(file), strict=True):
        assert start == len("".join(lines[: block.first_line - 1]).encode())
        assert end == len("".join(lines[: block.last_line]).encode())


@pytest.mark.parametrize(
    ("text", "is_long"),
    [
        ("x" * LONGEST_LINE, False),
        ("x" * (LONGEST_LINE + 1), True),
        ("\n" + "x" * LONGEST_LINE + "\n" + "y" * LONGEST_LINE, False),
        ("short\n" * 5_000 + "x" * (LONGEST_LINE + 1) + "\nshort", True),
        ("x\n" * 50_000, False),
        ("\n" * 50_000, False),
    ],
)
def test_long_line_is_found_by_steps(text: str, is_long: bool) -> None:
    assert _has_long_line(text) is is_long is (max(map(len, text.split("\n"))) > LONGEST_LINE)


@pytest.mark.parametrize(
    "text",
    [
        "# Tool\u00a0[get](tool/setup.exe)\u00a0\n\nRun it.\n",
        "Get it at https://example.org/tool.dmg\n======\n\nRun it.\n",
        "> ```\n> curl -O https://example.org/x/setup.msi\n> ```\n",
        f"# {'word ' * 78}get https://a.io/x.execute/releases/\n",
        "Fetch `agent-tools.zip`, and the rest.\n",
        "Look at https://pastebin.com/abc and `pip install git+https://example.org/tool.git`.\n",
        "Nothing here but https://example.org/releases/notes\n",
        "words\n" * 12_000 + "Get https://example.org/setup.executable and foo.zipper.exe, \n",
    ],
)
def test_file_is_taken_apart_where_a_section_has_something_to_fetch(text: str) -> None:
    file = FileUnderScan("notes.md", text.encode())
    assert _may_fetch(file) or not (has_something_to_fetch(file) and HINT in signs_of(file))


def test_file_is_taken_apart__where_a_heading_is_cut_behind_a_program() -> None:
    text = f"# {'word ' * 73}get at: https://example.org/x.executable, one of /releases/\n"
    file = FileUnderScan("notes.md", text.encode())
    assert has_something_to_fetch(file)
    assert IS_FETCHED not in signs_of(file)
    assert _may_fetch(file)


def has_something_to_fetch(file: FileUnderScan) -> bool:
    joined = ("\n".join(block.text for block in section.blocks) for section in file.document.sections)
    return any(signs_in(section[:LONGEST_SECTION].encode()) for section in joined)
