"""How often one caller may do what: every request in the process's memory, single deeds over all processes.

A route that counts says so once, by its guard: `guards=[limited(SUBMISSIONS)]`. The guard runs before the body is read and
before any record is. Who comes with an API token is counted by it and by its account, who is signed in by the account, and
everybody else by the address. Both families of headers tell how a caller stands, on answers that were given and on those that
were not.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any, NamedTuple, cast

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.types import Scope

from vskill_platform.domain.access import Caller, CallerKind
from vskill_platform.domain.errors import RateLimited
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.limiter import Taken
from vskill_platform.settings import Settings
from vskill_platform.web.access import caller_in
from vskill_platform.web.surface.headers import Header
from vskill_platform.web.surface.problems import PLAIN_PLACES
from vskill_platform.worker_context import current_env

LIMITED = "limits_callers"
"""In the application's state: whether callers are counted. The operator on the control socket is not."""
RATE = "rate"
"""In a route's `opt`: the rate that its guard holds callers to."""
_STANDING = "vskill_platform.rate"
_MINUTE_S, _QUARTER_S, _HOUR_S = 60.0, 900.0, 3600.0
_MOST_CALLERS = 100_000
ACCOUNT_TIMES = 5
"""How much more of a rate an account has, with all its tokens together, than one token or one address alone."""
FROM_ADDRESS = "from one address"


class Rate(NamedTuple):
    """So many of one deed in a span of time, by the setting of that name."""

    name: str
    setting: str
    window_s: float
    what: str

    def limit(self, settings: Settings) -> int:
        """How many."""
        return int(getattr(settings, self.setting))


REQUESTS = Rate("requests", "requests_per_minute", _MINUTE_S, "requests a minute")
SUBMISSIONS = Rate("submissions", "submissions_per_hour", _HOUR_S, "submissions an hour")
DISCOVERIES = Rate("discoveries", "discoveries_per_hour", _HOUR_S, "looks at a repository an hour")
INSTALLS = Rate("installs", "installs_per_hour", _HOUR_S, "reported installs an hour")
STARS = Rate("stars", "stars_per_hour", _HOUR_S, "stars given or taken back an hour")
PUSHES = Rate("pushes", "pushes_per_hour", _HOUR_S, "pushed versions an hour")
UPLOADS = Rate("uploads", "uploads_per_hour", _HOUR_S, "uploaded files an hour")
SIGN_IN_CODES = Rate("sign-in-codes", "sign_ins_per_quarter_hour", _QUARTER_S, "codes for signing in in 15 minutes")
REPORTS = Rate("reports", "reports_per_quarter_hour", _QUARTER_S, "reports in 15 minutes")


class Budget(NamedTuple):
    """What somebody is counted as, and how many of a rate that is good for."""

    name: str
    limit: int
    whose: str


class Standing(NamedTuple):
    """How a caller stands against a rate after a request."""

    rate: Rate
    limit: int
    taken: Taken
    reset_s: float
    whose: str = FROM_ADDRESS


