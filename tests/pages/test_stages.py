"""The stages of a submission, read off how it stands."""

from __future__ import annotations

import msgspec
import pytest

from vskill_platform.domain.records import HistoryEntry
from vskill_platform.domain.scan import ScanReport, Verdict
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.web.pages.stages import Standing, is_under_way, stages_of
from vskill_platform.web.pages.submission_words import may_try_again, tell_standing
from vskill_platform.web.views import ChildView, SubmissionView

S, A, C, D, F = SubmissionState, Standing.AHEAD, Standing.CURRENT, Standing.DONE, Standing.FAILED
NOW = "2026-11-16T10:00:00.000Z"
REPORT = ScanReport(
    name="demo", verdict=Verdict.PASS, score=100, flagged=False, content_digest="sha256:1", ruleset_version="1",
    scanner_version="1",
)  # fmt: skip


def view(state: SubmissionState, **changes: object) -> SubmissionView:
    fresh = SubmissionView(
        id="sub_1", skill_name="demo", skill_path="", state=state, run=1, reason=None, verdict=None, score=None,
        slug=None, version=None, repo_url="https://github.com/acme/skills", tree_path="", parent_id=None, commit=None,
        content_digest=None, created_at=NOW, updated_at=NOW, timings={},
        published_skill_name=None, history=[], scan=None, lint=None, children=[],
    )  # fmt: skip
    return msgspec.structs.replace(fresh, **changes)


def child(state: SubmissionState) -> ChildView:
    return ChildView(
        id="sub_2", skill_name="a", skill_path="a", state=state, run=1, reason=None, verdict=None, score=None,
        slug=None, version=None,
    )  # fmt: skip


SCANNED = {"content_digest": "sha256:1", "scan": REPORT, "timings": {"fetch": 20, "scan": 30}}


@pytest.mark.parametrize(
    ("shown", "standings"),
    [
        (view(S.RECEIVED), [C, A, A, A, A]),
        (view(S.TIER1_SCANNING), [D, C, A, A, A]),
        (view(S.TIER1_SCANNING, content_digest="sha256:1"), [D, D, C, A, A]),
        (view(S.REJECTED, reason="repository_not_found"), [D, F, A, A, A]),
        (view(S.REJECTED, reason="invalid_frontmatter", content_digest="sha256:1"), [D, D, F, A, A]),
        (view(S.BLOCKED, reason="blocked_name"), [D, A, A, F, A]),
        (view(S.NEEDS_REVIEW, **SCANNED), [D, D, D, C, A]),
        (view(S.TIER1_FAILED, reason="tier1_failed", **SCANNED), [D, D, D, F, A]),
        (view(S.AUTO_APPROVED, **SCANNED), [D, D, D, D, C]),
        (view(S.PUBLISHED, version="1.0.0", **SCANNED), [D, D, D, D, D]),
        (view(S.RECEIVED, skill_name=""), [C, A, A, A]),
        (view(S.REJECTED, skill_name="", reason="source_unreachable"), [D, F, A, A]),
        (view(S.REJECTED, skill_name="", reason="no_skill_md", timings={"fetch": 9}), [D, D, F, A]),
        (view(S.EXPANDED, skill_name="", timings={"fetch": 9}, children=[child(S.RECEIVED)]), [D, D, D, C]),
        (view(S.EXPANDED, skill_name="", timings={"fetch": 9}, children=[child(S.PUBLISHED)]), [D, D, D, D]),
    ],
    ids=lambda shown: f"{shown.state}-{shown.reason}" if isinstance(shown, SubmissionView) else "",
)
def test_stages_stand_as_the_submission_does(shown: SubmissionView, standings: list[Standing]) -> None:
    assert [stage.standing for stage in stages_of(shown)] == standings


@pytest.mark.parametrize("state", list(SubmissionState))
def test_every_state_has_words_and_stages(state: SubmissionState) -> None:
    for name in ("demo", ""):
        shown = view(state, skill_name=name)
        assert tell_standing(shown).title
        assert stages_of(shown)
        assert not (is_under_way(shown) and may_try_again(shown))


def test_bytes_that_were_blocked_may_come_again_changed__what_a_person_blocked_may_not() -> None:
    assert may_try_again(view(S.BLOCKED, reason="blocked_digest"))
    assert not may_try_again(view(S.BLOCKED, reason="blocked_repository"))


def test_times_are_of_the_present_run__when_it_was_submitted_again() -> None:
    steps = [
        HistoryEntry(
            number=run, run=run, source=None, state=S.RECEIVED, trigger=Trigger.SUBMITTED, actor=Actor.SUBMITTER,
            timestamp=f"2026-11-1{run}T10:00:00.000Z", message="Received.",
        )
        for run in (1, 2)
    ]  # fmt: skip
    first = stages_of(view(S.RECEIVED, run=2, history=steps))[0]
    assert first.at == "2026-11-12T10:00:00.000Z"
