"""What a file is: the kinds that rules can name, by its path, and its shape, by its bytes.

The two are judged apart. A name decides which rules look at a file, and what is not known by name is looked at by all of
them: a harmless-looking extension must not switch rules off. The bytes decide whether the file can be read at all.
"""

from __future__ import annotations

import re
from enum import StrEnum

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
MOST_UNDECODABLE = 0.2
"""The share of characters that may be undecodable in what still counts as text, such as prose in an old encoding."""

_TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?/|test_[^/]*\.py$|[^/]*_test\.py$|conftest\.py$|[^/]*[._-](?:test|spec)\.[cm]?[jt]sx?$)"
)


def is_named_as_test(path: str) -> bool:
    """Whether a file is named, or lies, where tests do. It proves nothing: anybody may call a file so."""
    return _TEST_FILE.search(path) is not None


class FileKind(StrEnum):
    """A kind of file that a rule can name in `applies_to`."""

    ANY = "any"
    MARKDOWN = "markdown"
    SCRIPT = "script"
    CONFIG = "config"
    FRONTMATTER = "frontmatter"
    HIDDEN = "hidden"
    """Text that people do not see: no file is of this kind, parts of files are."""
    DECODED = "decoded"
    """Text that came out of an encoded payload or was carried by invisible characters."""
    UNCOVERED = "uncovered"
    """Text as it reads without a disguise that nobody puts on by chance, such as quotes in the middle of a word."""


class Shape(StrEnum):
    """What the bytes of a file are."""

    TEXT = "text"
    MEDIA = "media"
    EXECUTABLE = "executable"
    ARCHIVE = "archive"
    BINARY = "binary"


NO_TEXT = frozenset({Shape.MEDIA, Shape.ARCHIVE, Shape.EXECUTABLE})
"""What is no text even in parts: any letter in it is there by chance. What it holds is opened, or it is reported."""
EVERY_KIND = frozenset({FileKind.ANY, FileKind.MARKDOWN, FileKind.SCRIPT, FileKind.CONFIG})

_SUFFIXES = {
    FileKind.MARKDOWN: "md mdc mdx markdown txt text rst adoc org",
    FileKind.SCRIPT: (
        "sh bash zsh fish ksh py pyw js mjs cjs jsx ts mts cts tsx rb ps1 psm1 psd1 bat cmd pl pm php lua r jl go rs java "
        "kt kts swift c h cc cpp hpp cs scala groovy applescript awk tcl vbs vba sql ipynb nu ex exs erl clj"
    ),
    FileKind.CONFIG: "json jsonc json5 jsonl yaml yml toml ini cfg conf env properties plist lock npmrc pypirc",
}
_KIND_OF_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_NAMES = {
    FileKind.MARKDOWN: (
        "readme license licence notice changelog contributing authors copying todo .cursorrules .windsurfrules "
        ".clinerules .roorules .goosehints .aiderrules"
    ),
    FileKind.SCRIPT: "makefile dockerfile justfile rakefile gemfile jenkinsfile vagrantfile procfile "
    "pre-commit commit-msg prepare-commit-msg pre-push post-commit post-merge post-checkout post-rewrite pre-rebase",
    FileKind.CONFIG: "pipfile .gitconfig .gitmodules .editorconfig .gitignore .gitattributes",
}
_KIND_OF_NAME = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_KINDS = {kind: frozenset({kind, FileKind.ANY}) for kind in FileKind}
_KINDS_OF_SCRIPT = {kind: kinds | {FileKind.SCRIPT} for kind, kinds in _KINDS.items()}

_MEDIA = (
    "png jpg jpeg gif webp bmp ico cur icns avif heic heif tif tiff psd pdf woff woff2 ttf otf mp3 mp4 m4a m4v mov avi wav "
    "ogg opus flac mid webm mkv"
)
MEDIA_SUFFIXES = frozenset(_MEDIA.split())
_EXECUTABLE_ZIPS = "jar war apk whl egg xpi crx vsix nupkg pyz"
_EXECUTABLE_ZIP_SUFFIXES = frozenset(_EXECUTABLE_ZIPS.split())
_EXECUTABLE_MAGIC = (
    b"\x7fELF",
    b"MZ",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"\0asm",
    b"dex\n",
    b"BC\xc0\xde",
    b"\x1bLua",
)
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_ARCHIVE_MAGIC = (
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ\0",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"\x28\xb5\x2f\xfd",
    b"\x04\x22\x4d\x18",
    b"MSCF",
    b"!<arch>\n",
    b"\xed\xab\xee\xdb",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
)
_MEDIA_MAGIC = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"BM",
    b"\0\0\x01\0",
    b"\0\0\x02\0",
    b"II*\0",
    b"MM\0*",
    b"wOFF",
    b"wOF2",
    b"\0\x01\0\0",
    b"OTTO",
    b"ttcf",
    b"true",
    b"ID3",
    b"\xff\xfb",
    b"\xff\xfa",
    b"\xff\xf3",
    b"\xff\xf2",
    b"\xff\xe3",
    b"OggS",
    b"fLaC",
    b"\x1a\x45\xdf\xa3",
    b"icns",
    b"8BPS",
    b"MThd",
)
_FOLDER_VIEW = (".ds_store", b"\0\0\0\x01Bud1")
_SECOND_FORK = ("._", b"\0\x05\x16\x07")
"""What a Mac leaves behind: how a folder is shown, and what belongs to a file without being in it."""
_RIFF_MEDIA = (b"WEBP", b"WAVE", b"AVI ")
_ZIP_END = b"PK\x05\x06"
_ZIP_TAIL = 22 + 65_535
_FILM_BOXES = (b"ftyp", b"moov", b"mdat", b"wide", b"free")


