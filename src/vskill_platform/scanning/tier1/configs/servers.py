"""MCP servers: how they are started, where they are, and what they are handed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.hosts import HostKind, kind_of_address
from vskill_platform.scanning.tier1.configs.commands import Judgement, judge_command, judge_words
from vskill_platform.scanning.tier1.configs.environment import is_variable, variable_of
from vskill_platform.scanning.tier1.configs.hosts import host_of, is_bare_number, is_local, is_placeholder, is_private
from vskill_platform.scanning.tier1.configs.keys import FEWEST_FOREIGN, foreign_services, is_key, referred_keys
from vskill_platform.scanning.tier1.configs.packages import Requirement, judge_requirement, requirement_of, resembles
from vskill_platform.scanning.tier1.configs.programs import name_of
from vskill_platform.scanning.tier1.configs.reporting import Seen, Source, report_command
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.skill import FactKind

_LISTS = frozenset(["mcpservers", "mcp_servers", "context_servers", "mcp", "servers"])
_TRANSPORTS = frozenset(["mcp", "sse", "streamable_http", "streamable-http"])
_CONTAINERS = frozenset(["docker", "podman", "nerdctl"])
_WHOLE_MACHINE = re.compile(
    r"--privileged\b|--pid[= ]host\b|(?:^|\s)(?:-v|--volume)[= ](?:/|~|\$HOME|\$\{HOME\}|/home|/Users|/root|/etc):|"
    r"(?:source|src)=(?:/|~|\$HOME|\$\{HOME\}),|(?:-v|--volume)[= ]\S*/\.(?:ssh|aws|gnupg|kube)\b|"
    r"--cap-add[= ](?:ALL|SYS_ADMIN)\b"
)
_HANDS_EVERYTHING = re.compile(
    r"(?i)^--?(?:forward|pass|inherit|share|send|export|include)[-_]?(?:all[-_]?)?env(?:ironment)?(?:=(?:\*|all|true))?$|"
    r"^--env-all$|^--all-env$"
)
_ADDRESSES = frozenset(["url", "serverurl", "httpurl", "endpoint", "uri"])


def find_servers(source: Source) -> Iterator[Seen]:
    """What is wrong with the servers that a file names."""
    for server in _servers(source.entries):
        yield from _judge_start(source, server)
        yield from _judge_keys(source, server)
        yield from _judge_mounts(source, server)
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


def _judge_keys(source: Source, server: list[Entry]) -> Iterator[Seen]:
    """Keys to other services than the skill is for, handed to a server that nobody knows."""
    start = _start_of(server)
    if start is None or not _is_strange(server):
        return
    handed = [variable_of(entry)[0] for entry in server if is_variable(entry)]
    names = [name for name in handed if is_key(name)]
    for entry in server:
        names += referred_keys(entry.value)
    described = f"{source.about} {' '.join(entry.value for entry in server if entry.key.lower() == 'args')}"
    foreign = foreign_services(names, about=described)
    if len(foreign) >= FEWEST_FOREIGN:
        yield source.sighting("server_gets_foreign_keys", start, detail=", ".join(foreign[:6]))
    elif (everything := next((entry for entry in server if _HANDS_EVERYTHING.search(entry.value)), None)) is not None:
        yield source.sighting("server_gets_foreign_keys", start, shown=everything.value, detail="the whole environment")


def _judge_mounts(source: Source, server: list[Entry]) -> Iterator[Seen]:
    """Containers that a server runs in and that reach the whole machine."""
    start = _start_of(server)
    if start is None or name_of(start.value.split(" ")[0] or start.value) not in _CONTAINERS:
        return
    line = " ".join([start.value, *(entry.value for entry in server if entry.key.lower() == "args")])
    if _WHOLE_MACHINE.search(line):
        yield source.sighting("server_reaches_host", start, shown=line)


def _start_of(server: list[Entry]) -> Entry | None:
    """The entry that says what the server is: its command, or its address."""
    named = [entry for entry in server if entry.key.lower() in ("command", *_ADDRESSES) and entry.value]
    return named[0] if named else None


def _is_strange(server: list[Entry]) -> bool:
    """Whether a server is a package that few use, an image, or at an address that belongs to no known vendor."""
    command = next((entry.value for entry in server if entry.key.lower() == "command"), "")
    arguments = [entry.value for entry in server if entry.key.lower() == "args"]
    if not command:
        addresses = [entry.value for entry in server if entry.key.lower() in _ADDRESSES]
        return any(kind_of_address(address) in (HostKind.NAMED, HostKind.THROWAWAY) for address in addresses)
    if name_of(command) in _CONTAINERS:
        return True
    words = [command, *arguments] if " " not in command.strip() else [*command.split(), *arguments]
    found = [requirement_of(*package) for package in judge_words(words).packages]
    return any(requirement is not None and not requirement.is_known for requirement in found)


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
