"""Addresses that could be taken for one that the skill keeps speaking of: what a changed line of a client looks like.

Who reads `tidedeks` takes it for `tidedesk`, and so does the program that logs in there. `tidedesk-status` is another name, which
anybody may own, and a key that goes there goes to them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from vskill_platform.scanning.tier1.code.hosts import HostKind, domain_of, kind_of_host
from vskill_platform.scanning.tier1.code.sending import goes_astray, is_service
from vskill_platform.scanning.tier1.configs.typosquats import names_near, slips_of
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import Shape
from vskill_platform.scanning.tier1.meaning.strangers import OTHER_MENTIONS
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import places_in

CHECK = "host_one_slip_away"
KEY_GIVEN = "key_to_host_named_alike"
CHECKS = frozenset([CHECK, KEY_GIVEN])
SHORTEST_LABEL = 6
"""Letters from which on a name with another letter in it is seldom another name."""
MOST_DOMAINS = 200
"""Domains that a skill speaks of often which each of the seldom ones is held against."""
_HOST = re.compile(rb"://(?:[^\s/@]{1,80}@)?([A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8})")
_NAME = re.compile(r"[A-Za-z0-9.-]{1,200}")
_SPELLING = re.compile(r"[\d-]+")
_KEY = re.compile(
    r"(?i)(?:\$\{?|%|\benviron\b[^\n]{0,20}|\bgetenv\b[^\n]{0,4}|\benv[.\[(:][^\n]{0,4})\w{0,60}(?:token|secret|password|passwd|key|_pat)s?\b"
)
"""A variable with a key in it."""
_STAND_IN = re.compile(
    r"(?:^|-)(?:example|your|my|our|company|acme|test|mock|fake|local|dummy|sample|foo|placeholder|internal)(?:-|$)"
)
_ASSIGNED = re.compile(r"(?i)\b(?:server|base|api|ingest\w*)_?(?:url|uri|host|base)\b[\"']?\s?[:=]\s?[\"'`]https?://\Z")
"""A setting of the host that a client talks to, before it."""
_VARIABLE = re.compile(r"\b([A-Za-z][A-Za-z0-9_]{0,60}(?:TOKEN|SECRET|KEY|PASSWORD|_PAT))\b")
KEY_REACH = 300
"""Letters to each side of a host in which a key is handed to it, on its line or the lines that it goes on over."""

Place = tuple[FileUnderScan, int]
"""A file, and an offset in its text."""


def find_mistaken_hosts(skill: SkillUnderScan) -> Iterator[Sighting]:
    """The places of hosts that come up once or twice and could be taken for another that comes up more often."""
    places: dict[str, list[Place]] = {}
    times = Counter[str]()
    for file in skill.files:
        for host, (starts, count) in _hosts_in(file).items():
            domain = domain_of(host.decode().lower())
            known = places.setdefault(domain, [])
            known += [(file, start) for start in starts[: OTHER_MENTIONS - len(known)]]
            times[domain] += count
    often = [one for one, count in times.most_common(MOST_DOMAINS) if count > 1 and len(_label(one)) >= SHORTEST_LABEL]
    yield from islice(_given_known_keys(places, times), skill.limits.max_places)
    if often:
        yield from islice(_mistaken(often, places, times), skill.limits.max_places)
    others = [one for one, _ in times.most_common(MOST_DOMAINS) if len(_label(one)) >= SHORTEST_LABEL]
    yield from islice(_given_keys(others, places, times), skill.limits.max_places)


def _hosts_in(file: FileUnderScan) -> dict[bytes, tuple[list[int], int]]:
    """The hosts of a file in their order: where each comes first, as far as that is asked for, and how often it does."""
    hosts: dict[bytes, tuple[list[int], int]] = {}
    for found in _HOST.finditer(file.encoded) if file.shape is Shape.TEXT else ():
        starts, count = hosts.get(found[1], ([], 0))
        if count < OTHER_MENTIONS:
            starts.append(found.start(1))
        hosts[found[1]] = (starts, count + 1)
    return hosts


def _mistaken(often: Sequence[str], places: Mapping[str, Sequence[Place]], times: Counter[str]) -> Iterator[Sighting]:
    """Hosts that are one slip away from one of those that come up often."""
    near = names_near(dict.fromkeys(map(_label, often)))
    for domain, count in times.items():
        if count <= OTHER_MENTIONS and (label := _mistaken_for(domain, near)):
            other = next(one for one in often if _label(one) == label)
            if times[other] > count:
                yield _sighting(CHECK, *places[domain][0], f"{domain} is nearly {other}")


def _given_keys(
    others: Sequence[str], places: Mapping[str, Sequence[Place]], times: Counter[str]
) -> Iterator[Sighting]:
    """Hosts that come up once or twice, are given a key, and have the name of another with something put to it by a hyphen."""
    names = {_label(one): one for one in reversed(others) if "-" not in _label(one)}
    for domain, count in times.items():
        beginning, _, end = _label(domain).partition("-")
        other = names.get(beginning) or names.get(end) if end else None
        if other and count <= OTHER_MENTIONS and times[other] >= count:
            given = next((place for place in places[domain] if _is_given_key(*place)), None)
            if given is not None:
                yield _sighting(KEY_GIVEN, *given, f"{domain} is not {other}")


def _given_known_keys(places: Mapping[str, Sequence[Place]], times: Counter[str]) -> Iterator[Sighting]:
    """Hosts with the name of a known service in theirs that are given the key of this service, and are not its own."""
    for domain, count in times.items():
        if _STAND_IN.search(_label(domain)):
            continue
        words = _label(domain).upper().split("-")
        service = next((word for word in words if is_service(word)), None) if len(words) > 1 else None
        if service is None or count > OTHER_MENTIONS or not goes_astray(f"{service}_KEY", domain):
            continue
        given = next((place for place in places[domain] if _is_given_key_of(service, *place)), None)
        if given is not None:
            yield _sighting(KEY_GIVEN, *given, f"{domain} is not that of {service.capitalize()}")


def _is_given_key_of(service: str, file: FileUnderScan, start: int) -> bool:
    """Whether a variable with a key of the service stands near a host."""
    around = file.encoded[max(0, start - KEY_REACH) : start + KEY_REACH].decode(errors="ignore")
    return any(found[1].upper().startswith(f"{service}_") for found in _VARIABLE.finditer(around))


def _is_given_key(file: FileUnderScan, start: int) -> bool:
    """Whether a key stands beside a host, in the same command, or a client is told to talk to it."""
    data = file.encoded
    before = data[max(0, start - KEY_REACH) : start].decode(errors="ignore").replace("\\\n", " ")
    behind = data[start : start + KEY_REACH].decode(errors="ignore").replace("\\\n", " ")
    line = before.rpartition("\n")[2]
    if _ASSIGNED.search(line[: line.rfind("://") + 3]) and not _STAND_IN.search(_label(domain_of(_name_at(behind)))):
        return True
    return _KEY.search(line + behind.partition("\n")[0]) is not None


def _name_at(text: str) -> str:
    found = _NAME.match(text)
    return found[0].lower() if found else ""


def _sighting(check: str, file: FileUnderScan, start: int, detail: str) -> Sighting:
    line, column = places_in(file)(start)
    shown = make_excerpt(file.lines[line - 1]) if line <= len(file.lines) else ""
    return Sighting(check, file.path, line, column, shown, "structure", detail)


def _mistaken_for(domain: str, near: Mapping[str, tuple[str, ...]]) -> str | None:
    """What this domain's name could be taken for. Numbered ones, and those with a hyphen more, belong together."""
    label = _label(domain)
    plain = _SPELLING.sub("", label)
    alike = next((other for other in slips_of(label, near) if _SPELLING.sub("", other) != plain), None)
    return alike if kind_of_host(domain) in (HostKind.NAMED, HostKind.THROWAWAY) else None


def _label(domain: str) -> str:
    return domain.partition(".")[0]
