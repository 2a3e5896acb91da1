"""Atom documents (RFC 4287), written so that the same records always give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID, uuid5

from vskill_platform.web.feeds.xml_text import DECLARATION, xml_text

ATOM_TYPE = "application/atom+xml; charset=utf-8"
_NAMESPACE = UUID("5b0e4a86-2b86-4d8b-9a35-8e0a3f7d1c52")
_NEVER = "1970-01-01T00:00:00.000Z"
"""When a feed without entries was last updated."""


class Entry(NamedTuple):
    """One entry. `key` is what its id is made of: the same key is the same entry for ever, wherever it is served."""

    key: str
    title: str
    link: str
    updated: str
    author: str
    summary: str
    published: str = ""
    category: str = ""


class Feed(NamedTuple):
    """A feed, less its entries."""

    path: str
    title: str
    subtitle: str


def stable_id(key: str) -> str:
    """The id of what a key stands for."""
    return f"urn:uuid:{uuid5(_NAMESPACE, key)}"


def write_feed(feed: Feed, entries: Sequence[Entry], *, site: str) -> str:
    """The feed as a document; `site` begins every address in it."""
    updated = max((entry.updated for entry in entries if entry.updated), default=_NEVER)
    head = (
        f'{DECLARATION}<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<id>{stable_id(feed.path)}</id>\n"
        f"<title>{xml_text(feed.title)}</title>\n"
        f"<subtitle>{xml_text(feed.subtitle)}</subtitle>\n"
        f"<updated>{xml_text(updated)}</updated>\n"
        f'<link rel="self" type="application/atom+xml" href="{xml_text(site + feed.path)}"/>\n'
        f'<link rel="alternate" type="text/html" href="{xml_text(site)}/"/>\n'
        "<author><name>vskill-platform</name></author>\n"
        "<generator>vskill-platform</generator>\n"
    )
    return head + "".join(_write_entry(entry, site=site) for entry in entries) + "</feed>\n"


def _write_entry(entry: Entry, *, site: str) -> str:
    published = f"<published>{xml_text(entry.published)}</published>\n" if entry.published else ""
    category = f'<category term="{xml_text(entry.category)}"/>\n' if entry.category else ""
    return (
        f"<entry>\n<id>{stable_id(entry.key)}</id>\n"
        f"<title>{xml_text(entry.title)}</title>\n"
        f"<updated>{xml_text(entry.updated or _NEVER)}</updated>\n{published}{category}"
        f'<link rel="alternate" type="text/html" href="{xml_text(site + entry.link)}"/>\n'
        f"<author><name>{xml_text(entry.author)}</name></author>\n"
        f'<summary type="text">{xml_text(entry.summary)}</summary>\n</entry>\n'
    )
