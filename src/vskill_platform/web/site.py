"""Where the registry is, as people reach it: what absolute addresses begin with."""

from __future__ import annotations

from typing import Any

from litestar import Request
from litestar.datastructures import State

from vskill_platform.worker_context import current_env


def site_url(request: Request[Any, Any, State]) -> str:
    """The address without a slash at its end: the one that the settings name, else the one of this request."""
    return current_env("settings").settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")
