"""The settings in force. What is secret is hidden here as it is everywhere."""

from __future__ import annotations

from functools import cache
from typing import get_type_hints

import msgspec
from litestar import get

from vskill_platform.domain.access import Permission
from vskill_platform.settings import PREFIX, Settings, printable_settings
from vskill_platform.web.access import needs
from vskill_platform.web.api.describing import described
from vskill_platform.worker_context import current_env

Value = str | float | bool


class SettingView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One setting: the variable that sets it, what it is for, its value, its default, and whether it differs from that."""

    name: str
    description: str
    value: Value
    default: Value
    is_set: bool


class SettingsView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every setting that the process which answered has."""

    settings: list[SettingView]


_EXAMPLE = SettingView(
    name="VSKILL_PLATFORM_PAUSE_S",
    description="How long a pause of the queue lasts when nobody says otherwise.",
    value=7200.0,
    default=3600.0,
    is_set=True,
)


@get(
    "/api/v1/admin/settings",
    summary="Show the settings in force",
    tags=["admin"],
    opt=described(SettingsView(settings=[_EXAMPLE]), access=needs(Permission.SEE_SETTINGS)),
)
async def show_settings_in_force() -> SettingsView:
    """Every setting of the process that answers, with its default. Passwords and secrets are hidden."""
    return SettingsView(settings=view_settings(current_env("settings").settings))


def view_settings(settings: Settings) -> list[SettingView]:
    """The settings as they are told. One that is the default is not told as set, however it came to be."""
    usual = Settings()
    shown, defaults = printable_settings(settings), printable_settings(usual)
    told = _descriptions()
    return [
        SettingView(
            name=f"{PREFIX}{name.upper()}",
            description=told[name],
            value=_plain(shown[name]),
            default=_plain(defaults[name]),
            is_set=getattr(settings, name) != getattr(usual, name),
        )
        for name in Settings.__struct_fields__
    ]


def _plain(value: object) -> Value:
    return value if isinstance(value, str | int | float | bool) else str(value)


@cache
def _descriptions() -> dict[str, str]:
    hints = get_type_hints(Settings, include_extras=True)
    return {name: hints[name].__metadata__[0].description or "" for name in Settings.__struct_fields__}
