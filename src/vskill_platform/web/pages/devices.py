"""Pages on which somebody lets a program in that runs elsewhere: by the code that it shows, or by way of their own machine.

Both ask twice: which program, and whether it is one's own. Nobody keeps them, and a token is in none of them but the last
one, which hands it to a program on the same machine.
"""

from __future__ import annotations

import base64
import binascii
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from litestar import Response, get, post
from litestar.enums import RequestEncodingType
from litestar.params import Body, QueryParameter
from litestar.response import Redirect
from litestar.status_codes import HTTP_200_OK, HTTP_303_SEE_OTHER, HTTP_400_BAD_REQUEST

from vskill_platform.domain.access import CallerKind, Permission
from vskill_platform.domain.errors import CodeRefused, InvalidInput
from vskill_platform.stores.device_codes import decide_device, find_waiting
from vskill_platform.stores.tokens import create_token
from vskill_platform.web.access import ACCESS, caller_of, needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.account import account_of
from vskill_platform.web.clients.device_login import DEVICE_PAGE, PROGRAM_DAYS, PROGRAM_SCOPES, program_name
from vskill_platform.web.pages.rendering import PageRequest, page
from vskill_platform.web.site import site_url
from vskill_platform.web.surface.rate_limits import SIGN_IN_CODES, limited

LOOPBACK_PAGE = "/cli/auth"
_NOT_KEPT = {"Cache-Control": "no-store"}
_OWN = {ACCESS: needs(Permission.CHANGE_ACCOUNT)}
Text = Annotated[str, msgspec.Meta(max_length=2000)]
Code = Annotated[str, QueryParameter(name="code", max_length=40)]
Parameter = Annotated[str, QueryParameter(max_length=2000)]
GivenState = Annotated[str, QueryParameter(name="state", max_length=200)]


class CodeForm(msgspec.Struct, frozen=True, kw_only=True):
    """What the form sends that a code is typed into, and the one that decides about it."""

    code: Text = ""
    decision: Text = ""


class LoopbackForm(msgspec.Struct, frozen=True, kw_only=True):
    """What the form sends that lets a program on the same machine in."""

    redirect_uri: Text = ""
    label: Text = ""
    state: Text = ""


SentCode = Annotated[CodeForm, Body(media_type=RequestEncodingType.URL_ENCODED)]
SentLoopback = Annotated[LoopbackForm, Body(media_type=RequestEncodingType.URL_ENCODED)]


@get(DEVICE_PAGE)
async def show_device(request: PageRequest, code: Code = "") -> Response[str] | Redirect:
    """The form for the code; who is not signed in yet signs in first."""
    return _sign_in_first(request) or _device_page(request, code=code)


@post(DEVICE_PAGE, status_code=HTTP_200_OK, guards=[limited(SIGN_IN_CODES)], opt=_OWN)
async def decide_about_device(request: PageRequest, data: SentCode) -> Response[str]:
    """Say which program shows the code; with a decision, take it."""
    try:
        if data.decision not in ("approve", "deny"):
            return _device_page(request, code=data.code, label=(await find_waiting(data.code)).label)
        is_approved = data.decision == "approve"
        decided = await decide_device(data.code, account=caller_of(request).id, is_approved=is_approved)
    except CodeRefused as error:
        return _device_page(request, code=data.code, trouble=error.message)
    told = (
        f"{decided.label} is signed in as {caller_of(request).name}."
        if is_approved
        else f"{decided.label} is not let in."
    )
    return _device_page(request, done=told)


def _device_page(
    request: PageRequest, *, code: str = "", label: str = "", trouble: str = "", done: str = ""
) -> Response[str]:
    return page(
        request,
        "device.html",
        status_code=HTTP_400_BAD_REQUEST if trouble else HTTP_200_OK,
        headers=_NOT_KEPT,
        code=code[:40],
        label=label,
        trouble=trouble,
        done=done,
        name=caller_of(request).name,
        scopes=PROGRAM_SCOPES,
        days=PROGRAM_DAYS,
    )


@get(LOOPBACK_PAGE)
async def show_loopback(
    request: PageRequest, redirect_uri: Parameter = "", label_b64: Parameter = "", given_state: GivenState = ""
) -> Response[str] | Redirect:
    """Ask whether a program on one's own machine is to be let in."""
    check_loopback(redirect_uri)
    form = LoopbackForm(redirect_uri=redirect_uri, label=program_name(_decode(label_b64)), state=given_state)
    return _sign_in_first(request) or _loopback_page(request, form, target="")


@post(LOOPBACK_PAGE, status_code=HTTP_200_OK, guards=[limited(SIGN_IN_CODES)], opt=_OWN)
async def let_loopback_in(request: PageRequest, data: SentLoopback) -> Response[str]:
    """Make a token and lead the browser to the program with it, in a part of the address that no server sees."""
    check_loopback(data.redirect_uri)
    account, label = await account_of(request), program_name(data.label)
    made = await act(
        request,
        "token.create",
        subject=account.name,
        reason=f"A program on one's own machine was signed in: {label}.",
        run=lambda: create_token(account, name=label, scopes=PROGRAM_SCOPES, expires_in_days=PROGRAM_DAYS),
    )
    handed = urlencode({"token": made.text, "registry": f"{site_url(request)}/clawhub", "state": data.state})
    return _loopback_page(request, data, target=f"{data.redirect_uri}#{handed}")


def _loopback_page(request: PageRequest, form: LoopbackForm, *, target: str) -> Response[str]:
    return page(
        request,
        "loopback.html",
        headers=_NOT_KEPT,
        form=form,
        target=target,
        name=caller_of(request).name,
        scopes=PROGRAM_SCOPES,
        days=PROGRAM_DAYS,
    )


def check_loopback(address: str) -> None:
    """Raise InvalidInput for an address that is not one of this very machine: a token goes nowhere else."""
    try:
        parts = urlsplit(address)
        is_own = parts.hostname == "localhost" or ip_address(parts.hostname or "").is_loopback
        has_port = parts.port is not None
    except ValueError:
        is_own = has_port = False
    is_plain = not any(letter in address for letter in "\\@#\r\n\t ") and address.isascii()
    if not (is_own and has_port and is_plain and parts.scheme == "http"):
        raise InvalidInput(
            "A program is only let in on one's own machine: its address begins with http://127.0.0.1:port."
        )


def _sign_in_first(request: PageRequest) -> Redirect | None:
    if caller_of(request).kind is CallerKind.SESSION:
        return None
    query = request.scope["query_string"].decode("latin-1")
    wanted = request.scope["path"] + (f"?{query}" if query else "")
    return Redirect(f"/login?next={quote(wanted, safe='')}", status_code=HTTP_303_SEE_OTHER, headers=_NOT_KEPT)


def _decode(text: str) -> str:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


DEVICE_PAGES = [show_device, decide_about_device, show_loopback, let_loopback_in]
