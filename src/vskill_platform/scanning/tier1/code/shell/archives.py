"""Commands that pack, unpack, copy and move: secrets and downloads go with the files."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call, handles
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Source, Value, joined, unknown
from vskill_platform.scanning.tier1.skill import FactKind

MOST_LISTED = 50
_TAR_VALUES = "fCTXbgHIKLNV"
_DEVICES = frozenset(["pulse", "alsa", "avfoundation", "dshow", "x11grab", "gdigrab", "v4l2", "-d"])
_IMAGE = re.compile(r"\.(?:iso|img)(?:\.\w{2,3})?$")
_STICK = re.compile(r"/dev/(?:sd[b-z]|disk[2-9])")
"""What images of systems are written to. The disk that a machine runs on has the name of the first."""
_TAR_LONG = frozenset(["--file", "--directory", "--exclude", "--transform", "--files-from", "--strip-components"])


@handles("tar bsdtar gtar")
def run_tar(call: Call) -> Value:
    """tar: packs files into an archive or a pipe, or takes files out of one."""
    words = list(call.arguments)
    if words and not words[0].text.startswith("-"):
        words[0] = words[0].with_text(f"-{words[0].text}")
    given = Call(call.machine, call.name, words, call.stdin, call.at)
    archive, folder, plain, letters = "", "", list[Value](), ""
    for name, value in given.options(with_value=_TAR_VALUES, long_with_value=_TAR_LONG):
        letters += name.removeprefix("-") if len(name) == 2 else ""
        if name in {"-f", "--file"}:
            archive = value.text
        elif name in {"-C", "--directory"}:
            folder = value.text
        elif name in {"-T", "--files-from"}:
            plain += _listed(call, value)
        elif not name:
            is_below = folder and not value.text.startswith(("/", "~", "$", "-"))
            plain.append(value.with_text(f"{folder.rstrip('/')}/{value.text}") if is_below else value)
    if "x" in letters or "--extract" in call.texts:
        is_anywhere = folder == "/" or "P" in letters or "--absolute-names" in call.texts
        _unpack(call, archive, is_anywhere=is_anywhere)
        return _printed(call, archive) if "O" in letters or "--to-stdout" in call.texts else NOTHING
    content = unknown(
        "archive", origins=joined([call.machine.read(path.text, call.at) for path in plain] or [NOTHING]).origins
    )
    if archive and archive != "-":
        call.machine.write(Value(archive), content, call.at)
        return NOTHING
    return content


def _listed(call: Call, path: Value) -> list[Value]:
    """The paths in a list that the script has made."""
    listed = call.stdin if path.text == "-" else call.machine.read(path.text, call.at)
    return [Value(line, listed.origins) for line in listed.text.split("\n")[:MOST_LISTED] if line]


@handles("split")
def run_split(call: Call) -> Value:
    """split: the pieces come from where the whole does."""
    plain = call.plain(with_value="abnlC")
    content = call.stdin if not plain or plain[0].text == "-" else call.machine.read(plain[0].text, call.at)
    prefix = plain[1] if len(plain) > 1 else Value("x")
    call.machine.write(prefix.with_text(f"{prefix.text}aa"), content, call.at)
    return NOTHING


def _unpack(call: Call, archive: str, *, is_anywhere: bool = False) -> Value:
    """Takes files out of an archive. Over the whole system, they replace programs that will run."""
    content = call.machine.files.written(archive) if archive and archive != "-" else call.stdin
    addresses = content.details(Source.NETWORK) if content is not None else []
    for address in addresses:
        call.machine.unpack(address)
        call.know(FactKind.DOWNLOADS, archive.rpartition("/")[0])
    if is_anywhere and checks.come_from_stranger(addresses):
        call.see(checks.RUNS_UNPACKED)
    return NOTHING


def _printed(call: Call, archive: str) -> Value:
    """What comes out of an archive into a pipe."""
    content = call.machine.read(archive, call.at) if archive and archive != "-" else call.stdin
    return unknown("archive", origins=content.origins).having(Source.DECODED, "archive")


@handles("unzip 7z 7za unrar unar gunzip-file")
def run_unzip(call: Call) -> Value:
    """Other archives. 7z packs as well."""
    plain = call.plain(with_value="dPo")
    if call.name.startswith("7z") and plain and plain[0].text == "a":
        return _pack(call, plain[1:])
    paths = plain[1:] if call.name.startswith(("7z", "unrar")) else plain
    if not paths:
        return NOTHING
    _unpack(call, paths[0].text)
    prints = any(text in {"-p", "-c", "-so"} for text in call.texts)
    return _printed(call, paths[0].text) if prints else NOTHING


@handles("zip")
def run_zip(call: Call) -> Value:
    """zip."""
    return _pack(call, call.plain(with_value="xbntP"))


def _pack(call: Call, words: list[Value]) -> Value:
    if not words:
        return NOTHING
    content = unknown(
        "archive", origins=joined([call.machine.read(path.text, call.at) for path in words[1:]] or [NOTHING]).origins
    )
    if words[0].text == "-":
        return content
    call.machine.write(words[0], content, call.at)
    return NOTHING


@handles("cp mv ln install rsync-local ditto")
def run_cp(call: Call) -> Value:
    """Copies: the content goes with the name."""
    target = next(
        (value for name, value in call.options(with_value="tmog") if name in {"-t", "--target-directory"}), None
    )
    plain = call.plain(with_value="tmogS")
    if target is None and len(plain) > 1:
        target = plain.pop()
    if target is None:
        return NOTHING
    for source in plain:
        name = source.text.rstrip("/").rpartition("/")[2]
        into_folder = target.text.endswith("/") or target.text in {".", ".."} or len(plain) > 1
        path = target.with_text(f"{target.text.rstrip('/')}/{name}") if into_folder else target
        content = call.stdin if source.text == "/dev/stdin" else call.machine.read(source.text, call.at)
        is_published = call.name == "ln" and not path.text.startswith(("/", "~", "."))
        if is_published and content.comes_from(Source.SECRET):
            call.see(checks.COPIES_SECRET)
        call.machine.write(path, content, call.at)
    return NOTHING


@handles("dd")
def run_dd(call: Call) -> Value:
    """dd."""
    given = dict(text.partition("=")[::2] for text in call.texts)
    content = call.machine.read(given["if"], call.at) if "if" in given else call.stdin
    if "of" not in given:
        return content
    if _IMAGE.search(given.get("if", "")) and _STICK.fullmatch(given["of"]):
        return NOTHING
    call.machine.write(Value(given["of"]), content, call.at)
    return NOTHING


@handles("sqlite3")
def run_sqlite(call: Call) -> Value:
    """A database is a file that may be a browser's."""
    plain = call.plain()
    content = call.machine.read(plain[0].text, call.at) if plain else NOTHING
    call.know(FactKind.RUNS, "sqlite3")
    return unknown("sqlite3", origins=content.origins | call.stdin.origins)


@handles("xinput logkeys evtest showkey")
def run_keys(call: Call) -> Value:
    """What is typed, key by key."""
    is_watching = call.name != "xinput" or any(text.startswith("test") for text in call.texts)
    return unknown("keys").having(Source.SECRET, "keys typed") if is_watching else NOTHING


@handles("ffmpeg arecord sox rec parec parecord fswebcam imagesnap")
def run_recorder(call: Call) -> Value:
    """Recordings from a microphone, a camera or the screen, where the input is a device."""
    texts = call.texts
    is_device = call.name not in {"ffmpeg", "sox"} or any(text in _DEVICES for text in texts)
    if is_device:
        for path in call.plain(with_value="fitcadDr")[-1:]:
            call.machine.files.write(path.text, unknown("recording").having(Source.SECRET, "recording"))
        return unknown("recording").having(Source.SECRET, "recording")
    return unknown(call.name)
