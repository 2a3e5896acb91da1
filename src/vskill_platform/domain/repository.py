"""Repository addresses: the many ways people write one, and the one form that we keep.

The normal form is the identity of a repository: two spellings of one place must become one address, and two places must
never become the same.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit

from vskill_platform.domain.errors import InvalidRepositoryUrl
from vskill_platform.domain.slug import DEFAULT_HOST, is_pushed

MAX_URL_CHARS = 400
_CASELESS_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
"""Hosts that take two spellings of a path for one repository, and that speak https."""

_TWO_LEVEL_HOSTS = frozenset({"github.com", "bitbucket.org", "codeberg.org"})
"""Hosts whose repositories are always `owner/name`: what else stands in the path is a page about it."""

_SCP = re.compile(r"^(?:[A-Za-z0-9._-]+@)(?P<host>[A-Za-z0-9.-]+):(?!//)(?P<path>[^\s]+)$")
_SHORTHAND = re.compile(r"^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_HOST = re.compile(r"^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$")
_DEFAULT_PORTS = {"https": 443, "http": 80}
_GIT_SUFFIX = re.compile(r"(?:\.git)+$", re.IGNORECASE)
_TREE_MARKS = frozenset({"tree", "blob"})
_SRC_HOSTS = frozenset({"bitbucket.org", "codeberg.org"})
"""Hosts that write `src` (and perhaps `branch` behind it) where others write `tree`."""


class RepositoryAddress(NamedTuple):
    """A repository, and what the address had behind it: a branch and perhaps a folder, or `""`."""

    url: str
    tree_path: str = ""


def normalise_repository_url(text: str) -> RepositoryAddress:
    """The normal form of an address: scheme, host in lower case, path without `.git`, slashes and what comes after it.

    Takes `https://host/owner/name`, the same with `.git`, `/`, `tree/…`, `blob/…` or a fragment behind it, `owner/name`
    on the default host, and the forms that ssh uses. Raises InvalidRepositoryUrl for anything else.
    """
    parts, port = _parts(text)
    scheme = parts.scheme.lower().removeprefix("git+")
    if parts.username is not None and (parts.password is not None or scheme != "ssh"):
        raise _invalid(text, "it holds a user name or password. Leave them out: only public repositories are fetched")
    host = _host(parts.hostname, given=text)
    segments = _segments(parts.path, given=text)
    marks = _TREE_MARKS | {"src"} if host in _SRC_HOSTS else _TREE_MARKS
    repository, tree_path = _split_tree(segments, marks)
    if host in _TWO_LEVEL_HOSTS:
        repository = repository[:2]
    if len(repository) < 2:
        raise _invalid(text, f"it does not name a repository. Give one such as https://{DEFAULT_HOST}/owner/name")
    repository[-1] = _GIT_SUFFIX.sub("", repository[-1])
    if not repository[-1]:
        raise _invalid(text, "its last part is empty")
    if host in _CASELESS_HOSTS:
        repository = [segment.lower() for segment in repository]
    path = "/".join(quote(segment, safe="~@+") for segment in repository)
    return RepositoryAddress(f"{_origin(scheme, host, port, given=text)}/{path}", "/".join(tree_path))


def known_repository(text: str) -> str:
    """The address by which records know what somebody means: a repository, or what a publisher pushed.

    Raises InvalidRepositoryUrl.
    """
    meant = text.strip().lower()
    return meant if is_pushed(meant) else normalise_repository_url(text).url


def _as_url(text: str, *, given: str) -> str:
    """The text as an address with a scheme."""
    if len(text) > MAX_URL_CHARS or _UNPRINTABLE.search(text):
        raise _invalid(given, f"it is longer than {MAX_URL_CHARS} characters or holds spaces or control characters")
    if _SCHEME.match(text):
        return text
    if found := _SCP.match(text):
        return f"ssh://git@{found['host']}/{found['path']}"
    if _SHORTHAND.match(text):
        return f"https://{DEFAULT_HOST}/{text}"
    return f"https://{text}"


def _host(host: str | None, *, given: str) -> str:
    name = (host or "").rstrip(".").lower()
    if not name.isascii():
        try:
            name = name.encode("idna").decode()
        except UnicodeError as exc:
            raise _invalid(given, "its host is no name that can be looked up") from exc
    name = DEFAULT_HOST if name == f"www.{DEFAULT_HOST}" else name
    if ":" in name:
        return f"[{name}]"
    if not _HOST.match(name):
        raise _invalid(given, "it has no valid host")
    return name


def _parts(text: str) -> tuple[SplitResult, int | None]:
    """The parts of the address, and its port."""
    url = _as_url(text.strip(), given=text)
    try:
        parts = urlsplit(url)
        return parts, parts.port
    except ValueError as exc:
        raise _invalid(text, "its host or port is malformed") from exc


def _origin(scheme: str, host: str, port: int | None, *, given: str) -> str:
    if scheme in ("ssh", "git") or host in _CASELESS_HOSTS:
        return f"https://{host}"
    if scheme not in _DEFAULT_PORTS:
        raise _invalid(given, f"'{scheme}' is not a protocol that repositories are fetched by. Use https")
    suffix = "" if port is None or port == _DEFAULT_PORTS[scheme] else f":{port}"
    return f"{scheme}://{host}{suffix}"


def _segments(path: str, *, given: str) -> list[str]:
    segments = [unquote(segment) for segment in path.split("/") if segment]
    for segment in segments:
        if segment in (".", "..") or "/" in segment or "\\" in segment or _UNPRINTABLE.search(segment):
            raise _invalid(given, f"its path has a part that no repository has: '{segment[:40]!r}'")
    return segments


def _split_tree(segments: list[str], marks: frozenset[str]) -> tuple[list[str], list[str]]:
    """Owner and name, and what stands after a `tree` or `blob` mark (with GitLab's `-` before it)."""
    for position in range(2, len(segments)):
        rest = segments[position + 1 :] if segments[position] == "-" else segments[position:]
        if len(rest) > 1 and rest[0] in marks:
            is_named = rest[0] == "src" and rest[1] in ("branch", "tag") and len(rest) > 2
            return segments[:position], rest[2:] if is_named else rest[1:]
        if _GIT_SUFFIX.search(segments[position - 1]):
            return segments[:position], []
    return segments, []


def repository_identity(url: str) -> str:
    """What a repository is known by, whoever spells its normal form: without protocol, and in one case.

    On a server that tells cases apart two repositories may share it; they would share their slugs too.
    """
    return url.split("://", 1)[-1].casefold()


def _invalid(text: str, why: str) -> InvalidRepositoryUrl:
    shown = text[:100].encode("unicode_escape").decode()
    return InvalidRepositoryUrl(f"'{shown}' is not an address of a repository: {why}.", url=shown)
