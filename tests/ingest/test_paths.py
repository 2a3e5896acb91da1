"""Which names a skill's files may have."""

from __future__ import annotations

import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vskill_platform.domain.errors import UnsafePath
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.paths import check_collisions, check_path

LONGEST_FOLDERS = "/".join(["f" * 50] * 3)


@pytest.mark.parametrize(
    "path",
    [
        "SKILL.md",
        "a/b/c.txt",
        ".github/workflows/x.yml",
        ".gitignore",
        "..a/...b/c..d",
        "with space/and-dash_and+plus.md",
        "日本語/ファイル.md",
        "cafe\u0301/caf\u00e9.md",
        "✔️.md",
        "console.py",
        "com10.txt",
        "nul_.md",
        "x" * 100,
        f"{LONGEST_FOLDERS}/{'n' * 100}",
    ],
)
def test_check_path_takes_what_is_safe(path: str) -> None:
    assert check_path(path.encode()) == path
    assert check_path(path) == path
    assert tarfile.TarInfo(path).tobuf(tarfile.USTAR_FORMAT)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (b"", "empty"),
        (b"/etc/passwd", "absolute"),
        (b"a//b", "empty"),
        (b"a/", "empty"),
        (b"..", "part"),
        (b"a/../b", "part"),
        (b"a/./b", "part"),
        (b"a\\b", "Windows"),
        (b"C:x", "Windows"),
        (b"a:stream", "Windows"),
        (b"a?b", "Windows"),
        (b"a\nb", "control"),
        (b"a\x00b", "control"),
        (b"a\x7fb", "control"),
        ("a\u0085b".encode(), "control"),
        ("a\u2028b".encode(), "control"),
        ("\u202egnp.exe".encode(), "invisible"),
        ("a\u200bb".encode(), "invisible"),
        ("a\u200d".encode(), "invisible"),
        ("a\ufeffb".encode(), "invisible"),
        ("a\u2066b".encode(), "invisible"),
        ("a\u00adb".encode(), "invisible"),
        ("a\u3164b".encode(), "invisible"),
        ("a\U000e0041b".encode(), "invisible"),
        ("a\U000e0101b".encode(), "invisible"),
        ("a\uffffb".encode(), "no character"),
        (b"a./b", "dot or a space"),
        (b"a /b", "dot or a space"),
        ("a\u00a0/b".encode(), "dot or a space"),
        (b"con", "device"),
        (b"x/NUL.txt", "device"),
        (b"Com1", "device"),
        (b"lpt9.tar.gz", "device"),
        ("com¹".encode(), "device"),
        (b"aux .c", "device"),
        (b"CONIN$", "device"),
        (b"a/.git/config", "git's own"),
        (b".GiT", "git's own"),
        (b"GIT~1/x", "git's own"),
        ("．git/x".encode(), "git's own"),
        (b"\xff\xfe", "UTF-8"),
        (b"\xed\xa0\x80", "UTF-8"),
        (b"\xc0\xaf", "UTF-8"),
        (b"x" * 101, "too long"),
        (b"x" * 256, "255"),
        (f"{LONGEST_FOLDERS}/{'n' * 101}".encode(), "too long"),
        (b"/".join([b"d" * 50] * 5), "too long"),
        (("f" * 160 + "/x").encode(), "too long"),
    ],
)
def test_check_path_refuses_what_is_not_safe_everywhere(path: bytes, reason: str) -> None:
    with pytest.raises(UnsafePath) as caught:
        check_path(path)
    assert reason in caught.value.message
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


def test_check_path_refuses_text_that_is_no_text() -> None:
    with pytest.raises(UnsafePath, match="UTF-8"):
        check_path("\udcff.txt")


@pytest.mark.parametrize(
    "paths",
    [
        ["a", "A"],
        ["SKILL.md", "skill.md"],
        ["docs/a", "Docs/b"],
        ["a", "A/b"],
        ["A/b", "a"],
        ["a/b", "a"],
        ["caf\u00e9", "cafe\u0301"],
        ["stra\u00dfe", "STRASSE"],
        ["\ufb01le", "file"],
        ["\u212a", "k"],
        ["x\ufe0f", "x"],
        ["1", "\u2460"],
        ["\u0130", "i\u0307"],
        ["same", "same"],
    ],
)
def test_check_collisions_refuses_names_that_are_one_somewhere(paths: list[str]) -> None:
    with pytest.raises(UnsafePath) as caught:
        check_collisions(paths)
    assert caught.value.fields["reason"] == "collides"


def test_check_collisions_takes_names_that_differ() -> None:
    check_collisions(["SKILL.md", "a/b", "a/c", "a/d/e", "b/a", "ab", "a-b", "é", "e"])


@given(st.binary(max_size=300))
def test_check_path_takes_nothing_that_a_tar_cannot_hold_or_a_terminal_not_show(raw: bytes) -> None:
    try:
        path = check_path(raw)
    except UnsafePath:
        return
    assert path.encode() == raw
    tarfile.TarInfo(path).tobuf(tarfile.USTAR_FORMAT)


@given(st.text(max_size=400) | st.binary(max_size=900))
def test_printable_is_short_and_shows_only_what_prints(text: str | bytes) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert len(shown) <= 120
