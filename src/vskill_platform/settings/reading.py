"""From the environment to the settings."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from vskill_platform.domain.errors import InvalidSettings
from vskill_platform.settings.checking import check_settings
from vskill_platform.settings.whole import PREFIX, Settings

CLIENT_NAMES = ("server", "token", "token_file")
"""Variables of the same prefix that commands read which speak to a registry elsewhere. They are no settings of this one."""


def load_settings(environ: Mapping[str, str]) -> Settings:
    """The settings that an environment asks for. Raises InvalidSettings for a name or value that means nothing."""
    given = {name.removeprefix(PREFIX).lower(): value for name, value in environ.items() if name.startswith(PREFIX)}
    given = {name: value for name, value in given.items() if name not in CLIENT_NAMES}
    unknown = sorted(set(given) - set(Settings.__struct_fields__))
    if unknown:
        names = ", ".join(f"{PREFIX}{name.upper()}" for name in unknown)
        raise InvalidSettings(f"There is no setting {names}. docs/reference/settings.md lists them all.", names=unknown)
    return convert_settings(given)


def convert_settings(given: Mapping[str, object]) -> Settings:
    """Settings from values by field name; text is taken for the number it spells."""
    try:
        settings = msgspec.convert(dict(given), Settings, strict=False)
    except msgspec.ValidationError as exc:
        raise InvalidSettings(
            f"A setting has a value it cannot have: {exc}. docs/reference/settings.md says what each takes."
        ) from exc
    check_settings(settings)
    return settings
