"""What is asked of a package manager: a name, a version or an address, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from vskill_platform.scanning.tier1.configs.hosts import (
    host_of,
    is_bare_number,
    is_local,
    is_placeholder,
    is_private,
    is_registry,
)
from vskill_platform.scanning.tier1.configs.typosquats import is_known, resemblance

LONGEST_SPEC = 400
_PYPI = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,99})(?:\[[^\]]{0,100}\])?\s*(.*)", re.DOTALL)
_NPM = re.compile(r"(@[A-Za-z0-9._~-]{1,100}/[A-Za-z0-9._~-]{1,100}|[A-Za-z0-9][A-Za-z0-9._~-]{0,99})(?:@(.*))?")
_ADDRESS = re.compile(r"(?i)(?:git\+)?(?:https?|ssh|git|ftp)://\S+|(?:github|gitlab|bitbucket|gist):\S+|git@\S+")
_SHORT_FORM = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+(?:#\S+)?")
_COMMIT = re.compile(r"[@#=][0-9a-f]{7,40}\b|[?&]rev=[0-9a-f]{7,40}|/(?:[0-9a-f]{40})(?:/|\.|$)")
_RELEASE = re.compile(r"[@#/-]v?\d+\.\d+")
_EXACT = re.compile(r"(?:==|===|@|=)?\s*v?\d+(?:\.\d+)+[\w.+-]*\s*(?:;.*)?")
_FORGES = frozenset(
    [
        "github.com",
        "gitlab.com",
        "bitbucket.org",
        "codeberg.org",
        "gist.github.com",
        "codeload.github.com",
        "raw.githubusercontent.com",
        "objects.githubusercontent.com",
    ]
)
_NO_NAME = ("-", ".", "/", "$", "<", "{", "%", "~", "[", "(", "*", "\\", "…")


class Requirement(NamedTuple):
    """A package that is asked for. `address` is where it comes from if that is no registry; `name` may then be empty."""

    registry: str
    name: str
    version: str = ""
    address: str = ""

    @property
    def is_pinned(self) -> bool:
        """Whether the same bytes are meant tomorrow."""
        if self.address:
            return _COMMIT.search(self.address) is not None
        return _EXACT.fullmatch(self.version.strip()) is not None

    @property
    def is_known(self) -> bool:
        """Whether many projects use a package of this name."""
        return is_known(self.registry, self.name)


def requirement_of(registry: str, spec: str) -> Requirement | None:
    """What a word of an install command or of a manifest asks for; None for what names no package."""
    spec = spec.strip().strip("\"'`,;")
    if not spec or len(spec) > LONGEST_SPEC:
        return None
    if _ADDRESS.match(spec):
        return Requirement(registry, "", address=spec)
    if spec.startswith(_NO_NAME):
        return None
    if registry == "npm":
        return _npm_requirement(spec)
    found = _PYPI.fullmatch(spec)
    if found is None:
        return None
    rest = found[2].strip()
    address = _ADDRESS.search(rest)
    if address is not None and rest.startswith("@"):
        return Requirement(registry, found[1], address=address.group())
    return Requirement(registry, found[1], version=rest)


def _npm_requirement(spec: str) -> Requirement | None:
    if _SHORT_FORM.fullmatch(spec):
        return Requirement("npm", "", address=f"github:{spec}")
    found = _NPM.fullmatch(spec)
    if found is None:
        return None
    version = found[2] or ""
    return npm_dependency(found[1], version)


def npm_dependency(name: str, version: str) -> Requirement:
    """A dependency as `package.json` has it: a name, and a version or an address."""
    if _ADDRESS.match(version) or _SHORT_FORM.fullmatch(version):
        address = version if _ADDRESS.match(version) else f"github:{version}"
        return Requirement("npm", name, address=address)
    return Requirement("npm", name, version=version)


def judge_requirement(requirement: Requirement, *, is_obeyed: bool = True) -> Iterator[str]:
    """The checks that a requirement falls under. What is only shown is blamed for its name alone."""
    if requirement.name:
        found = resemblance(requirement.registry, requirement.name)
        if found is not None:
            yield "package_imitates" if found.is_close else "package_resembles"
    if requirement.address and is_obeyed:
        check = _judge_address(requirement)
        if check:
            yield check


def resembles(requirement: Requirement) -> str:
    """Words that say what a package is taken for; empty where that is nothing."""
    found = resemblance(requirement.registry, requirement.name) if requirement.name else None
    return "" if found is None else f"{requirement.name} looks like {found.target}"


def _judge_address(requirement: Requirement) -> str | None:
    address = requirement.address
    if address.startswith(("github:", "gitlab:", "bitbucket:", "gist:", "git@")):
        return None if requirement.is_pinned or _RELEASE.search(address) else "package_from_branch"
    plain = address.removeprefix("git+")
    if is_local(plain) or is_placeholder(plain) or is_registry(plain):
        return None
    if plain.startswith(("http://", "git://", "ftp://")) or is_bare_number(plain):
        return None if is_private(plain) and not is_bare_number(plain) else "package_from_untrusted_address"
    if host_of(plain) in _FORGES:
        return None if requirement.is_pinned or _RELEASE.search(plain) else "package_from_branch"
    if requirement.name and requirement.is_known:
        return "known_package_from_elsewhere"
    return None if requirement.is_pinned else "package_from_address"
