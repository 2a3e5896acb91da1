"""The environment of the other scanner: the one that the registry itself would ask it in, made once below `.venv/scanners`."""

from __future__ import annotations

import sys

from vskill_platform.scanning.external.cisco import Cisco
from vskill_platform.scanning.external.environments import environment_of
from vskill_platform.scanning.external.installing import install

FOLDER = ".venv/scanners"


def peer_python() -> str:
    """The Python of the environment, which is made first where it is missing or of other requirements."""
    environment = environment_of(Cisco.name, folder=FOLDER, data="")
    if environment.missing_because():
        print(f"Installing {environment.name} into {FOLDER} (600 MB)", file=sys.stderr, flush=True)
        install(environment, tell=lambda line: None)
    return str(environment.python)
