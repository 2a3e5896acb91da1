"""Health over HTTP: 200 and how the registry stands, or an error where that cannot be known. Never a zero instead."""

from __future__ import annotations

from litestar import Response, get

from vskill_platform.stores.health import Health, read_health


@get(["/healthz", "/readyz"])
async def healthz() -> Response[Health]:
    """How the registry stands; 503 when it cannot read its store. What balances load may ask under either name."""
    return Response(await read_health(), headers={"Cache-Control": "no-store"})
