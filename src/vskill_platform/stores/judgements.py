"""Judgements by what they are about, so that the same question is not paid for twice.

There is one a content digest: the newest. It counts where everything that the question was made of is the same: the rules with
their changes, the prompt, the model, how much is shown, and the findings. So nothing has to be thrown away after a time, and
what is kept grows with the skills that were judged and with nothing else.
"""

from __future__ import annotations

import msgspec
import structlog

from vskill_platform.domain.errors import MalformedRecord
from vskill_platform.domain.judgement import Judgement
from vskill_platform.domain.records import Record
from vskill_platform.domain.scan import ScanReport, Severity
from vskill_platform.ports.commit import Put
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env


class KeptJudgement(Record, frozen=True, kw_only=True, rename="camel"):
    """A judgement and what it was asked by."""

    ruleset_version: str
    shown_bytes: int
    judgement: Judgement


_kept = msgspec.json.Decoder(KeptJudgement)
_log = structlog.get_logger(__name__)


async def find_judgement(report: ScanReport, *, model: str, prompt_version: str) -> Judgement | None:
    """What the judge has said of these bytes when it was asked the very same; None where it was not."""
    env = current_env("kv")
    key = judgement_key(report.content_digest)
    entry = await env.kv.get(key)
    if entry is None:
        return None
    try:
        kept = decode_record(key, entry.value, decoder=_kept)
    except MalformedRecord as error:
        _log.warning("judgement_unreadable", key=key, error=error.message)
        return None
    said = kept.judgement
    asked = (kept.ruleset_version, kept.shown_bytes, said.model, said.prompt_version)
    wanted = (report.ruleset_version, env.settings.judge_max_input_bytes, model, prompt_version)
    if asked != wanted or not speaks_of(said, report):
        return None
    return msgspec.structs.replace(said, is_from_cache=True, tokens=0, tokens_out=0, duration_ms=0.0)


def keeping_judgement(report: ScanReport, judgement: Judgement) -> list[Put]:
    """The operation that keeps a judgement for the next time; none where it has no verdict, since that may pass."""
    if judgement.verdict is None:
        return []
    shown_bytes = current_env("settings").settings.judge_max_input_bytes
    record = KeptJudgement(ruleset_version=report.ruleset_version, shown_bytes=shown_bytes, judgement=judgement)
    return [Put(judgement_key(report.content_digest), encode_record(record))]


def judgement_key(content_digest: str) -> str:
    """The key of the newest judgement of a skill's bytes."""
    return f"judgement:{content_digest}"


def speaks_of(judgement: Judgement, report: ScanReport) -> bool:
    """Whether the judgement is about exactly these findings, as far as the judge is asked about findings."""
    judged = {(said.rule_id, said.file, said.line) for said in judgement.findings}
    counted = {
        (found.rule_id, found.file, found.line) for found in report.findings if found.severity is not Severity.INFO
    }
    return judged == counted or (judged < counted and bool(judgement.left_out))
