"""Commands that print a secret, and the domains whose business it is: in shell, and wherever a line of shell is started."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

LONGEST_LINE = 400


class Printed(NamedTuple):
    """What a command prints, in words, who has issued it, and whether it is good for nobody else, in a header neither.

    `variable` is the one that programs have it in. What `logs_in` is there to be shown to a service; a key is not.
    """

    name: str
    owners: tuple[str, ...] = ()
    is_theirs_alone: bool = False
    variable: str = ""
    logs_in: bool = True


_GITHUB = Printed("token of GitHub", ("github.com", "githubusercontent.com", "ghcr.io"), True, "GH_TOKEN")
_GITLAB = Printed("token of GitLab", ("gitlab.com",), True, "GITLAB_TOKEN")
_GOOGLE = Printed(
    "token of Google Cloud",
    ("googleapis.com", "google.com", "gcr.io", "pkg.dev", "run.app"),
    variable="GOOGLE_OAUTH_TOKEN",
)
_AZURE = Printed(
    "token of Azure",
    ("azure.com", "microsoftonline.com", "windows.net", "microsoft.com", "azurecr.io"),
    variable="AZURE_TOKEN",
)
_AWS = Printed("credentials of AWS", ("amazonaws.com", "aws.amazon.com"), True, "AWS_SECRET_ACCESS_KEY")
STORE_ENTRY = "entry of a password store"
_STORE = Printed(STORE_ENTRY)
_VAULT = Printed("entry of a vault")
_STATE = Printed("state with its secrets", logs_in=False)
_KEYS = Printed("private key", logs_in=False)
_NETWORK_PASSWORD = Printed("password of a network", logs_in=False)
_PRINTERS: dict[str, tuple[tuple[str, Printed], ...]] = {
    "gh": ((r"auth token|auth status .*(?:-t\b|--show-token)", _GITHUB),),
    "glab": ((r"auth token|config get token|auth status .*--show-token", _GITLAB),),
    "security": ((r"(?:find-(?:generic|internet)-password .*-\w*[wg]\w*|dump-keychain|export)\b", _STORE),),
    "secret-tool": ((r"lookup|search", _STORE),),
    "keyring": ((r"get\b", _STORE),),
    "kwallet-query": ((r".*-r\b", _STORE),),
    "pass": ((r"show\b|(?!insert|generate|git|init|edit|rm|mv|cp|find|ls|grep|help|version|-)\S+/", _STORE),),
    "gopass": ((r"show\b|cat\b", _STORE),),
    "lpass": ((r"show|export", _STORE),),
    "bw": ((r"get|list|export", _STORE),),
    "rbw": ((r"get|list", _STORE),),
    "op": ((r"read|item (?:get|list)|document get|inject", _STORE),),
    "dcli": ((r"password|read|note|export", _STORE),),
    "keepassxc-cli": ((r"show|export", _STORE),),
    "vault": ((r"kv get|read|print token|token (?:create|lookup)", _VAULT),),
    "sops": ((r".*(?:-d|--decrypt)\b|decrypt", _VAULT),),
    "ansible-vault": ((r"view|decrypt", _VAULT),),
    "chamber": ((r"read|export|env", _VAULT),),
    "doppler": ((r"secrets", _VAULT),),
    "infisical": ((r"export|secrets", _VAULT),),
    "heroku": ((r"auth:token|config\b(?!:set|:unset)", _VAULT),),
    "fly": ((r"auth token|tokens create", _VAULT),),
    "flyctl": ((r"auth token|tokens create", _VAULT),),
    "gcloud": ((r"secrets versions access", _VAULT), (r"auth (?:application-default )?print-", _GOOGLE)),
    "az": (
        (r"keyvault secret show", _VAULT),
        (r"account get-access-token|acr credential show|storage account keys list", _AZURE),
    ),
    "aws": (
        (r".*\b(?:get-secret-value|get-parameters?\b.*--with-decryption)", _VAULT),
        (
            r".*\b(?:create-access-key|get-session-token|export-credentials|assume-role|"
            r"get-login-password|configure get|get-federation-token)",
            _AWS,
        ),
    ),
    "npm": ((r"token (?:list|create)|config get \S*_auth", Printed("token of npm")),),
    "git": ((r"credential fill|credential-\S+ get", Printed("credential of git")),),
    "terraform": ((r"state pull", _STATE),),
    "tofu": ((r"state pull", _STATE),),
    "pulumi": ((r"stack export|.*--show-secrets", _STATE),),
    "gpg": ((r".*--export-secret-(?:sub)?keys", _KEYS),),
    "wg": ((r"showconf|show \S+ private-key", _KEYS),),
    "nmcli": ((r".*(?:-s|--show-secrets)\b", _NETWORK_PASSWORD),),
    "netsh": ((r"wlan show profile.*key=clear", _NETWORK_PASSWORD),),
}
_COMPILED = {
    program: tuple((re.compile(pattern, re.IGNORECASE | re.DOTALL), printed) for pattern, printed in known)
    for program, known in _PRINTERS.items()
}
PRINTERS = frozenset(_COMPILED)
"""The commands that may print a secret."""
PRINTED = {printed.name: printed for known in _PRINTERS.values() for _, printed in known}
"""By name, for whoever asks whose a secret is."""


def printed_by(program: str, words: Sequence[str]) -> Printed | None:
    """The secret that a command prints, if it does."""
    known = _COMPILED.get(program)
    if known is None:
        return None
    line = " ".join(words)[:LONGEST_LINE]
    return next((printed for pattern, printed in known if pattern.match(line)), None)
