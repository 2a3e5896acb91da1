"""Health over HTTP: 200 and how the registry stands, or 503 where that cannot be known."""

from __future__ import annotations

import msgspec
from litestar import Response, get
from litestar.status_codes import HTTP_200_OK, HTTP_503_SERVICE_UNAVAILABLE

from vskill_platform import __version__
from vskill_platform.domain.errors import VskillError
from vskill_platform.stores.health import Health, read_health


class Unhealthy(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer of a registry that cannot read its store: never a zero, never an empty list."""

    status: str
    version: str
    code: str
    detail: str


@get("/healthz")
async def healthz() -> Response[Health | Unhealthy]:
    """How the registry stands; 503 when it cannot read its store."""
    try:
        health = await read_health()
    except VskillError as error:
        answer = Unhealthy(status="unavailable", version=__version__, code=error.code, detail=error.message)
        return Response(answer, status_code=HTTP_503_SERVICE_UNAVAILABLE, headers={"Retry-After": "5"})
    return Response(health, status_code=HTTP_200_OK, headers={"Cache-Control": "no-store"})
