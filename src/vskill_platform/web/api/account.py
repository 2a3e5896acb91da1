"""One's own account: profile, password, second factor, sessions and tokens.

Changing it needs a session. A token is refused, or one that has leaked could make itself others and lock its owner out.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
import segno
from litestar import Response, get, post, put
from litestar.params import JSONBody

from vskill_platform.accounts.managing import change_own_password, change_profile, prove_password
from vskill_platform.accounts.second_factor import (
    begin_second_factor,
    confirm_second_factor,
    remove_second_factor,
    renew_recovery_codes,
)
from vskill_platform.accounts.totp import setup_address
from vskill_platform.domain.access import Permission
from vskill_platform.domain.account import Account
from vskill_platform.domain.errors import SignInRequired
from vskill_platform.stores.accounts import get_account
from vskill_platform.web.access import caller_of, needs
from vskill_platform.web.acting import act
from vskill_platform.web.api.account_views import ACCOUNT_EXAMPLE, AccountView, view_account
from vskill_platform.web.api.describing import described
from vskill_platform.web.pages.rendering import SITE_NAME, PageRequest
from vskill_platform.web.session_cookies import browser_of, session_cookies

TAGS = ["account"]
PATH = "/api/v1/account"
CHANGE = needs(Permission.CHANGE_ACCOUNT)
BY_OWNER = "By its owner."
NOT_KEPT = {"Cache-Control": "no-store"}
Secret = Annotated[str, msgspec.Meta(max_length=1000)]


class SecretBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What requests here have in common: their `repr` tells no values, since most are secrets."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


class ProfileChange(SecretBody, frozen=True, kw_only=True, rename="camel"):
    """What others see, and an e-mail address, which they never do."""

    display_name: str
    email: str = ""


class PasswordChange(SecretBody, frozen=True, kw_only=True, rename="camel"):
    """The present password and the one that is to be."""

    current: Secret
    password: Secret


class Proof(SecretBody, frozen=True, kw_only=True, rename="camel"):
    """The present password."""

    password: Secret


class Code(SecretBody, frozen=True, kw_only=True, rename="camel"):
    """A code of the app."""

    code: Secret


class Done(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """It was done."""

    detail: str


class SecondFactorSetup(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What an app needs: as text, as an address, and as a picture of that address. Told once."""

    secret: str
    address: str
    picture: str
    detail: str = "Confirm with a code of your app."


