"""SKILL.md as a page shows it: what stands before the text as a table, and the text with its links led somewhere safe.

Rendering takes a while and gives the same for the same bytes, so what was rendered last is kept.
"""

from __future__ import annotations

import posixpath
from collections import OrderedDict
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from markupsafe import Markup

from vskill_platform.domain.content import skill_file_of
from vskill_platform.domain.errors import InvalidFrontmatter
from vskill_platform.ingest.skill_md import SkillMd, parse_skill_md
from vskill_platform.stores.contents import read_content
from vskill_platform.web.markdown import MAX_BYTES, Place, render_markdown
from vskill_platform.web.pages.skill_frame import Frame
from vskill_platform.web.pages.wording import path_quote

_MOST_KEPT = 256
_kept: OrderedDict[tuple[str, str, str], SkillDocument] = OrderedDict()


class SkillDocument(NamedTuple):
    """A SKILL.md: its name in the skill, the fields before its text, the text, and whether some of it is left out."""

    path: str
    fields: list[tuple[str, str]]
    html: Markup
    is_cut: bool


async def read_document(frame: Frame) -> SkillDocument:
    """The SKILL.md of a version, rendered. Raises BlobCorrupt rather than show other bytes."""
    key = (frame.skill.slug, frame.version.version, frame.version.content_digest)
    if key in _kept:
        _kept.move_to_end(key)
        return _kept[key]
    document = await _render(frame)
    _kept[key] = document
    if len(_kept) > _MOST_KEPT:
        _kept.popitem(last=False)
    return document


async def _render(frame: Frame) -> SkillDocument:
    file = skill_file_of(await read_content(frame.version))
    if file is None:
        return SkillDocument("", [], Markup(), is_cut=False)
    try:
        parsed = parse_skill_md(file.content)
    except InvalidFrontmatter:
        text = file.content.decode(errors="replace")
        return SkillDocument(file.path, [], await render_markdown(f"```\n{text}\n```"), len(text) > MAX_BYTES)
    html = await render_markdown(parsed.body, place=_place(frame))
    return SkillDocument(file.path, list(_fields(parsed)), html, len(parsed.body.encode()) > MAX_BYTES)


def _fields(parsed: SkillMd) -> list[tuple[str, str]]:
    """What stands before the text, less name and description, which the page shows at its head."""
    told = [
        ("license", parsed.license),
        ("compatibility", parsed.compatibility),
        ("allowed-tools", ", ".join(parsed.allowed_tools)),
        *((f"metadata.{name}", value) for name, value in parsed.metadata.items()),
        *parsed.extra.items(),
    ]
    return [(name, value) for name, value in told if value]


def _place(frame: Frame) -> Place:
    """Relative links lead to the very file that was verified, or to its folder's source at the pinned commit."""
    known = {file.path for file in frame.version.files}

    def resolve(href: str) -> str | None:
        path = _normal(href)
        if path in known:
            return f"{frame.files}{path_quote(path)}"
        return f"{frame.source}/{path_quote(path)}" if path and frame.source else None

    return Place(resolve_link=resolve, heading_shift=1)


def _normal(href: str) -> str:
    """The path that a relative address means, from the skill's folder; empty where it leads out of it."""
    path = posixpath.normpath(unquote(urlsplit(href).path))
    return "" if path.startswith(("/", "..")) or path == "." else path
