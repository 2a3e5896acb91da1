"""Archives: what is in them is scanned as files, what is wrong with them is said, and none is read past its bounds."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import tarfile
import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest

from tests.hostile import cases_archives
from tests.scanning.archives import EVIL, HARMLESS, nested, tar_gz, tarred, zipped
from tests.scanning.building import found, make_skill, rule_ids
from vskill_platform.domain.scan import ScanReport, Severity, Verdict
from vskill_platform.scanning.limits import ARCHIVE_LIMIT, UNANALYSABLE_FILE, ScanLimits
from vskill_platform.scanning.tier1.containers.members import MOST_BYTES, MOST_MEMBERS, Allowance, Flaw, Flawed, Member
from vskill_platform.scanning.tier1.containers.opening import open_containers
from vskill_platform.scanning.tier1.containers.tars import read_tar
from vskill_platform.scanning.tier1.containers.zips import read_zip
from vskill_platform.scanning.tier1.rules import load_ruleset
from vskill_platform.scanning.tier1.scan import scan_content
from vskill_platform.scanning.tier1.skill import FileUnderScan

PNG_HEAD = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(40)


def scan(path: str, content: bytes) -> ScanReport:
    return scan_content(make_skill({path: content}))


MAKERS: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "a.zip": zipped,
    "b.zip": lambda members: zipped(members, squeeze=False),
    "a.tar": tarred,
    "old.tar": lambda members: tarred(members, form=tarfile.GNU_FORMAT),
    "a.tar.gz": tar_gz,
    "a.tgz": tar_gz,
    "a.tar.bz2": lambda members: bz2.compress(tarred(members)),
    "a.tar.xz": lambda members: lzma.compress(tarred(members)),
    "data.bin": tar_gz,
}


@pytest.mark.parametrize("path", MAKERS)
def test_clean_archive_passes__with_nothing_but_a_hint(path: str) -> None:
    report = scan(path, MAKERS[path]({"docs/readme.md": HARMLESS, "run.py": b"print('hello')\n"}))
    assert (report.verdict, report.limits_hit) == (Verdict.PASS, ())
    assert [(finding.rule_id, finding.severity) for finding in report.findings] == [("ST-009", Severity.INFO)]


@pytest.mark.parametrize("path", MAKERS)
def test_file_in_an_archive_is_scanned_like_any_other__and_named(path: str) -> None:
    report = scan(path, MAKERS[path]({"docs/readme.md": HARMLESS, "scripts/run.sh": EVIL}))
    assert f"{path}!/scripts/run.sh" in [finding.file for finding in found(report, "RS-001")]
    assert report.verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("run.sh.gz", gzip.compress(EVIL, mtime=0)),
        ("run.sh.bz2", bz2.compress(EVIL)),
        ("run.sh.xz", lzma.compress(EVIL)),
    ],
)
def test_single_file_in_a_stream_has_its_own_name(path: str, content: bytes) -> None:
    assert f"{path}!/run.sh" in [finding.file for finding in found(scan(path, content), "RS-001")]


@pytest.mark.parametrize("levels", [1, 2])
def test_archive_in_an_archive_is_opened__down_to_a_depth(levels: int) -> None:
    report = scan("a.zip", nested(zipped({"run.sh": EVIL}), levels=levels))
    assert found(report, "RS-001")
    assert report.limits_hit == ()


def test_archive_that_is_too_deep_never_passes__and_says_so() -> None:
    report = scan("a.zip", nested(zipped({"a.txt": HARMLESS}), levels=3))
    assert found(report, "CT-006")
    assert report.limits_hit == (ARCHIVE_LIMIT,)


@pytest.mark.parametrize(
    ("path", "content", "rule", "limits"),
    [
        ("a.zip", cases_archives.encrypted(), "CT-001", (UNANALYSABLE_FILE,)),
        ("a.7z", b"7z\xbc\xaf\x27\x1c\0\x04" + bytes(60), "CT-002", (UNANALYSABLE_FILE,)),
        ("a.rar", b"Rar!\x1a\x07\x01\0" + bytes(60), "CT-002", (UNANALYSABLE_FILE,)),
        ("a.zip", zipped({"a.txt": HARMLESS})[:-30], "CT-003", (UNANALYSABLE_FILE,)),
        ("a.tar.gz", tar_gz({"a.txt": HARMLESS})[:-30], "CT-003", (UNANALYSABLE_FILE,)),
        ("a.zip", zipped({"zeros": bytes(4 * 2**20)}), "CT-004", (ARCHIVE_LIMIT,)),
        ("a.gz", gzip.compress(bytes(4 * 2**20), mtime=0), "CT-004", (ARCHIVE_LIMIT,)),
        ("a.bz2", bz2.compress(bytes(4 * 2**20)), "CT-004", (ARCHIVE_LIMIT,)),
        ("a.xz", lzma.compress(bytes(4 * 2**20)), "CT-004", (ARCHIVE_LIMIT,)),
        ("a.zip", cases_archives.overlapping(entries=20), "CT-004", (ARCHIVE_LIMIT, UNANALYSABLE_FILE)),
        ("a.zip", zipped({"../a.txt": HARMLESS}), "CT-007", ()),
        ("a.zip", zipped({"/etc/a.txt": HARMLESS}), "CT-007", ()),
        ("a.zip", zipped({"C:\\a.txt": HARMLESS}), "CT-007", ()),
        ("a.tar", tarred({"../a.txt": HARMLESS}), "CT-007", ()),
        ("a.zip", zipped({"a": b"/etc/passwd"}, mode=0o120777), "CT-008", ()),
        ("a.tar", tarred({"a": b""}, kind=tarfile.SYMTYPE, link="/etc"), "CT-008", ()),
        ("a.tar", tarred({"a": b""}, kind=tarfile.LNKTYPE, link="/etc/shadow"), "CT-008", ()),
        ("a.tar", tarred({"a": b""}, kind=tarfile.CHRTYPE), "CT-008", ()),
        (
            "a.zip",
            zipped({"readme.txt": HARMLESS}).replace(b"readme.txt", b"install.sh", 1),
            "CT-009",
            (UNANALYSABLE_FILE,),
        ),
        ("a.zip", cases_archives.unicode_extra(), "CT-009", (UNANALYSABLE_FILE,)),
        ("a.zip", zipped({"a.txt": HARMLESS}) + HARMLESS * 20, "CT-010", (UNANALYSABLE_FILE,)),
        ("a.tar", tarred({"a.txt": HARMLESS}) + HARMLESS * 20, "CT-010", (UNANALYSABLE_FILE,)),
        ("a.tar.gz", tar_gz({"a.txt": HARMLESS}) + HARMLESS * 20, "CT-010", (UNANALYSABLE_FILE,)),
        (
            "a.tar",
            tarred({"a.txt": HARMLESS}, form=tarfile.USTAR_FORMAT) + zipped({"b": HARMLESS}),
            "CT-010",
            (UNANALYSABLE_FILE,),
        ),
        ("a.zip", zipped({"run.sh": HARMLESS, "RUN.SH": HARMLESS}), "CT-011", ()),
        ("a.tar", cases_archives.sparse(), "CT-002", (UNANALYSABLE_FILE,)),
        ("a.tar", cases_archives.pax_lies(), "CT-003", (UNANALYSABLE_FILE,)),
    ],
)
def test_flaw_of_an_archive_is_reported__and_what_was_not_seen_is_named(
    path: str, content: bytes, rule: str, limits: tuple[str, ...]
) -> None:
    report = scan(path, content)
    assert found(report, rule)
    assert report.limits_hit == limits
    assert report.flagged or rule == "CT-011"


@pytest.mark.parametrize("path", ["notes.md", "run.py", "data.json"])
def test_archive_under_the_name_of_a_text_is_flagged(path: str) -> None:
    report = scan(path, zipped({"a.txt": HARMLESS}))
    assert found(report, "CT-021")
    assert report.flagged


def test_archive_that_an_interpreter_runs_is_flagged() -> None:
    assert found(scan("tool.zip", zipped({"__main__.py": b"print(1)\n"})), "CT-021")


def test_program_in_an_archive_is_a_program() -> None:
    report = scan("a.zip", zipped({"bin/tool": b"\x7fELF\x02\x01\x01\0" + bytes(64)}))
    assert [finding.file for finding in found(report, "ST-008")] == ["a.zip!/bin/tool"]
    assert report.flagged


@pytest.mark.parametrize("path", ["lib.jar", "tool.whl", "app.apk"])
def test_package_that_is_a_zip_stays_a_program__and_its_files_are_scanned(path: str) -> None:
    report = scan(path, zipped({"a.py": EVIL}))
    assert {"ST-008", "RS-001"} <= {*rule_ids(report)}


def test_picture_with_an_archive_behind_it_is_both__and_flagged() -> None:
    report = scan("logo.png", PNG_HEAD + zipped({"run.sh": EVIL}))
    assert {"CT-016", "RS-001"} <= {*rule_ids(report)}
    assert UNANALYSABLE_FILE in report.limits_hit


def test_hidden_zip_before_the_zip_is_noticed__because_unpackers_differ() -> None:
    report = scan("a.zip", zipped({"evil.sh": EVIL}) + zipped({"a.txt": HARMLESS}))
    assert found(report, "CT-010")


def test_members_without_a_place_in_the_directory_are_noticed() -> None:
    whole = zipped({"a.txt": HARMLESS * 20, "b.txt": HARMLESS * 20}, squeeze=False)
    first = whole.index(b"PK\x01\x02")
    second = whole.index(b"PK\x01\x02", first + 1)
    end = whole.index(b"PK\x05\x06")
    directory = whole[first:second]
    forged = whole[:first] + directory + b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, 1, 1, len(directory), first, 0)
    assert len(forged) < len(whole)
    assert end > second
    assert found(scan("a.zip", forged), "CT-010")


def test_many_members_are_listed_up_to_a_bound__and_the_rest_is_said() -> None:
    content = zipped({f"{number}.txt": b"x" for number in range(MOST_MEMBERS + 5)})
    opening = open_containers([FileUnderScan("a.zip", content)], limits=ScanLimits())
    assert len(opening.files) <= MOST_MEMBERS
    assert ARCHIVE_LIMIT in scan("a.zip", content).limits_hit


def test_bytes_are_read_up_to_a_bound__over_all_archives_together() -> None:
    one = zipped({"a.bin": bytes(range(256)) * 4 * 1024 * 6}, squeeze=False)
    files = [FileUnderScan(f"{number}.zip", one) for number in range(6)]
    opening = open_containers(files, limits=ScanLimits())
    assert sum(len(file.content) for file in opening.files) <= MOST_BYTES
    assert any(seen == "archive_too_much" for seen, *_ in opening.seen)


def test_archives_share_the_bound_of_the_scan__with_the_files_around_them() -> None:
    limits = ScanLimits(max_bytes=5_000)
    content = make_skill({"a.zip": zipped({"a.txt": HARMLESS * 1_000})})
    report = scan_content(content, limits=limits)
    assert ARCHIVE_LIMIT in report.limits_hit


@pytest.mark.parametrize("name", sorted(set(cases_archives.ARCHIVES) - {"million-entries", "ratio-past-64-mib"}))
def test_hostile_archive_never_passes(name: str) -> None:
    path, make = cases_archives.ARCHIVES[name]
    assert scan(path, make()).verdict is not Verdict.PASS


def test_zip_reader_agrees_with_the_standard_library__on_honest_archives() -> None:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("déjà/vu.txt", "x" * 10_000)
        archive.writestr("b.bin", bytes(range(256)), zipfile.ZIP_BZIP2)
        archive.writestr("empty", b"")
        with archive.open("streamed", "w", force_zip64=True) as stream:
            stream.write(b"y" * 70_000)
        archive.comment = b"a comment"
    members = {
        one.name: one.content for one in read_zip(buffer.getvalue(), allowance=Allowance()) if isinstance(one, Member)
    }
    with zipfile.ZipFile(buffer) as archive:
        assert members == {info.filename: archive.read(info) for info in archive.infolist()}
    assert not [one for one in read_zip(buffer.getvalue(), allowance=Allowance()) if isinstance(one, Flawed)]


def test_zip_without_seeking_is_read__as_tools_write_it_to_a_pipe() -> None:
    class Pipe(BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}.txt", b"z" * 5_000)
    found_ones = list(read_zip(pipe.getvalue(), allowance=Allowance()))
    assert [one.name for one in found_ones if isinstance(one, Member)] == ["0.txt", "1.txt", "2.txt"]
    assert not [one for one in found_ones if isinstance(one, Flawed)]


def test_tar_reader_agrees_with_the_standard_library__on_long_names() -> None:
    members = {"d" * 90 + "/" + "n" * 120 + ".txt": b"a" * 1_000, "ü.txt": b"b", "empty": b""}
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        read = {
            one.name: one.content
            for one in read_tar(tarred(members, form=form), allowance=Allowance())
            if isinstance(one, Member)
        }
        assert read == members


@pytest.mark.parametrize("flip", range(0, 400, 7))
def test_damaged_archives_are_read_without_an_error__whatever_byte_is_wrong(flip: int) -> None:
    for content in (zipped({"a.txt": HARMLESS * 9, "b.txt": EVIL}), tarred({"a.txt": HARMLESS}), tar_gz({"a": EVIL})):
        broken = bytearray(content)
        broken[flip % len(broken)] ^= 0xFF
        opening = open_containers([FileUnderScan("a.zip", bytes(broken))], limits=ScanLimits())
        assert opening.files is not None


def test_every_flaw_has_a_rule() -> None:
    assert {f"archive_{flaw}" for flaw in Flaw} <= {rule.check for rule in load_ruleset().check_rules}
