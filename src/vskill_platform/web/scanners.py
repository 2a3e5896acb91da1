"""How the second opinions stand, for operators: who is asked, whether they can be, what waits, what came last, and the judge."""

from __future__ import annotations

from collections import Counter

import msgspec

from vskill_platform.domain.external_provider import Carrier
from vskill_platform.domain.messages import EXTERNAL_SCANS_QUEUE
from vskill_platform.pipeline.asked_providers import asked_providers
from vskill_platform.ports.second_opinions import Judge
from vskill_platform.stores.external_figures import LastResult, list_last_results
from vskill_platform.stores.external_scans import iter_open
from vskill_platform.stores.judge_spending import (
    JudgeStanding,
    Spending,
    cost_of,
    exceeds,
    get_judge_standing,
    get_spending,
)
from vskill_platform.stores.reads import require_readable
from vskill_platform.worker_context import current_env

MOST_COUNTED = 10_000


class ProviderStanding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An external scanner. `unavailableBecause` is empty where it can be asked, and null where only the workers know.

    `open` counts requests without an answer, as far as they were counted, and `oldestOpenMs` is how long the oldest waits.
    `last` is the newest result of each kind, the newest first.
    """

    name: str
    carrier: Carrier
    is_on: bool
    unavailable_because: str | None
    open: int
    oldest_open_ms: int | None
    last: tuple[LastResult, ...]


class JudgeView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The judge. `isBreakerOpen` is null where only the workers know. A limit of 0 is none."""

    is_on: bool
    model: str
    last: JudgeStanding | None
    is_breaker_open: bool | None
    today: Spending
    cost_today: float
    tokens_per_day: int
    cost_per_day: float
    is_limit_reached: bool


class ScannersView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All of it. The queue carries what our own workers run or send; what remote workers fetch waits outside it."""

    asked_when: str
    providers: list[ProviderStanding]
    waiting: int
    delayed: int
    running: int
    dead: int
    oldest_ms: int | None
    is_count_whole: bool
    judge: JudgeView


async def read_scanners() -> ScannersView:
    """How the second opinions stand. Raises StoreUnavailable where that cannot be read."""
    env = current_env("queue")
    now_ms = env.clock.now_ms()
    stats = await env.queue.stats(EXTERNAL_SCANS_QUEUE)
    counted, oldest, is_whole = await _count_open(now_ms)
    last = require_readable(await list_last_results())
    asked = asked_providers()
    names = [*asked, *sorted({*counted, *(result.provider for result in last)} - asked.keys())]
    return ScannersView(
        asked_when=env.settings.external_scans_when,
        providers=[
            ProviderStanding(
                name=name,
                carrier=asked[name].carrier if name in asked else Carrier.LOCAL,
                is_on=name in asked,
                unavailable_because=await _unavailable(
                    name, is_here=name in asked and asked[name].carrier is Carrier.LOCAL
                ),
                open=counted[name],
                oldest_open_ms=oldest.get(name),
                last=tuple(sorted((one for one in last if one.provider == name), key=lambda one: one.at, reverse=True)),
            )
            for name in names
        ],
        waiting=stats.waiting,
        delayed=stats.delayed,
        running=stats.leased,
        dead=stats.dead,
        oldest_ms=None if stats.oldest_ms is None else now_ms - stats.oldest_ms,
        is_count_whole=is_whole,
        judge=await _read_judge(),
    )


async def _count_open(now_ms: int) -> tuple[Counter[str], dict[str, int], bool]:
    """Open requests by provider, the age of the oldest of each, and whether all were counted. Ids begin with their time."""
    counted: Counter[str] = Counter()
    oldest: dict[str, int] = {}
    async for provider, identity in iter_open():
        counted[provider] += 1
        moment = identity.partition("-")[0]
        if moment.isdigit():
            oldest[provider] = max(oldest.get(provider, 0), now_ms - int(moment))
        if counted.total() >= MOST_COUNTED:
            return counted, oldest, False
    return counted, oldest, True


async def _unavailable(name: str, *, is_here: bool) -> str | None:
    """Why a scanner cannot be asked, if this process has it; a process that only serves pages has none."""
    scanner = current_env("external").external.get(name)
    if scanner is None or not is_here:
        return None
    return await scanner.unavailable_because()


async def _read_judge() -> JudgeView:
    env = current_env("kv")
    settings, spent = env.settings, await get_spending()
    return JudgeView(
        is_on=bool(settings.judge_url),
        model=settings.judge_model,
        last=await get_judge_standing(),
        is_breaker_open=_breaker(env.judge),
        today=spent,
        cost_today=round(cost_of(spent, settings), 6),
        tokens_per_day=settings.judge_tokens_per_day,
        cost_per_day=settings.judge_cost_per_day,
        is_limit_reached=exceeds(spent, settings),
    )


def _breaker(judge: Judge | None) -> bool | None:
    """Whether a judge of this process is left alone for having failed too often; None where it has no breaker to ask."""
    breaker = getattr(judge, "breaker", None)
    return None if breaker is None else bool(breaker.is_open)
