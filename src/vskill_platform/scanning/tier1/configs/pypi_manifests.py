"""Manifests of Python projects and environments: what they depend on, and from where."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.limits import CONFIG_LIMIT
from vskill_platform.scanning.tier1.configs.installs import is_foreign_index, looks_internal
from vskill_platform.scanning.tier1.configs.managers import judge_index
from vskill_platform.scanning.tier1.configs.packages import Requirement, requirement_of
from vskill_platform.scanning.tier1.configs.reporting import Seen, Source
from vskill_platform.scanning.tier1.configs.requirements import report_requirement
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.configs.word_lists import words
from vskill_platform.scanning.tier1.skill import FileUnderScan, LimitHit

MOST_LINES = 5_000
_LISTS = words(
    "dependencies optional-dependencies dependency-groups requires dev-dependencies install_requires setup_requires "
    "tests_require extras_require build-requires"
)
_TABLES = words("dependencies dev-dependencies packages dev-packages")
_OPTION = re.compile(
    r"(--index-url|-i|--extra-index-url|--find-links|-f|--trusted-host|-r|--requirement|-c|--constraint)(?:\s+|=)(\S+)"
)
_FILES = frozenset(["-r", "--requirement", "-c", "--constraint"])
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_MARKER = re.compile(r"\s*;.*$| --hash=.*$| \\$")


def judge_pyproject(source: Source) -> Iterator[Seen]:
    """What a project depends on, by any of the tools that keep it in one file; a Pipfile too."""
    for entry in source.entries:
        names = [name.lower() for name in entry.names]
        is_table = "poetry" in names or names[:1] in (["packages"], ["dev-packages"])
        if is_table and names[-2:-1] and names[-2] in _TABLES:
            yield from report_requirement(source, entry, Requirement("pypi", entry.keys[-1], version=entry.value))
        elif entry.keys[-1:] and entry.keys[-1].isdecimal() and _LISTS.intersection(names[-2:]):
            yield from _judge_spec(source, entry, entry.value)
        elif names[-1:] in (["git"], ["url"]) and not {"sources", "dependencies", "packages"}.isdisjoint(names):
            name = next((key for key in reversed(entry.keys[:-1]) if not key.isdecimal()), "")
            yield from report_requirement(source, entry, Requirement("pypi", name, address=entry.value))
        elif names[-1:] in (["url"], ["index-url"], ["extra-index-url"]):
            yield from judge_index(source, entry, entry.value)
        elif names == ["build-system", "backend-path"]:
            yield source.sighting("build_runs_own_code", entry)


def judge_setup_cfg(source: Source) -> Iterator[Seen]:
    """What a project depends on that keeps it in an INI file."""
    for entry in source.entries:
        if entry.key.lower() in _LISTS:
            yield from _judge_spec(source, entry, entry.value)


def judge_environment(source: Source) -> Iterator[Seen]:
    """What an environment consists of, and which channels it comes from."""
    for entry in source.entries:
        if "dependencies" in entry.names:
            yield from _judge_spec(source, entry, entry.value.rpartition("::")[2].replace("=", "==", 1))
        elif entry.key in ("channels", "channel_alias"):
            yield from judge_index(source, entry, entry.value)


def judge_requirements(file: FileUnderScan) -> Iterator[Seen]:
    """A file of requirements, line by line."""
    source = Source(file.path, ())
    names: list[str] = []
    extra: Entry | None = None
    for number, line in enumerate(file.lines[:MOST_LINES], start=1):
        entry = Entry(("0",), _COMMENT.sub("", line[:1000]).strip(), number)
        option = _OPTION.match(entry.value)
        if option is not None:
            yield from _judge_option(source, entry, option[1], option[2])
            extra = entry if is_foreign_index(option[2]) else extra
            continue
        spec = entry.value.removeprefix("-e ").removeprefix("--editable ").strip()
        requirement = requirement_of("pypi", _MARKER.sub("", spec))
        names += [requirement.name] if requirement else []
        yield from report_requirement(source, entry, requirement)
    if len(file.lines) > MOST_LINES:
        yield LimitHit(CONFIG_LIMIT)
    if extra is not None and any(looks_internal(name) for name in names):
        yield source.sighting("dependency_confusion", extra, shown=extra.value)


def _judge_option(source: Source, entry: Entry, option: str, value: str) -> Iterator[Seen]:
    if option == "--trusted-host":
        yield source.sighting("registry_unchecked", entry, shown=entry.value)
    elif option in _FILES:
        yield from report_requirement(source, entry, requirement_of("pypi", value) if "://" in value else None)
    else:
        yield from judge_index(source, entry, value)


def _judge_spec(source: Source, entry: Entry, spec: str) -> Iterator[Seen]:
    yield from report_requirement(source, entry, requirement_of("pypi", _MARKER.sub("", spec)))
