"""Files that are sent one by one before they are published: a ticket for each, then its bytes, held to what was announced."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Response, post
from litestar.params import FromPath, JSONBody

from vskill_platform.domain.access import Permission
from vskill_platform.domain.errors import BodyTooLarge
from vskill_platform.ingest.paths import check_path
from vskill_platform.stores.upload_tickets import FileDescription, fill_ticket, get_ticket, open_ticket
from vskill_platform.web.access import ACCESS, caller_of, needs
from vskill_platform.web.clients.clawhub.naming import ClawHubRequest
from vskill_platform.web.clients.clawhub.reading import Document
from vskill_platform.web.site import site_url
from vskill_platform.web.surface.rate_limits import UPLOADS, limited
from vskill_platform.worker_context import current_env

MAX_UPLOAD_BYTES = 64 * 1024 * 1024
"""More than this no setting allows; the setting `file_max_bytes` is what holds a file."""
OWNED = {ACCESS: needs(Permission.OWN)}


class UploadRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that is to be sent."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=400)]
    size: Annotated[int, msgspec.Meta(ge=0)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    content_type: str = ""


@post("/api/v1/skills/-/upload-url", status_code=200, guards=[limited(UPLOADS)], opt=OWNED)
async def make_upload_url(request: ClawHubRequest, data: JSONBody[UploadRequest]) -> Document:
    """Where to send a file, and the ticket that stands for it afterwards. Its name and size are looked at first."""
    check_path(data.path)
    _check_size(data.size)
    file = FileDescription(path=data.path, size=data.size, sha256=data.sha256)
    opened = await open_ticket(caller_of(request).id, file)
    url = f"{site_url(request)}/clawhub/api/v1/skills/-/uploads/{opened.id}"
    return Response({"uploadUrl": url, "uploadTicket": opened.secret})


@post(
    "/api/v1/skills/-/uploads/{identity:str}",
    status_code=200,
    request_max_body_size=MAX_UPLOAD_BYTES,
    opt=OWNED,
)
async def take_upload(request: ClawHubRequest, identity: FromPath[str]) -> Document:
    """The bytes of an announced file. Reading stops at the size that was announced."""
    account = caller_of(request).id
    ticket = await get_ticket(identity, account=account)
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > ticket.file.size:
            raise BodyTooLarge(f"These are more than the {ticket.file.size} bytes that were announced.")
    return Response({"storageId": await fill_ticket(identity, bytes(content), account=account)})


def _check_size(size: int) -> None:
    most = current_env("settings").settings.file_max_bytes
    if size > most:
        raise BodyTooLarge(f"A file of a skill has at most {most} bytes. Leave this one out, or split it.")


UPLOAD_ROUTES = [make_upload_url, take_upload]
