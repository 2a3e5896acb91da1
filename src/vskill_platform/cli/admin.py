"""`vskill-platform admin …`: accounts, their roles, passwords, sessions and tokens, for who has the machine."""

from __future__ import annotations

import asyncio
import sys
from typing import TypeVar
from urllib.parse import quote

import typer
from rich.console import Console

from vskill_platform.cli.options import DATA, settings_from
from vskill_platform.cli.printing import AS_JSON, plain, print_json, print_table
from vskill_platform.cli.registry import open_registry
from vskill_platform.domain.access import Role
from vskill_platform.domain.errors import InvalidInput
from vskill_platform.settings import Settings
from vskill_platform.web.api.account_views import AccountView, TokenView
from vskill_platform.web.api.admin.accounts import ChangedAccount, NewAccount, PasswordReset, Reason, RoleChange

T = TypeVar("T")
HELP = "Accounts: make, list and close them, and their roles, passwords, sessions and tokens."
_NAME = typer.Argument(..., metavar="NAME", help="The login name.")
_REASON = typer.Option("By the operator, at the command line.", "--reason", help="Why. The audit log keeps it.")
_STDIN = typer.Option(False, "--password-stdin", help="Read the password from standard input.")
_LINK = typer.Option(False, "--link", help="Print a link with which the owner chooses a password, good for a day.")
admin = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@admin.command(help="Make an account. Asks for its password, unless it is piped in or a link is wanted.")
def create(
    name: str = _NAME,
    role: Role = typer.Option(Role.SUPER_ADMIN, "--role", help="What it is for."),
    email: str = typer.Option("", "--email", help="An e-mail address, which is never public."),
    password_stdin: bool = _STDIN,
    link: bool = _LINK,
    reason: str = _REASON,
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """Make an account."""
    password = _password(is_piped=password_stdin, is_linked=link)
    wanted = NewAccount(name=name, role=role, email=email or None, password=password, reason=reason)
    _change(settings_from(data=data), "/api/v1/admin/accounts", wanted, as_json=as_json)


@admin.command("list", help="List accounts.")
def list_accounts(data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """List every account, by name."""
    found = asyncio.run(_get(settings_from(data=data), "/api/v1/admin/accounts", list[AccountView]))
    if as_json:
        print_json(found)
        return
    rows = [
        [item.name, item.role.value, _standing(item), item.last_sign_in_at or "never", plain(item.display_name)]
        for item in found
    ]
    print_table(
        "Accounts", ["name", "role", "standing", "signed in", "shown as"], rows, nothing="There are no accounts."
    )


@admin.command(help="Close an account: it is signed out everywhere and its tokens do not work.")
def disable(name: str = _NAME, reason: str = _REASON, data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """Close an account."""
    _change(settings_from(data=data), _path(name, "disable"), Reason(reason=reason), as_json=as_json)


@admin.command(help="Open an account again.")
def enable(name: str = _NAME, reason: str = _REASON, data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """Open an account again."""
    _change(settings_from(data=data), _path(name, "enable"), Reason(reason=reason), as_json=as_json)


@admin.command("set-role", help="Give an account another role.")
def set_role(
    name: str = _NAME,
    role: Role = typer.Argument(..., help="What it is for from now on."),
    reason: str = _REASON,
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """Give an account another role."""
    wanted = RoleChange(role=role, reason=reason)
    _change(settings_from(data=data), _path(name, "role"), wanted, as_json=as_json)


@admin.command("reset-password", help="Set another password, or print a link. All sessions end.")
def reset_password(
    name: str = _NAME,
    password_stdin: bool = _STDIN,
    link: bool = _LINK,
    second_factor: bool = typer.Option(
        False, "--second-factor", help="With --link: take the second factor away as well."
    ),
    reason: str = _REASON,
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """Set another password, or print a link."""
    password = _password(is_piped=password_stdin, is_linked=link)
    wanted = PasswordReset(reason=reason, password=password, also_second_factor=second_factor)
    _change(settings_from(data=data), _path(name, "reset-password"), wanted, as_json=as_json)


@admin.command("end-sessions", help="Sign an account out everywhere.")
def end_sessions(name: str = _NAME, reason: str = _REASON, data: str | None = DATA, as_json: bool = AS_JSON) -> None:
    """Sign an account out everywhere."""
    path = _path(name, "end-sessions")
    _change(settings_from(data=data), path, Reason(reason=reason), as_json=as_json)


@admin.command(help="List the API tokens of all accounts, or revoke one.")
def tokens(
    revoke: str = typer.Option("", "--revoke", metavar="ID", help="Revoke this token (tok_…)."),
    reason: str = _REASON,
    data: str | None = DATA,
    as_json: bool = AS_JSON,
) -> None:
    """List tokens, or revoke one."""
    settings = settings_from(data=data)
    if revoke:
        path = f"/api/v1/admin/tokens/{revoke}/revoke"
        found = [asyncio.run(_post(settings, path, TokenView, Reason(reason=reason)))]
    else:
        found = asyncio.run(_get(settings, "/api/v1/admin/tokens", list[TokenView]))
    if as_json:
        print_json(found)
        return
    rows = [
        [item.id, item.account or item.account_id, " ".join(item.scopes), item.last_used_at or "never", _token(item)]
        for item in found
    ]
    print_table("Tokens", ["id", "of", "scopes", "used", "name"], rows, nothing="There are no tokens.")


def _standing(account: AccountView) -> str:
    if account.is_disabled:
        return "[red]disabled[/]"
    return "code asked" if account.has_second_factor else "password" if account.has_password else "no password"


def _token(token: TokenView) -> str:
    return plain(token.name) if token.is_live else f"[dim]{plain(token.name)} (over)[/]"


def _password(*, is_piped: bool, is_linked: bool) -> str | None:
    """The password that was piped in or typed twice without being shown; None where a link is wanted."""
    if is_piped and is_linked:
        raise InvalidInput("Choose one of --password-stdin and --link.")
    if is_linked:
        return None
    if is_piped:
        return sys.stdin.readline().rstrip("\r\n")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


def _change(settings: Settings, path: str, body: object, *, as_json: bool) -> None:
    changed = asyncio.run(_post(settings, path, ChangedAccount, body))
    if as_json:
        print_json(changed)
        return
    console = Console(highlight=False, emoji=False, soft_wrap=True)
    console.print(plain(changed.detail))
    if changed.link is not None:
        console.print(
            f"Whoever opens this link first chooses the password, once, within a day:\n{_address(settings)}{changed.link}"
        )


def _path(name: str, verb: str) -> str:
    return f"/api/v1/admin/accounts/{quote(name, safe='')}/{verb}"


def _address(settings: Settings) -> str:
    return settings.public_url.rstrip("/") or f"http://{settings.host}:{settings.port}"


async def _get(settings: Settings, path: str, kind: type[T]) -> T:
    async with open_registry(settings) as registry:
        return await registry.get(path, kind)


async def _post(settings: Settings, path: str, kind: type[T], body: object) -> T:
    async with open_registry(settings) as registry:
        return await registry.post(path, kind, body)
