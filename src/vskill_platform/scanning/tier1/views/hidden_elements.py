"""Elements of HTML that are on a page and not to be seen."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from vskill_platform.scanning.tier1.patterns import Pattern, Span

ELEMENT_HINT = (
    r"(?i)<(?:template|noscript|script|style)\b"
    r"|<[a-z][^>]*(?:\bhidden\b|style\s*=|class\s*=|aria-hidden|color\s*=)"
)
LONGEST_TAG = 4_096
LONGEST_INDENT = 200
_NEVER_SHOWN = frozenset([b"template", b"noscript", b"script", b"style"])
_VOID = frozenset(b"img br hr input meta link source area base col embed wbr track param".split())
_OPENING = Pattern(
    r"(?i)<(?:template|noscript|script|style)\b[^>]*>|<[a-z][a-z0-9-]*\s[^>]*(?:hidden|style|class|color|id)[^>]*>"
)
_TAG = re.compile(rb"<(/?)([A-Za-z][A-Za-z0-9-]*+)")
_ATTRIBUTE = re.compile(rb"([A-Za-z][A-Za-z0-9_-]*+)(?:\s*+=\s*+(\"[^\"]*+\"|'[^']*+'|[^\s\"'>]++))?")
_STYLE = Pattern(r"(?is)<style\b[^>]*>.*?</style")
_CSS_BLANKS = re.compile(r"\s+|!important")
_HIDING = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|content-visibility:hidden|color:transparent|transform:scale\(0"
    r"|font-size:(?:[0-3](?:\.\d+)?(?:px|pt)|0(?![\d.])|0?\.[0-2]\d*r?em)|line-height:0(?![\d.])|opacity:(?:0(?![\d.])|0?\.0)"
    r"|(?:left|top|right|bottom|text-indent|margin|margin-left|margin-top):-\d{3,}"
    r"|(?:^|;)(?:max-)?(?:height|width):[01](?:px)?(?:;|$)|clip:rect\([01]|clip-path:(?:inset\((?:50|100)%|circle\(0)"
)
_SWITCHED = "display:none"
_PALE = re.compile(
    r"(?:white|snow|ivory|#f{3}(?:f{3})?|#f[c-f]f[c-f]f[c-f]|rgba?\(25[2-5],25[2-5],25[2-5]\b.*|hsla?\(\d+,\d+%,(?:9[89]|100)%.*)"
)
_COLOUR = re.compile(r"(?:^|;)color:([^;]+)")
_BACKGROUND = re.compile(r"(?:^|;)background(?:-color)?:([^;]+)")
_CLASSES = "hidden sr-only visually-hidden visuallyhidden screen-reader-text d-none invisible is-hidden hide"
_HIDING_CLASSES = frozenset(_CLASSES.split())
_RULE = Pattern(r"[^{}]+\{[^{}]*\}")
LONGEST_RULE = 1_000
_SELECTED = re.compile(r"([.#])([\w-]+)")
_SCRIPT_COMMENT = Pattern(r"/\*(?s:.*?)\*/|(?m:^|\s)//[^\n]*")
_SHEET_BODY = re.compile(rb"\{[^{}]*+\}")


class HiddenElement(NamedTuple):
    """An element that a page hides: where its inside is, its text, and whether its own style does it.

    `may_be_shown` says that this style is what programs of a page put on and take off.
    """

    span: Span
    text: bytes
    is_unseen: bool
    may_be_shown: bool


def hidden_elements(data: bytes, is_shown: Callable[[int], bool]) -> Iterator[HiddenElement]:
    """Every element that a page hides; what is in it is not looked at again."""
    done = 0
    by_style = _hidden_by_style(data)
    last_closings = _last_closings(data, is_shown)
    for start, end in _OPENING.spans(data):
        tag = data[start:end]
        name = _TAG.match(tag)
        if start < done or len(tag) > LONGEST_TAG or name is None or tag.endswith(b"/>"):
            continue
        kind = name[2].lower()
        if kind in _VOID:
            continue
        if kind in _NEVER_SHOWN:
            style, is_unseen = "", False
            is_hidden = start <= last_closings.get(kind, -1) or _begins_a_line(data, start)
        else:
            given = _attributes(tag[name.end() :])
            style = _tidy(given.get("style", ""))
            is_unseen = _is_unseen(style) or _is_unseen(_tidy(f"color:{given.get('color', '')}"))
            is_hidden = is_unseen or _is_put_away(given, by_style)
        if is_hidden and not is_shown(start):
            done = _end_of(data, kind, end, is_shown)
            may_be_shown = _SWITCHED in style and not _is_unseen(style.replace(_SWITCHED, ""))
            yield HiddenElement(Span(end, done), _text_of(data[end:done], kind, tag), is_unseen, may_be_shown)


def _begins_a_line(data: bytes, start: int) -> bool:
    """Whether nothing but blanks stands before; in a sentence, a tag that is never closed is one that is spoken of."""
    before = data[max(0, start - LONGEST_INDENT) : start].rpartition(b"\n")
    return not before[2].strip(b" \t>") and (bool(before[1]) or start <= LONGEST_INDENT)


def _is_put_away(given: dict[str, str], by_style: frozenset[str]) -> bool:
    """Whether attributes, or a style sheet on the page, keep an element from being shown."""
    if "hidden" in given or given.get("aria-hidden") == "true":
        return True
    classes = given.get("class", "").split()
    names = {f".{word}" for word in classes} | {f"#{given.get('id', '')}"}
    return bool(names & by_style or _HIDING_CLASSES.intersection(word.lower() for word in classes))


def _attributes(attributes: bytes) -> dict[str, str]:
    return {key.decode().lower(): _value(value) for key, value in _ATTRIBUTE.findall(attributes)}


def _text_of(inside: bytes, name: bytes, tag: bytes) -> bytes:
    """What of an element is text: of a program its comments, of a style sheet what stands outside of its rules."""
    if name == b"style":
        return _SHEET_BODY.sub(b"", inside)
    if name == b"script" and (b"type" not in tag or b"javascript" in tag or b"module" in tag or b"json" in tag):
        return b"\n".join(inside[start:end] for start, end in _SCRIPT_COMMENT.spans(inside))
    return inside


def _value(given: bytes) -> str:
    return html.unescape(given.decode(errors="replace")).strip("\"'")


def _tidy(style: str) -> str:
    """The style without comments and blanks. A comment that is never closed hides what follows it."""
    first, *others = style.split("/*")
    return _CSS_BLANKS.sub("", first + "".join(other.partition("*/")[2] for other in others)).lower()


def _is_unseen(style: str) -> bool:
    """Whether a style keeps text from being seen."""
    if _HIDING.search(style) is not None:
        return True
    colour, background = _COLOUR.search(style), _BACKGROUND.search(style)
    if colour is None:
        return False
    is_pale = _PALE.fullmatch(colour[1]) is not None
    if background is None:
        return is_pale
    return colour[1] == background[1] or (is_pale and _PALE.fullmatch(background[1]) is not None)


def _hidden_by_style(data: bytes) -> frozenset[str]:
    """The classes and ids that a style sheet on the page hides."""
    found: set[str] = set()
    for begin, stop in _STYLE.spans(data):
        sheet = data[begin:stop]
        for start, end in _RULE.spans(sheet):
            selector, _, body = sheet[start:end].decode(errors="replace").partition("{")
            if len(body) <= LONGEST_RULE and _HIDING.search(_tidy(body.rstrip("}"))):
                found.update(kind + name for kind, name in _SELECTED.findall(selector))
    return frozenset(found)


def _last_closings(data: bytes, is_shown: Callable[[int], bool]) -> dict[bytes, int]:
    """Where the last tag is that closes an element of each kind that is never shown. Tags in code close nothing."""
    closings = ((tag[2].lower(), tag.start()) for tag in _TAG.finditer(data) if tag[1])
    return {name: start for name, start in closings if name in _NEVER_SHOWN and not is_shown(start)}


def _end_of(data: bytes, name: bytes, start: int, is_shown: Callable[[int], bool]) -> int:
    """Where the element ends that is open at `start`; one that is never closed ends with the text."""
    depth = 1
    for tag in _TAG.finditer(data, start):
        if tag[2].lower() == name and not is_shown(tag.start()):
            depth += -1 if tag[1] else 1
            if depth == 0:
                return tag.start()
    return len(data)
