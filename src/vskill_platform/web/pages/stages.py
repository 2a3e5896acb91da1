"""A submission's journey as people see it: a few stages, each waiting, under way, done or failed, with its time.

Pure: everything is read off the public view of a submission.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from vskill_platform.domain.records import HistoryEntry
from vskill_platform.domain.submission import APPROVED_STATES, CATEGORY_OF, Category, SubmissionState, Trigger
from vskill_platform.web.pages.wording import state_words
from vskill_platform.web.views import SubmissionView

_SCANNING = frozenset({SubmissionState.TIER1_SCANNING, SubmissionState.TIER2_SCANNING})
_PASSING = frozenset({Trigger.SUBMITTED, Trigger.CLAIMED, Trigger.RECOVERED, Trigger.TIER1_PASSED})
"""Steps on the way, which decide nothing."""


class Standing(StrEnum):
    """How a stage stands."""

    AHEAD = "ahead"
    CURRENT = "current"
    DONE = "done"
    FAILED = "failed"


class Stage(NamedTuple):
    """One stage. `at` is when it ended (or, of the first, began), `took_ms` how long it took; both only where known."""

    title: str
    standing: Standing
    note: str = ""
    at: str = ""
    took_ms: int | None = None


def stages_of(view: SubmissionView) -> list[Stage]:
    """The stages of the present run: a skill is decided and published, a repository becomes its skills."""
    steps = [entry for entry in view.history if entry.run == view.run]
    first = [_received(view, steps), _fetched(view, steps)]
    if view.skill_name:
        return [*first, _scanned(view), _decided(view, steps), _published(view, steps)]
    return [*first, _expanded(view, steps), _all_decided(view)]


def is_under_way(view: SubmissionView) -> bool:
    """Whether a worker still has something to do with it or with one of its skills."""
    return any(CATEGORY_OF[part.state] is Category.ACTIVE for part in [view, *view.children])


def last_step(view: SubmissionView) -> HistoryEntry | None:
    """The step that led to how it stands now."""
    return view.history[-1] if view.history else None


def _received(view: SubmissionView, steps: list[HistoryEntry]) -> Stage:
    at = steps[0].timestamp if steps else view.created_at
    if view.state is SubmissionState.RECEIVED:
        return Stage("Received", Standing.CURRENT, "Waiting for a worker", at)
    return Stage("Received", Standing.DONE, "" if view.run == 1 else f"Run {view.run}", at)


def _fetched(view: SubmissionView, steps: list[HistoryEntry]) -> Stage:
    took_ms = view.timings.get("fetch")
    if view.content_digest is not None and took_ms is None:
        return Stage("Fetched", Standing.DONE, "With its repository", steps[0].timestamp if steps else "")
    if took_ms is not None or view.scan is not None:
        return Stage("Fetched", Standing.DONE, _commit(view), took_ms=took_ms)
    if view.state in _SCANNING:
        return Stage("Fetched", Standing.CURRENT, "Fetching the repository")
    if view.state is SubmissionState.REJECTED:
        return Stage("Fetched", Standing.FAILED, _reason(view), view.updated_at)
    return Stage("Fetched", Standing.AHEAD)


def _scanned(view: SubmissionView) -> Stage:
    if view.scan is not None:
        note = f"{view.scan.verdict.value}, {view.scan.score} of 100"
        return Stage("Scanned", Standing.DONE, note, took_ms=view.timings.get("scan"))
    if view.state is SubmissionState.TIER2_SCANNING:
        return Stage("Scanned", Standing.DONE, "By our own rules")
    if view.state in _SCANNING and view.content_digest is not None:
        return Stage("Scanned", Standing.CURRENT, "Reading every file")
    if view.state is SubmissionState.REJECTED and view.content_digest is not None:
        return Stage("Scanned", Standing.FAILED, _reason(view), view.updated_at)
    return Stage("Scanned", Standing.AHEAD)


def _decided(view: SubmissionView, steps: list[HistoryEntry]) -> Stage:
    match CATEGORY_OF[view.state]:
        case Category.REVIEW:
            return Stage("Decided", Standing.CURRENT, "A person decides", view.updated_at)
        case Category.REJECTED | Category.BLOCKED:
            is_reached = view.scan is not None or view.state is SubmissionState.BLOCKED
            return (
                Stage("Decided", Standing.FAILED, _reason(view), view.updated_at) if is_reached else _ahead("Decided")
            )
        case Category.PUBLISHED:
            return Stage("Decided", Standing.DONE, "Approved", _decided_at(steps))
        case Category.ACTIVE if view.state in APPROVED_STATES:
            return Stage("Decided", Standing.DONE, "Approved", _decided_at(steps))
        case Category.ACTIVE if view.state is SubmissionState.TIER2_SCANNING:
            return Stage("Decided", Standing.CURRENT, "Waits for second opinions")
        case Category.ACTIVE:
            return _ahead("Decided")


def _decided_at(steps: list[HistoryEntry]) -> str:
    return next((step.timestamp for step in steps if step.trigger not in _PASSING), "")


def _published(view: SubmissionView, steps: list[HistoryEntry]) -> Stage:
    if view.state is SubmissionState.PUBLISHED:
        return Stage("Published", Standing.DONE, f"Version {view.version}", view.updated_at)
    if view.state in APPROVED_STATES:
        return Stage("Published", Standing.CURRENT, "Being published")
    return _ahead("Published")


def _expanded(view: SubmissionView, steps: list[HistoryEntry]) -> Stage:
    if view.state is SubmissionState.EXPANDED:
        return Stage("Skills found", Standing.DONE, f"{len(view.children)}", view.updated_at)
    if view.state in (SubmissionState.REJECTED, SubmissionState.BLOCKED) and "fetch" in view.timings:
        return Stage("Skills found", Standing.FAILED, _reason(view), view.updated_at)
    return _ahead("Skills found")


def _all_decided(view: SubmissionView) -> Stage:
    if view.state is not SubmissionState.EXPANDED:
        return _ahead("Decided")
    waiting = sum(CATEGORY_OF[child.state] is Category.ACTIVE for child in view.children)
    done = len(view.children) - waiting
    note = f"{done} of {len(view.children)}"
    return Stage("Decided", Standing.CURRENT if waiting else Standing.DONE, note)


def _ahead(title: str) -> Stage:
    return Stage(title, Standing.AHEAD)


def _reason(view: SubmissionView) -> str:
    return state_words(view.reason.upper() if view.reason else view.state.value)


def _commit(view: SubmissionView) -> str:
    return f"At {view.commit[:12]}" if view.commit else ""
