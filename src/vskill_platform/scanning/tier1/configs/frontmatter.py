"""What the head of a SKILL.md asks for beside its name: hooks, servers, programs to install, variables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.limits import CONFIG_LIMIT
from vskill_platform.scanning.tier1.code.hosts import HostKind, domain_of, kind_of_address
from vskill_platform.scanning.tier1.configs import permissions
from vskill_platform.scanning.tier1.configs.hooks import find_hooks
from vskill_platform.scanning.tier1.configs.hosts import host_of, is_bare_number, is_local, is_placeholder, is_private
from vskill_platform.scanning.tier1.configs.packages import judge_requirement, requirement_of, resembles
from vskill_platform.scanning.tier1.configs.reporting import Seen, Source
from vskill_platform.scanning.tier1.configs.servers import find_servers
from vskill_platform.scanning.tier1.configs.structured import Entry, Reading
from vskill_platform.scanning.tier1.configs.yaml_text import read_yaml
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.skill import FactKind, LimitHit, SkillUnderScan

_ASKS = re.compile(
    r"(?i)(?:hooks|mcp[\w-]*|install|command|servers|status_?line)[\"']?\s*:|bypass|\broot\b|full.?disk|screen.?rec|input.?mon|"
    r"\baccessibility\b|keychain|admin\."
)
_MAY_ASK = Pattern(
    r"(?i)(?:hooks|mcp[\w\x{80}-\x{10ffff}-]*|nstall|command|servers|status_?l.ne)[\"']?[\s\x0b\x1c-\x1f\x{80}-\x{10ffff}]*:|"
    r"bypass|root|full.?d.sk|screen.?rec|nput.?mon|access.b.l.ty|keycha.n|adm.n\."
)
"""Matches wherever `_ASKS` does, and is quicker. For letters that only Python knows, such as a dotless i, it takes any."""
_MACHINE = re.compile(
    r"(?i)full[-_ ]?disk(?:[-_ ]access)?|screen[-_ ]?recording|input[-_ ]?monitoring|accessibility|keychain|root|"
    r"admin\.(?:directory|security)\S*|(?:mail|drive|calendar|contacts)\.full|microphone|camera"
)
"""Powers over the whole machine or a whole account, as the names of permissions."""
FEWEST_POWERS = 2
SHORTEST_CHECKSUM = 32
_CHECKSUM = re.compile(r"(?i)(?:sha-?(?:256|512|1)|md5|checksum|digest|integrity|hash)")
_REGISTRY_OF_KIND = {"node": "npm", "npm": "npm", "uv": "pypi", "pip": "pypi", "pypi": "pypi", "python": "pypi"}


def read_frontmatter(skill: SkillUnderScan) -> Reading:
    """The values of the frontmatter, with the lines of the file."""
    head = skill.frontmatter
    return Reading() if head is None else read_yaml(head.text, first_line=head.first_line)


def find_in_frontmatter(skill: SkillUnderScan) -> Iterator[Seen]:
    """What the frontmatter starts and installs. Most have nothing of the kind and are not read."""
    head = skill.frontmatter
    if head is None or skill.skill_file is None or not _asks(head.text):
        return
    reading = read_frontmatter(skill)
    if reading.is_cut:
        yield LimitHit(CONFIG_LIMIT)
    source = Source(skill.skill_file.path, tuple(reading.entries), about=head.text)
    yield from find_hooks(source)
    yield from find_servers(source)
    yield from _find_installs(source)
    yield from _find_grants(source)


def _asks(text: str) -> bool:
    """Whether a head may ask for something beside its name."""
    return _MAY_ASK.is_in(text.encode()) and _ASKS.search(text) is not None


def _find_installs(source: Source) -> Iterator[Seen]:
    steps: dict[tuple[str, ...], list[Entry]] = {}
    for entry in source.entries:
        at = next((n for n, key in enumerate(entry.keys[:-1]) if key.lower() == "install"), None)
        if at is not None:
            steps.setdefault(entry.keys[: at + 2], []).append(entry)
    for step in steps.values():
        yield from _judge_step(source, step)


def _find_grants(source: Source) -> Iterator[Seen]:
    """Modes without questions, and powers over the machine that no text needs."""
    powers = [
        entry
        for entry in source.entries
        if entry.key not in ("name", "description") and _MACHINE.fullmatch(entry.value)
    ]
    if len(powers) >= FEWEST_POWERS:
        yield source.sighting(
            "head_asks_for_the_machine", powers[0], shown=", ".join(entry.value for entry in powers[:8])
        )
    for entry in source.entries:
        if permissions.check_for(entry) == "permissions_bypassed":
            yield source.sighting("permissions_bypassed", entry)


def _judge_step(source: Source, step: list[Entry]) -> Iterator[Seen]:
    kind = next((entry.value.lower() for entry in step if entry.key.lower() in ("kind", "type")), "")
    for entry in step:
        if entry.key.lower() in ("package", "packages", "module") and kind in _REGISTRY_OF_KIND:
            requirement = requirement_of(_REGISTRY_OF_KIND[kind], entry.value)
            if requirement is None:
                continue
            yield source.fact(FactKind.INSTALLS, entry, f"{requirement.registry}:{requirement.name}")
            for check in judge_requirement(requirement):
                yield source.sighting(check, entry, detail=resembles(requirement))
        elif entry.key.lower() == "url" and _is_untrusted(entry.value):
            yield source.sighting("install_from_untrusted_address", entry)
        elif entry.key.lower() == "url" and not _has_checksum(step) and _is_of_nobody(entry.value, source.about):
            yield source.sighting("install_from_unknown_host", entry)


def _has_checksum(step: list[Entry]) -> bool:
    return any(_CHECKSUM.fullmatch(entry.key) and len(entry.value.strip()) >= SHORTEST_CHECKSUM for entry in step)


def _is_of_nobody(address: str, about: str) -> bool:
    """Whether an address belongs neither to a known publisher nor to who the rest of the head speaks of."""
    if is_local(address) or is_placeholder(address) or is_private(address):
        return False
    kind = kind_of_address(address)
    domain = domain_of(host_of(address))
    is_spoken_of = about.lower().count(domain) > about.lower().count(address.lower())
    return kind is HostKind.THROWAWAY or (kind is HostKind.NAMED and not is_spoken_of)


def _is_untrusted(address: str) -> bool:
    if is_local(address) or is_placeholder(address):
        return False
    return is_bare_number(address) or address.lower().startswith("http:")