def suffix_of(path: str) -> str:
    """The last extension of a path in lower case, without its dot; `.env` has the extension `env`."""
    name = path.rpartition("/")[2].lower()
    return name.rpartition(".")[2] if "." in name else ""


def kinds_of(path: str, content: bytes, *, executable: bool = False) -> frozenset[FileKind]:
    """Which rules look at a file. A shebang or an executable bit adds to what the name says, nothing takes away."""
    kind = _kind_by_name(path)
    if kind is None:
        return EVERY_KIND
    return _KINDS_OF_SCRIPT[kind] if executable or content.startswith(b"#!") else _KINDS[kind]


def shape_of(path: str, content: bytes) -> Shape:
    """What the bytes are. Clean text is text whatever it begins with; magic bytes tell apart what is not.

    Media must be so by name and by bytes: the magic of some media is two letters long.
    """
    if _is_clean_text(content):
        return Shape.TEXT
    if _is_executable(path, content):
        return Shape.EXECUTABLE
    if content.startswith((*_ZIP_MAGIC, *_ARCHIVE_MAGIC)) or content[257:262] == b"ustar":
        return Shape.ARCHIVE
    if _is_left_behind(path, content):
        return Shape.MEDIA
    if suffix_of(path) in MEDIA_SUFFIXES and (_is_media(content) or is_pdf(content)):
        if _ends_as_zip(content):
            return Shape.ARCHIVE
        if _is_media(content) or is_pdf_by_name(path, content):
            return Shape.MEDIA
    return Shape.TEXT if _is_mostly_text(content) else Shape.BINARY


def is_pdf(content: bytes) -> bool:
    """Whether readers would take the bytes for a PDF, which may consist of clean text."""
    return content.startswith(b"%PDF-")


def is_pdf_by_name(path: str, content: bytes) -> bool:
    """Whether it is a PDF by name too. By another name it is looked at as text, NUL bytes in it or not."""
    return suffix_of(path) == "pdf" and is_pdf(content)


def _kind_by_name(path: str) -> FileKind | None:
    name = path.rpartition("/")[2].lower()
    if name.startswith(".env") or (name.startswith("requirements") and name.endswith(".txt")):
        return FileKind.CONFIG
    return _KIND_OF_NAME.get(name) or _KIND_OF_SUFFIX.get(suffix_of(path))


def _is_clean_text(content: bytes) -> bool:
    if content.startswith(UTF16_MARKS):
        return _decodes(content, "utf-16")
    return b"\0" not in content and (content.isascii() or _decodes(content, "utf-8"))


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _is_mostly_text(content: bytes) -> bool:
    if b"\0" in content:
        return False
    text = content.decode("utf-8", "replace")
    return text.count("\ufffd") <= MOST_UNDECODABLE * len(text)


def _is_executable(path: str, content: bytes) -> bool:
    if content.startswith(_ZIP_MAGIC):
        return suffix_of(path) in _EXECUTABLE_ZIP_SUFFIXES
    is_compiled_python = content[2:4] == b"\r\n" and suffix_of(path) in {"pyc", "pyo"}
    return is_compiled_python or content.startswith(_EXECUTABLE_MAGIC)


def _ends_as_zip(content: bytes) -> bool:
    """Whether unpackers would find a zip at the end: they read from there, whatever stands before it."""
    return _ZIP_END in content[-_ZIP_TAIL:]


def _is_left_behind(path: str, content: bytes) -> bool:
    name = path.rpartition("/")[2].lower()
    is_folder_view = name == _FOLDER_VIEW[0] and content.startswith(_FOLDER_VIEW[1])
    return is_folder_view or (name.startswith(_SECOND_FORK[0]) and content.startswith(_SECOND_FORK[1]))


def _is_media(content: bytes) -> bool:
    if content.startswith(b"RIFF"):
        return content[8:12] in _RIFF_MEDIA
    return content.startswith(_MEDIA_MAGIC) or content[4:8] in _FILM_BOXES
