"""Slugs: the public name of a skill, `owner/repo/skill`, and the older forms that live on as aliases."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from vskill_platform.domain.errors import InvalidInput, InvalidRepositoryUrl

DEFAULT_HOST = "github.com"
PUSHED_REPO = "registry"
_PUSHED = "registry://~"
"""What stands for the repository of skills that were pushed begins so. No host has a `~`, so no repository is meant by it."""
SLUG_SEGMENTS = 3
MAX_SEGMENT_CHARS = 100
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


class Repository(NamedTuple):
    """Where a repository lives: host, the path less its last segment, and the last segment."""

    host: str
    owner: str
    name: str


def slugify(text: str) -> str:
    """Lower case, with every run of other characters than a-z and 0-9 turned into one dash, none at the ends, and bounded."""
    return _NOT_SLUG.sub("-", text.lower()).strip("-")[:MAX_SEGMENT_CHARS].strip("-")


def split_repository_url(url: str) -> Repository:
    """Host, owner and name of a repository address such as `https://host/group/owner/name.git`.

    What was pushed has no host.
    """
    if is_pushed(url):
        return Repository("", url.removeprefix(_PUSHED).partition("/")[0], PUSHED_REPO)
    parts = urlsplit(url)
    segments = [segment for segment in unquote(parts.path).strip("/").split("/") if segment]
    if not parts.hostname or len(segments) < 2:
        raise InvalidRepositoryUrl(
            f"'{url}' does not name a repository. Give an address such as https://{DEFAULT_HOST}/owner/name.", url=url
        )
    return Repository(parts.hostname, "/".join(segments[:-1]), segments[-1].removesuffix(".git"))


def skill_slug(repo_url: str, skill_name: str) -> str:
    """The slug of a skill in a repository.

    The owner is the path less its last segment, joined by dashes; any host but the default one prefixes it. Where two
    places still come to the same slug, the first holds it.
    """
    repository = split_repository_url(repo_url)
    return _join(_owner(repository), repository.name, skill_name)


def owner_handle(repo_url: str) -> str:
    """The first part of the slugs of a repository's skills: the handle of whoever publishes them."""
    return slugify(_owner(split_repository_url(repo_url)))


def pushed_skill_slug(handle: str, skill_name: str) -> str:
    """The slug of a skill that a publisher pushed to the registry itself, without a repository."""
    return _join(handle, PUSHED_REPO, skill_name)


def pushed_repository(handle: str) -> str:
    """What stands in place of a repository's address for everything that a publisher pushed. Nothing is fetched from it."""
    return f"{_PUSHED}{handle}/{PUSHED_REPO}"


def is_pushed(repo_url: str) -> bool:
    """Whether an address stands for what a publisher pushed, and not for a repository."""
    return repo_url.startswith(_PUSHED)


def is_current_slug(slug: str) -> bool:
    """Whether a slug has the present form; anything else is an older one that wants to move."""
    segments = slug.split("/")
    return len(segments) == SLUG_SEGMENTS and all(segment and slugify(segment) == segment for segment in segments)


def _owner(repository: Repository) -> str:
    return repository.owner if repository.host in ("", DEFAULT_HOST) else f"{repository.host}/{repository.owner}"


def _join(owner: str, repo: str, skill: str) -> str:
    segments = [slugify(owner), slugify(repo), slugify(skill)]
    if not all(segments):
        raise InvalidInput(
            f"Owner '{owner}', repository '{repo}' and skill '{skill}' each need a letter a-z or a digit to form a slug.",
            owner=owner,
            repo=repo,
            skill=skill,
        )
    return "/".join(segments)
