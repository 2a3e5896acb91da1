"""The pages about one skill: what it says, how it was judged, its files, and the bytes of one of them."""

from __future__ import annotations

from typing import NamedTuple

from litestar import Response, get
from litestar.params import FromPath
from litestar.response import Redirect

from vskill_platform.domain.errors import NotFound
from vskill_platform.domain.scan import Finding, Severity
from vskill_platform.scanning.scoring import PASS_FROM
from vskill_platform.stores.contents import find_file, read_file
from vskill_platform.stores.skills import resolve_slug
from vskill_platform.web.api.security import scan_of
from vskill_platform.web.api.skill_lookup import moved, require_published
from vskill_platform.web.opinions import opinions_on_version
from vskill_platform.web.pages.installing import client_ways, install_ways
from vskill_platform.web.pages.paging import address
from vskill_platform.web.pages.rendering import PageRequest, page, site_url
from vskill_platform.web.pages.skill_document import read_document
from vskill_platform.web.pages.skill_frame import SKILL_PATH, Frame, find_near, load_frame
from vskill_platform.web.source_words import source_health

MAX_SHOWN_BYTES = 256 * 1024


@get(SKILL_PATH)
async def show_skill(request: PageRequest) -> Response[str]:
    """A skill: what it says, its verdict at a glance, and how to install it."""
    return await _show_overview(request, await load_frame(request))


@get(f"{SKILL_PATH}/versions/{{version:str}}")
async def show_skill_version(request: PageRequest) -> Response[str]:
    """The same for one version."""
    return await _show_overview(request, await load_frame(request))


async def _show_overview(request: PageRequest, frame: Frame) -> Response[str]:
    scan = await scan_of(frame.version)
    return page(
        request,
        "skill.html",
        frame=frame,
        document=await read_document(frame),
        findings=None if scan is None else count_severities(scan.report.findings),
        health=await source_health(frame.skill),
        opinions=await opinions_on_version(frame.version),
        ways=install_ways(frame, site=site_url(request)),
        clients=client_ways(frame, site=site_url(request)),
        badge=f"{site_url(request)}/api/v1{frame.home}/badge",
    )


@get(f"{SKILL_PATH}/security")
async def show_skill_security(request: PageRequest) -> Response[str]:
    """How a version was judged: every finding, and everything it can do."""
    frame = await load_frame(request)
    scan = await scan_of(frame.version)
    return page(
        request,
        "skill_security.html",
        frame=frame,
        scan=scan,
        opinions=await opinions_on_version(frame.version),
        findings=() if scan is None else by_severity(scan.report.findings),
        counts=None if scan is None else count_severities(scan.report.findings),
        pass_from=PASS_FROM,
    )


@get(f"{SKILL_PATH}/opinions")
async def show_skill_opinions(request: PageRequest) -> Response[str]:
    """The second opinions alone, for a page that is open while answers come in."""
    frame = await load_frame(request)
    opinions = await opinions_on_version(frame.version)
    return page(request, "parts/skill_opinions.html", frame=frame, opinions=opinions)


def by_severity(findings: tuple[Finding, ...]) -> list[Finding]:
    """The gravest first; of equal ones, by file and line."""
    order = list(Severity)
    return sorted(findings, key=lambda found: (order.index(found.severity), found.file, found.line))


def count_severities(findings: tuple[Finding, ...]) -> dict[str, int]:
    """How many findings there are of each severity that has any, the gravest first."""
    counts = {severity.value: sum(found.severity is severity for found in findings) for severity in Severity}
    return {severity: count for severity, count in counts.items() if count}


@get(f"{SKILL_PATH}/files")
async def list_skill_files(request: PageRequest) -> Response[str]:
    """The files of a version, and what was left out of them."""
    frame = await load_frame(request)
    return page(request, "skill_files.html", frame=frame, size=sum(file.size for file in frame.version.files))


class _Shown(NamedTuple):
    """A file as lines of text; none where it is no text, or too much of it."""

    lines: list[str] | None
    why_not: str = ""


@get(f"{SKILL_PATH}/versions/{{version:str}}/files/{{path:path}}")
async def show_skill_file(request: PageRequest) -> Response[str]:
    """One file of a version, with numbered lines, byte for byte as it was verified."""
    frame = await load_frame(request)
    file = find_file(frame.version, str(request.path_params["path"]).removeprefix("/"))
    shown = _as_lines(await read_file(frame.version, file.path)) if file.size <= MAX_SHOWN_BYTES else _TOO_LONG
    return page(request, "skill_file.html", frame=frame, file=file, lines=shown.lines, why_not=shown.why_not)


_TOO_LONG = _Shown(None, "It is longer than a page shows.")
_NO_TEXT = _Shown(None, "It is not text.")


def _as_lines(content: bytes) -> _Shown:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return _NO_TEXT
    if "\0" in text:
        return _NO_TEXT
    return _Shown(text.replace("\r\n", "\n").removesuffix("\n").split("\n"))


@get("/skills/{owner:str}/{repo:str}")
async def follow_repository(owner: FromPath[str], repo: FromPath[str]) -> Redirect:
    """A slug that lacks its last part leads to what is published from there."""
    return Redirect(address("/skills", {"q": repo, "publisher": owner}))


@get("/skills/{alias:str}")
async def follow_alias(alias: FromPath[str]) -> Response[str]:
    """A slug of an older form, which had one part, leads to the present one."""
    try:
        found = await require_published(alias)
    except NotFound as error:
        if type(error) is NotFound:
            raise NotFound(f"There is no skill '{alias}'.", **error.fields, near=await find_near(alias)) from error
        raise
    raise moved(alias, await resolve_slug(alias) or found.skill.slug)
