"""Addresses that are one slip away from one that the skill keeps speaking of: what a changed line of a client looks like.

Who reads `tidedeks` takes it for `tidedesk`, and so does the program that logs in there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.hosts import HostKind, domain_of, kind_of_host
from vskill_platform.scanning.tier1.configs.typosquats import is_one_slip
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
        for found in _HOST.finditer(file.encoded) if file.shape is Shape.TEXT else ():
            domain = domain_of(found[1].decode().lower())
            first.setdefault(domain, (file, found.start(1)))
            times[domain] += 1
    often = [
        domain
        for domain, count in times.most_common(MOST_DOMAINS)
        if count > 1 and len(_label(domain)) >= SHORTEST_LABEL
    ]
    for domain, count in times.items():
        if count <= OTHER_MENTIONS and (other := _mistaken_for(domain, [one for one in often if times[one] > count])):
            file, start = first[domain]
            line, column = places_in(file)(start)
            shown = make_excerpt(file.lines[line - 1]) if line <= len(file.lines) else domain
            yield Sighting(CHECK, file.path, line, column, shown, "structure", f"{domain} is nearly {other}")


def _mistaken_for(domain: str, often: list[str]) -> str | None:
    """The domain that this one could be taken for. Numbered ones, and those with a hyphen more, belong together."""
    label = _label(domain)
    if kind_of_host(domain) not in (HostKind.NAMED, HostKind.THROWAWAY):
        return None
    alike = (other for other in often if is_one_slip(label, _label(other)))
    return next((other for other in alike if _SPELLING.sub("", label) != _SPELLING.sub("", _label(other))), None)


def _label(domain: str) -> str:
    return domain.partition(".")[0]
