"""Submitting: one field, what is known of an address while it is typed, the skills found there, and the way in."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec
from litestar import Response, get, post
from litestar.enums import RequestEncodingType
from litestar.params import Body, FromQuery
from litestar.response import Redirect
from litestar.status_codes import HTTP_200_OK

from vskill_platform.domain.blocklist import repository_block_key
from vskill_platform.domain.errors import InvalidInput, SourceRefused, SourceUnreachable
from vskill_platform.domain.records import Submission
from vskill_platform.domain.repository import RepositoryAddress, normalise_repository_url
from vskill_platform.pipeline.discovery import discover_skills
from vskill_platform.pipeline.intake import find_claimed, submit_repository
from vskill_platform.stores.blocklist import get_block
from vskill_platform.web.access import caller_of
from vskill_platform.web.api.submissions import submitter_of
from vskill_platform.web.pages.rendering import PageRequest, page
from vskill_platform.web.pages.submission import see_submission
from vskill_platform.web.surface.problems import retry_after, status_of
from vskill_platform.web.surface.rate_limits import DISCOVERIES, SUBMISSIONS, limited
from vskill_platform.worker_context import current_env

MAX_URL_CHARS = 2000
_take_place = limited(SUBMISSIONS)
_take_look = limited(DISCOVERIES)


class Checked(NamedTuple):
    """What is known of an address: a word, and with it a sentence, the normal form, or the submission there is."""

    word: str
    told: str = ""
    address: str = ""
    submission: Submission | None = None


class SubmitForm(msgspec.Struct, frozen=True, kw_only=True):
    """What the form sends."""

    url: Annotated[str, msgspec.Meta(max_length=MAX_URL_CHARS)] = ""
    skill: Annotated[str, msgspec.Meta(max_length=200)] = ""
    email: Annotated[str, msgspec.Meta(max_length=254)] = ""


SentForm = Annotated[SubmitForm, Body(media_type=RequestEncodingType.URL_ENCODED)]


@get("/submit")
async def show_submit_page(request: PageRequest, url: FromQuery[str] = "") -> Response[str]:
    """The form; an address that comes along is checked at once."""
    return _form(request, url, await check_address(url))


@get("/submit/check")
async def show_check(request: PageRequest, url: FromQuery[str] = "") -> Response[str]:
    """What is known of an address while it is typed. It asks nobody but ourselves."""
    return page(request, "parts/checked.html", checked=await check_address(url), is_scripted=True)


@post("/submit")
async def submit_form(request: PageRequest, data: SentForm) -> Response[str] | Redirect:
    """Take in what the form sent and go on to its submission; what cannot be taken in comes back with the reason.

    An address that is none costs nobody one of the submissions that they have in an hour.
    """
    try:
        normalise_repository_url(data.url)
        await _take_place(request, request.route_handler)
        submitter = submitter_of(caller_of(request), contact=data.email.strip())
        intake = await submit_repository(data.url, skill_name=data.skill, submitter=submitter)
    except InvalidInput as error:
        return _form(request, data.url, Checked("none"), trouble=error)
    return see_submission(intake.submission.id, answer=intake.answer.value)


@post("/submit/skills", status_code=HTTP_200_OK)
async def find_skills(request: PageRequest, data: SentForm) -> Response[str]:
    """The skills at an address, to choose from. Nothing is submitted; what keeps them from being found is said in their place."""
    try:
        await _take_look(request, request.route_handler)
        found = await discover_skills(data.url)
    except (InvalidInput, SourceRefused, SourceUnreachable) as error:
        return page(request, "parts/skills_found.html", trouble=error.message, folders=[], commit="")
    return page(request, "parts/skills_found.html", trouble="", folders=found.folders, commit=found.commit)


async def check_address(url: str) -> Checked:
    """Whether an address has the form of one, and what the registry knows of it."""
    if not url.strip():
        return Checked("none")
    try:
        wanted = normalise_repository_url(url)
    except InvalidInput as error:
        return Checked("invalid", error.message)
    blocked = await get_block(repository_block_key(wanted.url))
    if blocked is not None:
        return Checked("blocked", blocked[0].reason)
    found = await find_claimed(wanted)
    if found is not None:
        return Checked("known", address=_written(wanted), submission=found.submission)
    return Checked("new", address=_written(wanted))


def _written(wanted: RepositoryAddress) -> str:
    return f"{wanted.url}/tree/{wanted.tree_path}" if wanted.tree_path else wanted.url


def _form(request: PageRequest, url: str, checked: Checked, *, trouble: InvalidInput | None = None) -> Response[str]:
    headers: dict[str, str] = {}
    if trouble is not None and (retry_after_s := retry_after(trouble)) is not None:
        headers["Retry-After"] = str(retry_after_s)
    return page(
        request,
        "submit.html",
        status_code=HTTP_200_OK if trouble is None else status_of(type(trouble)),
        headers=headers,
        url=url[:MAX_URL_CHARS],
        checked=checked,
        trouble="" if trouble is None else trouble.message,
        is_scripted=False,
        limit=current_env("settings").settings.submissions_per_hour,
    )
