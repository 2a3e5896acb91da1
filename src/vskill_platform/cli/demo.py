"""`vskill-platform demo`: sample repositories, good and bad, served over git on loopback and taken through for real."""

from __future__ import annotations

import asyncio
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from vskill_platform.cli.logs import set_up_logs
from vskill_platform.cli.options import settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json, state_text
from vskill_platform.cli.registry import RegistryClient, open_registry
from vskill_platform.cli.samples import SAMPLES, SampleRepository
from vskill_platform.cli.submission_text import is_under_way, parts_of, print_submission
from vskill_platform.cli.submit import look
from vskill_platform.domain.content import SkillFile
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.settings import Settings
from vskill_platform.web.views import ChildView, SubmissionAnswer, SubmissionRequest, SubmissionView

HELP = "Take sample repositories, good and bad, through a registry of their own."
_LOOK_S = 0.1
EXIT_INTERRUPTED = 130

Views = dict[str, SubmissionView]


def demo(
    data: str | None = typer.Option(
        None, "--data", help="Folder to keep the demo's registry in. Default: one that is removed.", show_default=False
    ),
    port: int = typer.Option(0, "--port", min=0, max=65535, help="Port to serve on; 0 takes a free one."),
    serve: bool = typer.Option(False, "--serve", help="Go on serving until Ctrl-C."),
    as_json: bool = AS_JSON,
) -> None:
    """Make the sample repositories, serve them over git on loopback, submit them all and show what becomes of them."""
    import uvloop

    set_up_logs("error")
    with tempfile.TemporaryDirectory(prefix="vskill-demo-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        settings = settings_from(
            data=data or str(folder / "data"),
            database_url="",
            blobs_url="",
            port=port,
            allow_private_addresses=True,
            git_protocols="http",
            submissions_per_hour=1000,
        )
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.get_loop().add_signal_handler(signal.SIGTERM, signal.raise_signal, signal.SIGINT)
                runner.run(_demonstrate(settings, folder, serve=serve, as_json=as_json))
        except KeyboardInterrupt:
            Console(stderr=True).print("Stopped.")
            raise typer.Exit(0 if serve else EXIT_INTERRUPTED) from None


async def _demonstrate(settings: Settings, folder: Path, *, serve: bool, as_json: bool) -> None:
    console = Console(stderr=as_json, highlight=False, emoji=False)
    await asyncio.to_thread(_write_repositories, folder / "repositories")
    async with _serving_repositories(folder / "repositories") as source, _running_registry(settings) as address:
        console.print(f"Registry [bold]{address}[/], repositories [bold]{source}[/]\n")
        async with open_registry(settings, server=address) as registry:
            views = await _take_through(registry, source, console=console)
            if as_json:
                print_json(views)
            else:
                await _print_reasons(registry, views, console=console)
        if serve:
            console.print(f"\nServing at [bold]{address}[/]. Ctrl-C stops it.")
            await asyncio.Event().wait()


def _write_repositories(folder: Path) -> None:
    from vskill_platform.web.clients.bare_repository import write_bare_repository

    for sample in SAMPLES:
        files = [
            SkillFile(path=path, content=content, executable=path in sample.executables)
            for path, content in sample.files.items()
        ]
        write_bare_repository(folder / f"{sample.name}.git", files, message=sample.shows)


@asynccontextmanager
async def _serving_repositories(folder: Path) -> AsyncIterator[str]:
    from vskill_platform.app import serving
    from vskill_platform.web.clients.git_http import GitHttp, repositories_below

    async with serving(GitHttp(repositories_below(folder))) as address:
        yield address


@asynccontextmanager
async def _running_registry(settings: Settings) -> AsyncIterator[str]:
    from vskill_platform.app import Ready, run_registry

    ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()
    stopping = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(run_registry(settings, on_ready=ready.set_result, stopping=stopping))
        try:
            yield (await ready).address or ""
        finally:
            stopping.set()


async def _take_through(registry: RegistryClient, source: str, *, console: Console) -> Views:
    ids: dict[str, str] = {}
    for sample in SAMPLES:
        request = SubmissionRequest(repo_url=f"{source}/{sample.name}.git")
        ids[sample.name] = (await registry.post("/api/v1/submissions", SubmissionAnswer, request)).id
    with Live(console=console, refresh_per_second=8) as live:
        while True:
            views = {name: await look(registry, identity) for name, identity in ids.items()}
            live.update(_table(views))
            if not any(is_under_way(part) for view in views.values() for part in parts_of(view)):
                return views
            await asyncio.sleep(_LOOK_S)


def _table(views: Views) -> Table:
    table = Table("repository", "what it is", "skill", "state", "", title="Submissions", title_justify="left")
    for sample in SAMPLES:
        for number, part in enumerate(parts_of(views[sample.name])):
            names = (sample.name, sample.shows) if number == 0 else ("", "")
            table.add_row(*names, plain(part.skill_name), state_text(part.state), _outcome(part, sample))
    return table


def _outcome(part: ChildView, sample: SampleRepository) -> str:
    if part.state is SubmissionState.PUBLISHED:
        return f"{part.version}, {part.score} of 100"
    return plain(part.reason)


async def _print_reasons(registry: RegistryClient, views: Views, *, console: Console) -> None:
    for view in views.values():
        for part in parts_of(view):
            if part.state is not SubmissionState.PUBLISHED:
                console.print()
                print_submission(await look(registry, part.id), console=console)
