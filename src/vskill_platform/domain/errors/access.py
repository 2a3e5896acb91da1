"""Who may do what: signing in, accounts, passwords, codes and links."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError
from vskill_platform.domain.errors.general import InvalidInput


class WeakPassword(InvalidInput):
    """A password is too short, is among those that are tried first, or has the login name in it."""

    code = "weak_password"


class SignInRequired(VskillError):
    """The address is for those who have signed in, or come with a token that still works."""

    code = "sign_in_required"


class CredentialRefused(SignInRequired):
    """The session or the API token that came with the request is unknown, has ended or was revoked."""

    code = "credential_refused"


class InsecureSignIn(VskillError):
    """Signing in was tried over a connection that browsers keep no session for."""

    code = "insecure_sign_in"


class NotAllowed(VskillError):
    """Who asks is known and may not do this."""

    code = "not_allowed"


class SignInFailed(VskillError):
    """The name, the password or what a provider said of somebody does not sign them in."""

    code = "sign_in_failed"


class CodeRefused(SignInFailed):
    """A one-time code or recovery code is wrong, is over, or was used already."""

    code = "code_refused"


class ProviderUnreachable(VskillError):
    """The OpenID provider does not answer, or not as one."""

    code = "provider_unreachable"
    retryable = True


class LinkSpent(VskillError):
    """A link that works once was used already, or its time is over."""

    code = "link_spent"


class NameTaken(VskillError):
    """The name that somebody or something is to have belongs to another already."""

    code = "name_taken"


class LastAdministrator(VskillError):
    """Nobody would be left who can do everything."""

    code = "last_administrator"
