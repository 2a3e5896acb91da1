"""The composition root: reads Settings, opens an engine, builds the WorkerEnv, runs processes. Only here are engines named."""

from vskill_platform.app.env import control_socket, database_path, open_env
from vskill_platform.app.listening import serving
from vskill_platform.app.processes import Ready, Role, run_process, run_registry

__all__ = ["Ready", "Role", "control_socket", "database_path", "open_env", "run_process", "run_registry", "serving"]
