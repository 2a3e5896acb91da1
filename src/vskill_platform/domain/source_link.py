"""Where people can look at a skill's source on its host, at the very commit that was verified."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

_TREES = {
    "github.com": "/tree/{commit}/{path}",
    "gitlab.com": "/-/tree/{commit}/{path}",
    "bitbucket.org": "/src/{commit}/{path}",
    "codeberg.org": "/src/commit/{commit}/{path}",
}


def source_link(repo_url: str, *, commit: str, path: str) -> str | None:
    """The address of a folder at a commit; None for a host whose addresses we do not know, or where there is no commit."""
    form = _TREES.get(urlsplit(repo_url).hostname or "")
    if form is None or not commit:
        return None
    return (repo_url + form.format(commit=quote(commit, safe=""), path=quote(path))).rstrip("/")
