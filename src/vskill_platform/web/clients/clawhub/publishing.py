"""`publish`: a version of a skill, with files that were uploaded before or that come along in a form.

What is published here is pushed (`pipeline/pushing.py`) and takes the way of every submission, so the answer is mostly "pending".
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec
from litestar import Response, post
from litestar.datastructures import UploadFile

from vskill_platform.domain.content import SkillContent, SkillFile, make_content
from vskill_platform.domain.errors import BodyTooLarge, Conflict, InvalidInput, NotAllowed
from vskill_platform.domain.slug import slugify
from vskill_platform.pipeline.intake import Answer, Intake
from vskill_platform.pipeline.pushing import push_skill
from vskill_platform.ports.commit import Operation
from vskill_platform.stores.contents import ROOM
from vskill_platform.stores.pushed_handles import handles_of
from vskill_platform.stores.upload_tickets import FileDescription, redeem_ticket
from vskill_platform.web.access import caller_of
from vskill_platform.web.api.submissions import submitter_of
from vskill_platform.web.clients.clawhub.naming import ClawHubRequest
from vskill_platform.web.clients.clawhub.reading import Document
from vskill_platform.web.clients.clawhub.uploads import MAX_UPLOAD_BYTES, OWNED
from vskill_platform.web.surface.rate_limits import PUSHES, limited
from vskill_platform.worker_context import current_env

_FORM_EXTRA_BYTES = 1024 * 1024
"""What a form may have beside the bytes of its files."""
Short = Annotated[str, msgspec.Meta(max_length=400)]


class UploadedFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that was uploaded before."""

    path: Short
    size: int
    sha256: Short
    upload_ticket: Short


class PublishRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A version that is to be published. Other fields that clients send are not needed here."""

    slug: Short
    version: Short
    display_name: Short = ""
    owner_handle: Short | None = None
    tags: list[Short] = []
    files: list[UploadedFile] = []


class _Sent(NamedTuple):
    """What is to be published, and the operations that use its tickets up."""

    wanted: PublishRequest
    content: SkillContent
    using: list[Operation]


@post(
    "/api/v1/skills",
    status_code=200,
    guards=[limited(PUSHES)],
    request_max_body_size=MAX_UPLOAD_BYTES,
    opt=OWNED,
)
async def publish(request: ClawHubRequest) -> Document:
    """Take a version in. It is public once it has been verified; a version that fails is free again."""
    most = current_env("settings").settings.skill_max_bytes
    is_form = request.content_type[0] == "multipart/form-data"
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > most + _FORM_EXTRA_BYTES:
        raise BodyTooLarge(f"A skill has at most {most} bytes. Say the length of the body, and send less.")
    with ROOM.taking(2 * int(length) if is_form else most):
        sent = await (_read_form(request) if is_form else _read_uploaded(request))
        return Response(await _push(request, sent))


async def _push(request: ClawHubRequest, sent: _Sent) -> dict[str, object]:
    caller, wanted = caller_of(request), sent.wanted
    handle = (wanted.owner_handle or "").strip().lstrip("@").lower() or await default_handle(caller.id, caller.name)
    intake = await push_skill(
        sent.content,
        handle=handle,
        name=wanted.slug,
        version=wanted.version,
        submitter=submitter_of(caller),
        using=sent.using,
    )
    return _tell(intake, f"{handle}/{wanted.slug}", wanted.version)


async def default_handle(account: str, name: str) -> str:
    """The handle that somebody publishes under who names none: their publisher's, or their own name."""
    own = await handles_of(account)
    return own[0] if own else slugify(name)


def _tell(intake: Intake, name: str, version: str) -> dict[str, object]:
    identity = intake.submission.id
    if intake.answer is Answer.BLOCKED:
        raise NotAllowed(f"{name} is on the blocklist, and nothing of it is published. See submission {identity}.")
    if intake.answer is Answer.REJECTED:
        raise Conflict(f"A person has turned these bytes down. Change the skill, or appeal: submission {identity}.")
    status = "published" if intake.answer is Answer.VERIFIED else "pending"
    return {
        "ok": True,
        "skillId": identity,
        "versionId": f"{name}@{version}",
        "slug": name.rsplit("/", 1)[-1],
        "version": version,
        "status": status,
        "publicationStatus": status,
        "attemptId": identity,
    }


async def _read_uploaded(request: ClawHubRequest) -> _Sent:
    """The files that tickets stand for. Raises Conflict where one was not uploaded with its ticket."""
    wanted = _decode(await request.body())
    account, files, using = caller_of(request).id, list[SkillFile](), list[Operation]()
    _check_size(sum(max(0, file.size) for file in wanted.files))
    for file in wanted.files:
        said = FileDescription(path=file.path, size=file.size, sha256=file.sha256)
        redeemed = await redeem_ticket(file.upload_ticket, said, account=account)
        files.append(SkillFile(path=file.path, content=redeemed.content))
        using.append(redeemed.using)
    return _Sent(wanted, make_content(files), using)


async def _read_form(request: ClawHubRequest) -> _Sent:
    """The files of a form: `payload` says what they are, and each part `files` is one, named by its path."""
    form = await request.form()
    payload = form.get("payload")
    wanted = _decode(payload.encode() if isinstance(payload, str) else b"")
    files = [
        SkillFile(path=part.filename, content=await part.read())
        for part in form.getall("files", [])
        if isinstance(part, UploadFile)
    ]
    return _Sent(wanted, make_content(files), [])


def _decode(body: bytes) -> PublishRequest:
    try:
        return msgspec.json.decode(body, type=PublishRequest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"This is no request to publish a skill: {exc}.") from exc


def _check_size(size: int) -> None:
    most = current_env("settings").settings.skill_max_bytes
    if size > most:
        raise BodyTooLarge(f"A skill's files have at most {most} bytes together. Leave out what it does not need.")


PUBLISHING_ROUTES = [publish]
