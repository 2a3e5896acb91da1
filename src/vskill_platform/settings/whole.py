"""The one Settings that every process has, and how it is shown."""

from __future__ import annotations

from vskill_platform.domain.redaction import HIDDEN, hide_password
from vskill_platform.settings.judge import JudgeSettings

PREFIX = "VSKILL_PLATFORM_"
LOOPBACK = "127.0.0.1"
_SECRETS = (
    "blobs_secret_access_key",
    "external_push_secrets",
    "judge_api_key",
    "oidc_client_secret",
    "snyk_token",
)


class Settings(JudgeSettings, frozen=True, kw_only=True):
    """What an operator can change. Each field is `VSKILL_PLATFORM_` and its name in capitals."""

    def __repr__(self) -> str:
        """Every field, with what is secret hidden: a repr ends up in logs."""
        shown = ", ".join(f"{name}={value!r}" for name, value in printable_settings(self).items())
        return f"Settings({shown})"


def printable_settings(settings: Settings) -> dict[str, object]:
    """Every setting by its name, with passwords and secrets hidden."""
    shown = {name: getattr(settings, name) for name in Settings.__struct_fields__}
    for name in ("database_url", "judge_url"):
        shown[name] = hide_password(getattr(settings, name))
    for name in _SECRETS:
        shown[name] = HIDDEN if getattr(settings, name) else ""
    return shown


def health_place(settings: Settings) -> tuple[str, int] | None:
    """Host and port that the process serves its health on, or None. A port alone is on loopback."""
    if not settings.health_address:
        return None
    host, _, port = settings.health_address.rpartition(":")
    return (host.strip("[]") or LOOPBACK, int(port))
