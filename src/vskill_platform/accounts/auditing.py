"""What people do before anybody knows who they are (signing in, using a link), told in the audit log like every other act."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from vskill_platform.domain.access import CallerKind
from vskill_platform.domain.account import Account
from vskill_platform.domain.audit import Act
from vskill_platform.stores.audit import run_audited
from vskill_platform.worker_context import current_env

T = TypeVar("T")


async def audited_as(
    name: str, act: str, *, reason: str, run: Callable[[], Awaitable[T]], account: Account | None = None
) -> T:
    """Do something in the name of an account, each commit with its entry."""
    wanted = Act(
        act=act,
        subject=name,
        reason=reason,
        actor=name,
        actor_id="" if account is None else account.id,
        role="" if account is None else account.role.value,
        via=CallerKind.NOBODY.value,
        request=str(structlog.contextvars.get_contextvars().get("request", "")),
    )
    return await run_audited(wanted, run)


async def note_as(account: Account, act: str, *, reason: str) -> None:
    """Tell of something that changes nothing."""

    async def nothing() -> None:
        await current_env("writes").writes.commit([])

    await audited_as(account.name, act, reason=reason, account=account, run=nothing)
