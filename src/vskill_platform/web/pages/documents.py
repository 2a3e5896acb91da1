"""The project's documentation as pages: what stands in `docs/`, with a list at the side.

In a checkout the documents are in `docs/` beside `src/`; a wheel installs them as `share/doc/vskill-platform`. They are read
once, when the first page is asked for, so that no request can name a file that is not one of them.
"""

from __future__ import annotations

import asyncio
import posixpath
import re
import sysconfig
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from litestar import Response, get
from litestar.params import FromPath
from litestar.response import Redirect
from markupsafe import Markup

import vskill_platform
from vskill_platform.domain.errors import NotFound
from vskill_platform.web.markdown import Place, to_html
from vskill_platform.web.pages.rendering import PageRequest, page

_CHECKOUT = Path(vskill_platform.__file__).parent.parent.parent
_FOLDERS = (_CHECKOUT / "docs", Path(sysconfig.get_path("data")) / "share" / "doc" / "vskill-platform")
"""Where the documents are: in a checkout, and where a wheel was installed."""
_GROUPS = {"": "Start", "howto": "How to", "explanation": "Explanation", "reference": "Reference", "adr": "Decisions"}
_FIRST = ("quickstart", "architecture", "api")
_HEADING = re.compile(r"^#\s+(.+)$", re.MULTILINE)
_PICTURE_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}
_PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
_SOON = "public, max-age=3600"
_TIME_LIMIT_S = 60.0


class Document(NamedTuple):
    """One document: its address below /docs, its title, and its text."""

    name: str
    title: str
    text: str


class Group(NamedTuple):
    """Documents of one folder, as the list shows them."""

    title: str
    documents: list[Document]


def documents_folder() -> Path | None:
    """The folder with the documents, or None where this copy of the program has none."""
    return next((folder for folder in _FOLDERS if (folder / "quickstart.md").is_file()), None)


@cache
def documents() -> dict[str, Document]:
    """Every document, by name."""
    folder = documents_folder()
    paths = [] if folder is None else sorted(folder.rglob("*.md"))
    found = (_read(path, name=path.relative_to(folder).as_posix().removesuffix(".md")) for path in paths if folder)
    return {document.name: document for document in found}


def _read(path: Path, *, name: str) -> Document:
    text = path.read_text()
    heading = _HEADING.search(text)
    return Document(name, heading[1].replace("`", "") if heading else name.rpartition("/")[2], text)


@cache
def groups() -> list[Group]:
    """The documents as the list shows them: by folder, those first that people begin with."""
    by_folder: dict[str, list[Document]] = {folder: [] for folder in _GROUPS}
    for document in documents().values():
        by_folder.setdefault(posixpath.dirname(document.name), []).append(document)
    return [
        Group(_GROUPS.get(folder, folder.capitalize()), sorted(found, key=_place_in_list))
        for folder, found in by_folder.items()
        if found
    ]


def _place_in_list(document: Document) -> tuple[int, str]:
    return (_FIRST.index(document.name) if document.name in _FIRST else len(_FIRST), document.name)


@cache
def pictures() -> dict[str, tuple[str, bytes]]:
    """The pictures that documents show: media type and bytes, by name."""
    folder = documents_folder()
    paths = [] if folder is None else sorted(path for path in folder.rglob("*") if path.suffix in _PICTURE_TYPES)
    return {
        path.relative_to(folder).as_posix(): (_PICTURE_TYPES[path.suffix], path.read_bytes())
        for path in paths
        if folder
    }


@get("/docs")
async def show_documents(request: PageRequest) -> Response[str]:
    """All documents, with what each is about."""
    return page(request, "documents.html", groups=groups(), current="")


@get("/docs/{path:path}")
async def show_document(request: PageRequest, path: FromPath[str]) -> Response[str] | Response[bytes] | Redirect:
    """One document, or a picture that one shows."""
    name = str(path).strip("/")
    if name.endswith(".md"):
        return Redirect(f"/docs/{quote(name.removesuffix('.md'))}")
    if name in pictures():
        kind, content = pictures()[name]
        headers = {"Content-Security-Policy": _PICTURE_POLICY, "Cache-Control": _SOON}
        return Response(content, media_type=kind, headers=headers)
    document = documents().get(name)
    if document is None:
        raise NotFound(f"There is no document '{name[:200]}'. The documentation's list has them all.", name=name[:200])
    html = await asyncio.to_thread(_rendered, name)
    return page(request, "document.html", document=document, html=html, groups=groups(), current=document.name)


@cache
def _rendered(name: str) -> Markup:
    folder = posixpath.dirname(name)
    place = Place(
        resolve_link=lambda href: _link(href, folder=folder),
        resolve_image=lambda href: _picture(href, folder=folder),
        is_of_others=False,
    )
    return to_html(documents()[name].text, place, limit_s=_TIME_LIMIT_S)


def _link(href: str, *, folder: str) -> str | None:
    """Where a link between documents leads; None for a file that is no document."""
    parts = urlsplit(href)
    target = posixpath.normpath(posixpath.join(folder, unquote(parts.path)))
    fragment = f"#md-{parts.fragment}" if parts.fragment else ""
    name = target.removesuffix(".md")
    return f"/docs/{quote(name)}{fragment}" if name in documents() else None


def _picture(href: str, *, folder: str) -> str | None:
    target = posixpath.normpath(posixpath.join(folder, href))
    return f"/docs/{quote(target)}" if target in pictures() else None
