"""Named leases: at most one process at a time does a thing, and one that dies loses the lease by itself.

A lease is a key with a time to live, so it is the engine's clock that ends it, not the clocks of the machines that want it.
"""

from __future__ import annotations

from typing import NamedTuple

from vskill_platform.domain.errors import Conflict
from vskill_platform.ports.commit import ABSENT, Delete, Put
from vskill_platform.worker_context import current_env


class HeldLease(NamedTuple):
    """A lease as its holder knows it."""

    name: str
    holder: str
    version: int


async def take_lease(name: str, *, holder: str, seconds: float) -> HeldLease | None:
    """The lease, if nobody has it."""
    return await _write(HeldLease(name, holder, ABSENT), seconds=seconds)


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
    put = Put(_key(lease.name), lease.holder.encode(), if_version=lease.version, ttl_s=seconds)
    try:
        committed = await current_env("writes").writes.commit([put])
    except Conflict:
        return None
    return lease._replace(version=committed.version)


def _key(name: str) -> str:
    return f"lease:{name}"
