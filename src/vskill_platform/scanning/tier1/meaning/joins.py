"""Evidence from several files put together: a download here and the run of the same file there are one act."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from vskill_platform.scanning.tier1.code.hosts import HostKind, kind_of_host
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.meaning.stances import LONGEST_LINE
from vskill_platform.scanning.tier1.skill import Fact, FactKind, Observation, Sighting, SkillUnderScan

DOWNLOADED_AND_RUN = "downloaded_and_run"
SECRETS_AND_SENDING = "secrets_and_sending"
CHECKS = frozenset([DOWNLOADED_AND_RUN, SECRETS_AND_SENDING])

_CHECK = re.compile(
    r"\b(?:sha(?:256|384|512)?sum|shasum)\b[^\n]*(?:\s-c\b|--check)|\bgpg2?\b[^\n]*--verify\b|"
    r"\b(?:cosign|minisign|slsa-verifier) \S*verif"
)


def join_evidence(skill: SkillUnderScan, observations: Sequence[Observation]) -> Iterator[Sighting]:
    """What the facts of all files say together."""
    facts = [seen for seen in observations if isinstance(seen, Fact)]
    yield from _downloaded_and_run(skill, facts)
    yield from _secrets_and_sending(skill, facts)


def _downloaded_and_run(skill: SkillUnderScan, facts: Sequence[Fact]) -> Iterator[Sighting]:
    """A file that is fetched in one place and run in another, by its name; that a file of that name is shipped proves nothing."""
    hosts = {(fact.file, fact.line): fact.value for fact in facts if fact.kind is FactKind.REACHES}
    fetched = {
        _name(fact): fact
        for fact in facts
        if fact.kind is FactKind.DOWNLOADS
        and fact.value
        and kind_of_host(hosts.get((fact.file, fact.line), "")) is not HostKind.VENDOR
    }
    if not fetched:
        return
    for fact in facts:
        if fact.kind is FactKind.EXECUTES and (name := _name(fact)) in fetched:
            first = fetched.pop(name)
            if _is_checked(skill, first, fact, hosts.get((first.file, first.line), "")):
                continue
            yield sighting_of(DOWNLOADED_AND_RUN, skill, fact, f"{name} comes from {first.file}, line {first.line}")


def _is_checked(skill: SkillUnderScan, first: Fact, run: Fact, host: str) -> bool:
    """Whether a release with a history is held against a checksum or a signature before it is run, in the same file."""
    if first.file != run.file or kind_of_host(host) is not HostKind.REPOSITORY:
        return False
    lines = next((file.lines for file in skill.files if file.path == first.file), ())
    return any(_CHECK.search(line[:LONGEST_LINE]) for line in lines[first.line - 1 : run.line])


def _secrets_and_sending(skill: SkillUnderScan, facts: Sequence[Fact]) -> Iterator[Sighting]:
    """A program that reads where secrets are kept and sends to somewhere, though no path between them was seen."""
    if not {FactKind.READS_SECRET, FactKind.SENDS} <= {fact.kind for fact in facts}:
        return
    scripts = {file.path for file in skill.files if file.is_program}
    by_file: dict[str, dict[FactKind, Fact]] = defaultdict(dict)
    for fact in facts:
        if fact.file in scripts:
            by_file[fact.file].setdefault(fact.kind, fact)
    for found in by_file.values():
        if FactKind.READS_SECRET in found and FactKind.SENDS in found:
            secret, sent = found[FactKind.READS_SECRET], found[FactKind.SENDS]
            yield sighting_of(SECRETS_AND_SENDING, skill, sent, f"{secret.value} is read in line {secret.line}")


def _name(fact: Fact) -> str:
    return PurePosixPath(fact.value).name


def sighting_of(check: str, skill: SkillUnderScan, fact: Fact, detail: str) -> Sighting:
    """What a check sees in a fact, shown by its line."""
    file = next((file for file in skill.files if file.path == fact.file), None)
    line = file.lines[fact.line - 1] if file is not None and 0 < fact.line <= len(file.lines) else fact.value
    return Sighting(check, fact.file, fact.line, 1 if fact.line else 0, make_excerpt(line), fact.layer, detail)
