"""Second opinions on a submission's way: when external scanners are asked, and what a submission does meanwhile.

After publication the commit that publishes asks them. Before publication a submission whose tier 1 let it pass waits in
TIER2_SCANNING: the commit that asks puts its message back with a delay as long as it may wait, and the commit that stores the
last answer makes the message deliverable at once. So nobody polls, and a wait ends whatever becomes of the scanners.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from vskill_platform.domain.decision import Decision, was_approved
from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.external_provider import Provider
from vskill_platform.domain.opinions import decide_opinions
from vskill_platform.domain.records import Pin, Submission
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.pipeline.asked_providers import asked_providers
from vskill_platform.pipeline.candidate import Candidate
from vskill_platform.pipeline.delivery import Delivery
from vskill_platform.ports.commit import Check, Operation
from vskill_platform.stores.external_dispatch import requesting
from vskill_platform.stores.external_scans import (
    FoundScan,
    external_scan_key,
    find_external_scan,
    putting_scan,
    telling,
)
from vskill_platform.stores.submissions import changing
from vskill_platform.worker_context import current_env

_TRIES = 5


async def hear_opinions(
    delivery: Delivery,
    candidate: Candidate,
    decision: Decision,
    *,
    operations: list[Operation],
    changes: Mapping[str, object],
) -> Decision | None:
    """The decision to go by, or None where the submission now waits for answers.

    `operations` and `changes` keep what is known so far, should it have to wait. What a person has decided about these bytes
    needs no other opinion.
    """
    providers = _asked_before_publication()
    if not providers or was_approved(candidate.submission, candidate.content_digest):
        return decision
    for attempt in range(_TRIES):
        try:
            return await _hear(delivery, candidate, providers, decision, operations=operations, changes=changes)
        except Conflict:  # an answer came this moment: look again
            if attempt == _TRIES - 1:
                raise
    raise AssertionError("unreachable")


async def _hear(
    delivery: Delivery,
    candidate: Candidate,
    providers: Mapping[str, Provider],
    decision: Decision,
    *,
    operations: list[Operation],
    changes: Mapping[str, object],
) -> Decision | None:
    known = await _known(candidate.submission, providers)
    current = {name: found for name, found in known.items() if _is_current(found, candidate)}
    missing = [provider for name, provider in providers.items() if name not in current]
    remaining_s = _remaining_s(current)
    if missing or (remaining_s > 0 and any(found.scan.is_open for found in current.values())):
        asked = _requesting(candidate, missing, known)
        held = [Check(_key(found), found.version) for found in current.values()]
        await _wait(delivery, [*operations, *asked, *held], changes=changes, delay_s=remaining_s)
        return None
    return decide_opinions({name: found.scan.status for name, found in current.items()}) or decision


async def asking_for_review(candidate: Candidate) -> list[Operation]:
    """The operations that ask for whoever reviews what may not be published by itself: they need not wait for the answers."""
    providers = _asked_before_publication()
    known = await _known(candidate.submission, providers)
    missing = [
        provider for name, provider in providers.items() if name not in known or not _is_current(known[name], candidate)
    ]
    return _requesting(candidate, missing, known)


async def asking_with_publication(candidate: Candidate, *, slug: str) -> list[Operation]:
    """The operations by which the commit that publishes asks every provider, or takes over what it has said already."""
    operations: list[Operation] = []
    for name, provider in asked_providers().items():
        before = await find_external_scan(candidate.submission.id, name)
        previous = await find_external_scan(slug, name)
        if before is not None and not before.scan.is_open and before.scan.is_about(candidate.content_digest):
            taken = msgspec.structs.replace(before.scan, slug=slug)
            operations += [putting_scan(taken, previous), *telling(taken)]
        else:
            operations += _requesting_one(candidate, provider, slug=slug, previous=previous)
    return operations


def is_waiting(submission: Submission, *, run: int) -> bool:
    """Whether a submission waits for the answers that were asked for in this run."""
    return submission.state is SubmissionState.TIER2_SCANNING and submission.run == run


def _asked_before_publication() -> dict[str, Provider]:
    return asked_providers() if current_env("settings").settings.external_scans_when == "before" else {}


async def _known(submission: Submission, providers: Mapping[str, Provider]) -> dict[str, FoundScan]:
    found = {name: await find_external_scan(submission.id, name) for name in providers}
    return {name: scan for name, scan in found.items() if scan is not None}


def _is_current(found: FoundScan, candidate: Candidate) -> bool:
    return found.scan.is_about(candidate.content_digest, run=candidate.submission.run)


def _remaining_s(current: Mapping[str, FoundScan]) -> float:
    """How long the submission may go on waiting, from when it first asked."""
    env = current_env("clock")
    wait_s, now_ms = env.settings.external_scans_wait_s, env.clock.now_ms()
    asked_ms = min((ms_from_iso(found.scan.requested_at) for found in current.values()), default=now_ms)
    return max(0.0, wait_s - (now_ms - asked_ms) / 1000)


def _requesting(candidate: Candidate, providers: list[Provider], known: Mapping[str, FoundScan]) -> list[Operation]:
    return [
        operation
        for provider in providers
        for operation in _requesting_one(
            candidate, provider, slug=candidate.submission.id, previous=known.get(provider.name)
        )
    ]


def _requesting_one(
    candidate: Candidate, provider: Provider, *, slug: str, previous: FoundScan | None
) -> list[Operation]:
    pin: Pin = candidate.pinned.pin
    submission = candidate.submission
    return requesting(slug, provider, previous=previous, pin=pin, submission_id=submission.id, run=submission.run)


async def _wait(
    delivery: Delivery, operations: list[Operation], *, changes: Mapping[str, object], delay_s: float
) -> None:
    """Put the message back, with the submission in TIER2_SCANNING and all that goes with it, in one commit."""
    submission = delivery.submission
    if submission.state is SubmissionState.TIER2_SCANNING:
        waiting = msgspec.structs.replace(submission, **{"claim": None, **changes})
        await delivery.put_back(changing(delivery.found, waiting), *operations, delay_s=delay_s)
        return
    step = delivery.step(
        SubmissionState.TIER2_SCANNING,
        Trigger.TIER1_PASSED,
        "Passed our own scan; it waits for external scanners.",
        changes=changes,
    )
    await delivery.put_back(*delivery.moving(step), *operations, delay_s=delay_s)


def _key(found: FoundScan) -> str:
    return external_scan_key(found.scan.slug, found.scan.provider)
