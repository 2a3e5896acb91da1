"""Scanners that somebody else has made, each in a child process and an environment of its own.

`open_scanners` gives those that the settings switch on. What they say is a second opinion: it is shown beside ours, by
provider, and never makes anything better than we found it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from vskill_platform.children.workspace import Workspace
from vskill_platform.domain.errors import InvalidSettings, ScannerUnavailable
from vskill_platform.ports.second_opinions import ExternalScanner
from vskill_platform.scanning.external.bandit import Bandit
from vskill_platform.scanning.external.cisco import Cisco
from vskill_platform.scanning.external.detect_secrets import DetectSecrets
from vskill_platform.scanning.external.environments import Environment, environment_of
from vskill_platform.scanning.external.programs import SarifProgram, parse_programs
from vskill_platform.scanning.external.sandbox import Sandbox, SandboxLimits
from vskill_platform.scanning.external.semgrep import Semgrep
from vskill_platform.scanning.external.snyk import SnykAgentScan
from vskill_platform.scanning.external.tools import Tool, ToolScanner
from vskill_platform.scanning.external.warm import WarmScanner
from vskill_platform.settings import PREFIX, Settings

REMOTE_PREFIX = "remote:"
"""What stands before the name of a scanner that only workers elsewhere run."""
WORKSPACE_NAME = "external"
_TOOLS: Mapping[str, Callable[[], Tool]] = {tool.name: tool for tool in (Bandit, DetectSecrets, Semgrep)}
SNYK = "snyk-agent-scan"
PROVIDERS = tuple(sorted([Cisco.name, SNYK, *_TOOLS]))


def local_names(settings: Settings) -> tuple[str, ...]:
    """The scanners that this machine is to run. Raises InvalidSettings for a name that there is not."""
    names = [name.strip() for name in settings.external_scanners.split(",") if name.strip()]
    local = tuple(dict.fromkeys(name for name in names if not name.startswith(REMOTE_PREFIX)))
    unknown = [name for name in local if name not in PROVIDERS]
    if unknown:
        raise InvalidSettings(
            f"{PREFIX}EXTERNAL_SCANNERS names {', '.join(unknown)}, which there is not. There are: {', '.join(PROVIDERS)}; "
            f"a scanner that workers elsewhere run is written {REMOTE_PREFIX}NAME.",
            names=unknown,
        )
    return local


@asynccontextmanager
async def open_scanners(settings: Settings) -> AsyncIterator[Mapping[str, ExternalScanner]]:
    """The scanners that the settings switch on, by name. One that is not installed is there too, and says so when asked.

    Raises InvalidSettings for a name that there is not.
    """
    names, programs = local_names(settings), local_programs(settings)
    if not names and not programs:
        yield MappingProxyType({})
        return
    async with AsyncExitStack() as stack:
        room = _Room(settings, scanner_workspace(settings))
        stack.push_async_callback(room.workspace.close)
        await room.workspace.open()
        scanners = {name: _make(name, room=room, stack=stack) for name in names}
        scanners |= {program.name: _make_once(program, room=room) for program in programs}
        yield MappingProxyType(scanners)


def local_programs(settings: Settings) -> tuple[SarifProgram, ...]:
    """The operator's own programs. Raises InvalidSettings for one that cannot be, or takes the name of a scanner."""
    programs = parse_programs(settings.external_programs)
    taken = [program.name for program in programs if program.name in PROVIDERS]
    if taken:
        raise InvalidSettings(f"{PREFIX}EXTERNAL_PROGRAMS takes a name that a scanner has: {', '.join(taken)}.")
    return programs


def scanner_workspace(settings: Settings) -> Workspace:
    """Where skills are laid out for scanners; what a process that died has left there goes when it is opened."""
    folder = (Path(settings.data) / WORKSPACE_NAME).absolute()
    return Workspace(folder, prefix="scans-", holds="external scans", refusal=ScannerUnavailable)


class _Room(NamedTuple):
    """What all scanners of a process share."""

    settings: Settings
    workspace: Workspace

    def sandbox(self, *, has_network: bool = False) -> Sandbox:
        """A sandbox in which the registry's data is not to be seen."""
        return Sandbox(_limits(self.settings), hidden=Path(self.settings.data), has_network=has_network)


def _make(name: str, *, room: _Room, stack: AsyncExitStack) -> ExternalScanner:
    environment = environment_of(name, folder=room.settings.scanners_folder, data=room.settings.data)
    if name == Cisco.name:
        warm = WarmScanner(Cisco(), environment=environment, sandbox=room.sandbox(), workspace=room.workspace)
        stack.push_async_callback(warm.close)
        return warm
    if name == SNYK:
        tool = SnykAgentScan(room.settings.snyk_token, room.settings.snyk_analysis_url)
        sandbox = room.sandbox(has_network=True)
        return ToolScanner(tool, environment=environment, sandbox=sandbox, workspace=room.workspace)
    return _make_once(_TOOLS[name](), room=room, environment=environment)


def _make_once(tool: Tool, *, room: _Room, environment: Environment | None = None) -> ExternalScanner:
    return ToolScanner(tool, environment=environment, sandbox=room.sandbox(), workspace=room.workspace)


def _limits(settings: Settings) -> SandboxLimits:
    return SandboxLimits(
        time_s=settings.external_scan_time_limit_s,
        memory_bytes=settings.external_scan_memory_bytes,
        output_bytes=settings.external_scan_output_bytes,
    )
