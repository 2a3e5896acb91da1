"""`package.json`: what it depends on, and what runs when it is installed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.configs.commands import judge_command
from vskill_platform.scanning.tier1.configs.managers import judge_index
from vskill_platform.scanning.tier1.configs.packages import npm_dependency
from vskill_platform.scanning.tier1.configs.reporting import Seen, Source, report_command
from vskill_platform.scanning.tier1.configs.requirements import report_requirement
from vskill_platform.scanning.tier1.configs.shell_words import LONGEST
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.configs.word_lists import words

_LIFECYCLE = words(
    "preinstall install postinstall prepare prepublish preprepare postprepare preuninstall postuninstall"
)
_LISTS = words(
    "dependencies devdependencies optionaldependencies peerdependencies resolutions overrides bundledependencies"
)
_OUTSIDE = ("file:..", "link:..", "file:/", "link:/", "file:~")
_STARTS_SCRIPT = re.compile(
    r"\b(?:npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+)?([\w:.-]{1,100})|\bnode\s+--run\s+([\w:.-]{1,100})"
)


def judge_package_json(source: Source) -> Iterator[Seen]:
    """What is wrong with the package."""
    scripts = {entry.keys[1]: entry for entry in source.entries if len(entry.keys) == 2 and entry.keys[0] == "scripts"}
    started = _started_at_install(scripts)
    for entry in source.entries:
        names = [name.lower() for name in entry.names]
        if names[:1] == ["scripts"] and entry.key in started:
            yield from report_command(source, entry, judge_command(entry.value), kind="lifecycle")
        elif len(names) == 2 and names[0] in _LISTS:
            yield from _judge_dependency(source, entry)
        elif names[:1] == ["publishconfig"] and entry.key == "registry":
            yield from judge_index(source, entry, entry.value)


def _started_at_install(scripts: dict[str, Entry]) -> set[str]:
    """The scripts that run when the package is installed, those among them that others start."""
    started: set[str] = set()
    waiting = [name for name in scripts if name.lower() in _LIFECYCLE]
    while waiting:
        name = waiting.pop()
        if name in started or name not in scripts:
            continue
        started.add(name)
        waiting += [found[1] or found[2] for found in _STARTS_SCRIPT.finditer(scripts[name].value[:LONGEST])]
    return started


def _judge_dependency(source: Source, entry: Entry) -> Iterator[Seen]:
    name, version = entry.keys[-1], entry.value
    if version.startswith("npm:"):
        alias = version.removeprefix("npm:")
        target = alias.rpartition("@")[0] or alias
        if target != name:
            yield source.sighting("dependency_is_another", entry)
        yield from report_requirement(source, entry, npm_dependency(target, ""))
    elif version.startswith(_OUTSIDE):
        yield source.sighting("dependency_outside", entry)
    else:
        yield from report_requirement(source, entry, npm_dependency(name, version))
