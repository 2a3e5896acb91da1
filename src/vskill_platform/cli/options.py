"""Options that several commands share, and settings made of them."""

from __future__ import annotations

import os

import msgspec
import typer

from vskill_platform.settings import Settings, convert_settings, load_settings

RULES = typer.Option(
    None,
    "--rules",
    metavar="FOLDER",
    help="Folder with rules of your own. Default: VSKILL_PLATFORM_RULES_FOLDER, else none.",
    show_default=False,
)
DATA = typer.Option(None, "--data", help="Data folder. Default: VSKILL_PLATFORM_DATA, else ./data.", show_default=False)


def settings_from(**given: object) -> Settings:
    """The environment's settings, with what was given on the command line in their place."""
    chosen = {name: value for name, value in given.items() if value is not None}
    return convert_settings({**msgspec.to_builtins(load_settings(os.environ)), **chosen})
