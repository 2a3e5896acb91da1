"""`vskill-platform submit`: hand a repository in, and watch what becomes of it."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import quote

import typer
from rich.console import Console
from rich.live import Live

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json, state_text
from vskill_platform.cli.registry import SERVER, RegistryClient, open_running
from vskill_platform.cli.submission_text import is_published, is_under_way, live_table, parts_of, print_submission
from vskill_platform.domain.errors import TimeLimitExceeded
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.settings import Settings
from vskill_platform.web.views import SubmissionAnswer, SubmissionRequest, SubmissionView

HELP = "Submit a repository, or one skill of it."
_FIRST_LOOK_S, _LAST_LOOK_S = 0.1, 1.0


def submit(
    url: str = typer.Argument(..., help="Address of the repository, or of a folder in it."),
    skill: str = typer.Option("", "--skill", help="Only the skill in the folder of this name."),
    wait: bool = typer.Option(False, "--wait", help="Watch until it is decided. Exit 1 unless all of it is published."),
    timeout_s: float = typer.Option(600.0, "--timeout", min=1.0, help="Seconds to wait at most."),
    server: str | None = SERVER,
    data: str | None = DATA,
    as_json: bool = AS_JSON,
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print nothing but the submission's id."),
) -> None:
    """Hand a repository in. With --wait, show every stage and, in the end, the reasons."""
    settings = settings_from(data=data)
    request = SubmissionRequest(repo_url=url, skill_name=skill)
    answer, view = asyncio.run(
        _submit(settings, server, request, wait=wait, timeout_s=timeout_s, shows=not (as_json or quiet))
    )
    if quiet:
        typer.echo(answer.id)
    elif as_json:
        print_json(answer if view is None else view)
    elif view is None:
        Console(highlight=False, emoji=False).print(
            f"{answer.status.value}: [bold]{answer.id}[/] {state_text(answer.state)}"
        )
        Console(highlight=False, emoji=False).print(f"[dim]Follow it with: vskill-platform status {answer.id}[/]")
    if view is not None and not is_published(view):
        raise typer.Exit(1)


async def _submit(
    settings: Settings, server: str | None, request: SubmissionRequest, *, wait: bool, timeout_s: float, shows: bool
) -> tuple[SubmissionAnswer, SubmissionView | None]:
    async with open_running(settings, server=server) as registry:
        answer = await registry.post("/api/v1/submissions", SubmissionAnswer, request)
        if not wait:
            return answer, None
        console = Console(stderr=not shows, quiet=not shows, highlight=False, emoji=False)
        console.print(f"[dim]{answer.status.value}[/] {plain(answer.repo_url)} [dim]{answer.id}[/]")
        view = await watch(registry, answer.id, console=console, timeout_s=timeout_s)
        await _print_reasons(registry, view, console=console)
        return answer, view


async def watch(registry: RegistryClient, identity: str, *, console: Console, timeout_s: float) -> SubmissionView:
    """Look at a submission again and again until it and its skills are decided. Raises TimeLimitExceeded."""
    end = time.monotonic() + timeout_s
    pause_s = _FIRST_LOOK_S
    with Live(console=console, refresh_per_second=8) as live:
        while True:
            view = await look(registry, identity)
            live.update(live_table(view))
            if not any(is_under_way(part) for part in [view, *view.children]):
                return view
            if time.monotonic() >= end:
                raise TimeLimitExceeded(
                    f"{identity} was not decided in {timeout_s:g} seconds; it goes on without you. "
                    f"Look again with: vskill-platform status {identity}"
                )
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.3, _LAST_LOOK_S)


async def look(registry: RegistryClient, identity: str) -> SubmissionView:
    """How a submission stands."""
    return await registry.get(f"/api/v1/submissions/{quote(identity, safe='')}", SubmissionView)


async def _print_reasons(registry: RegistryClient, view: SubmissionView, *, console: Console) -> None:
    """What is not published says why."""
    for part in parts_of(view):
        if part.state is not SubmissionState.PUBLISHED or part.id == view.id:
            console.print()
            print_submission(view if part.id == view.id else await look(registry, part.id), console=console)
