"""Markdown of others as HTML that is safe to put into our pages.

Raw HTML, comments among it, is not taken as HTML: it is shown as it is written, so that a page hides nothing that an agent
would read. What markdown-it makes of the rest goes through nh3, which lets a short list of elements pass. Addresses are
decided by the caller: what a link does not lead to, and pictures of other hosts, which would tell them who reads, become
text or links.

Some texts take a Markdown parser quadratic time. Rendering has a limit of time and threads of its own; a text that takes
longer is shown as plain text.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from time import monotonic
from typing import NamedTuple
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup

MAX_BYTES = 64 * 1024
"""How much of a text is rendered. Whoever wants more looks at the file."""
TIME_LIMIT_S = 2.0
LINK_SCHEMES = frozenset({"http", "https", "mailto"})
_TAGS = frozenset(
    [
        "a",
        "blockquote",
        "br",
        "code",
        "dd",
        "del",
        "dl",
        "dt",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "img",
        "li",
        "ol",
        "p",
        "pre",
        "s",
        "strong",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
_ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt"}, "ol": {"start"}, **{f"h{n}": {"id"} for n in range(1, 7)}}
_CLASSES = {cell: {"align-right", "align-center"} for cell in ("td", "th")}
_SCROLLED = (
    ("<pre>", '<pre tabindex="0">'),
    ("<table>", '<div class="scroll" tabindex="0"><table>'),
    ("</table>", "</table></div>"),
)
"""What is wider than a page is scrolled, also by keys. In cleaned HTML these are elements: in text, < is written as &lt;."""
_DEEPEST_HEADING = 6
_ANCHOR = "md-"
_UNTIL = "until"
_RENDERERS = ThreadPoolExecutor(max_workers=2, thread_name_prefix="markdown")
_NOT_ANCHOR = re.compile(r"[^\w]+")

Resolve = Callable[[str], str | None]
"""Where an address that is relative, or the address of a picture, leads to; None for nowhere."""


class Place(NamedTuple):
    """Where a text stands: what its addresses mean, how deep its headings begin, and whether others wrote it."""

    resolve_link: Resolve = lambda _: None
    resolve_image: Resolve = lambda _: None
    heading_shift: int = 0
    is_of_others: bool = True


ALONE = Place(heading_shift=1)
"""A text of others with nothing beside it that it could lead to."""


class _TookTooLong(Exception):
    """Raised within the parser once the time is up."""


async def render_markdown(text: str, *, place: Place = ALONE) -> Markup:
    """A text as HTML, without keeping the event loop from others. Only its first 64 KB are rendered."""
    return await asyncio.get_running_loop().run_in_executor(_RENDERERS, to_html, cut(text), place)


def cut(text: str) -> str:
    """As much of a text as is rendered, ending with a whole line."""
    whole = text.encode()
    if len(whole) <= MAX_BYTES:
        return text
    kept = whole[:MAX_BYTES].decode(errors="ignore")
    return kept[: kept.rfind("\n") + 1] or kept


def to_html(text: str, place: Place, *, limit_s: float = TIME_LIMIT_S) -> Markup:
    """A text as HTML, or as plain text where that would take longer than the limit."""
    parser, env = _parser(), {_UNTIL: monotonic() + limit_s}
    try:
        tokens = parser.parse(text, env)
    except _TookTooLong:
        return Markup('<pre tabindex="0">{}</pre>').format(text)
    _place(tokens, place)
    html = parser.renderer.render(tokens, parser.options, env)
    return Markup(_clean(html, is_of_others=place.is_of_others))  # noqa: S704 - cleaned by nh3


def _clean(html: str, *, is_of_others: bool) -> str:
    cleaned = nh3.clean(
        html,
        tags=set(_TAGS),
        attributes=dict(_ATTRIBUTES),
        allowed_classes=dict(_CLASSES),
        url_schemes=set(LINK_SCHEMES),
        link_rel="nofollow noopener ugc" if is_of_others else None,
    )
    for element, scrolled in _SCROLLED:
        cleaned = cleaned.replace(element, scrolled)
    return cleaned


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"])
    parser.block.ruler.before("table", "time", _watch_blocks)
    parser.inline.ruler.before("text", "time", _watch_text)
    return parser


def _watch_blocks(state: StateBlock, _start: int, _end: int, _silent: bool) -> bool:
    return _watch(state)


def _watch_text(state: StateInline, _silent: bool) -> bool:
    return _watch(state)


def _watch(state: StateBlock | StateInline) -> bool:
    """A rule that never matches; the parser asks it at every block and every place of a text."""
    if monotonic() > state.env[_UNTIL]:
        raise _TookTooLong
    return False


def _place(tokens: list[Token], place: Place) -> None:
    """Turn addresses, headings and cells into what they are in a place."""
    seen: dict[str, int] = {}
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(tokens[number + 1].content, seen))
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + place.heading_shift, _DEEPEST_HEADING)}"
        if token.type in ("td_open", "th_open"):
            _align(token)
        if token.children:
            token.children = list(_place_inline(token.children, place))


def _anchor(heading: str, seen: dict[str, int]) -> str:
    """The id of a heading, with a prefix that no id of ours has."""
    name = _NOT_ANCHOR.sub("-", heading.lower()).strip("-")
    seen[name] = seen.get(name, 0) + 1
    return f"{_ANCHOR}{name}" if seen[name] == 1 else f"{_ANCHOR}{name}-{seen[name] - 1}"


def _align(token: Token) -> None:
    """Say by a class what markdown-it says by a style, which our policy does not let in."""
    style = str(token.attrs.pop("style", ""))
    for side in ("right", "center"):
        if style == f"text-align:{side}":
            token.attrSet("class", f"align-{side}")


def _place_inline(tokens: Sequence[Token], place: Place) -> Iterator[Token]:
    dropped = 0
    for token in tokens:
        if token.type == "link_open":
            href = _resolve(str(token.attrGet("href") or ""), place)
            if href is None:
                dropped += 1
                continue
            token.attrSet("href", href)
        elif token.type == "link_close" and dropped:
            dropped -= 1
            continue
        if token.type == "image":
            yield from _place_image(token, place)
        else:
            yield token


def _resolve(href: str, place: Place) -> str | None:
    try:
        parts = urlsplit(href)
    except ValueError:
        return None
    if parts.scheme:
        return href if parts.scheme.lower() in LINK_SCHEMES else None
    if parts.netloc or not href:
        return None
    if href.startswith("#"):
        return f"#{_ANCHOR}{href[1:].lower()}"
    return place.resolve_link(href)


def _place_image(token: Token, place: Place) -> Iterator[Token]:
    """A picture of ours as itself, any other as a link to where it is."""
    source = str(token.attrGet("src") or "")
    own = place.resolve_image(source)
    if own is not None:
        token.attrs = {"src": own, "alt": ""}
        yield token
        return
    href = _resolve(source, place)
    said = token.content or source.rpartition("/")[2] or "picture"
    words = Token("text", "", 0, content=f"[picture: {said}]")
    if href is None:
        yield words
        return
    yield Token("link_open", "a", 1, attrs={"href": href})
    yield words
    yield Token("link_close", "a", -1)
