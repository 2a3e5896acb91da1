"""A registry with something of everything in it, for tests that ask it anything."""

from __future__ import annotations

from pathlib import Path

from vskill_platform.domain.blocklist import Block, BlockKind
from vskill_platform.domain.records import HistoryEntry
from vskill_platform.domain.scan import Verdict
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.commit import Operation, Put
from vskill_platform.ports.engine import Engine
from vskill_platform.stores.blocklist import blocking
from vskill_platform.stores.records import encode_record
from vskill_platform.testing.submissions import putting_skill, putting_submission, submission_at

IDS = [f"sub_{number:032x}" for number in range(120)]
SLUGS = [f"acme/skills/skill-{number}" for number in range(60)]
WORDS = ("pdf forms", "データ 処理", "naïve café", "x" * 60, "<b>bold</b>")


async def load_registry(engine: Engine) -> None:
    """Submissions in every state, skills of every tier, entries of every kind."""
    now_ms = SystemClock().now_ms()
    operations = [part for number, identity in enumerate(IDS) for part in _submission(number, identity, now_ms=now_ms)]
    for number, slug in enumerate(SLUGS):
        operations += putting_skill(slug, **_skill_fields(number, now_ms=now_ms))
    for block in _blocks(now_ms):
        operations += blocking(block)
    await engine.writes.commit(operations)


async def load_folder(data: Path) -> None:
    """The same in a data folder that nobody has open."""
    data.mkdir(parents=True, exist_ok=True)
    engine = await open_sqlite(data / "registry.db", clock=SystemClock(), synchronous="OFF")
    try:
        await load_registry(engine)
    finally:
        await engine.close()


def _submission(number: int, identity: str, *, now_ms: int) -> list[Operation]:
    states = list(SubmissionState)
    state = states[number % len(states)]
    is_published = state is SubmissionState.PUBLISHED
    submission = submission_at(
        state,
        updated_ms=now_ms,
        identity=identity,
        repo_url=f"https://github.com/acme/repository-{number % 7}",
        skill_name=f"{WORDS[number % len(WORDS)]} {number}",
        verdict=list(Verdict)[number % len(Verdict)],
        score=number % 101,
        slug=SLUGS[number % len(SLUGS)] if is_published else None,
        version="1.0.0" if is_published else None,
        timings={"fetch": number, "scan": 2 * number},
    )
    entry = HistoryEntry(
        number=1,
        run=1,
        source=None,
        state=SubmissionState.RECEIVED,
        trigger=Trigger.SUBMITTED,
        actor=Actor.SUBMITTER,
        timestamp=iso_from_ms(now_ms),
        message="Received.",
    )
    return [*putting_submission(submission), Put(f"hist:{identity}:00000001", encode_record(entry))]


def _skill_fields(number: int, *, now_ms: int) -> dict[str, object]:
    moment = iso_from_ms(now_ms - number * 1000)
    return {
        "description": f"Does {WORDS[number % len(WORDS)]}.",
        "category": ("writing", "data", "")[number % 3],
        "publisher": f"publisher-{number % 4}",
        "version": "1.0.0",
        "score": 60 + number % 41,
        "published_at": moment,
        "updated_at": moment,
    }


def _blocks(now_ms: int) -> list[Block]:
    about = {"actor": Actor.ADMIN, "created_at": iso_from_ms(now_ms), "reason": "It steals credentials."}
    digests = [Block(kind=BlockKind.DIGEST, digest=f"sha256:{number:064x}", **about) for number in range(12)]  # type: ignore[arg-type]
    return [
        *digests,
        Block(kind=BlockKind.NAME, skill_name="evil-skill", **about),  # type: ignore[arg-type]
        Block(kind=BlockKind.REPOSITORY, repo_url="https://github.com/evil/everything", **about),  # type: ignore[arg-type]
    ]
