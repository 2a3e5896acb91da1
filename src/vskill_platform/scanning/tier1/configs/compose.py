"""Services of a compose file that are handed the machine they run on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.configs.reporting import Seen, Source
from vskill_platform.scanning.tier1.configs.structured import Entry, below

FEWEST_POWERS = 2
"""Ways into the machine that one service has; with one alone honest tools watch it."""
_KNOWN_HOSTS = (
    "docker.io",
    "ghcr.io",
    "gcr.io",
    "quay.io",
    "mcr.microsoft.com",
    "registry.k8s.io",
    "public.ecr.aws",
    "nvcr.io",
)
_WHOLE_DISK = re.compile(r"(?:/|~|\$\{?HOME\}?|/root|/etc|/home):[^:]+(?::rw)?")
_SOCKET = re.compile(r"\S*docker\.sock:[^:]+(?::rw)?")


def find_in_compose(source: Source) -> Iterator[Seen]:
    """Services from a registry that few know which hold several ways into the machine."""
    for service in below((entry for entry in source.entries if entry.keys[:1] == ("services",)), depth=2).values():
        image = next((entry for entry in service if entry.key == "image"), None)
        powers = {power for entry in service if (power := _power_of(entry))}
        if image is not None and len(powers) >= FEWEST_POWERS and _is_strange(image.value):
            yield source.sighting("compose_reaches_host", image, detail=", ".join(sorted(powers)))


def _power_of(entry: Entry) -> str:
    """The way into the machine that a setting of a service gives; empty for an ordinary one."""
    value = entry.value.strip()
    if entry.key == "privileged":
        return "privileged" if value.lower() in ("true", "yes", "on") else ""
    if entry.key in ("pid", "ipc") and value == "host":
        return f"{entry.key} of the host"
    if entry.key == "cap_add" and value.upper() in ("ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE"):
        return "powers of the system"
    if "volumes" in entry.names and (_SOCKET.fullmatch(value) or (entry.key == "source" and "docker.sock" in value)):
        return "the socket of Docker"
    if "volumes" in entry.names and (_WHOLE_DISK.fullmatch(value) or (entry.key == "source" and value in ("/", "~"))):
        return "the whole disk"
    return ""


def _is_strange(image: str) -> bool:
    """Whether an image comes from a registry of somebody's own."""
    host, found, _ = image.partition("/")
    is_host = bool(found) and ("." in host or ":" in host)
    return is_host and not host.endswith(_KNOWN_HOSTS) and "localhost" not in host
