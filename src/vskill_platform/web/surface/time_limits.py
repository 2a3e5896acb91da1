"""The time that a request has to arrive, and that its answer has to begin."""

from __future__ import annotations

import asyncio

from litestar.types import HTTPReceiveMessage, Receive

from vskill_platform.domain.errors import AnswerTooSlow, RequestTooSlow


def arriving_in_time(receive: Receive, *, limit_s: float) -> Receive:
    """The client's messages, for as long as its body has to arrive. Raises RequestTooSlow after that.

    Once the body is there, waiting for the client has no end: that is how a stream hears that its reader has left.
    """
    ends_at = asyncio.get_running_loop().time() + limit_s
    is_there = False

    async def receive_in_time() -> HTTPReceiveMessage:
        nonlocal is_there
        if is_there:
            return await receive()  # type: ignore[return-value]
        try:
            async with asyncio.timeout_at(ends_at):
                message = await receive()
        except TimeoutError:
            raise RequestTooSlow(
                f"The body did not arrive within {limit_s:g} seconds. Send it again, in one go."
            ) from None
        is_there = message["type"] != "http.request" or not message.get("more_body", False)
        return message  # type: ignore[return-value]

    return receive_in_time


def answer_too_slow(limit_s: float) -> AnswerTooSlow:
    """What is said in the place of an answer that did not come."""
    return AnswerTooSlow(
        f"The answer was not ready within {limit_s:g} seconds, and was given up. If you asked for a change, look whether it "
        "was made before you ask again."
    )
