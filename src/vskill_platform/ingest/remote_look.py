"""How a repository is, from the outside: here, elsewhere, not there, or nothing that can be relied on.

A host that says 404, 410 or 451, or asks for a password, says that nobody can read the repository. Everything that may pass or
may be our own doing (429 and 403, 5xx, time-outs, names that do not resolve, addresses that we refuse, answers that no git
server gives) is unclear.
"""

from __future__ import annotations

import ssl
from urllib.parse import urljoin

from vskill_platform.domain.errors import AddressForbidden, InvalidRepositoryUrl, SourceUnreachable
from vskill_platform.domain.repo_health import Head, LookAnswer, LookReason, SourceLook
from vskill_platform.domain.repository import normalise_repository_url, repository_identity
from vskill_platform.ingest.proxy import FetchProxy
from vskill_platform.ingest.ref_advertisement import REFS_PATH, Advertised, ask_refs
from vskill_platform.ingest.url_guard import RepositoryAddress, check_address
from vskill_platform.settings import Settings

_GONE = {404: LookReason.NOT_THERE, 410: LookReason.NOT_THERE, 451: LookReason.NOT_THERE, 401: LookReason.NOT_PUBLIC}


class RemoteLook:
    """Looks at repositories through a proxy, as the settings allow."""

    def __init__(self, proxy: FetchProxy, *, settings: Settings, trust: ssl.SSLContext) -> None:
        self._proxy = proxy
        self._settings = settings
        self._trust = trust

    async def ask(self, repo_url: str) -> tuple[SourceLook, str]:
        """What is found at an address, and the address that answered. Raises AddressForbidden or SourceUnreachable.

        The normal form has no `.git`, and some hosts want it: one that knows nothing without it, or sends there, is asked again.
        """
        plain = check_address(repo_url, settings=self._settings)
        answer = await ask_refs(self._proxy, plain, trust=self._trust)
        if answer.status in _GONE or self._is_same_place(plain, answer):
            dotted = check_address(f"{repo_url}.git", settings=self._settings)
            second = await ask_refs(self._proxy, dotted, trust=self._trust)
            if answer.status not in _GONE or second.status not in _GONE:
                return await self._judge(dotted, second), dotted.url
        return await self._judge(plain, answer), plain.url

    def _is_same_place(self, asked: RepositoryAddress, answer: Advertised) -> bool:
        target = _target(asked, answer)
        return target is not None and repository_identity(target) == repository_identity(_normal(asked.url) or "")

    async def _judge(self, asked: RepositoryAddress, answer: Advertised) -> SourceLook:
        if answer.status in _GONE:
            return SourceLook(LookAnswer.MISSING, _GONE[answer.status])
        if answer.is_rate_limit:
            return _unclear(LookReason.RATE_LIMITED, answer)
        if 300 <= answer.status < 400:
            return await self._judge_redirect(asked, answer)
        if answer.status >= 400:
            return _unclear(LookReason.SERVER_ERROR, answer)
        if answer.head is None:
            return _unclear(LookReason.NOT_GIT, answer)
        reason = LookReason.NONE if answer.head else LookReason.EMPTY
        return SourceLook(LookAnswer.HERE, reason, head=Head(answer.head))

    async def _judge_redirect(self, asked: RepositoryAddress, answer: Advertised) -> SourceLook:
        """Moved, if it leads to a repository at an address that we would fetch from; it is looked up, not asked."""
        target = _target(asked, answer)
        if target is None or self._is_same_place(asked, answer):
            return _unclear(LookReason.NOT_GIT, answer)
        try:
            address = check_address(target, settings=self._settings)
            async with self._proxy.passage(address, max_bytes=0):
                return SourceLook(LookAnswer.MOVED, moved_to=target)
        except AddressForbidden:
            return _unclear(LookReason.NOT_ALLOWED, answer)
        except SourceUnreachable:
            return _unclear(LookReason.UNREACHABLE, answer)


def _target(asked: RepositoryAddress, answer: Advertised) -> str | None:
    """The repository that a redirect leads to, in its normal form; None where it leads to anything else."""
    if not 300 <= answer.status < 400 or not answer.location:
        return None
    try:
        base, found, _ = urljoin(f"{asked.url}{REFS_PATH}", answer.location).partition(f"{REFS_PATH}?")
    except ValueError:
        return None
    return _normal(base) if found else None


def _normal(url: str) -> str | None:
    try:
        return normalise_repository_url(url).url
    except InvalidRepositoryUrl:
        return None


def _unclear(reason: LookReason, answer: Advertised) -> SourceLook:
    return SourceLook(LookAnswer.UNCLEAR, reason, retry_after_s=answer.retry_after_s)
