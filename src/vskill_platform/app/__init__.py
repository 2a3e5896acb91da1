"""The composition root: reads Settings, opens an engine, builds the WorkerEnv, runs processes. Only here are engines named.

What it offers is imported when it is asked for: a command that only looks for the running registry does not wait for engines and
a web server that it will not start.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vskill_platform.app.control import control_socket
    from vskill_platform.app.env import database_path, open_env
    from vskill_platform.app.listening import serving
    from vskill_platform.app.moving import back_up_to, export_to, import_from
    from vskill_platform.app.processes import Ready, Role, run_process, run_registry
    from vskill_platform.app.stores import require_registry

__all__ = [
    "Ready",
    "Role",
    "back_up_to",
    "control_socket",
    "database_path",
    "export_to",
    "import_from",
    "open_env",
    "require_registry",
    "run_process",
    "run_registry",
    "serving",
]

_ROOMS = {
    "Ready": "processes",
    "Role": "processes",
    "back_up_to": "moving",
    "control_socket": "control",
    "database_path": "env",
    "export_to": "moving",
    "import_from": "moving",
    "open_env": "env",
    "require_registry": "stores",
    "run_process": "processes",
    "run_registry": "processes",
    "serving": "listening",
}


def __getattr__(name: str) -> object:
    """One of the names above, from the module that has it."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_ROOMS[name]}"), name)