class RecoveryCodes(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Codes for who has lost the app. Each works once. Told once."""

    recovery_codes: list[str]
    detail: str = "Keep the recovery codes where you find them without your phone."


async def account_of(request: PageRequest) -> Account:
    """The account of whoever asks. Raises SignInRequired where it is gone."""
    account = await get_account(caller_of(request).id)
    if account is None:
        raise SignInRequired("Sign in first.")
    return account


@get(PATH, summary="Your account", tags=TAGS, opt=described(ACCOUNT_EXAMPLE, access=needs(Permission.OWN)))
async def show_own_account(request: PageRequest) -> Response[AccountView]:
    """Who you are to this registry."""
    return Response(view_account(await account_of(request)), headers=NOT_KEPT)


@put(
    PATH,
    summary="Change your profile",
    tags=TAGS,
    opt=described(ACCOUNT_EXAMPLE, body=ProfileChange(display_name="Rita", email="rita@example.com"), access=CHANGE),
)
async def change_own_account(request: PageRequest, data: JSONBody[ProfileChange]) -> AccountView:
    """Change what others see of you. An empty e-mail address removes it."""
    account = await account_of(request)
    changed = await act(
        request,
        "account.profile",
        subject=account.name,
        reason=BY_OWNER,
        run=lambda: change_profile(account, display_name=data.display_name, email=data.email),
    )
    return view_account(changed)


@post(
    f"{PATH}/password",
    summary="Change your password",
    tags=TAGS,
    status_code=200,
    opt=described(
        Done(detail="Your password is changed, and you are signed out everywhere else."),
        body=PasswordChange(current="the one you have", password="the one you want"),
        access=CHANGE,
    ),
)
async def change_password(request: PageRequest, data: JSONBody[PasswordChange]) -> Response[Done]:
    """Change your password. Every other session of yours is over, and this one has a new secret."""
    account, browser = await account_of(request), browser_of(request)
    opened = await act(
        request,
        "account.password",
        subject=account.name,
        reason=BY_OWNER,
        run=lambda: change_own_password(
            account,
            current=data.current,
            password=data.password,
            user_agent=browser.user_agent,
            address=browser.address,
        ),
    )
    done = Done(detail="Your password is changed, and you are signed out everywhere else.")
    return Response(done, cookies=session_cookies(opened.secret))


@post(
    f"{PATH}/second-factor",
    summary="Set up a second factor",
    tags=TAGS,
    status_code=200,
    opt=described(
        SecondFactorSetup(secret="JBSWY3DPEHPK3PXP", address="otpauth://totp/…", picture="data:image/svg+xml,…"),
        body=Proof(password="the one you have"),
        access=CHANGE,
    ),
)
async def set_up_second_factor(request: PageRequest, data: JSONBody[Proof]) -> SecondFactorSetup:
    """A secret for an app that makes one-time codes. Nothing changes until you confirm with a code."""
    account = await account_of(request)
    await prove_password(account, data.password)
    codes = await act(
        request,
        "account.second_factor_begin",
        subject=account.name,
        reason=BY_OWNER,
        run=lambda: begin_second_factor(account),
    )
    address = setup_address(account, codes, site=SITE_NAME)
    return SecondFactorSetup(secret=codes.secret, address=address, picture=draw_code(address))


def draw_code(text: str) -> str:
    """A text as a picture that phones read: a data address of an SVG, which our policy lets pages show."""
    return segno.make(text, error="m").svg_data_uri(scale=4, border=2, light="#fff", dark="#000")


@post(
    f"{PATH}/second-factor/confirm",
    summary="Confirm your second factor",
    tags=TAGS,
    status_code=200,
    opt=described(RecoveryCodes(recovery_codes=["abcd-efgh-ijkl-mnop"]), body=Code(code="123456"), access=CHANGE),
)
async def confirm(request: PageRequest, data: JSONBody[Code]) -> RecoveryCodes:
    """Show that your app has the secret. From now on signing in asks for a code."""
    account = await account_of(request)
    given = await act(
        request,
        "account.second_factor_confirm",
        subject=account.name,
        reason=BY_OWNER,
        run=lambda: confirm_second_factor(account, data.code),
    )
    return RecoveryCodes(recovery_codes=given)


@post(
    f"{PATH}/second-factor/recovery-codes",
    summary="Get other recovery codes",
    tags=TAGS,
    status_code=200,
    opt=described(
        RecoveryCodes(recovery_codes=["abcd-efgh-ijkl-mnop"]), body=Proof(password="the one you have"), access=CHANGE
    ),
)
async def renew_codes(request: PageRequest, data: JSONBody[Proof]) -> RecoveryCodes:
    """Other recovery codes; those before work no more."""
    account = await account_of(request)
    await prove_password(account, data.password)
    given = await act(
        request,
        "account.recovery_codes",
        subject=account.name,
        reason=BY_OWNER,
        run=lambda: renew_recovery_codes(account),
    )
    return RecoveryCodes(recovery_codes=given)


@post(
    f"{PATH}/second-factor/remove",
    summary="Remove your second factor",
    tags=TAGS,
    status_code=200,
    opt=described(
        Done(detail="Your password alone signs you in."), body=Proof(password="the one you have"), access=CHANGE
    ),
)
async def remove(request: PageRequest, data: JSONBody[Proof]) -> Done:
    """Sign in with your password alone."""
    account = await account_of(request)
    await prove_password(account, data.password)
    await act(
        request,
        "account.second_factor_remove",
        subject=account.name,
        reason=BY_OWNER,
        run=lambda: remove_second_factor(account),
    )
    return Done(detail="Your password alone signs you in.")


OWN_ACCOUNT_ROUTES = [
    show_own_account,
    change_own_account,
    change_password,
    set_up_second_factor,
    confirm,
    renew_codes,
    remove,
]
