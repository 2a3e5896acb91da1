"""Pages for who is not signed in yet: the way in, the code, the way out, and links that set a password.

They are forms and work without scripts. Nobody keeps any of them.
"""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
from litestar import Response, get, post
from litestar.enums import RequestEncodingType
from litestar.params import Body, FromQuery, QueryParameter
from litestar.response import Redirect
from litestar.status_codes import HTTP_200_OK, HTTP_303_SEE_OTHER

from vskill_platform.accounts.auditing import audited_as
from vskill_platform.accounts.first_run import open_link, use_link
from vskill_platform.accounts.signing_in import CodeWanted, enter, sign_in, sign_in_with_code
from vskill_platform.domain.errors import (
    CodeRefused,
    InvalidInput,
    NameTaken,
    RegistryBusy,
    SignInFailed,
    VskillError,
)
from vskill_platform.domain.secrets import equal_secrets
from vskill_platform.stores.accounts import get_account
from vskill_platform.stores.sessions import end_session
from vskill_platform.web.access import caller_of
from vskill_platform.web.pages.rendering import PageRequest, page
from vskill_platform.web.secure_sessions import SESSION_COOKIE, require_secure
from vskill_platform.web.session_cookies import (
    HALF_COOKIE,
    browser_of,
    ended_cookies,
    half_cookie,
    session_cookies,
)
from vskill_platform.web.surface.problems import retry_after, status_of
from vskill_platform.worker_context import current_env

HOME = "/account"
_OWN_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]{0,2000}")
"""A path of this site: one slash and then no other and no backslash, which browsers take for one."""
Text = Annotated[str, msgspec.Meta(max_length=2000)]


class LoginForm(msgspec.Struct, frozen=True, kw_only=True):
    """What the form of the sign-in sends."""

    name: Text = ""
    password: Text = ""
    next: Text = ""

    def __repr__(self) -> str:
        """Without the password."""
        return f"LoginForm(name={self.name!r})"


class CodeForm(msgspec.Struct, frozen=True, kw_only=True):
    """What the form of the second step sends."""

    code: Text = ""
    next: Text = ""


class SetupForm(msgspec.Struct, frozen=True, kw_only=True):
    """What the form behind a link sends."""

    token: Text = ""
    name: Text = ""
    password: Text = ""
    again: Text = ""

    def __repr__(self) -> str:
        """Without the passwords and the link."""
        return f"SetupForm(name={self.name!r})"


SentLogin = Annotated[LoginForm, Body(media_type=RequestEncodingType.URL_ENCODED)]
SentCode = Annotated[CodeForm, Body(media_type=RequestEncodingType.URL_ENCODED)]
SentSetup = Annotated[SetupForm, Body(media_type=RequestEncodingType.URL_ENCODED)]
Next = Annotated[str, QueryParameter(name="next", max_length=2000)]


def own_path(wanted: str) -> str:
    """Where to go after signing in: a path of this site and of no other; else one's own account."""
    return wanted if _OWN_PATH.fullmatch(wanted) else HOME


@get("/login")
async def show_login(request: PageRequest, wanted: Next = "") -> Response[str] | Redirect:
    """The form. Who is signed in already is led on."""
    require_secure(request)
    require_secure(request)
    if caller_of(request).id:
        return _go(own_path(wanted))
    return login_page(request, wanted=wanted)


@post("/login")
async def send_login(request: PageRequest, data: SentLogin) -> Response[str] | Redirect:
    """Sign in and go on; or ask for a code; or say what is wrong, beside the form."""
    require_secure(request)
    require_secure(request)
    try:
        found = await sign_in(data.name, data.password, browser=browser_of(request))
    except (SignInFailed, InvalidInput, RegistryBusy) as error:
        return login_page(request, wanted=data.next, name=data.name, trouble=error)
    if isinstance(found, CodeWanted):
        answer = page(request, "login_code.html", headers=_not_kept(None), next=own_path(data.next), trouble="")
        answer.cookies.append(half_cookie(found.secret))
        return answer
    return enter_with(found.secret, own_path(data.next))


