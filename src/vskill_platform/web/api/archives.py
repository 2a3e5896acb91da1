"""The bytes of a version: single files and the two archives, exactly as they were verified.

What people submitted is never shown as a page from here: a file is plain text or a download, in a sandbox.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

from litestar import Request, Response, get
from litestar.background_tasks import BackgroundTask
from litestar.datastructures import State
from litestar.params import FromPath
from litestar.response import Stream

from vskill_platform.domain.skill import Skill, SkillVersion
from vskill_platform.stores.byte_room import HeldBytes
from vskill_platform.stores.contents import find_file, read_archive, read_file
from vskill_platform.stores.counts import skill_identity
from vskill_platform.stores.installs import count_download
from vskill_platform.web.api.skill_lookup import FOREVER, SKILL, offered_version, published_skill
from vskill_platform.web.surface.layer import is_head
from vskill_platform.web.surface.rate_limits import household
from vskill_platform.worker_context import current_env

_CHUNK_BYTES = 64 * 1024
_COUNTED_ONCE_S = 3600.0
_SANDBOX = "default-src 'none'; sandbox; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


@get(
    f"{SKILL}/versions/{{version:str}}/files/{{path:path}}",
    summary="One file of a version",
    tags=["skills"],
)
async def download_file(
    owner: FromPath[str], repo: FromPath[str], skill: FromPath[str], version: FromPath[str], path: FromPath[str]
) -> Response[bytes]:
    """The very bytes that were verified: as plain text where they are text, else as a download."""
    found = await offered_version(await published_skill(owner, repo, skill), version)
    return await send_file(found, str(path).removeprefix("/"))


async def send_file(version: SkillVersion, name: str, *, media_type: str = "") -> Response[bytes]:
    """A file of a version, in a sandbox and for ever; its type is plain unless one is given. Raises NotFound."""
    described, content = find_file(version, name), await read_file(version, name)
    return Response(
        content,
        media_type=media_type or _media_type(content),
        headers={
            **FOREVER,
            "ETag": f'"sha256:{described.sha256}"',
            "Content-Disposition": _attachment(name.rsplit("/", 1)[-1]),
            "Content-Security-Policy": _SANDBOX,
        },
    )


def _media_type(content: bytes) -> str:
    try:
        content.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "application/octet-stream" if b"\0" in content else "text/plain"


def _attachment(name: str) -> str:
    """The header that has a browser save the file, under its name as far as old and new browsers can read it."""
    plain = "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\%' else "_" for letter in name
    )
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


@get(
    f"{SKILL}/versions/{{version:str}}/archive.zip",
    summary="A version as a zip archive",
    tags=["skills"],
)
async def download_zip(
    request: Request[Any, Any, State],
    owner: FromPath[str],
    repo: FromPath[str],
    skill: FromPath[str],
    version: FromPath[str],
) -> Stream:
    """All files of the version, uncompressed, with SKILL.md at the root. Always the same bytes."""
    found = await published_skill(owner, repo, skill)
    return await send_archive(request, found, version, kind="zip")


@get(
    f"{SKILL}/versions/{{version:str}}/archive.tar",
    summary="A version as a tar archive",
    tags=["skills"],
)
async def download_tar(
    request: Request[Any, Any, State],
    owner: FromPath[str],
    repo: FromPath[str],
    skill: FromPath[str],
    version: FromPath[str],
) -> Stream:
    """The same files as a USTAR archive. Always the same bytes."""
    found = await published_skill(owner, repo, skill)
    return await send_archive(request, found, version, kind="tar")


async def send_archive(request: Request[Any, Any, State], skill: Skill, number: str, *, kind: str) -> Stream:
    """An archive of a version in pieces, with its digests, counted as a download. Raises NotFound or VersionYanked."""
    version = await offered_version(skill, number)
    is_zip = kind == "zip"
    digest = version.zip_digest if is_zip else version.tar_digest
    archive = await read_archive(version, digest=digest, size=version.zip_size if is_zip else version.tar_size)
    name = f"{skill.slug.replace('/', '-')}-{version.version}.{kind}"
    return Stream(
        _pieces(archive),
        media_type="application/zip" if is_zip else "application/x-tar",
        headers={
            **FOREVER,
            "ETag": f'"{digest}"',
            "X-Content-Digest": version.content_digest,
            "Repr-Digest": _repr_digest(digest),
            "Content-Length": str(len(archive.content)),
            "Content-Disposition": _attachment(name),
            "Content-Security-Policy": _SANDBOX,
        },
        background=BackgroundTask(_count, request, skill, digest),
    )


def is_update_check(request: Request[Any, Any, State]) -> bool:
    """Whether a client says that it only wants to know if there is something newer, as `skills update` does."""
    return request.headers.get("X-Skills-Update-Check") == "1"


def _repr_digest(digest: str) -> str:
    """A digest of ours in the form of RFC 9530."""
    raw = bytes.fromhex(digest.removeprefix("sha256:"))
    return f"sha-256=:{base64.b64encode(raw).decode()}:"


async def _pieces(archive: HeldBytes) -> AsyncIterator[bytes]:
    for start in range(0, len(archive.content), _CHUNK_BYTES):
        yield archive.content[start : start + _CHUNK_BYTES]


async def _count(request: Request[Any, Any, State], skill: Skill, digest: str) -> None:
    """Count a download: once an hour for an address, not where no bytes were sent, and not where a client only compares."""
    has_it = digest in request.headers.get("If-None-Match", "")
    if has_it or is_head(request.scope) or is_update_check(request):
        return
    address = household(request.client.host if request.client else "")
    key = f"download:{skill_identity(skill)}:{address}"
    if (await current_env("limiter").limiter.take(key, limit=1, window_s=_COUNTED_ONCE_S)).allowed:
        await count_download(skill)
