"""The manifest of an export: what its parts are, how much is in them, and their digests. Written last: no manifest, no export."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from vskill_platform.domain.errors import ExportCorrupt, ExportFromFuture, ExportIncomplete, FolderTaken

FORMAT = 1
MANIFEST_NAME = "manifest.json"
RECORDS, MESSAGES, EVENTS, BLOBS = "records.jsonl", "messages.jsonl", "events.jsonl", "blobs.tar"


class Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One file of an export. `kinds` counts what is in it: records by prefix, messages by status, events by kind."""

    name: str
    sha256: str
    bytes: int
    count: int
    kinds: dict[str, int]


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What an export says of itself.

    `content` is one digest of all parts: two registries with the same one hold the same. `digest` is that of this manifest.
    """

    format: int
    software: str
    exported_at: str
    parts: list[Part]
    content: str
    digest: str = ""

    def part(self, name: str) -> Part:
        """The part of this name. Raises ExportIncomplete."""
        for part in self.parts:
            if part.name == name:
                return part
        raise ExportIncomplete(f"The manifest names no part {name}. Make the export again.", part=name)


def make_manifest(parts: list[Part], *, software: str, exported_at: str) -> Manifest:
    """The manifest of these parts."""
    content = hashlib.sha256("".join(f"{part.name} {part.sha256}\n" for part in parts).encode()).hexdigest()
    made = Manifest(format=FORMAT, software=software, exported_at=exported_at, parts=parts, content=content)
    return msgspec.structs.replace(made, digest=_digest(made))


def _digest(manifest: Manifest) -> str:
    return hashlib.sha256(_encode(msgspec.structs.replace(manifest, digest=""))).hexdigest()


def _encode(manifest: Manifest) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest)) + b"\n"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Put the manifest into the folder, whole or not at all, and see that the folder is on disk."""
    temporary = folder / f".{MANIFEST_NAME}"
    with temporary.open("xb") as file:
        file.write(_encode(manifest))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / MANIFEST_NAME)
    sync_folder(folder)
    sync_folder(folder.parent)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an export. Raises ExportRefused for one that is missing, changed, or of a newer format."""
    path = folder / MANIFEST_NAME
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise ExportIncomplete(
            f"There is no readable {MANIFEST_NAME} in {folder} ({exc.strerror}): it is no export, or one that was not finished. "
            "Make the export again.",
            part=MANIFEST_NAME,
        ) from exc
    _check_format(content)
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise _changed() from exc
    if _encode(manifest) != content or manifest.digest != _digest(manifest):
        raise _changed()
    return manifest


class _Format(msgspec.Struct):
    format: int = 0


def _check_format(content: bytes) -> None:
    """A newer format may have fields that we do not know, so it is looked at before everything else."""
    try:
        found = msgspec.json.decode(content, type=_Format).format
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise _changed() from exc
    if found > FORMAT:
        raise ExportFromFuture(
            f"The export has format {found}; this version reads up to {FORMAT}. Import it with a newer version.",
            format=found,
        )


def _changed() -> ExportCorrupt:
    return ExportCorrupt(
        f"{MANIFEST_NAME} is not as it was written: it was changed on the way. Copy or make the export again.",
        part=MANIFEST_NAME,
    )


def make_folder(folder: Path) -> None:
    """A folder of its own for an export or a backup, readable by its user alone. Raises FolderTaken."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        taken = any(folder.iterdir())
    except OSError as exc:
        raise FolderTaken(f"The folder {folder} cannot be used ({exc.strerror}). Name another.") from exc
    if taken:
        raise FolderTaken(f"There is something in {folder} already. Name a folder that is empty or not there yet.")


def sync_folder(folder: Path) -> None:
    """See that the names in a folder are on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