@post("/login/code", status_code=HTTP_200_OK)
async def send_code(request: PageRequest, data: SentCode) -> Response[str] | Redirect:
    """Go the other half of the way; a wrong code can be tried again for as long as the half session lasts."""
    try:
        opened = await sign_in_with_code(request.cookies.get(HALF_COOKIE, ""), data.code, browser=browser_of(request))
    except (CodeRefused, InvalidInput) as error:
        return page(
            request,
            "login_code.html",
            status_code=status_of(type(error)),
            headers=_not_kept(error),
            next=own_path(data.next),
            trouble=error.message,
        )
    except SignInFailed as error:
        return login_page(request, wanted=data.next, trouble=error)
    return enter_with(opened.secret, own_path(data.next))


@post("/logout")
async def send_logout(request: PageRequest) -> Redirect:
    """Sign out here. Doing so twice is no error."""
    secret, caller = request.cookies.get(SESSION_COOKIE), caller_of(request)
    if secret and caller.id:
        account = await get_account(caller.id)
        await audited_as(
            caller.name, "account.sign_out", reason="Signed out.", account=account, run=lambda: end_session(secret)
        )
    answer = _go("/")
    answer.cookies.extend(ended_cookies())
    return answer


@get("/setup")
async def show_setup(request: PageRequest, token: FromQuery[str] = "") -> Response[str]:
    """The form behind a link that sets a password. A link that was used is told as gone."""
    require_secure(request)
    require_secure(request)
    _, account = await open_link(token)
    return _setup_page(request, token=token, login=account.name if account else "")


@post("/setup", status_code=HTTP_200_OK)
async def send_setup(request: PageRequest, data: SentSetup) -> Response[str] | Redirect:
    """Set the password, and sign in with it unless a code is wanted as well."""
    require_secure(request)
    require_secure(request)
    _, before = await open_link(data.token)
    try:
        if not equal_secrets(data.password, data.again):
            raise InvalidInput("The two passwords are not the same.")
        account = await use_link(data.token, name=data.name, password=data.password)
    except (InvalidInput, NameTaken, RegistryBusy) as error:
        login = before.name if before else ""
        return _setup_page(request, token=data.token, login=login, name=data.name, trouble=error)
    if account.needs_code:
        return _go("/login")
    opened = await enter(account, browser_of(request), reason="Signed in by a link.")
    return enter_with(opened.secret, "/admin/accounts" if before is None else HOME)


def enter_with(secret: str, path: str) -> Redirect:
    """Go on as whoever a session's secret is."""
    answer = _go(path)
    answer.cookies.extend(session_cookies(secret))
    return answer


def _go(path: str) -> Redirect:
    return Redirect(path, status_code=HTTP_303_SEE_OTHER, headers={"Cache-Control": "no-store"})


def login_page(
    request: PageRequest, *, wanted: str, name: str = "", trouble: VskillError | None = None
) -> Response[str]:
    """The form, with what is wrong beside it."""
    settings = current_env("settings").settings
    return page(
        request,
        "login.html",
        status_code=HTTP_200_OK if trouble is None else status_of(type(trouble)),
        headers=_not_kept(trouble),
        next=own_path(wanted) if wanted else "",
        name=name[:100],
        trouble="" if trouble is None else trouble.message,
        provider=settings.oidc_issuer,
    )


def _setup_page(
    request: PageRequest, *, token: str, login: str, name: str = "", trouble: VskillError | None = None
) -> Response[str]:
    return page(
        request,
        "setup.html",
        status_code=HTTP_200_OK if trouble is None else status_of(type(trouble)),
        headers=_not_kept(trouble),
        token=token,
        login=login,
        name=name[:100],
        trouble="" if trouble is None else trouble.message,
    )


def _not_kept(trouble: VskillError | None) -> dict[str, str]:
    headers = {"Cache-Control": "no-store"}
    if trouble is not None and (wait_s := retry_after(trouble)) is not None:
        headers["Retry-After"] = str(wait_s)
    return headers


SIGN_IN_PAGES = [show_login, send_login, send_code, send_logout, show_setup, send_setup]
