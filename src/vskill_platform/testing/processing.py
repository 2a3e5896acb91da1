"""Work on a submission that needs neither network nor scanner, for tests of what surrounds the work."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.errors import ScannerUnavailable, SourceUnreachable, UnknownMessageKind
from vskill_platform.domain.messages import ProcessSubmission, decode_message
from vskill_platform.domain.repo_health import NO_HEAD, Head, LookAnswer, LookReason, SourceLook
from vskill_platform.domain.scan import ScanReport
from vskill_platform.domain.submission import SubmissionState, Trigger
from vskill_platform.pipeline.claim import claim_submission
from vskill_platform.pipeline.delivery import Delivery
from vskill_platform.ports.queue import Message
from vskill_platform.ports.scanner import NO_CHANGES
from vskill_platform.ports.source import Snapshot


async def review_everything(message: Message) -> None:
    """Claim the submission as real work does, then leave it to a person."""
    task = decode_message(message.body)
    if not isinstance(task, ProcessSubmission):
        raise UnknownMessageKind(f"The submissions queue does not carry messages of kind '{type(task).__name__}'.")
    found = await claim_submission(message, task)
    if found is None:
        return
    delivery = Delivery(message, found)
    step = delivery.step(
        SubmissionState.NEEDS_REVIEW,
        Trigger.REVIEW_NEEDED,
        "A person has to look at it.",
        changes={"reason": "review_everything"},
    )
    await delivery.finish(step)


class NoSource:
    """A source that is down."""

    def fetch(self, repo_url: str, *, tree_path: str = "") -> AbstractAsyncContextManager[Snapshot]:
        """Raises SourceUnreachable."""
        raise SourceUnreachable(f"Nothing can be fetched here, and neither can {repo_url} {tree_path}.")

    async def newest_commit(self, repo_url: str, *, tree_path: str = "") -> str:
        """Raises SourceUnreachable."""
        raise SourceUnreachable(f"Nothing can be asked here, and neither can {repo_url} {tree_path}.")

    async def look(self, repo_url: str, *, known: Head = NO_HEAD) -> SourceLook:
        """Finds nothing out."""
        return SourceLook(LookAnswer.UNCLEAR, LookReason.UNREACHABLE)


class NoScanner:
    """A scanner that is down."""

    async def scan(self, content: SkillContent, *, changes: Mapping[str, str] = NO_CHANGES) -> ScanReport:
        """Raises ScannerUnavailable."""
        raise ScannerUnavailable(f"Nothing can be scanned here, and neither can these {len(content.files)} files.")
