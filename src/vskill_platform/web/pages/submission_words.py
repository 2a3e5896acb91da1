"""What a submission's page says in sentences: how it stands, what happens next, and what became of a wish to submit."""

from __future__ import annotations

from typing import NamedTuple

from vskill_platform.domain.blocklist import BLOCKED_DIGEST
from vskill_platform.domain.slug import is_pushed
from vskill_platform.domain.submission import CATEGORY_OF, WITHDRAWN_BY_PUBLISHER, Category, SubmissionState, Trigger
from vskill_platform.pipeline.intake import Answer
from vskill_platform.stores.positions import Position
from vskill_platform.web.pages.wording import duration
from vskill_platform.web.views import SubmissionView

_STANDS = {
    SubmissionState.RECEIVED: ("info", "It waits for a worker", "Nothing is to be done. This page follows by itself."),
    SubmissionState.TIER1_SCANNING: ("info", "It is being fetched and scanned", "This page follows by itself."),
    SubmissionState.TIER2_SCANNING: ("info", "It waits for second opinions", "This page follows by itself."),
    SubmissionState.AUTO_APPROVED: ("info", "It is approved and being published", "This page follows by itself."),
    SubmissionState.VENDOR_APPROVED: ("info", "It is approved and being published", "This page follows by itself."),
    SubmissionState.NEEDS_REVIEW: (
        "warn",
        "A person decides about it",
        "The scan found something that may be right and may be wrong. Whoever runs this registry decides; mending what is "
        "listed below and submitting again may be faster.",
    ),
    SubmissionState.PUBLISHED: ("pass", "It is published", ""),
    SubmissionState.TIER1_FAILED: (
        "fail",
        "It was turned down",
        "Mend what is listed below in the repository, then try again: the newest commit is looked at.",
    ),
    SubmissionState.REJECTED: ("fail", "It was turned down", "Mend what is said above, then try again."),
    SubmissionState.BLOCKED: (
        "fail",
        "It is on the blocklist",
        "It stays so until whoever runs this registry lifts the block.",
    ),
    SubmissionState.DEQUEUED: ("warn", "It was taken out of the queue", "It can be submitted again."),
}
_ANSWERS = {
    Answer.CREATED: ("info", "Thank you. It is in the queue."),
    Answer.PENDING: ("info", "It was submitted before and is still under way. This is how it stands."),
    Answer.VERIFIED: ("pass", "It is published already, and its repository has not changed since."),
    Answer.BLOCKED: ("fail", "It is on the blocklist, so nothing was started."),
    Answer.REJECTED: ("warn", "It was turned down or withdrawn, and nothing was started. This is how it stands."),
}


class Told(NamedTuple):
    """A notice: its look, what it says, and what to do."""

    look: str
    title: str
    advice: str = ""


def tell_standing(view: SubmissionView) -> Told:
    """How a submission stands and what to do about it."""
    if view.state is SubmissionState.EXPANDED:
        return _tell_expanded(view)
    if view.reason == BLOCKED_DIGEST:
        return Told(
            "fail",
            "These very bytes were turned down before",
            "Mend what is said above in the repository, then try again: other bytes are looked at anew.",
        )
    if view.reason == WITHDRAWN_BY_PUBLISHER:
        return Told("warn", "Its publisher has withdrawn it", "Nobody but the publisher brings it in again.")
    if view.reason == Trigger.REVIEW_REJECTED:
        return Told("fail", "A person turned it down", "It is looked at again when its source changes.")
    return Told(*_STANDS[view.state])


def _tell_expanded(view: SubmissionView) -> Told:
    by_category = [CATEGORY_OF[child.state] for child in view.children]
    active, published = by_category.count(Category.ACTIVE), by_category.count(Category.PUBLISHED)
    is_one = len(by_category) == 1
    if active:
        title = "Its skill is under way" if is_one else f"{active} of its {len(by_category)} skills are under way"
        return Told("info", title, "This page follows by itself.")
    if published == len(by_category):
        return Told("pass", "All of it is published")
    return Told(
        "warn" if published else "fail",
        "Its skill is not published" if is_one else f"{published} of its {len(by_category)} skills are published",
        "What is not published says on its own page what to mend. Then try again: only what has changed is looked at.",
    )


def tell_answer(word: str) -> Told | None:
    """What became of a wish to submit, by the word in the page's address; None for any other word."""
    try:
        return Told(*_ANSWERS[Answer(word)])
    except ValueError:
        return None


def may_try_again(view: SubmissionView) -> bool:
    """Whether coming again can start anything: what has ended may have been mended since. What was pushed is pushed again."""
    if is_pushed(view.repo_url):
        return False
    if view.state is SubmissionState.BLOCKED:
        return view.reason == BLOCKED_DIGEST
    if view.reason == WITHDRAWN_BY_PUBLISHER:
        return False
    return CATEGORY_OF[view.state] is not Category.ACTIVE


def tell_place(position: Position) -> str:
    """Where it stands in the line and how long it is likely to wait, as far as that is known."""
    if position.position is None:
        return ""
    place = f"Number {position.position:,} of {position.total:,} in the line"
    if position.expected_wait_s is None:
        return f"{place}."
    return f"{place}. It should be taken up in about {duration(position.expected_wait_s * 1000)}."
