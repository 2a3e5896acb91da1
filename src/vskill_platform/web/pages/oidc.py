"""The way to an OpenID provider and back."""

from __future__ import annotations

from typing import Annotated

from litestar import Response, get
from litestar.datastructures import Cookie
from litestar.params import QueryParameter
from litestar.response import Redirect
from litestar.status_codes import HTTP_303_SEE_OTHER

from vskill_platform.accounts.oidc import LASTS_S, begin, finish
from vskill_platform.domain.errors import NotFound, SignInFailed
from vskill_platform.web.pages.rendering import PageRequest
from vskill_platform.web.pages.signing_in import Next, enter_with, login_page, own_path
from vskill_platform.web.secure_sessions import require_secure
from vskill_platform.web.session_cookies import browser_of, secret_cookie
from vskill_platform.web.site import site_url
from vskill_platform.worker_context import current_env

STATE_COOKIE = "__Host-oidc"
Short = Annotated[str, QueryParameter(max_length=4000)]
_CALLBACK = "/login/oidc/callback"


@get("/login/oidc")
async def leave_for_provider(request: PageRequest, wanted: Next = "") -> Redirect:
    """Go to the provider that the settings name."""
    require_secure(request)
    if not current_env("settings").settings.oidc_issuer:
        raise NotFound("No OpenID provider is set up here. Sign in with a password.")
    begun = await begin(redirect_uri=site_url(request) + _CALLBACK, wanted=own_path(wanted))
    answer = Redirect(begun.address, status_code=HTTP_303_SEE_OTHER, headers={"Cache-Control": "no-store"})
    answer.cookies.append(_state_cookie(begun.state, lasts_s=int(LASTS_S)))
    return answer


@get(_CALLBACK)
async def return_from_provider(
    request: PageRequest, state_value: Annotated[str, QueryParameter(name="state", max_length=4000)] = "",
    code: Short = "", error: Short = "",
) -> Response[str] | Redirect:  # fmt: skip
    """Come back from the provider. What was refused is said beside the form."""
    try:
        if error or not code:
            raise SignInFailed("The provider did not sign you in. Try again.")
        finished = await finish(
            state=state_value,
            brought=request.cookies.get(STATE_COOKIE, ""),
            code=code,
            browser=browser_of(request),
        )
    except SignInFailed as trouble:
        return login_page(request, wanted="", trouble=trouble)
    answer = enter_with(finished.opened.secret, own_path(finished.next))
    answer.cookies.append(_state_cookie("", lasts_s=0))
    return answer


def _state_cookie(state: str, *, lasts_s: int) -> Cookie:
    return secret_cookie(STATE_COOKIE, state, lasts_s=lasts_s)


OIDC_PAGES = [leave_for_provider, return_from_provider]
