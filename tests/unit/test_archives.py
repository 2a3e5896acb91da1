"""Archives: the same content, the same bytes, anywhere."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vskill_platform.domain.archives import build_tar, build_zip, read_tar
from vskill_platform.domain.content import SkillFile, content_digest, make_content
from vskill_platform.domain.errors import UnsafePath
from vskill_platform.domain.ids import sha256_digest

CONTENT = make_content(
    [
        SkillFile(path="scripts/run.sh", content=b"#!/bin/sh\necho hi\n", executable=True),
        SkillFile(path="SKILL.md", content=b"---\nname: demo\ndescription: Says hi.\n---\n"),
        SkillFile(path="references/übersicht.md", content="Grüße\n".encode()),
        SkillFile(path="empty.txt", content=b""),
    ]
)
KNOWN_ZIP = "sha256:2f4df2737614fb04c72cead73ee09e826ae2891bc0d86e41f0fe7091ac1a71b6"
KNOWN_TAR = "sha256:527259b815b8bc6e05529e39f375f5af59941adf0d4dd78b13a8534899c40e8a"
KNOWN_CONTENT = "sha256:5a757e0b03d42ac2a620e13fd759c188be31c46eba47e356b0e9ad4b4025796d"
names = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12)
contents = st.dictionaries(names, st.tuples(st.binary(max_size=200), st.booleans()), max_size=6).map(
    lambda files: make_content([SkillFile(path=path, content=body, executable=x) for path, (body, x) in files.items()])
)

_BUILD = """
import sys
from tests.unit.test_archives import CONTENT
from vskill_platform.domain.archives import build_tar, build_zip
from vskill_platform.domain.ids import sha256_digest
print(sha256_digest(build_zip(CONTENT)), sha256_digest(build_tar(CONTENT)))
"""


@pytest.mark.parametrize(
    ("zone", "locale"), [("Pacific/Auckland", "C"), ("America/New_York", "de_DE.UTF-8"), ("UTC", "POSIX")]
)
def test_archives_are_the_same_bytes__in_any_time_zone_and_locale(zone: str, locale: str) -> None:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "TZ": zone, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONHASHSEED": "7"}
    built = subprocess.run(
        [sys.executable, "-c", _BUILD],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert built.stdout.split() == [sha256_digest(build_zip(CONTENT)), sha256_digest(build_tar(CONTENT))]


def test_archives_have_known_digests__so_that_a_change_of_form_is_noticed() -> None:
    assert sha256_digest(build_zip(CONTENT)) == KNOWN_ZIP
    assert sha256_digest(build_tar(CONTENT)) == KNOWN_TAR
    assert content_digest(CONTENT) == KNOWN_CONTENT


def test_archives_hold_files_as_they_are__for_any_tool() -> None:
    with zipfile.ZipFile(io.BytesIO(build_zip(CONTENT))) as opened:
        assert opened.testzip() is None
        assert opened.namelist() == [file.path for file in CONTENT.files]
        assert [info.external_attr >> 16 & 0o777 for info in opened.infolist()] == [0o644, 0o644, 0o644, 0o755]
        assert all(info.compress_type == zipfile.ZIP_STORED for info in opened.infolist())
    with tarfile.open(fileobj=io.BytesIO(build_tar(CONTENT))) as opened_tar:
        assert [(entry.name, entry.mode, entry.uid, entry.mtime) for entry in opened_tar] == [
            (file.path, 0o755 if file.executable else 0o644, 0, 0) for file in CONTENT.files
        ]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(contents)
def test_tar_gives_back_what_went_in__for_any_content(content: object) -> None:
    assert read_tar(build_tar(content)) == content  # type: ignore[arg-type]


def test_digest_changes__with_path_mode_bytes_and_nothing_else() -> None:
    one = SkillFile(path="a", content=b"x")
    same = make_content([one, SkillFile(path="b", content=b"y")])
    assert content_digest(same) == content_digest(make_content(list(reversed(same.files))))
    others = [
        make_content([one]),
        make_content([one, SkillFile(path="b", content=b"z")]),
        make_content([one, SkillFile(path="c", content=b"y")]),
        make_content([one, SkillFile(path="b", content=b"y", executable=True)]),
    ]
    assert len({content_digest(content) for content in [same, *others]}) == 5


def test_tar_refuses_a_path_it_cannot_hold__by_name() -> None:
    with pytest.raises(UnsafePath, match="too long"):
        build_tar(make_content([SkillFile(path="a" * 120 + "/" + "b" * 120, content=b"")]))
