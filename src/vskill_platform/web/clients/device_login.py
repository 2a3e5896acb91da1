"""Signing a program in from another device (RFC 8628), at the addresses where clients of ClawHub look: the origin's own.

A program asks for a code, a person who is signed in approves it on a page (`web/pages/devices.py`), and the program, which asks
again and again meanwhile, gets a token of that account once.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Request, Response, post
from litestar.datastructures import State
from litestar.params import JSONBody
from litestar.status_codes import HTTP_400_BAD_REQUEST

from vskill_platform.accounts.auditing import audited_as
from vskill_platform.domain.access import Scope
from vskill_platform.domain.account import MAX_TOKEN_NAME_CHARS
from vskill_platform.stores.accounts import get_account
from vskill_platform.stores.device_codes import INTERVAL_S, LASTS_S, DeviceState, open_device_code, poll_device
from vskill_platform.stores.tokens import create_token
from vskill_platform.web.api.owning import NOT_KEPT
from vskill_platform.web.site import site_url
from vskill_platform.web.surface.rate_limits import SIGN_IN_CODES, limited

DEVICE_PAGE = "/cli/device"
GRANT = "urn:ietf:params:oauth:grant-type:device_code"
PROGRAM_SCOPES = (Scope.READ, Scope.SUBMIT, Scope.MANAGE)
"""What a program that was signed in so may be used for: nothing that a moderator or an administrator does."""
PROGRAM_DAYS = 180
_WHY = {
    DeviceState.PENDING: "Nobody has approved the code yet.",
    DeviceState.TOO_FAST: "Ask less often.",
    DeviceState.DENIED: "The code was turned down.",
    DeviceState.EXPIRED: "The code is over or was used. Ask for a new one.",
}
Short = Annotated[str, msgspec.Meta(max_length=400)]
Answer = Response[dict[str, object]]


class CodeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A program that wants to be signed in, and what it calls itself."""

    label: Short = ""


class TokenRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A program that asks how its code stands."""

    device_code: Short
    grant_type: Short = GRANT

    def __repr__(self) -> str:
        """Without the code."""
        return "TokenRequest()"


@post("/api/cli/device/code", status_code=200, guards=[limited(SIGN_IN_CODES)])
async def make_device_code(request: Request[Any, Any, State], data: JSONBody[CodeRequest]) -> Answer:
    """A code for a program and one for a person."""
    opened = await open_device_code(program_name(data.label))
    page = f"{site_url(request)}{DEVICE_PAGE}"
    return Response(
        {
            "device_code": opened.device_code,
            "user_code": opened.user_code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}?code={opened.user_code}",
            "expires_in": int(LASTS_S),
            "interval": INTERVAL_S,
        },
        headers=NOT_KEPT,
    )


@post("/api/cli/device/token", status_code=200)
async def give_device_token(data: JSONBody[TokenRequest]) -> Answer:
    """The token, once somebody has approved the code; until then the word for how it stands."""
    if data.grant_type != GRANT:
        return _error("unsupported_grant_type", "This address takes device codes.")
    polled = await poll_device(data.device_code)
    account = await get_account(polled.account) if polled.state is DeviceState.APPROVED else None
    if account is None or account.is_disabled:
        state = DeviceState.DENIED if polled.state is DeviceState.APPROVED else polled.state
        return _error(state.value, _WHY[state])
    made = await audited_as(
        account.name,
        "token.create",
        reason=f"A program was signed in by a code: {polled.label}.",
        account=account,
        run=lambda: create_token(account, name=polled.label, scopes=PROGRAM_SCOPES, expires_in_days=PROGRAM_DAYS),
    )
    told: dict[str, object] = {"access_token": made.text, "token_type": "bearer", "scope": " ".join(PROGRAM_SCOPES)}
    return Response(told, headers=NOT_KEPT)


def program_name(label: str) -> str:
    """What the token of a program is called: what it calls itself, as far as that is a name."""
    shown = "".join(letter for letter in label if letter.isprintable())
    return " ".join(shown.split())[:MAX_TOKEN_NAME_CHARS].strip() or "A program"


def _error(code: str, description: str) -> Answer:
    told: dict[str, object] = {"error": code, "error_description": description}
    return Response(told, status_code=HTTP_400_BAD_REQUEST, headers=NOT_KEPT)


DEVICE_ROUTES = [make_device_code, give_device_token]
