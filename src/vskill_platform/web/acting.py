"""Admin acts: done by somebody, for a reason, and told in the audit log by the commit that does them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import structlog
from litestar import Request
from litestar.datastructures import State

from vskill_platform.domain.audit import Act
from vskill_platform.domain.errors import InvalidInput
from vskill_platform.stores.audit import run_audited
from vskill_platform.web.access import caller_of

T = TypeVar("T")
MAX_REASON_CHARS = 1000


async def act(
    request: Request[Any, Any, State], name: str, *, subject: str, reason: str, run: Callable[[], Awaitable[T]]
) -> T:
    """Do something as the caller: each commit of `run` carries an entry of the audit log. Raises InvalidInput for no reason."""
    caller = caller_of(request)
    wanted = Act(
        act=name,
        subject=subject,
        reason=require_reason(reason),
        actor=caller.name,
        actor_id=caller.id,
        role=caller.role.value if caller.role else "",
        via=caller.kind.value,
        request=str(structlog.contextvars.get_contextvars().get("request", "")),
    )
    return await run_audited(wanted, run)


async def act_on_each(
    request: Request[Any, Any, State], name: str, *, ids: Sequence[str], reason: str, run: Callable[[str], Awaitable[T]]
) -> list[T]:
    """Do the same to each of many things, one after the other and each as an act of its own. One given twice counts once."""
    require_reason(reason)
    return [
        await act(request, name, subject=identity, reason=reason, run=partial(run, identity))
        for identity in dict.fromkeys(ids)
    ]


def require_reason(reason: str) -> str:
    """The reason without space around it. Raises InvalidInput for none, or one that is a book."""
    reason = reason.strip()
    if not 1 <= len(reason) <= MAX_REASON_CHARS:
        raise InvalidInput(f"Say why, in 1 to {MAX_REASON_CHARS} characters: the audit log keeps it.")
    return reason
