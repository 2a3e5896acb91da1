"""How installed skills stand, as people read it, and the exit code for it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from vskill_platform.cli.capability_text import print_changes
from vskill_platform.cli.client_options import DIFFERS, TAKEN_BACK
from vskill_platform.cli.printing import plain
from vskill_platform.client.standing import Standing, StandingStatus

_COLOURS = {
    StandingStatus.CURRENT: "green",
    StandingStatus.OUTDATED: "yellow",
    StandingStatus.YANKED: "bold red",
    StandingStatus.WITHDRAWN: "bold red",
    StandingStatus.BLOCKED: "bold red",
}


def print_standing(standing: Standing, *, console: Console) -> None:
    """One skill: how it stands, why, and what another version of it can do that this one cannot."""
    to = f" → {plain(standing.latest)}" if standing.has_update else ""
    colour = _COLOURS.get(standing.status, "dim")
    console.print(
        f"[{colour}]{standing.status.value}[/] [bold]{plain(standing.slug)}[/] {plain(standing.installed)}{to}"
    )
    if standing.reason:
        console.print(f"  {plain(standing.reason)}", soft_wrap=True)
    if standing.has_update and standing.capability_changes is not None:
        print_changes(standing.capability_changes, console=console)
    if standing.is_taken_back and not standing.has_update:
        console.print(
            f"  [dim]Nothing replaces it. Remove {plain(', '.join(standing.folders))}: "
            f"vskill-platform uninstall {plain(standing.slug)}[/]",
            soft_wrap=True,
        )


def exit_code(standings: Sequence[Standing]) -> int:
    """What a script is told: taken back before outdated, outdated before all is well."""
    if any(standing.is_taken_back for standing in standings):
        return TAKEN_BACK
    return DIFFERS if any(standing.status is StandingStatus.OUTDATED for standing in standings) else 0
