"""One route of the framework with nothing around it, served as ours are: what `http_rates` compares with."""

from __future__ import annotations

import asyncio
import sys

import uvicorn
import uvloop
from litestar import Litestar, get

from vskill_platform.app.listening import address_of, open_listener


@get("/hello")
async def hello() -> dict[str, str]:
    """Hello."""
    return {"hello": "world"}


async def main() -> None:
    """Serve on a free port until the process is ended, and say where."""
    listener = open_listener("127.0.0.1", 0)
    app = Litestar([hello], openapi_config=None, logging_config=None)
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, lifespan="off")
    serving = asyncio.create_task(uvicorn.Server(config).serve(sockets=[listener]))
    print(f"running on {address_of(listener)}", file=sys.stderr, flush=True)
    await serving


if __name__ == "__main__":
    uvloop.run(main())
