"""`/git/{owner}/{repo}/{skill}.git`: every published skill for `git clone`, read-only, each version a tag."""

from __future__ import annotations

from functools import cached_property

from litestar import asgi
from litestar.types import Receive, Scope, Send

from vskill_platform.web.clients.git_http import GitHttp
from vskill_platform.web.clients.skill_repositories import SkillRepositories
from vskill_platform.web.clients.version_commits import PinnedCommits

PREFIX = "/git"
SKILL_GIT = "skill_git"
"""In the application's state: what serves git."""


class SkillGit:
    """What an application has to serve skills by git. The program is looked for when somebody asks for a clone."""

    def __init__(self) -> None:
        self.pins = PinnedCommits()

    @cached_property
    def http(self) -> GitHttp:
        """The application behind the prefix."""
        return GitHttp(SkillRepositories().find, prefix=PREFIX)


@asgi(PREFIX, is_mount=True, copy_scope=True)
async def serve_git(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer what a git client asks."""
    served: SkillGit = scope["litestar_app"].state[SKILL_GIT]
    await served.http(scope, receive, send)
