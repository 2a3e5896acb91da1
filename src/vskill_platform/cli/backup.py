"""`vskill-platform backup`: a copy of the data folder, taken while the registry runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from rich.console import Console

from vskill_platform.cli.export import FOLDER
from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.cli.progress import ProgressLines

HELP = "Copy the registry into a new data folder, while it runs."


def backup(folder: Path = FOLDER, data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """Copy the registry as of this moment, checked. What comes of it is a data folder that `up` starts from."""
    from vskill_platform.app import back_up_to

    settings = settings_from(data=data)
    made = asyncio.run(back_up_to(settings, folder=folder.absolute(), progress=ProgressLines().tell))
    if as_json:
        print_json(made)
        return
    Console(highlight=False, emoji=False, soft_wrap=True).print(
        f"Backed up to {plain(str(folder))}: {made.records:,} records, {made.messages:,} messages, {made.events:,} events, "
        f"{made.blobs:,} blobs."
    )
