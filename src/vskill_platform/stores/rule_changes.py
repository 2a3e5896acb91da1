"""The changes that operators have made to the rules: those in force in one record, which every scan reads, and all of the past.

Because each scan reads the record when it begins, a change is in force for every scan of every process that begins after its
commit, and there is nothing to be told, restarted or forgotten.
"""

from __future__ import annotations

import msgspec

from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.rule_changes import PastChange, RuleChange, RuleChanges, after_change
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import ABSENT, Emit, Put
from vskill_platform.stores.reads import read_prefix, require_complete
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env

CHANGES_KEY = "rules:changes"
CHANGED = "rules.changed"
_TRIES = 5
_changes = msgspec.json.Decoder(RuleChanges)
_past = msgspec.json.Decoder(PastChange)


async def get_rule_changes() -> RuleChanges:
    """The changes in force. Raises MalformedRecord rather than scan by rules that nobody chose."""
    return (await _read())[0]


async def put_rule_change(rule: str, *, word: str | None, by: str, reason: str) -> RuleChanges:
    """Put a word for a rule in force, or with None take it back. Who changes another rule at the same time loses nothing."""
    for attempt in range(_TRIES):
        try:
            return await _put(rule, word=word, by=by, reason=reason)
        except Conflict:
            if attempt == _TRIES - 1:
                raise
    raise AssertionError("unreachable")


async def list_past_changes(rule: str) -> list[PastChange]:
    """Everything that was ever changed of a rule, newest first."""
    found = require_complete(await read_prefix(_history_prefix(rule), _decode_past))
    return sorted(found, key=lambda past: past.number, reverse=True)


async def _put(rule: str, *, word: str | None, by: str, reason: str) -> RuleChanges:
    env = current_env("writes")
    before, value, version = await _read()
    at = iso_from_ms(env.clock.now_ms())
    after = after_change(before, rule, None if word is None else RuleChange(word=word, by=by, at=at, reason=reason))
    past = PastChange(
        number=after.count, rule=rule, word=word, before=before.words.get(rule), by=by, at=at, reason=reason
    )
    kept = encode_record(after) if value is None else encode_changed(after, key=CHANGES_KEY, previous=value)
    told = msgspec.json.encode({"rule": rule, "word": word, "before": past.before})
    await env.writes.commit(
        [
            Put(CHANGES_KEY, kept, if_version=version),
            Put(f"{_history_prefix(rule)}{past.number:08d}", encode_record(past), if_version=ABSENT),
            Emit(CHANGED, rule, told),
        ]
    )
    return after


async def _read() -> tuple[RuleChanges, bytes | None, int]:
    entry = await current_env("kv").kv.get(CHANGES_KEY)
    if entry is None:
        return RuleChanges(), None, ABSENT
    return decode_record(CHANGES_KEY, entry.value, decoder=_changes), entry.value, entry.version


def _history_prefix(rule: str) -> str:
    return f"rules:history:{rule}:"


def _decode_past(key: str, value: bytes) -> PastChange:
    return decode_record(key, value, decoder=_past)
