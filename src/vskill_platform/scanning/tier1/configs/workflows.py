"""Files that start commands on behalf of a repository: workflows of a forge, and hooks of git."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.configs.commands import Deed, judge_command
from vskill_platform.scanning.tier1.configs.hosts import host_of
from vskill_platform.scanning.tier1.configs.reporting import Seen, Source, report_command
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.skill import FileUnderScan

LONGEST_HOOK = 8_000
_ALL_SECRETS = re.compile(r"(?i)\$\{\{\s*toJSON\(\s*secrets\s*\)")
_SECRET = re.compile(r"\$\{\{\s*secrets\.(?!GITHUB_TOKEN\b)\w+")
_ANY_SECRET = re.compile(r"\$\{\{\s*(?:secrets\.|github\.token\b)")
_REGISTRIES = re.compile(
    r"(?:^|\.)(?:docker\.io|ghcr\.io|gcr\.io|quay\.io|mcr\.microsoft\.com|public\.ecr\.aws|registry\.gitlab\.com|"
    r"registry\.access\.redhat\.com|cgr\.dev|nvcr\.io|lscr\.io|pkg\.dev|azurecr\.io|amazonaws\.com)$"
)
"""Where images come from that many use; a company's own is a stranger's to everybody else."""
_SENDS = re.compile(r"(?i)\b(?:curl|wget|nc|Invoke-WebRequest|Invoke-RestMethod)\b")
_POSTS = re.compile(r"(?i)\s(?:-d|--data(?:-\w+)?|-F|--form|-T|--upload-file|--post-data)\b")
_ADDRESS = re.compile(r"https?://[^\s\"'`<>|;)]+")
_HEAD = re.compile(r"github\.event\.(?:pull_request\.head|workflow_run\.head)|github\.head_ref")


def find_in_workflow(source: Source) -> Iterator[Seen]:
    """Strangers' code that runs with the repository's secrets, and secrets that are sent away."""
    triggers = {entry.value for entry in source.entries} | {name for entry in source.entries for name in entry.names}
    sends = any(entry.key == "run" and _posts_elsewhere(entry.value[:LONGEST_HOOK]) for entry in source.entries)
    has_secrets = any(_ANY_SECRET.search(entry.value) for entry in source.entries)
    is_privileged = not triggers.isdisjoint({"pull_request_target", "workflow_run"})
    for entry in source.entries:
        if entry.key == "uses" and has_secrets and _is_strangers_image(entry.value):
            yield source.sighting("workflow_runs_strangers_image", entry)
        elif is_privileged and entry.key == "ref" and _HEAD.search(entry.value):
            yield source.sighting("workflow_runs_strangers_code", entry)
        elif _ALL_SECRETS.search(entry.value) and "with" in entry.names:
            yield source.sighting("workflow_hands_all_secrets", entry)
        elif (entry.key == "run" and _sends_secrets(entry.value[:LONGEST_HOOK])) or (
            sends and "env" in entry.names and _ALL_SECRETS.search(entry.value)
        ):
            yield source.sighting("workflow_sends_secrets", entry)


def find_in_pre_commit(source: Source) -> Iterator[Seen]:
    """Commands that run before each commit."""
    for entry in source.entries:
        if entry.key in ("entry", "run") and entry.value:
            judgement = judge_command(entry.value)
            judgement.deeds &= {Deed.ATTACKS, Deed.NETWORK}
            yield from report_command(source, entry, judgement, kind="editor")


def find_in_script(file: FileUnderScan) -> Iterator[Seen]:
    """A hook of git or another script that runs by itself, block by block."""
    source = Source(file.path, ())
    for first, block in _blocks(file.lines):
        judgement = judge_command(block)
        judgement.deeds &= {Deed.ATTACKS, Deed.NETWORK}
        yield from report_command(source, Entry(("script",), block, first), judgement, kind="editor")


def _blocks(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines in blocks that are short enough to be judged, each with the number of its first line."""
    first, held, size = 1, list[str](), 0
    for number, line in enumerate(lines, start=1):
        if held and size + len(line) >= LONGEST_HOOK:
            yield first, "\n".join(held)
            first, held, size = number, [], 0
        held.append(line)
        size += len(line) + 1
    yield first, "\n".join(held)


def _posts_elsewhere(command: str) -> bool:
    """Whether a command posts something to a host that is not the forge's own."""
    if not _SENDS.search(command) or not _POSTS.search(command):
        return False
    return any(not _is_forge(host_of(address)) for address in _ADDRESS.findall(command))


def _is_strangers_image(value: str) -> bool:
    """Whether a step runs an image from a registry that nobody knows."""
    image = value.strip().removeprefix("docker://")
    host = image.partition("/")[0].partition(":")[0].lower()
    is_named = image != value.strip() and "/" in image and "." in host
    return is_named and _REGISTRIES.search(host) is None


def _is_forge(host: str) -> bool:
    return host == "github.com" or host.endswith(".github.com")


def _sends_secrets(command: str) -> bool:
    if not _SENDS.search(command):
        return False
    if _ALL_SECRETS.search(command):
        return True
    hosts = {host_of(address) for address in _ADDRESS.findall(command)}
    is_elsewhere = bool(hosts) and not all(map(_is_forge, hosts))
    is_posted = any(_POSTS.search(line) and _SECRET.search(line) for line in command.split("\n"))
    return is_elsewhere and is_posted and not all(host.startswith(("api.", "hooks.")) for host in hosts)
