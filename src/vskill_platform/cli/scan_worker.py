"""`vskill-platform scan-worker`: run external scans for a registry on another machine."""

from __future__ import annotations

import asyncio
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape

from vskill_platform.cli.logs import set_up_logs
from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.domain.errors import InvalidInput, ScannerUnavailable
from vskill_platform.domain.external_provider import REMOTE
from vskill_platform.settings import Settings

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping

    from vskill_platform.ports.second_opinions import ExternalScanner

HELP = "Run external scans for a registry elsewhere, until it is told to stop."


def scan_worker(
    server: str = typer.Option(
        ..., "--server", envvar=["VSKILL_PLATFORM_SERVER", "VSKILL_SERVER"], help="Address of the registry."
    ),
    token_file: Path = typer.Option(
        ..., "--token-file", help="File with an API token that has the scope `scan`.", exists=True, dir_okay=False
    ),
    providers: str | None = typer.Option(
        None,
        "--providers",
        help="Scanners to run, with commas between. Default: VSKILL_PLATFORM_EXTERNAL_SCANNERS.",
        show_default=False,
    ),
    at_once: int = typer.Option(1, "--at-once", min=1, max=64, help="Scans to run side by side."),
    once: bool = typer.Option(False, "--once", help="End when nothing waits any more."),
    name: str = typer.Option("", "--name", help="What the registry calls this worker. Default: the machine's name."),
    data: str | None = DATA,
) -> None:
    """Take scans up, run them here, and send what came of them. On SIGTERM what is in work is given back."""
    settings, wanted = _settings(data, providers)
    set_up_logs(settings.log_level)
    token = token_file.read_text().strip()
    if not token or not token.isascii() or not token.isprintable():
        raise InvalidInput(f"{token_file} holds no API token. Make one on your account's page, with the scope scan.")
    ended = asyncio.run(
        _work(
            settings,
            server,
            token,
            wanted=wanted,
            name=name or socket.gethostname(),
            at_once=at_once,
            is_once=once,
        )
    )
    told = ", ".join(f"{count} {status}" for status, count in sorted(ended.items())) or "none"
    Console(stderr=True, highlight=False, emoji=False).print(f"Scans that were taken up: {told}.")


async def _work(
    settings: Settings, server: str, token: str, *, wanted: set[str], name: str, at_once: int, is_once: bool
) -> Counter[str]:
    from vskill_platform.cli.remote_worker import RemoteWorker
    from vskill_platform.client.connection import open_client, open_connection, parse_server
    from vskill_platform.scanning.external import open_scanners

    server = parse_server(server).url
    async with (
        open_scanners(settings) as scanners,
        open_connection(server, token=token) as registry,
        open_client(server) as archives,
    ):
        able = await _able({name: one for name, one in scanners.items() if not wanted or name in wanted})
        worker = RemoteWorker(registry, archives=archives, scanners=able, name=name)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, worker.stop)
        told = f"{name} runs {', '.join(able)} for {server}"
        Console(stderr=True, highlight=False, emoji=False, soft_wrap=True).print(f"{escape(told)}. Ctrl-C stops it.")
        await worker.run(at_once=at_once, is_once=is_once)
        return worker.ended


async def _able(scanners: Mapping[str, ExternalScanner]) -> dict[str, ExternalScanner]:
    """Those that can be asked on this machine. Raises ScannerUnavailable, with the reasons, where none can."""
    reasons = {name: await scanner.unavailable_because() for name, scanner in scanners.items()}
    able = {name: scanner for name, scanner in scanners.items() if not reasons[name]}
    if not able:
        why = " ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise ScannerUnavailable(f"There is no scanner that could run here. {why or 'Name some with --providers.'}")
    for name in sorted(set(reasons) - set(able)):
        Console(stderr=True).print(f"{escape(name)} is left out: {escape(reasons[name])}")
    return able


def _settings(data: str | None, providers: str | None) -> tuple[Settings, set[str]]:
    """The machine's settings, and which of its scanners are wanted; none named means all.

    The operator's own programs are set up by EXTERNAL_PROGRAMS and only named here.
    """
    from vskill_platform.scanning.external.programs import parse_programs

    settings = settings_from(data=data)
    if providers is None:
        return settings, set()
    names = [name.strip().removeprefix(REMOTE) for name in providers.split(",") if name.strip()]
    programs = {program.name for program in parse_programs(settings.external_programs)}
    local = ",".join(name for name in names if name not in programs)
    return settings_from(data=data, external_scanners=local), set(names)
