"""Addresses that are one slip away from one that the skill keeps speaking of: what a changed line of a client looks like.

Who reads `tidedeks` takes it for `tidedesk`, and so does the program that logs in there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from vskill_platform.scanning.tier1.code.hosts import HostKind, domain_of, kind_of_host
from vskill_platform.scanning.tier1.configs.typosquats import names_near, slips_of
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import Shape
from vskill_platform.scanning.tier1.meaning.strangers import OTHER_MENTIONS
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import places_in

CHECK = "host_one_slip_away"
SHORTEST_LABEL = 6
"""Letters from which on a name with another letter in it is seldom another name."""
MOST_DOMAINS = 200
"""Domains that a skill speaks of often which each of the seldom ones is held against."""
_HOST = re.compile(rb"://(?:[^\s/@]{1,80}@)?([A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8})")
_SPELLING = re.compile(r"[\d-]+")


def find_mistaken_hosts(skill: SkillUnderScan) -> Iterator[Sighting]:
    """The places of hosts that come up once or twice and could be taken for another that comes up more often."""
    first: dict[str, tuple[FileUnderScan, int]] = {}
    times = Counter[str]()
    for file in skill.files:
        for host, (start, count) in _hosts_in(file).items():
            domain = domain_of(host.decode().lower())
            first.setdefault(domain, (file, start))
            times[domain] += count
    yield from islice(_mistaken(first, times), skill.limits.max_places)


def _hosts_in(file: FileUnderScan) -> dict[bytes, tuple[int, int]]:
    """The hosts of a file in their order: where each comes first, and how often it does."""
    hosts: dict[bytes, tuple[int, int]] = {}
    for found in _HOST.finditer(file.encoded) if file.shape is Shape.TEXT else ():
        start, count = hosts.get(found[1], (found.start(1), 0))
        hosts[found[1]] = (start, count + 1)
    return hosts


def _mistaken(first: Mapping[str, tuple[FileUnderScan, int]], times: Counter[str]) -> Iterator[Sighting]:
    often = [one for one, count in times.most_common(MOST_DOMAINS) if count > 1 and len(_label(one)) >= SHORTEST_LABEL]
    near = names_near(dict.fromkeys(map(_label, often)))
    for domain, count in times.items() if near else ():
        if count <= OTHER_MENTIONS and (label := _mistaken_for(domain, near)):
            other = next(one for one in often if _label(one) == label)
            if times[other] > count:
                file, start = first[domain]
                line, column = places_in(file)(start)
                shown = make_excerpt(file.lines[line - 1]) if line <= len(file.lines) else domain
                yield Sighting(CHECK, file.path, line, column, shown, "structure", f"{domain} is nearly {other}")


def _mistaken_for(domain: str, near: Mapping[str, tuple[str, ...]]) -> str | None:
    """What this domain's name could be taken for. Numbered ones, and those with a hyphen more, belong together."""
    label = _label(domain)
    plain = _SPELLING.sub("", label)
    alike = next((other for other in slips_of(label, near) if _SPELLING.sub("", other) != plain), None)
    return alike if kind_of_host(domain) in (HostKind.NAMED, HostKind.THROWAWAY) else None


def _label(domain: str) -> str:
    return domain.partition(".")[0]
