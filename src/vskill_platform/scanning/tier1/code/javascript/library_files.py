"""Files: what is read from places where secrets lie, and what is written to places from which it comes back."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.hosts import UNKNOWN
from vskill_platform.scanning.tier1.code.javascript import checks
from vskill_platform.scanning.tier1.code.javascript.calls import SOURCES, Call, handles
from vskill_platform.scanning.tier1.code.javascript.values import NOTHING, NOWHERE, Origin, Source, Value, text_of
from vskill_platform.scanning.tier1.code.places import Lasting, is_home, lasting_at, plain_path, secret_at
from vskill_platform.scanning.tier1.skill import FactKind

_FETCHES = re.compile(r"\b(?:curl|wget|nc|fetch|https?:)\b|/dev/tcp/|\bbase64\b")


def _content(call: Call) -> frozenset[Origin]:
    """The origins of what a file holds."""
    path = call.argument(0)
    if path.text is None:
        return path.origins
    plain = plain_path(path.text)
    written = call.world.files.get(plain)
    if written is not None:
        return written.origins
    secret = secret_at(plain)
    if secret is not None:
        call.world.know(FactKind.READS_SECRET, call.at, secret.path)
        return frozenset([Origin(Source.SECRET, secret.path)])
    return frozenset([Origin(Source.FILE, plain)])


@handles(
    "fs.readFileSync fs.readFile fs.createReadStream fs.readJson fs.readJsonSync fs.readJSON fs.openAsBlob "
    "Deno.readTextFile Deno.readFile Deno.readTextFileSync Bun.file "
    "fs.copyFileSync-read"
)
def run_read(call: Call) -> Value:
    """The content of a file."""
    return Value(origins=_content(call), path="file()")


SOURCES["fs.readFile"] = _content


@handles("fs.readdirSync fs.readdir glob.sync globby fast-glob.sync glob glob.glob klaw Deno.readDir")
def run_list(call: Call) -> Value:
    """The names in a folder; those of a secret place stand for what lies there."""
    path = call.argument(0)
    text = path.text or ""
    if secret_at(text):
        return Value(origins=frozenset([Origin(Source.SECRET, plain_path(text))]))
    return Value(origins=frozenset([Origin(Source.HOME, "~")]) if is_home(text) else NOWHERE)


@handles(
    "fs.writeFileSync fs.writeFile fs.appendFileSync fs.appendFile fs.outputFile fs.outputFileSync fs.writeJson "
    "fs.writeJsonSync Deno.writeTextFile Deno.writeTextFileSync Bun.write"
)
def run_write(call: Call) -> Value:
    """A file is written."""
    write_file(call, call.argument(0), call.argument(1))
    return NOTHING


@handles(
    "fs.copyFileSync fs.copyFile fs.cpSync fs.cp fs.copySync fs.copy fs.renameSync fs.rename fs.symlinkSync fs.moveSync"
)
def run_copy(call: Call) -> Value:
    """A file is copied: its content goes with it."""
    write_file(call, call.argument(1), Value(origins=_content(call)))
    return NOTHING


@handles("fs.createWriteStream")
def run_write_stream(call: Call) -> Value:
    """A file that is open for writing."""
    return Value(path="written()", fields={"path": call.argument(0)})


@handles("written().write written().end")
def run_stream_write(call: Call) -> Value:
    """What is written into an open file."""
    write_file(call, call.receiver.field("path"), call.argument(0))
    return NOTHING


_OWN_FILE = ("process.argv", "import.meta.filename", "require.main.filename", "module.filename")
"""What a program calls the file that it is in; what it writes there is what it does the next time."""


_OWN_FOLDERS = ("__dirname", "import.meta")
_IN_OWN_FOLDER = re.compile(rf"(?:\.\.?/)+{UNKNOWN}\w+{UNKNOWN}")
"""What nobody knows before the program runs, right in its own folder or above it."""


def write_file(call: Call, path: Value, content: Value) -> None:
    """Notices what is written where."""
    text = text_of(path, "path")
    plain = plain_path(text)
    world = call.world
    world.write_file(plain, content)
    world.remember_written(path, content)
    kind = FactKind.DOWNLOADS if content.comes_from(Source.NETWORK) else FactKind.WRITES
    world.know(kind, call.at, plain)
    if path.path.startswith(_OWN_FILE) and content.comes_from(Source.NETWORK):
        world.run_code(content, call.at)
    is_all_fetched = content.comes_from(Source.NETWORK) and path.comes_from(Source.NETWORK)
    if is_all_fetched and _IN_OWN_FOLDER.fullmatch(path.text or "") and any(map(world.is_written, _OWN_FOLDERS)):
        world.see(checks.TAKES_PLACES, call.at)
    lasting = lasting_at(plain)
    if lasting is not None:
        _notice_lasting(call, lasting, plain, content)


def _notice_lasting(call: Call, lasting: Lasting, path: str, content: Value) -> None:
    is_foreign = content.comes_from(Source.NETWORK) or content.comes_from(Source.DECODED)
    if lasting is Lasting.AGENT:
        if path.startswith("~/") or is_foreign:
            call.world.see(checks.REWRITES_AGENT, call.at)
    elif lasting is Lasting.PACKAGES:
        if "registry" in (content.text or "") or is_foreign:
            call.world.see(checks.CHANGES_REGISTRY, call.at)
    elif lasting is Lasting.GIT_HOOK:
        if is_foreign or _FETCHES.search((content.text or "")[:20_000]):
            call.world.see(checks.PERSISTS, call.at)
    else:
        call.world.see(checks.PERSISTS, call.at)
