"""Manifests of Rust, Ruby and Go, as far as packages come from elsewhere than a registry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.limits import CONFIG_LIMIT
from vskill_platform.scanning.tier1.code.hosts import HostKind, kind_of_host
from vskill_platform.scanning.tier1.configs.managers import judge_index
from vskill_platform.scanning.tier1.configs.packages import Requirement
from vskill_platform.scanning.tier1.configs.reporting import Seen, Source
from vskill_platform.scanning.tier1.configs.requirements import report_requirement
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.skill import FileUnderScan, LimitHit

MOST_LINES = 5_000
LONGEST_LINE = 500
_PINNED = "#" + "0" * 40
"""Stands behind an address for a commit that is named beside it."""
_GEM = re.compile(r"""\s*gem\s*\(?\s*["']([\w.-]{1,100})["'](.{0,300})""")
_GEM_ADDRESS = re.compile(r"""(?:git:|:git\s*=>)\s*["'](\S{1,300}?)["']""")
_SOURCE = re.compile(r"""\s*source\s*\(?\s*["'](\S{1,300}?)["']""")
_REPLACE = re.compile(r"\s*(?:replace\s+)?(\S{1,200})(?:\s+v\S{1,100})?\s+=>\s+(\S{1,200})")


def judge_cargo(source: Source) -> Iterator[Seen]:
    """Crates that come from a repository."""
    pinned = {entry.keys[:-1] for entry in source.entries if entry.key == "rev"}
    for entry in source.entries:
        name = _crate(entry)
        if name:
            yield from report_requirement(source, entry, Requirement("cargo", name))
        if entry.key == "git" and any("dependencies" in name for name in entry.names):
            address = entry.value + (_PINNED if entry.keys[:-1] in pinned else "")
            yield from report_requirement(source, entry, Requirement("cargo", "", address=address))


def _crate(entry: Entry) -> str:
    """The crate that an entry asks for: `name = "1"`, or `name = { version = "1" }`."""
    if entry.names[-2:-1] and entry.names[-2].endswith("dependencies"):
        return entry.names[-1]
    is_version = entry.names[-1:] == ("version",) and len(entry.names) > 2 and entry.names[-3].endswith("dependencies")
    return entry.names[-2] if is_version else ""


def judge_gemfile(file: FileUnderScan) -> Iterator[Seen]:
    """Gems that come from a repository, and sources of gems."""
    source = Source(file.path, ())
    if len(file.lines) > MOST_LINES:
        yield LimitHit(CONFIG_LIMIT)
    for number, line in enumerate(file.lines[:MOST_LINES], start=1):
        entry = Entry(("0",), line.strip()[:LONGEST_LINE], number)
        if found := _SOURCE.match(entry.value):
            yield from judge_index(source, entry, found[1])
        elif found := _GEM.match(entry.value):
            address = _GEM_ADDRESS.search(found[2])
            is_pinned = "ref:" in found[2] or "tag:" in found[2]
            where = address[1] + (_PINNED if is_pinned else "") if address else ""
            yield from report_requirement(source, entry, Requirement("gem", found[1], address=where))


def judge_go_mod(file: FileUnderScan) -> Iterator[Seen]:
    """Modules that are replaced by others."""
    source = Source(file.path, ())
    if len(file.lines) > MOST_LINES:
        yield LimitHit(CONFIG_LIMIT)
    for number, line in enumerate(file.lines[:MOST_LINES], start=1):
        found = _REPLACE.match(line[:LONGEST_LINE])
        if found and not found[2].startswith(("./", "../")) and found[1] != found[2]:
            entry = Entry(("0",), line.strip()[:LONGEST_LINE], number)
            check = "known_package_from_elsewhere" if _is_taken_away(found[1], found[2]) else "dependency_is_another"
            yield source.sighting(check, entry, shown=entry.value)


def _is_taken_away(module: str, other: str) -> bool:
    """Whether a module of a well-known host is replaced by one of somebody's own host."""
    ours, theirs = (kind_of_host(path.partition("/")[0]) for path in (module, other))
    return ours in (HostKind.REPOSITORY, HostKind.VENDOR) and theirs in (HostKind.NAMED, HostKind.THROWAWAY)
