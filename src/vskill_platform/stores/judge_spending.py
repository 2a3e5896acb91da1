"""What the judge may cost a day, all workers together, and how it has been doing.

Tokens are taken before a question is asked and set right once it is answered. They are counted by adding, so nobody waits for
anybody, and whoever finds after taking that it was too much gives back and does not ask: the limit is never passed, however many
ask at once. A worker that dies in between has taken what it said it would.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from vskill_platform.domain.records import Record
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import Add, Put
from vskill_platform.settings import Settings
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

SPENT_PREFIX = "judge-spent:"
STANDING_KEY = "judge-standing"
KEPT_S = 40 * 86_400.0
_MILLION = 1_000_000


class Spending(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a day has cost so far. Questions that are open count by what they may take."""

    questions: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class Taken(NamedTuple):
    """What was set aside for one question, and on which day."""

    day: str
    tokens_in: int
    tokens_out: int


class JudgeStanding(Record, frozen=True, kw_only=True, rename="camel"):
    """How the last question to the judge went, by whichever worker it was asked."""

    model: str
    prompt_version: str
    asked_at: str
    verdict: str | None = None
    problem: str = ""
    problem_code: str = ""
    took_ms: float = 0.0


_spendings = msgspec.json.Decoder(Spending)
_standings = msgspec.json.Decoder(JudgeStanding)


async def get_spending(day: str | None = None) -> Spending:
    """What the judge has cost on a day (`2026-11-16`), today unless it is named."""
    key = f"{SPENT_PREFIX}{day or _today()}"
    entry = await current_env("kv").kv.get(key)
    return Spending() if entry is None else decode_record(key, entry.value, decoder=_spendings)


async def get_judge_standing() -> JudgeStanding | None:
    """How the last question went, or None where none was asked."""
    entry = await current_env("kv").kv.get(STANDING_KEY)
    return None if entry is None else decode_record(STANDING_KEY, entry.value, decoder=_standings)


async def take_tokens(*, tokens_in: int, tokens_out: int) -> Taken | None:
    """Set tokens aside for a question; None where the day's limit does not allow it."""
    taken = Taken(_today(), tokens_in, tokens_out)
    await current_env("writes").writes.commit([_adding(taken, questions=1)])
    if not exceeds(await get_spending(taken.day), current_env("settings").settings):
        return taken
    await current_env("writes").writes.commit([_adding(Taken(taken.day, -tokens_in, -tokens_out), questions=-1)])
    return None


def settling(taken: Taken, *, tokens_in: int, tokens_out: int) -> Add:
    """The operation that sets what was taken right by what was used."""
    return _adding(Taken(taken.day, tokens_in - taken.tokens_in, tokens_out - taken.tokens_out), questions=0)


def telling_standing(standing: JudgeStanding) -> Put:
    """The operation that says how the last question went. Whoever writes last has asked last."""
    return Put(STANDING_KEY, encode_record(standing))


def exceeds(spending: Spending, settings: Settings) -> bool:
    """Whether so much is more than a day may cost."""
    tokens = spending.tokens_in + spending.tokens_out
    is_over_tokens = 0 < settings.judge_tokens_per_day < tokens
    return is_over_tokens or 0 < settings.judge_cost_per_day < cost_of(spending, settings)


def cost_of(spending: Spending, settings: Settings) -> float:
    """What so much costs, in the currency of the prices."""
    read = spending.tokens_in * settings.judge_input_price
    return (read + spending.tokens_out * settings.judge_output_price) / _MILLION


def _adding(taken: Taken, *, questions: int) -> Add:
    amounts = {"questions": questions, "tokensIn": taken.tokens_in, "tokensOut": taken.tokens_out}
    return Add(f"{SPENT_PREFIX}{taken.day}", amounts, ttl_s=KEPT_S)


def _today() -> str:
    return iso_from_ms(current_env("clock").clock.now_ms())[:10]
