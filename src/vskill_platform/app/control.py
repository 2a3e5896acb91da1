"""Where the process that owns a data folder can be asked: its control socket."""

from __future__ import annotations

from pathlib import Path

from vskill_platform.engines.ownership import find_owner
from vskill_platform.settings import Settings

SOCKET_NAME = "control.sock"


def control_socket(settings: Settings) -> Path | None:
    """The control socket of the process that owns the data folder; None when nobody does, or nobody has to."""
    folder = Path(settings.data)
    if settings.database_url or find_owner(folder) is None:
        return None
    return folder / SOCKET_NAME
