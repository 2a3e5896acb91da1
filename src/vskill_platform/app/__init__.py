"""The composition root: reads Settings, opens an engine, builds the WorkerEnv, runs processes. Only here are engines named."""

from vskill_platform.app.env import control_socket, database_path, open_env
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
