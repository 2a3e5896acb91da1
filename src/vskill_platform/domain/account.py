"""Accounts, their sessions and their API tokens, as records, and the rules about them that need no store.

What proves who somebody is (a session's secret, a token, a recovery code) is never in a record: only its hash is. What has
to be usable (the secret of one-time codes) and the hash of a password are left out of `repr`, so that no log or error has them.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from typing import Any

import msgspec

from vskill_platform.domain.access import Role, Scope
from vskill_platform.domain.errors import InvalidInput
from vskill_platform.domain.records import Record
from vskill_platform.domain.times import ms_from_iso

ACCOUNT_PREFIX = "user:"
SESSION_PREFIX = "session:"
TOKEN_PREFIX = "token:"
SUPER_ADMINS_KEY = "super-admins"
MAX_DISPLAY_CHARS = 80
MAX_TOKEN_NAME_CHARS = 60
_ID_DIGITS = 24
_USER_AGENT_CHARS = 120
_LOGIN = re.compile(r"[a-z0-9][a-z0-9._-]{1,38}[a-z0-9]")
_EMAIL = re.compile(r"[^@\s<>\"',;:\\]{1,64}@[A-Za-z0-9.-]{1,189}\.[A-Za-z0-9-]{2,63}")
_SECRET_FIELDS = frozenset({"password_hash", "secret", "recovery_hashes", "email"})


class _Discreet(Record, frozen=True, kw_only=True, rename="camel"):
    """A record whose `repr` tells of secrets only that they are there."""

    def __rich_repr__(self) -> Any:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            yield name, "***" if value and name in _SECRET_FIELDS else value

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({shown})"


class OneTimeCodes(_Discreet, frozen=True, kw_only=True, rename="camel"):
    """The second factor of an account. It is asked for once a first code has shown that an app has the secret.

    `last_step` is the step of the last code that was taken, so that none is taken twice.
    """

    secret: str
    is_confirmed: bool = False
    last_step: int = 0
    recovery_hashes: tuple[str, ...] = ()


class Provider(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who an account is at an OpenID provider: the pair that never changes, whatever the name does."""

    issuer: str
    subject: str


class Account(_Discreet, frozen=True, kw_only=True, rename="camel"):
    """Somebody who can sign in. `name` is what they sign in with, normalised.

    A session holds for as long as its epoch is the account's: raising `session_epoch` ends all of them in one write.
    """

    id: str
    name: str
    display_name: str
    role: Role
    created_at: str
    updated_at: str
    email: str | None = None
    password_hash: str | None = None
    totp: OneTimeCodes | None = None
    provider: Provider | None = None
    is_disabled: bool = False
    session_epoch: int = 0
    last_sign_in_at: str | None = None

    @property
    def needs_code(self) -> bool:
        """Whether a password alone does not sign in."""
        return self.totp is not None and self.totp.is_confirmed


class Session(Record, frozen=True, kw_only=True, rename="camel"):
    """Somebody's being signed in with one browser. `address` is the household, not the machine."""

    account_id: str
    epoch: int
    created_at: str
    last_seen_at: str
    ends_at: str
    user_agent: str = ""
    address: str = ""


class Token(Record, frozen=True, kw_only=True, rename="camel"):
    """A secret that a program shows in an account's name, within its scopes."""

    id: str
    account_id: str
    name: str
    scopes: tuple[Scope, ...]
    created_at: str
    last_used_at: str | None = None
    expires_at: str | None = None
    revoked_at: str | None = None


class LinkPurpose(StrEnum):
    """What a link that is told once is good for."""

    FIRST_RUN = "first_run"
    PASSWORD = "password"


class Link(Record, frozen=True, kw_only=True, rename="camel"):
    """A link that lets whoever has it set a password, once: of the first administrator, or of the account it names."""

    purpose: LinkPurpose
    ends_at: str
    account_id: str | None = None


class SuperAdmins(Record, frozen=True, kw_only=True, rename="camel"):
    """Who can do everything and is not disabled. One record, so that no two commits can remove the last two at once."""

    ids: tuple[str, ...]


