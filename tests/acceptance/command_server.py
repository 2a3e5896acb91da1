"""A process that has the whole command loaded and forks it for every order, in a twentieth of the time that a start takes.

Run as `python -m tests.acceptance.command_server DESCRIPTOR`. What it forks runs `main` as the installed script does, with the
order's arguments, environment and folder, and ends as a Python process ends. Its parent waits for it and tells how it ended.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
import sys

import msgspec

from tests.acceptance.forked import Order
from vskill_platform.app import moving, processes
from vskill_platform.cli.main import COMMANDS, main
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.scanning.tier1.packs import load_rules
from vskill_platform.web.app import routed

LOADED = (moving, processes, open_postgres)
"""What is otherwise imported when it is called for."""
MOST_BYTES = 1 << 20
PASSED = 4
"""Descriptors that come with an order: the three of every process, and where its keeper tells how it fares."""


def serve(orders: socket.socket) -> None:
    """Fork a command for every order, until nobody can give any more."""
    for module, _ in COMMANDS.values():
        importlib.import_module(f"vskill_platform.cli.{module}")
    load_rules("")
    routed()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody has to wait for the keepers
    while True:
        message, descriptors, *_ = socket.recv_fds(orders, MOST_BYTES, PASSED)
        if not message:
            return
        if os.fork() == 0:
            orders.close()
            _keep(msgspec.json.decode(message, type=Order), descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)


def _keep(order: Order, descriptors: list[int]) -> None:
    """Fork the command, tell its process id, and when it has ended its exit code. Only the command itself returns from here."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, told = descriptors
    pid = os.fork()
    if pid == 0:
        os.close(told)
        _become(order, streams)
        return
    for stream in streams:
        os.close(stream)
    os.write(told, b"%d\n" % pid)
    _, status = os.waitpid(pid, 0)
    os.write(told, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _become(order: Order, streams: list[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    sys.argv = order.arguments
    main()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
