"""Second opinions for operators: how scanners and the judge stand, and asking one of them again."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import Conflict, IllegalTransition, NotFound
from vskill_platform.domain.external_provider import Carrier
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.pipeline.asking_again import ask_provider_again
from vskill_platform.stores.external_figures import LastResult
from vskill_platform.stores.judge_spending import JudgeStanding, Spending
from vskill_platform.web.access import needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.scanners import JudgeView, ProviderStanding, ScannersView, read_scanners

TAGS = ["admin"]
_SLUG = "acme/skills/pdf-forms"
_THEN = "2026-02-21T10:00:00.000Z"
_SCANNERS = ScannersView(
    asked_when="after",
    providers=[
        ProviderStanding(
            name="bandit",
            carrier=Carrier.LOCAL,
            is_on=True,
            unavailable_because="",
            open=1,
            oldest_open_ms=850,
            last=(
                LastResult(
                    provider="bandit",
                    status=ExternalScanStatus.PASS,
                    subject=_SLUG,
                    at=_THEN,
                    score=99,
                    duration_ms=850.0,
                ),
            ),
        )
    ],
    waiting=0,
    delayed=0,
    running=1,
    dead=0,
    oldest_ms=850,
    is_count_whole=True,
    judge=JudgeView(
        is_on=True,
        model="local-model",
        last=JudgeStanding(model="local-model", prompt_version="1", asked_at=_THEN, verdict="PASS", took_ms=2100.0),
        is_breaker_open=False,
        today=Spending(questions=12, tokens_in=84_000, tokens_out=9_000),
        cost_today=0.0,
        tokens_per_day=2_000_000,
        cost_per_day=0.0,
        is_limit_reached=False,
    ),
)


class AskAgain(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which scanner is to look at which skill again, and why."""

    slug: Annotated[str, msgspec.Meta(min_length=1, max_length=400)]
    provider: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    reason: str


class Asked(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who was asked about what."""

    slug: str
    provider: str
    detail: str


@get(
    "/api/v1/admin/scanners",
    summary="How scanners and the judge stand",
    tags=TAGS,
    opt=described(_SCANNERS, access=needs(Permission.SEE_PANEL)),
)
async def show_scanners() -> ScannersView:
    """Who is asked for a second opinion, whether they can be, what waits for them, what came last, and what the judge costs."""
    return await read_scanners()


@post(
    "/api/v1/admin/scanners/ask",
    summary="Ask a scanner again",
    tags=TAGS,
    status_code=200,
    opt=described(
        Asked(slug=_SLUG, provider="bandit", detail="bandit is asked again."),
        body=AskAgain(slug=_SLUG, provider="bandit", reason="It was not installed then."),
        errors=(NotFound, IllegalTransition, Conflict),
        access=needs(Permission.STEER_QUEUE),
    ),
)
async def ask_scanner(request: PageRequest, data: JSONBody[AskAgain]) -> Asked:
    """Have one scanner look at the published bytes of one skill again. What it said before, or is at, no longer counts."""
    slug = await act(
        request,
        "scanners.ask",
        subject=f"{data.slug}@{data.provider}",
        reason=data.reason,
        run=lambda: ask_provider_again(data.slug, data.provider),
    )
    return Asked(slug=slug, provider=data.provider, detail=f"{data.provider} is asked again.")


SCANNER_ROUTES = [show_scanners, ask_scanner]