def limited(rate: Rate) -> Callable[[ASGIConnection[Any, Any, Any, Any], BaseRouteHandler], Awaitable[None]]:
    """The guard of a route that counts. Raises RateLimited where the caller has none left."""

    async def guard(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
        if connection.app.state.get(LIMITED):
            client = connection.client
            await take_place(connection.scope, rate, address=client.host if client else "")

    return guard


async def take_place(scope: Scope, rate: Rate, *, address: str) -> None:
    """Take one of what a caller has of a rate, exactly over all processes. Raises RateLimited where none is left."""
    env = current_env("limiter")
    tightest: Standing | None = None
    for name, limit, whose in budgets_of(caller_in(scope), address=address, limit=rate.limit(env.settings)):
        taken = await env.limiter.take(f"{rate.name}:{name}", limit=limit, window_s=rate.window_s)
        standing = Standing(rate, limit, taken, taken.retry_after_s or rate.window_s, whose)
        if tightest is None or not taken.allowed or taken.remaining < tightest.taken.remaining:
            tightest = standing
        if not taken.allowed:
            break
    assert tightest is not None
    tell_standing(scope, tightest)


def budgets_of(caller: Caller, *, address: str, limit: int) -> tuple[Budget, ...]:
    """What a caller is counted by, the narrowest first: its token and account, its account, or its address."""
    by_account = Budget(f"account:{caller.id}", limit * ACCOUNT_TIMES, "by one account")
    if caller.kind is CallerKind.TOKEN:
        return Budget(f"token:{caller.credential}", limit, "by one API token"), by_account
    if caller.kind is CallerKind.SESSION:
        return (by_account,)
    return (Budget(household(address), limit, FROM_ADDRESS),)


def tell_standing(scope: Scope, standing: Standing) -> None:
    """Keep how the caller stands for the headers of the answer. Raises RateLimited where it was not allowed."""
    cast("dict[str, Any]", scope)[_STANDING] = standing
    if not standing.taken.allowed:
        wait_s = standing.taken.retry_after_s
        raise RateLimited(
            f"{standing.limit} {standing.rate.what} are allowed {standing.whose}. "
            f"Try again in {math.ceil(wait_s)} seconds.",
            retry_after_s=wait_s,
        )


def rate_headers(scope: Scope, *, now_ms: int) -> tuple[Header, ...]:
    """How the caller stands, in the words of the standard and in those that clients have long known."""
    standing = cast("dict[str, Standing | None]", scope).get(_STANDING)
    if standing is None:
        return ()
    rate, limit, (_, remaining, _), reset_s, _ = standing
    reset = math.ceil(reset_s)
    return (
        *_policy_headers(rate, limit),
        (b"ratelimit", b'"%s";r=%d;t=%d' % (rate.name.encode(), remaining, reset)),
        (b"x-ratelimit-remaining", b"%d" % remaining),
        (b"x-ratelimit-reset", b"%d" % (now_ms // 1000 + reset)),
        *(_drafted_headers(limit, remaining, reset) if scope["path"].startswith(PLAIN_PLACES) else ()),
    )


def _drafted_headers(limit: int, remaining: int, reset_s: int) -> tuple[Header, ...]:
    """The same in the words of an earlier draft of the standard, which clients of ClawHub read."""
    return (
        (b"ratelimit-limit", b"%d" % limit),
        (b"ratelimit-remaining", b"%d" % remaining),
        (b"ratelimit-reset", b"%d" % reset_s),
    )


@lru_cache(64)
def _policy_headers(rate: Rate, limit: int) -> tuple[Header, Header]:
    policy = b'"%s";q=%d;w=%d' % (rate.name.encode(), limit, rate.window_s)
    return (b"ratelimit-policy", policy), (b"x-ratelimit-limit", b"%d" % limit)


@lru_cache(8192)
def household(address: str) -> str:
    """What an address is counted as. Whoever has one of IPv6 has a whole network of them: 64 bits count as one."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address or "unknown"
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped or IPv6Network((parsed, 64), strict=False))
    return str(parsed)


class RequestLimiter:
    """Every request of an address, counted in this process alone: cheap, and good enough against a flood.

    Each caller has one number, the moment at which all it took will have come back to it (GCRA), so a flood from many addresses
    costs little, and what is idle can be forgotten at any time.
    """

    def __init__(self, clock: Clock, settings: Settings) -> None:
        self._clock = clock
        self._limit = REQUESTS.limit(settings)
        self._window_ms = REQUESTS.window_s * 1000
        self._each_ms = self._window_ms / self._limit
        self._full_at: dict[str, float] = {}

    def take(self, address: str) -> Standing:
        """Take one request of an address."""
        now_ms = self._clock.now_ms()
        caller = household(address)
        full_at = max(self._full_at.get(caller, now_ms), now_ms) + self._each_ms
        wait_ms = full_at - now_ms - self._window_ms
        if wait_ms > 0:
            return Standing(REQUESTS, self._limit, Taken(False, 0, wait_ms / 1000), wait_ms / 1000)
        self._full_at[caller] = full_at
        if len(self._full_at) > _MOST_CALLERS:
            self._forget_idle(now_ms)
        remaining = int((now_ms + self._window_ms - full_at) / self._each_ms)
        return Standing(REQUESTS, self._limit, Taken(True, remaining, 0.0), (full_at - now_ms) / 1000)

    def _forget_idle(self, now_ms: int) -> None:
        """Forget who has everything back; where nearly all are busy, everybody, since memory is worth more than a count."""
        busy = {caller: full_at for caller, full_at in self._full_at.items() if full_at > now_ms}
        self._full_at = busy if len(busy) < _MOST_CALLERS // 2 else {}
