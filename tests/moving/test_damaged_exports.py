"""An export that is not what it was is refused before anything is written, and the part at fault is named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.moving.houses import export_house, fill_house, import_house, open_house
from vskill_platform.domain.errors import (
    ExportCorrupt,
    ExportFromFuture,
    ExportIncomplete,
    ExportRefused,
    FolderTaken,
)
from vskill_platform.moving.manifest import MANIFEST_NAME, read_manifest
from vskill_platform.testing.inventory_contract import list_everything

PARTS = ("records.jsonl", "messages.jsonl", "events.jsonl", "blobs.tar")
FILES = (*PARTS, MANIFEST_NAME)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export that nothing is wrong with."""
    import asyncio

    folder = tmp_path_factory.mktemp("whole")

    async def make() -> None:
        async with open_house("sqlite", folder / "old") as old:
            await fill_house(old, submissions=4)
            await export_house(old, folder / "export")

    asyncio.run(make())
    return folder / "export"


@pytest.fixture
def export(whole: Path, tmp_path: Path) -> Path:
    """A copy of it to damage."""
    return Path(shutil.copytree(whole, tmp_path / "export"))


async def refuse(export: Path, folder: Path) -> ExportRefused:
    """The error that the import ends with, having written nothing."""
    async with open_house("sqlite", folder) as new:
        with pytest.raises(ExportRefused) as caught:
            await import_house(new, export)
        assert await list_everything(new.engine) == []
        assert (await new.blobs.list()).blobs == []
    return caught.value


@pytest.mark.parametrize("name", FILES)
async def test_import_names_the_part__when_one_byte_of_it_is_flipped(name: str, export: Path, tmp_path: Path) -> None:
    path = export / name
    content = path.read_bytes()
    for number, position in enumerate((0, len(content) // 3, len(content) // 2, len(content) - 1)):
        flipped = bytearray(content)
        flipped[position] ^= 0x01
        path.write_bytes(flipped)
        error = await refuse(export, tmp_path / f"new-{number}")
        assert isinstance(error, ExportCorrupt), (position, error)
        assert error.fields["part"] == name
        assert name in error.message


def test_manifest_is_refused__whichever_of_its_bytes_is_changed(export: Path) -> None:
    path = export / MANIFEST_NAME
    content = path.read_bytes()
    for position in range(len(content)):
        for changed in (content[position] ^ 0x01, content[position] ^ 0x80, ord(" "), ord("\n")):
            if changed == content[position]:
                continue
            path.write_bytes(content[:position] + bytes([changed]) + content[position + 1 :])
            with pytest.raises((ExportCorrupt, ExportFromFuture)):
                read_manifest(export)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("kept", [0, 0.5, -1])
async def test_import_names_the_part__when_it_is_cut_off(name: str, kept: float, export: Path, tmp_path: Path) -> None:
    path = export / name
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)] if kept >= 0 else content[:-1])
    error = await refuse(export, tmp_path / "new")
    assert (type(error), error.fields["part"]) == (ExportIncomplete, name)


@pytest.mark.parametrize("name", PARTS)
async def test_import_names_the_part__when_something_was_appended(name: str, export: Path, tmp_path: Path) -> None:
    with (export / name).open("ab") as file:
        file.write(b"\n")
    error = await refuse(export, tmp_path / "new")
    assert (type(error), error.fields["part"]) == (ExportCorrupt, name)


@pytest.mark.parametrize("name", FILES)
async def test_import_names_the_part__when_it_is_missing(name: str, export: Path, tmp_path: Path) -> None:
    (export / name).unlink()
    error = await refuse(export, tmp_path / "new")
    assert (type(error), error.fields["part"]) == (ExportIncomplete, name)


async def test_import_refuses_a_manifest_that_is_cut_off(export: Path, tmp_path: Path) -> None:
    path = export / MANIFEST_NAME
    path.write_bytes(path.read_bytes()[:-40])
    assert isinstance(await refuse(export, tmp_path / "new"), ExportCorrupt)


@pytest.mark.parametrize(
    "change",
    [lambda fields: fields | {"format": 2}, lambda fields: fields | {"format": 2, "unheardOf": True}],
)
async def test_import_refuses_a_format_from_the_future(
    change: Callable[[dict[str, object]], dict[str, object]], export: Path, tmp_path: Path
) -> None:
    path = export / MANIFEST_NAME
    path.write_bytes(msgspec.json.encode(change(msgspec.json.decode(path.read_bytes()))))
    assert isinstance(await refuse(export, tmp_path / "new"), ExportFromFuture)


async def test_export_goes_into_a_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "notes").write_text("mine")
    async with open_house("memory", tmp_path / "old") as old:
        for folder in (tmp_path / "taken", tmp_path / "taken" / "notes"):
            with pytest.raises(FolderTaken):
                await export_house(old, folder)
    assert (tmp_path / "taken" / "notes").read_text() == "mine"
