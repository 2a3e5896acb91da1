"""Named leases: at most one process at a time does a thing, and one that dies loses the lease by itself.

A lease is a key with a time to live, so it is the engine's clock that ends it, not the clocks of the machines that want it.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import Conflict
from vskill_platform.ports.commit import ABSENT, Delete, Put
from vskill_platform.worker_context import current_env

SKEW_S = 600.0
"""By how much the clocks of two machines may differ before one of them is taken to be wrong."""


class _Lease(msgspec.Struct, frozen=True, rename="camel"):
    holder: str
    until_ms: int


_leases = msgspec.json.Decoder(_Lease)


class HeldLease(NamedTuple):
    """A lease as its holder knows it."""

    name: str
    holder: str
    version: int


async def take_lease(name: str, *, holder: str, seconds: float) -> HeldLease | None:
    """The lease, if nobody has it; or if it runs so much longer than any lease that the clock must have been set back."""
    taken = await _write(HeldLease(name, holder, ABSENT), seconds=seconds)
    if taken is not None:
        return taken
    env = current_env("kv")
    entry = await env.kv.get(_key(name))
    if entry is None or _until_ms(entry.value) <= env.clock.now_ms() + (seconds + SKEW_S) * 1000:
        return None
    return await _write(HeldLease(name, holder, entry.version), seconds=seconds)


async def renew_lease(lease: HeldLease, *, seconds: float) -> HeldLease | None:
    """The lease for so long from now; None if it was lost."""
    return await _write(lease, seconds=seconds)


async def give_up_lease(lease: HeldLease) -> None:
    """Let the next one have it. Giving up what was lost is no error."""
    try:
        await current_env("writes").writes.commit([Delete(_key(lease.name), if_version=lease.version)])
    except Conflict:
        return


async def _write(lease: HeldLease, *, seconds: float) -> HeldLease | None:
    env = current_env("writes")
    value = msgspec.json.encode(_Lease(lease.holder, env.clock.now_ms() + int(seconds * 1000)))
    put = Put(_key(lease.name), value, if_version=lease.version, ttl_s=seconds)
    try:
        committed = await env.writes.commit([put])
    except Conflict:
        return None
    return lease._replace(version=committed.version)


def _until_ms(value: bytes) -> float:
    """When the lease in a value ends; one that cannot be read never ends, and so was never taken by us."""
    try:
        return _leases.decode(value).until_ms
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return float("inf")


def _key(name: str) -> str:
    return f"lease:{name}"
