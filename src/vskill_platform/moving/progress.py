"""How long work tells that it goes on."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Told what is being done, how much of it is done, and of how much in all where that is known. Called often; must be quick."""


def untold(doing: str, done: int, total: int | None) -> None:
    """Progress that nobody wants to hear of."""
