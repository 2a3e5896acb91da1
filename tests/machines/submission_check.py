"""What must be true of every submission at every moment, whatever happened to its messages and its workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from tests.machines.stage import Disagreement, agree
from vskill_platform.domain.catalog import SUBMISSIONS
from vskill_platform.domain.errors import IllegalTransition
from vskill_platform.domain.ids import MessageId, claim_key, submission_key
from vskill_platform.domain.records import HistoryEntry, Submission
from vskill_platform.domain.recovery import MAX_RECOVERIES, STUCK_STATES, due_ms
from vskill_platform.domain.submission import (
    DELIVERABLE_STATES,
    Actor,
    SubmissionState,
    Trigger,
    check_transition,
    count_by_category,
)
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.events import Event
from vskill_platform.ports.kv import DueIndex, Scan
from vskill_platform.ports.queue import MessageInfo
from vskill_platform.stores.submissions import get_submission_index

_FAR_MS = 2**50
_submissions = msgspec.json.Decoder(Submission)
_history = msgspec.json.Decoder(HistoryEntry)
EFFECTS = (Trigger.REVIEW_NEEDED, Trigger.PUBLISHED)


@dataclass
class Records:
    """Everything that is stored of every submission."""

    submissions: dict[str, Submission] = field(default_factory=dict)
    history: dict[str, list[HistoryEntry]] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)

    @property
    def steps(self) -> dict[str, int]:
        """How many steps each submission has taken."""
        return {id: len(entries) for id, entries in self.history.items()}


@dataclass
class World:
    """The same with what the due index and the queue know of it."""

    records: Records
    due: dict[str, int]
    messages: dict[MessageId, MessageInfo]


async def read_records(env: WorkerEnv) -> Records:
    """Read the records, in one pass over everything that is stored."""
    records = Records()
    assert isinstance(env.kv, Scan)
    async for chunk in env.kv.scan(""):
        for key, value in chunk:
            match key.split(":"):
                case ["sub", identity]:
                    records.submissions[identity] = _submissions.decode(value)
                case ["hist", identity, _]:
                    records.history.setdefault(identity, []).append(_history.decode(value))
                case ["claim", _]:
                    records.claims[key] = value.decode()
    agree("submissions with a history", records.history.keys(), records.submissions.keys())
    return records


async def read_world(env: WorkerEnv) -> World:
    """Read everything."""
    records = await read_records(env)
    assert isinstance(env.kv, DueIndex)
    page = await env.kv.list_due("sub:", before_ms=_FAR_MS, limit=1000)
    ids = [MessageId(submission.message_id or "") for submission in records.submissions.values()]
    return World(records, {entry.key: entry.due_ms for entry in page.entries}, await env.queue.find(ids))


def check_world(world: World) -> None:
    """Records, history, claims and due index fit together."""
    submissions = world.records.submissions.values()
    for submission in submissions:
        _check_history(submission, world.records.history[submission.id])
        _check_effects(world.records.history[submission.id])
        _check_way_on(submission, world)
    agree("claims", world.records.claims, {claim_key(s.repo_url, s.skill_name): s.id for s in submissions})
    due = {submission_key(s.id): due_ms(s.state, updated_ms=s.updated_ms) for s in submissions}
    agree("due index", world.due, {key: moment for key, moment in due.items() if moment is not None})


def _check_history(submission: Submission, entries: Sequence[HistoryEntry]) -> None:
    """Every step is in the table, follows the one before, and together they give the record."""
    agree("numbers of the history", [entry.number for entry in entries], list(range(1, submission.history_length + 1)))
    state: SubmissionState | None = None
    for entry in entries:
        agree(f"source of step {entry.number}", entry.source, state)
        _check_table(entry)
        if entry.actor is Actor.WORKER and entry.source not in DELIVERABLE_STATES:
            raise Disagreement(f"a delivery moved a submission out of {entry.source}")
        state = entry.state
    last = entries[-1]
    agree(
        "record and history",
        (submission.state, submission.run, submission.updated_at),
        (state, last.run, last.timestamp),
    )
    moments = [(entry.run, entry.timestamp) for entry in entries]
    agree("order of runs and times", moments, sorted(moments))


def _check_table(entry: HistoryEntry) -> None:
    try:
        check_transition(entry.source, entry.state, trigger=entry.trigger, actor=entry.actor)
    except IllegalTransition as error:
        raise Disagreement(error.message) from error


def _check_effects(entries: Sequence[HistoryEntry]) -> None:
    effects = Counter(entry.run for entry in entries if entry.trigger in EFFECTS)
    agree("runs with more than one effect", {run: n for run, n in effects.items() if n > 1}, {})


def _check_way_on(submission: Submission, world: World) -> None:
    """What is not at an end has a message, or will be found by the sweep and sent again."""
    if submission.recoveries > MAX_RECOVERIES:
        raise Disagreement(f"{submission.id} was recovered {submission.recoveries} times")
    if submission.state not in STUCK_STATES:
        agree(f"claim of {submission.id}, which is {submission.state}", submission.claim, None)
    elif MessageId(submission.message_id or "") not in world.messages:
        agree("whether the sweep will find it", submission_key(submission.id) in world.due, True)


async def check_catalog(records: Records, env: WorkerEnv) -> None:
    """The catalog says the same as the records. Needs the env in scope."""
    page = await get_submission_index(limit=1000)
    rows = {row.id: (row.state, row.run, row.updated_at, row.reason) for row in page.rows}
    submissions = records.submissions.values()
    agree("catalog", rows, {s.id: (s.state, s.run, s.updated_at, s.reason) for s in submissions})
    agree("total of the catalog", page.total, len(rows))
    counts = await env.catalog.counts(SUBMISSIONS, "state")
    agree("counts by state", counts, dict(Counter(s.state.value for s in submissions)))
    by_category = count_by_category({SubmissionState(state): n for state, n in counts.items()})
    agree("counts by category", sum(by_category.values()), page.total)


def check_events(records: Records, events: Sequence[Event]) -> None:
    """One event for every step of every submission, in the order of the steps."""
    told: dict[str, list[tuple[str | None, str, int]]] = {id: [] for id in records.submissions}
    for event in events:
        if event.kind.startswith("submission."):
            data = msgspec.json.decode(event.data)
            told[event.subject].append((data["from"], data["state"], data["run"]))
    steps = {id: [(e.source, e.state, e.run) for e in entries] for id, entries in records.history.items()}
    agree("events and history", told, steps)
