"""What a type and a range cannot say of a setting: the form of addresses, and what belongs together."""

from __future__ import annotations

from urllib.parse import urlsplit

from vskill_platform.domain.account import parse_role_map
from vskill_platform.domain.errors import InvalidInput, InvalidSettings
from vskill_platform.domain.external_provider import parse_providers
from vskill_platform.settings.whole import PREFIX, Settings

POSTGRES_SCHEMES = ("postgresql", "postgres")
OBJECT_STORE_SCHEMES = ("s3",)


def check_settings(settings: Settings) -> None:
    """Raise InvalidSettings for the first setting that has a value it cannot have, or lacks another that it needs."""
    _check_scheme("database_url", settings.database_url, POSTGRES_SCHEMES, example="postgresql://user@host/name")
    _check_scheme("blobs_url", settings.blobs_url, OBJECT_STORE_SCHEMES, example="s3://bucket/prefix")
    _check_scheme("public_url", settings.public_url, ("https", "http"), example="https://skills.example.com")
    _check_scheme("oidc_issuer", settings.oidc_issuer, ("https", "http"), example="https://login.example.com")
    _check_scheme("judge_url", settings.judge_url, ("https", "http"), example="http://127.0.0.1:11434/v1")
    _check_oidc(settings)
    _check_judge(settings)
    _check_health_address(settings.health_address)
    _check_contact(settings.security_contact)
    _check_external(settings)


def _check_scheme(name: str, url: str, schemes: tuple[str, ...], *, example: str) -> None:
    """Raise for an address of another kind. The message does not repeat it: there may be a password in it."""
    if not url:
        return
    try:
        parts = urlsplit(url)
        # What does not come apart is often a password whose signs were not written as %XX: drivers would tell parts of it.
        is_whole = "@" not in parts.path and not parts.fragment and (parts.port or 1) > 0
        is_known = parts.scheme in schemes and is_whole and bool(parts.netloc or parts.query)
    except ValueError:
        is_known = False
    if not is_known:
        raise InvalidSettings(
            f"{PREFIX}{name.upper()} is no address that it can be. Write it like {example}, or leave it empty.",
            name=name,
        )


def _check_oidc(settings: Settings) -> None:
    if settings.oidc_issuer and not settings.oidc_client_id:
        raise InvalidSettings(f"{PREFIX}OIDC_CLIENT_ID is missing: the provider knows the registry by it.")
    try:
        parse_role_map(settings.oidc_role_map)
    except InvalidInput as exc:
        raise InvalidSettings(f"{PREFIX}OIDC_ROLE_MAP: {exc.message}") from exc


def _check_judge(settings: Settings) -> None:
    key = settings.judge_api_key
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise InvalidSettings(f"{PREFIX}JUDGE_API_KEY has signs in it that no key can have.")
    if not settings.judge_url:
        return
    if not settings.judge_model:
        raise InvalidSettings(f"{PREFIX}JUDGE_MODEL is missing: the judge's server is asked for a model by its name.")
    if settings.judge_time_limit_s >= settings.message_time_limit_s:
        raise InvalidSettings(
            f"{PREFIX}JUDGE_TIME_LIMIT_S must be less than {PREFIX}MESSAGE_TIME_LIMIT_S, which work on a submission as a "
            "whole may take."
        )


def _check_health_address(address: str) -> None:
    port = address.rpartition(":")[2]
    if address and not (port.isascii() and port.isdigit() and int(port) <= 65535):
        raise InvalidSettings(
            f"{PREFIX}HEALTH_ADDRESS is '{address}'. Write a port, like 9464, or a host and a port, like 0.0.0.0:9464."
        )


def _check_external(settings: Settings) -> None:
    try:
        parse_providers(settings.external_scanners, push=settings.external_push, secrets=settings.external_push_secrets)
    except InvalidInput as exc:
        raise InvalidSettings(f"{PREFIX}{exc.message}") from exc


def _check_contact(contact: str) -> None:
    if contact and not (contact.startswith(("mailto:", "https:", "tel:")) and contact.isprintable()):
        raise InvalidSettings(
            f"{PREFIX}SECURITY_CONTACT is no address. Write it like mailto:security@example.com, or leave it empty."
        )
