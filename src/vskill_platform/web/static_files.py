"""Our style sheet, scripts, font and pictures, each under an address that names its content.

What has the right hash in its address never changes and may be kept for ever. A name with another hash, as a page of a
neighbour gives while a new version is rolled out, is answered with what this process has, and kept by nobody. The files
are read once, so that no request can name anything outside the folder.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from litestar import HttpMethod, Request, Response, route
from litestar.datastructures import State
from litestar.params import FromPath
from litestar.status_codes import HTTP_200_OK, HTTP_304_NOT_MODIFIED

from vskill_platform.domain.errors import NotFound

_FOLDER = Path(__file__).parent / "static"
_MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_PRESSED = frozenset({".css", ".js", ".svg"})
_NAMED = re.compile(rb'url\("([\w.-]+)"\)')
_HASH_CHARS = 12
_FOR_EVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"


class StaticFile(NamedTuple):
    """One file, as it is served."""

    fingerprint: str
    media_type: str
    content: bytes
    pressed: bytes | None


@cache
def static_files() -> dict[str, StaticFile]:
    """Every file that is served, by name. Style sheets come last: they name other files by their addresses."""
    files: dict[str, StaticFile] = {}
    for path in sorted(_FOLDER.iterdir(), key=lambda path: (path.suffix == ".css", path.name)):
        if path.suffix in _MEDIA_TYPES:
            files[path.name] = _read(path, files)
    return files


def _read(path: Path, others: dict[str, StaticFile]) -> StaticFile:
    content = path.read_bytes()
    if path.suffix == ".css":
        content = _NAMED.sub(lambda found: f'url("{_address(found[1].decode(), others)}")'.encode(), content)
    fingerprint = hashlib.sha256(content).hexdigest()[:_HASH_CHARS]
    pressed = gzip.compress(content, compresslevel=9, mtime=0) if path.suffix in _PRESSED else None
    return StaticFile(fingerprint, _MEDIA_TYPES[path.suffix], content, pressed)


def static_url(name: str) -> str:
    """The address of a file. Raises KeyError for one that is not there: a page never links to nothing."""
    return _address(name, static_files())


def _address(name: str, files: dict[str, StaticFile]) -> str:
    return f"/static/{files[name].fingerprint}/{name}"


@route("/static/{fingerprint:str}/{name:str}", http_method=[HttpMethod.GET, HttpMethod.HEAD], status_code=HTTP_200_OK)
async def show_static_file(
    request: Request[object, object, State], fingerprint: FromPath[str], name: FromPath[str]
) -> Response[bytes]:
    """One file: pressed for whoever takes gzip, 304 for whoever has it."""
    file = static_files().get(name)
    if file is None:
        raise NotFound(f"There is no file '{name}' here.", name=name)
    is_pressed = file.pressed is not None and "gzip" in request.headers.get("accept-encoding", "")
    headers = _headers(file, is_pressed=is_pressed, is_exact=fingerprint == file.fingerprint)
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(b"", status_code=HTTP_304_NOT_MODIFIED, headers=headers, media_type=file.media_type)
    body = file.pressed if is_pressed and file.pressed is not None else file.content
    return Response(body, headers=headers, media_type=file.media_type)


def _headers(file: StaticFile, *, is_pressed: bool, is_exact: bool) -> dict[str, str]:
    headers = {
        "Cache-Control": _FOR_EVER if is_exact else _ASK_AGAIN,
        "ETag": f'"{file.fingerprint}{"-gzip" if is_pressed else ""}"',
    }
    if file.pressed is not None:
        headers["Vary"] = "Accept-Encoding"
    if is_pressed:
        headers["Content-Encoding"] = "gzip"
    return headers
