"""The command line: one module a command. Speaks to people; everything it does is done by the rooms below."""

from vskill_platform.cli.main import main

__all__ = ["main"]
