"""What acts on many things come to, told as it happened."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class ItemOutcome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What became of one thing, in a word and in a sentence."""

    id: str
    outcome: str
    detail: str


class BulkResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`done`, `skipped` and `failed` sum to `total`."""

    done: int
    skipped: int
    failed: int
    total: int
    outcomes: list[ItemOutcome]


class SliceResult(BulkResult, frozen=True, kw_only=True, rename="camel"):
    """The same for one slice of what was asked for. `next` is what to send as `from` for the next one; null after the last."""

    next: str | None = None


class Requeued(SliceResult, frozen=True, kw_only=True, rename="camel"):
    """The same for sending back. `requeued` is what was done, by its own name."""

    requeued: int


def sum_up(outcomes: Iterable[ItemOutcome], *, done: Iterable[str], failed: Iterable[str] = ("failed",)) -> BulkResult:
    """The result of acts whose outcome words in `done` mean that it was done, in `failed` that it was tried in vain."""
    listed, done_words, failed_words = list(outcomes), set(done), set(failed)
    done_count = sum(item.outcome in done_words for item in listed)
    failed_count = sum(item.outcome in failed_words for item in listed)
    return BulkResult(
        done=done_count,
        skipped=len(listed) - done_count - failed_count,
        failed=failed_count,
        total=len(listed),
        outcomes=listed,
    )


def sum_up_slice(
    outcomes: Iterable[ItemOutcome],
    *,
    done: Iterable[str],
    failed: Iterable[str] = ("failed",),
    following: str | None,
) -> SliceResult:
    """The same for one slice."""
    return SliceResult(**msgspec.structs.asdict(sum_up(outcomes, done=done, failed=failed)), next=following)


def as_requeued(result: SliceResult) -> Requeued:
    """The result of sending back."""
    return Requeued(**msgspec.structs.asdict(result), requeued=result.done)
