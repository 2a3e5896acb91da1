"""Office documents and e-books, which are zips: their text as people read it, their macros, and what they load by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape

from vskill_platform.scanning.tier1.containers.members import Member
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.skill import Sighting

CONTENT_TYPES = "[Content_Types].xml"
OPEN_DOCUMENT_CONTENT = "content.xml"
_MACROS = re.compile(r"(?i)(?:^|/)(?:vbaProject\.bin|vbaData\.xml|macrosheets/|Basic/[^/]+/[^/]+\.xml|Scripts/)")
_TEXT_PARTS = re.compile(
    r"(?i)(?:word/(?:document|header\d*|footer\d*|footnotes|endnotes|comments)|ppt/(?:slides|notesSlides|comments)/[^/]+"
    r"|xl/(?:sharedStrings|comments\d*|worksheets/[^/]+)|content|docProps/(?:core|app|custom))\.xml"
)
_HARMLESS_DATA = re.compile(
    r"(?i)(?:.*/)?(?:printerSettings/[^/]+\.bin|fonts?/[^/]+\.(?:fntdata|odttf)|[^/]+\.(?:emf|wmf|wdp|xlb))"
)
"""Parts whose form is known and that no reader of the document shows as text or runs."""
LONGEST_RUN = 4_000
SHORTEST_HIDDEN = 24
_RUN = re.compile(r"<w:r(?:\s[^<>]*)?>")
_UNSEEN_RUN = re.compile(r"""<w:vanish\s*/>|<w:vanish w:val="(?:1|true|on)"\s*/>|<w:sz w:val="[12]"\s*/>""")
_RELATIONSHIP = re.compile(r"<Relationship\s[^<>]{0,2000}>")
_EXTERNAL = re.compile(r"""TargetMode\s*=\s*["']External["']""")
_LINK_TYPE = re.compile(r"""Type\s*=\s*["'][^"']{0,200}/hyperlink["']""")
_TARGET = re.compile(r"""Target\s*=\s*["']([^"']{0,1000})""")
_OVER_THE_NETWORK = re.compile(r"(?i)\s*(?:https?:|ftp:|mhtml:|\\\\|//|file:(?://[^/]|/{4,}))")
"""A template on the author's own disk is a leftover; one on another machine is loaded."""
_DYNAMIC_DATA = re.compile(r"(?i)\bDDE(?:AUTO)?\s+[\"\\\w]|=\s*(?:cmd|powershell|mshta|rundll32)\s*\|")
_NEW_LINE = re.compile(r"</(?:w:p|a:p|text:p|text:h|si|row|w:tr)>|<(?:w:br|w:cr|a:br|text:line-break)\s*/?>")
_TOLD = re.compile(r"""<[^<>]{0,500}?\s(?:descr|title|alt)="([^"<>]{4,500})"[^<>]{0,500}>""")
_TAG = re.compile(r"<[^<>]*>")
# No class above takes `<`: an opening that is never closed must not be looked for again from each `<` in it.


def is_office(members: Sequence[Member]) -> bool:
    """Whether these are the parts of an office document."""
    names = {member.name for member in members}
    return CONTENT_TYPES in names or {"mimetype", OPEN_DOCUMENT_CONTENT} <= names


def readable_parts(members: Sequence[Member]) -> Iterator[Member]:
    """The parts as they are looked at: text without its markup, markup in short lines, no data that nobody reads."""
    for member in members:
        if _TEXT_PARTS.fullmatch(member.name):
            yield Member(member.name.removesuffix(".xml") + ".txt", _text_of(member.content).encode())
        elif member.name.endswith((".xml", ".rels", ".vml")):
            yield member._replace(content=member.content.replace(b"><", b">\n<"))
        elif not _HARMLESS_DATA.fullmatch(member.name):
            yield member


def find_active_parts(path: str, members: Sequence[Member]) -> Iterator[Sighting]:
    """Macros, parts that are loaded from elsewhere when the document is opened, and fields that start programs."""
    for member in members:
        if _MACROS.search(member.name):
            yield Sighting("office_macro", path, excerpt=make_excerpt(member.name), layer="container")
        elif member.name.endswith(".rels"):
            yield from _find_external(path, member)
        elif _TEXT_PARTS.fullmatch(member.name) and (hidden := _hidden_text(member.content)):
            yield Sighting("office_hidden_text", path, excerpt=make_excerpt(hidden), layer="container")
        elif _TEXT_PARTS.fullmatch(member.name) and _DYNAMIC_DATA.search(_text_of(member.content)):
            yield Sighting("office_macro", path, excerpt=make_excerpt(member.name), layer="container")


def _find_external(path: str, member: Member) -> Iterator[Sighting]:
    text = member.content.decode("utf-8", "replace")
    for found in _RELATIONSHIP.finditer(text):
        relationship = found.group()
        target = _TARGET.search(relationship)
        is_loaded = _EXTERNAL.search(relationship) and not _LINK_TYPE.search(relationship)
        if is_loaded and target is not None and _OVER_THE_NETWORK.match(target[1]):
            excerpt = make_excerpt(f"{member.name}: {target[1]}")
            yield Sighting("office_external_part", path, excerpt=excerpt, layer="container")


def _hidden_text(content: bytes) -> str:
    """The first text that the document holds and does not show; empty where there is none of any length."""
    text = content.decode("utf-8", "replace") if b"vanish" in content or b"w:sz" in content else ""
    for run in _RUN.split(text)[1:]:
        head, _, _ = run[:LONGEST_RUN].partition("</w:r>")
        shown = unescape(_TAG.sub("", head)).strip()
        if len(shown) >= SHORTEST_HIDDEN and _UNSEEN_RUN.search(head):
            return shown
    return ""


def _text_of(content: bytes) -> str:
    """The text of a part, a paragraph a line, with what its pictures are said to show."""
    text = content.decode("utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8", "replace")
    text = _NEW_LINE.sub("\n", text)
    text = _TOLD.sub(r"\n\1\n", text)
    return unescape(_TAG.sub("", text))
