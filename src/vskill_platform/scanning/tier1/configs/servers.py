"""MCP servers: how they are started, where they are, and what they are handed."""

from __future__ import annotations

from collections.abc import Iterator

from vskill_platform.scanning.tier1.configs.commands import Judgement, judge_command, judge_words
from vskill_platform.scanning.tier1.configs.hosts import host_of, is_bare_number, is_local, is_placeholder, is_private
from vskill_platform.scanning.tier1.configs.packages import Requirement, judge_requirement, requirement_of, resembles
from vskill_platform.scanning.tier1.configs.reporting import Seen, Source, report_command
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.skill import FactKind

_LISTS = frozenset(["mcpservers", "mcp_servers", "context_servers", "mcp", "servers"])
_TRANSPORTS = frozenset(["mcp", "sse", "streamable_http", "streamable-http"])
_ADDRESSES = frozenset(["url", "serverurl", "httpurl", "endpoint", "uri"])


def find_servers(source: Source) -> Iterator[Seen]:
    """What is wrong with the servers that a file names."""
    for server in _servers(source.entries):
        yield from _judge_start(source, server)
        for entry in server:
            if entry.key.lower() in _ADDRESSES and "://" in entry.value:
                yield from _judge_address(source, entry)


def _servers(entries: tuple[Entry, ...]) -> list[list[Entry]]:
    found: dict[tuple[str, ...], list[Entry]] = {}
    spoken_to = {entry.keys[:-1] for entry in entries if _names_transport(entry)}
    for entry in entries:
        if entry.key.lower() in _ADDRESSES and entry.keys[:-1] in spoken_to:
            found.setdefault(entry.keys[:-1], []).append(entry)
            continue
        at = next((n for n, key in enumerate(entry.keys[:-2]) if key.lower() in _LISTS), None)
        if at is None or (entry.keys[at].lower() == "servers" and entry.keys[at + 1].isdecimal()):
            continue
        found.setdefault(entry.keys[: at + 2], []).append(entry)
    return list(found.values())


def _names_transport(entry: Entry) -> bool:
    """Whether an entry says that what it belongs to is an MCP server."""
    return entry.key.lower() in ("type", "transport") and entry.value.lower() in _TRANSPORTS


def _judge_start(source: Source, server: list[Entry]) -> Iterator[Seen]:
    commands = [entry for entry in server if entry.key.lower() == "command" and entry.value]
    if not commands:
        return
    arguments = [entry.value for entry in server if entry.key.lower() == "args"]
    if len(commands) > 1 and commands[0].keys[-1].isdecimal():
        starts = [(commands[0], [entry.value for entry in commands])]
    else:
        starts = [(command, [command.value, *arguments]) for command in commands]
    for entry, start in starts:
        judgement = judge_words(start) if " " not in start[0].strip() else judge_command(" ".join(start))
        yield from report_command(source, entry, judgement, kind="server")
        yield from _judge_packages(source, entry, judgement)


def _judge_packages(source: Source, entry: Entry, judgement: Judgement) -> Iterator[Seen]:
    for registry, spec in judgement.packages:
        requirement = requirement_of(registry, spec)
        if requirement is None:
            continue
        yield source.fact(FactKind.INSTALLS, entry, f"{registry}:{requirement.name}")
        for check in judge_requirement(requirement, is_obeyed=not source.is_shown):
            yield source.sighting(check, entry, shown=spec, detail=resembles(requirement))
        if not source.is_shown and _is_loose(requirement):
            yield source.sighting("server_unpinned", entry, shown=spec)


def _is_loose(requirement: Requirement) -> bool:
    return not (requirement.is_pinned or requirement.is_known or requirement.address)


def _judge_address(source: Source, entry: Entry) -> Iterator[Seen]:
    address = entry.value.strip()
    if host := host_of(address):
        yield source.fact(FactKind.REACHES, entry, host)
    if is_local(address) or is_placeholder(address):
        return
    if is_bare_number(address) or (address.lower().startswith(("http:", "ws:")) and not is_private(address)):
        yield source.sighting("server_at_untrusted_address", entry)
