"""The judge of tier 2: where it is, what it is shown, and what it may cost."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from vskill_platform.settings.alerts_and_webhooks import AlertAndWebhookSettings


class JudgeSettings(AlertAndWebhookSettings, frozen=True, kw_only=True):
    """The judge's server, its limits and its prices."""

    judge_url: Annotated[
        str,
        Meta(
            description="Address of an OpenAI-compatible server that judges skills as tier 2 (`http://127.0.0.1:11434/v1`); "
            "it may be on loopback or a private network; empty means that there is no judge."
        ),
    ] = ""
    judge_model: Annotated[str, Meta(description="Name of the model that the judge's server is asked for.")] = ""
    judge_api_key: Annotated[
        str, Meta(description="Key to the judge's server; empty means that it needs none. Never printed.")
    ] = ""
    judge_time_limit_s: Annotated[
        float, Meta(gt=0, le=3600, description="Longest that one judgement may take, with all its tries.")
    ] = 60.0
    judge_in_flight: Annotated[
        int, Meta(ge=1, le=1000, description="Questions to the judge that one worker may have open at the same time.")
    ] = 4
    judge_max_input_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            le=16 * 1024**2,
            description="Bytes of a skill that the judge is shown; what has more is never let pass by the judge.",
        ),
    ] = 200_000
    judge_tokens_per_day: Annotated[
        int, Meta(ge=0, description="Tokens, both ways, that all workers may spend in a day (UTC); 0 means no limit.")
    ] = 5_000_000
    judge_cost_per_day: Annotated[
        float, Meta(ge=0, description="What all workers may spend in a day (UTC), by the two prices; 0 means no limit.")
    ] = 0.0
    judge_input_price: Annotated[
        float, Meta(ge=0, description="Price of a million tokens that the judge reads, in any currency.")
    ] = 0.0
    judge_output_price: Annotated[
        float, Meta(ge=0, description="Price of a million tokens that the judge writes, in the same currency.")
    ] = 0.0
