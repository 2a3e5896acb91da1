"""Who may do what: roles, permissions, the scopes of tokens, and whoever makes a request.

A role gives permissions. A token has those of its account's role that its scopes cover. Nobody has none, and the operator,
who comes through the control socket or a command on the machine, has all.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Role(StrEnum):
    """What an account is for."""

    SUPER_ADMIN = "SUPER_ADMIN"
    REVIEWER = "REVIEWER"
    AUDITOR = "AUDITOR"
    SUBMITTER = "SUBMITTER"


class Permission(StrEnum):
    """One kind of thing that not everybody may do."""

    OWN = "own"
    SEE_PANEL = "see_panel"
    STEER_QUEUE = "steer_queue"
    REVIEW = "review"
    BLOCK = "block"
    MODERATE = "moderate"
    SEE_AUDIT = "see_audit"
    SEE_SETTINGS = "see_settings"
    CHANGE_RULES = "change_rules"
    MANAGE_VENDORS = "manage_vendors"
    MANAGE_ACCOUNTS = "manage_accounts"
    MANAGE_ALERTS = "manage_alerts"
    RUN_SCANS = "run_scans"
    """Take up external scans, read the bytes that they are about, and say what came of them."""
    CHANGE_ACCOUNT = "change_account"
    """One's own password, second factor, sessions and tokens: by a session only."""


class Scope(StrEnum):
    """What a token may be used for."""

    READ = "read"
    SUBMIT = "submit"
    MANAGE = "manage"
    REVIEW = "review"
    SCAN = "scan"
    ADMIN = "admin"


P = Permission
_EVERYBODY = frozenset({P.OWN, P.CHANGE_ACCOUNT})
ROLE_PERMISSIONS: dict[Role, frozenset[Permission]] = {
    Role.SUBMITTER: _EVERYBODY,
    Role.AUDITOR: _EVERYBODY | {P.SEE_PANEL, P.SEE_AUDIT, P.SEE_SETTINGS},
    Role.REVIEWER: _EVERYBODY | {P.SEE_PANEL, P.STEER_QUEUE, P.REVIEW, P.BLOCK, P.MODERATE, P.RUN_SCANS},
    Role.SUPER_ADMIN: frozenset(Permission),
}
SCOPE_PERMISSIONS: dict[Scope, frozenset[Permission]] = {
    Scope.READ: frozenset({P.SEE_PANEL, P.SEE_AUDIT, P.SEE_SETTINGS}),
    Scope.SUBMIT: frozenset(),
    Scope.MANAGE: frozenset({P.OWN}),
    Scope.REVIEW: frozenset({P.SEE_PANEL, P.STEER_QUEUE, P.REVIEW, P.BLOCK, P.MODERATE}),
    Scope.SCAN: frozenset({P.RUN_SCANS}),
    Scope.ADMIN: frozenset(Permission) - {P.CHANGE_ACCOUNT},
}


class CallerKind(StrEnum):
    """How somebody is known."""

    NOBODY = "nobody"
    SESSION = "session"
    TOKEN = "token"
    OPERATOR = "operator"


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Whoever makes a request. `credential` is the id of the session or token, never its secret."""

    kind: CallerKind
    id: str = ""
    name: str = ""
    role: Role | None = None
    scopes: frozenset[Scope] = frozenset()
    credential: str = ""

    @property
    def permissions(self) -> frozenset[Permission]:
        """Everything this caller may do."""
        if self.kind is CallerKind.OPERATOR:
            return frozenset(Permission) - _EVERYBODY
        if self.role is None:
            return frozenset()
        allowed = ROLE_PERMISSIONS[self.role]
        if self.kind is CallerKind.TOKEN:
            return allowed & frozenset().union(*(SCOPE_PERMISSIONS[scope] for scope in self.scopes))
        return allowed

    def may(self, permission: Permission) -> bool:
        """Whether this caller may do that."""
        return permission in self.permissions


NOBODY = Caller(kind=CallerKind.NOBODY)
OPERATOR = Caller(kind=CallerKind.OPERATOR, id="operator", name="operator")
