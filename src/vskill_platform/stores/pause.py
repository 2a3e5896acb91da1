"""The pause: while it lasts, no message is received. It always ends by itself."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.errors import InvalidInput
from vskill_platform.domain.records import Record
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import Delete, Emit, Put
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

PAUSE_KEY = "queue:paused"
MAX_PAUSE_S = 86_400.0


class Pause(Record, frozen=True, kw_only=True, rename="camel"):
    """Why, since when and until when nothing is received."""

    reason: str
    since: str
    until: str


_pauses = msgspec.json.Decoder(Pause)


async def pause_queue(*, reason: str, seconds: float | None = None) -> Pause:
    """Stop receiving, for a while (the setting's, unless said; a day at most). Pausing again sets a new end."""
    env = current_env("writes")
    lasts_s = env.settings.pause_s if seconds is None else seconds
    if not 0 < lasts_s <= MAX_PAUSE_S:
        raise InvalidInput(f"A pause lasts more than 0 and at most {MAX_PAUSE_S:.0f} seconds, not {lasts_s}.")
    now_ms = env.clock.now_ms()
    pause = Pause(reason=reason, since=iso_from_ms(now_ms), until=iso_from_ms(now_ms + int(lasts_s * 1000)))
    value = encode_record(pause)
    await env.writes.commit([Put(PAUSE_KEY, value, ttl_s=lasts_s), Emit("queue.paused", "queue", value)])
    return pause


async def resume_queue() -> None:
    """Receive again. Resuming what is not paused is no error."""
    await current_env("writes").writes.commit([Delete(PAUSE_KEY), Emit("queue.resumed", "queue", b"{}")])


async def is_paused() -> bool:
    """Whether nothing may be received. A pause that cannot be read is a pause."""
    return await current_env("kv").kv.get(PAUSE_KEY) is not None


async def get_pause() -> Pause | None:
    """The pause in force, or None."""
    entry = await current_env("kv").kv.get(PAUSE_KEY)
    return None if entry is None else decode_record(PAUSE_KEY, entry.value, decoder=_pauses)
