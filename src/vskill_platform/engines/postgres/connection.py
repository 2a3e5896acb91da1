"""Connections to the server, and the driver's errors in the words of the house."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from vskill_platform.domain.errors import (
    DiskFull,
    EngineRefused,
    InvalidInput,
    StoreUnavailable,
    VskillError,
)

SCHEMA = "vskill"
"""The schema that a registry has for itself, unless it is given another."""
CONNECT_S = 10.0
"""How long making a connection may take."""

URL_FORM = "It has the form postgresql://user:password@host:5432/name, with special characters in the password percent-encoded."
_GRACE_S = 5.0
_KEEPALIVE = {"tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3"}

LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InternalClientError,
    OSError,  # TimeoutError is one
)
"""What the driver raises when the connection is no more, or never was."""

_NO_ADDRESS = (
    asyncpg.ClientConfigurationError,
    asyncpg.UndefinedObjectError,
    asyncpg.CantChangeRuntimeParamError,
    ValueError,
)
"""What it raises for a URL that cannot be understood, or that names a setting which there is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How connections are made: to where, by which name, with which limits."""

    url: str = field(repr=False)
    schema: str
    application_name: str
    statement_timeout_s: float

    @property
    def place(self) -> str:
        """The server and database, without a password: for messages."""
        try:
            parts = urlsplit(self.url)
        except ValueError:
            return "the database"
        return f"{parts.hostname or 'the local server'}{parts.path}"

    @property
    def limit_s(self) -> float:
        """After this long without an answer the connection is given up: the server's own limit is over by then."""
        return self.statement_timeout_s + _GRACE_S

    def options(self, **settings: str) -> dict[str, Any]:
        """What `asyncpg.connect` and `asyncpg.create_pool` are called with."""
        return {
            "dsn": self.url,
            "timeout": CONNECT_S,
            "command_timeout": self.limit_s,
            "server_settings": {
                "application_name": self.application_name,
                "search_path": f'"{self.schema}"',
                "statement_timeout": f"{int(self.statement_timeout_s * 1000)}",
                "jit": "off",  # statements are short; compiling them takes longer than running them
                "idle_in_transaction_session_timeout": f"{int(self.limit_s * 1000)}",
                **_KEEPALIVE,
                **settings,
            },
        }

    async def connect(self, settings: Mapping[str, str] | None = None) -> asyncpg.Connection:
        """One connection. Raises StoreUnavailable or EngineRefused."""
        with translated_errors(self):
            return await asyncpg.connect(**self.options(**(settings or {})))


@contextmanager
def translated_errors(access: Access) -> Iterator[None]:
    """Turn what asyncpg raises into errors of the house."""
    try:
        yield
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, ValueError) as exc:
        raise translate(exc, access) from exc


def translate(error: BaseException, access: Access) -> VskillError:
    """The error of the house that says what a driver's error means for the caller."""
    match error:
        case asyncpg.DataError() | OverflowError() | UnicodeEncodeError():
            return InvalidInput(f"A value cannot be stored: {error}. Text must be valid Unicode, numbers of 64 bits.")
        case asyncpg.DiskFullError():
            return DiskFull(f"The disk of {access.place} is full: the write was refused. Make room, then try again.")
        case asyncpg.InvalidPasswordError() | asyncpg.InvalidAuthorizationSpecificationError():
            return EngineRefused(f"{access.place} refused the user or the password. Check the database URL.")
        case asyncpg.InvalidCatalogNameError():
            return EngineRefused(f"{access.place}: {error}. Create it, or correct the database URL.")
        case asyncpg.InsufficientPrivilegeError():
            return EngineRefused(f"{access.place}: {error}. Give the user of the database URL that right.")
        case _ if isinstance(error, _NO_ADDRESS):
            # What a parser says of a broken URL can quote the password.
            reason = "" if isinstance(error, ValueError) else f": {error}"
            return EngineRefused(f"The database URL cannot be used{reason}. {URL_FORM}")
        case asyncpg.QueryCanceledError():
            return StoreUnavailable(f"{access.place} took longer than {access.statement_timeout_s:g} s: {error}.")
        case _:
            reason = str(error) or type(error).__name__
            return StoreUnavailable(f"{access.place} could not be used: {reason}.", detail=type(error).__name__)
