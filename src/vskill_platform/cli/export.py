"""`vskill-platform export`: everything a registry holds, as a folder that another registry can be made from."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer
from rich.console import Console

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.cli.progress import ProgressLines
from vskill_platform.moving.manifest import Manifest

HELP = "Write everything the registry holds into a folder, to be imported elsewhere."
FOLDER = typer.Argument(help="A folder that is empty or not there yet.", metavar="FOLDER")


def export(folder: Path = FOLDER, data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """Export the registry as of this moment. It may go on running: the export is of one moment all the same."""
    from vskill_platform.app import export_to

    settings = settings_from(data=data)
    manifest = asyncio.run(export_to(settings, folder=folder.absolute(), progress=ProgressLines().tell))
    print_manifest(manifest, done=f"Exported to {folder}", as_json=as_json)


def print_manifest(manifest: Manifest, *, done: str, as_json: bool) -> None:
    """Say what an export holds."""
    if as_json:
        print_json(manifest)
        return
    console = Console(highlight=False, emoji=False, soft_wrap=True)
    counts = ", ".join(f"{part.count:,} {part.name.partition('.')[0]}" for part in manifest.parts)
    console.print(f"{plain(done)}: {counts}.\ncontent {manifest.content}")