def normalise_login(name: str) -> str:
    """The form in which a login name is unique. Raises InvalidInput for what cannot be one."""
    login = unicodedata.normalize("NFKC", name).strip().casefold()
    if not _LOGIN.fullmatch(login):
        raise InvalidInput(
            "A login name has 3 to 40 letters (a to z), digits, dots, dashes and underscores, "
            "and begins and ends with a letter or digit."
        )
    return login


def login_from(text: str) -> str:
    """The nearest login name to what somebody is called elsewhere."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()
    login = re.sub(r"[^a-z0-9._-]+", "-", plain).strip("._-")[:40].rstrip("._-")
    return login if len(login) >= 3 else f"member-{login}".rstrip("-")


def parse_role_map(text: str) -> dict[str, Role]:
    """Roles by group, from `admins=SUPER_ADMIN,reviewers=REVIEWER`. Raises InvalidInput for what is no such list."""
    mapped: dict[str, Role] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        group, _, role = part.rpartition("=")
        if not group.strip() or role.strip() not in Role.__members__:
            raise InvalidInput(
                f"'{part[:60]}' names no group and role. Write group=ROLE, with one of {', '.join(Role)}."
            )
        mapped[group.strip()] = Role(role.strip())
    return mapped


def check_display_name(name: str) -> str:
    """The name as people see it. Raises InvalidInput for one that is too long or cannot be printed."""
    shown = " ".join(name.split())
    if len(shown) > MAX_DISPLAY_CHARS or not shown.isprintable():
        raise InvalidInput(f"A display name has at most {MAX_DISPLAY_CHARS} printable characters.")
    return shown


def check_email(email: str | None) -> str | None:
    """The address without spaces around it; None for an empty one. Raises InvalidInput for what is none."""
    address = (email or "").strip()
    if address and not _EMAIL.fullmatch(address):
        raise InvalidInput("That is no e-mail address. Write it like name@example.com, or leave it empty.")
    return address or None


def is_session_live(session: Session, *, now_ms: int, idle_s: float) -> bool:
    """Whether neither of a session's two ends has come: the absolute one, and that of having been idle."""
    return now_ms < ms_from_iso(session.ends_at) and now_ms - ms_from_iso(session.last_seen_at) < idle_s * 1000


def is_token_live(token: Token, *, now_ms: int) -> bool:
    """Whether a token is neither revoked nor past its end."""
    return token.revoked_at is None and (token.expires_at is None or now_ms < ms_from_iso(token.expires_at))


def short_user_agent(text: str) -> str:
    """What a browser calls itself, as much of it as a list shows."""
    return "".join(letter for letter in text if letter.isprintable())[:_USER_AGENT_CHARS]


def account_key(identity: str) -> str:
    """The key of an account's record."""
    return f"{ACCOUNT_PREFIX}{identity}"


def login_key(name: str) -> str:
    """The key that makes a login name unique; its value is the account's id."""
    return f"login:{name}"


def session_key(digest: str) -> str:
    """The key of the session whose secret has this hash."""
    return f"{SESSION_PREFIX}{digest}"


def token_key(digest: str) -> str:
    """The key of the token whose text has this hash."""
    return f"{TOKEN_PREFIX}{digest}"


def session_id(digest: str) -> str:
    """The name of a session for lists: the beginning of its hash, from which nobody comes to its secret."""
    return f"ses_{digest[:_ID_DIGITS]}"


def token_id(digest: str) -> str:
    """The name of a token for lists, made like a session's."""
    return f"tok_{digest[:_ID_DIGITS]}"


def digest_start(identity: str) -> str:
    """How the hash begins that a `ses_…` or `tok_…` was made of. Raises InvalidInput for what is no such name."""
    start = identity[4:]
    if identity[:4] not in ("ses_", "tok_") or not re.fullmatch(rf"[0-9a-f]{{{_ID_DIGITS}}}", start):
        raise InvalidInput(f"'{identity[:60]}' names no session and no token.")
    return start
