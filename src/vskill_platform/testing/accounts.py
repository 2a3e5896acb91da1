"""Accounts for tests: somebody with a role, signed in or with a token, on any env.

bob = await make_account(env, "bob", Role.REVIEWER)
sign_in(client, await make_session(env, bob))
client.headers["Authorization"] = f"Bearer {await make_token(env, bob, Scope.READ)}"
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx

from vskill_platform.domain.access import Role, Scope
from vskill_platform.domain.account import Account
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.accounts import create_account
from vskill_platform.stores.sessions import open_session
from vskill_platform.stores.tokens import create_token
from vskill_platform.web.secure_sessions import SESSION_COOKIE
from vskill_platform.worker_context import request_env_storage

T = TypeVar("T")


async def in_request(env: WorkerEnv, call: Callable[[], Awaitable[T]]) -> T:
    """Do something with the env in scope as it is for a request."""
    return await request_env_storage.run(env, call)


async def make_account(
    env: WorkerEnv,
    name: str,
    role: Role = Role.SUBMITTER,
    *,
    email: str | None = None,
    password_hash: str | None = None,
) -> Account:
    """An account. Without a password nobody can sign in to it but by `make_session`."""
    return await in_request(env, lambda: create_account(name, role=role, email=email, password_hash=password_hash))


async def make_session(env: WorkerEnv, account: Account) -> str:
    """The secret of a new session of an account."""
    return (await in_request(env, lambda: open_session(account, user_agent="a test", address="192.0.2.1"))).secret


async def make_token(
    env: WorkerEnv, account: Account, *scopes: Scope, name: str = "a test", expires_in_days: float | None = None
) -> str:
    """The text of a new token of an account; without scopes it has all of them."""
    made = await in_request(
        env,
        lambda: create_token(account, name=name, scopes=scopes or tuple(Scope), expires_in_days=expires_in_days),
    )
    return made.text


def sign_in(client: httpx.AsyncClient, secret: str) -> None:
    """Have a client send a session with each request, as a browser does from a page of the registry's own."""
    client.headers["Cookie"] = f"{SESSION_COOKIE}={secret}"
    client.headers["Sec-Fetch-Site"] = "same-origin"
