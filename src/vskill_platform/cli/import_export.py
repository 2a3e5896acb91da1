"""`vskill-platform import`: an export into an empty registry."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer

from vskill_platform.cli.export import print_manifest
from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON
from vskill_platform.cli.progress import ProgressLines

HELP = "Make an empty registry hold what an export holds. Run again after an interruption, it goes on."
FOLDER = typer.Argument(help="A folder that `export` has written.", metavar="FOLDER")


def import_export(folder: Path = FOLDER, data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """Import an export into an empty registry, and hold the result against the export. Nothing else may run on it."""
    from vskill_platform.app import import_from

    settings = settings_from(data=data)
    manifest = asyncio.run(import_from(settings, folder=folder.absolute(), progress=ProgressLines().tell))
    print_manifest(manifest, done=f"Imported {folder} into {settings.data}", as_json=as_json)
