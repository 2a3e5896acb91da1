"""Commands and variables that send a package manager elsewhere, or have it trust without checking."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from vskill_platform.scanning.tier1.configs.installs import LAYER, column_of, is_foreign_index
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting

MOST_PLACES = 50
LONGEST = 300
_PLACES = Pattern(
    r"(?i)\b(?:GOPROXY|PIP_(?:EXTRA_)?INDEX_URL|UV_(?:DEFAULT_|EXTRA_)?INDEX(?:_URL)?|NPM_CONFIG_REGISTRY|YARN_(?:NPM_)?REGISTRY\w*)\s*=\s*[\"']?https?://"
    r"|\b(?:pip[0-9.]*|uv|npm|pnpm|yarn|bun)\s+config\s+set\s+\S*(?:index-url|registry)\S*\s+[\"']?https?://"
    r"|\bgem\s+sources?\s+(?:-a|--add)\s+[\"']?https?://|\bconda\s+config\s+--(?:add|prepend|append)\s+channels\s+[\"']?https?://"
    r"|\bregistry\s*=\s*[\"']sparse\+https?://"
    r"|\[\s*trusted=yes\s*\]|--allow-unauthenticated\b|AllowInsecureRepositories=true|\bGOSUMDB=off\b|\bGONOSUMCHECK=1|\bGOFLAGS=\S*-insecure\b"
)
_ADDRESS = re.compile(r"https?://[^\s\"'`<>|;)]+")


def find_redirects(file: FileUnderScan) -> Iterator[Sighting]:
    """Where a file changes where packages come from, or drops the check of what comes."""
    data = file.encoded
    for span in islice(_PLACES.spans(data), MOST_PLACES):
        found = data[span.start : span.start + LONGEST].decode(errors="replace").partition("\n")[0]
        address = _ADDRESS.search(found) if b"://" in data[span.start : span.end] else None
        if address is not None and not is_foreign_index(address.group(), is_shown=file.is_markdown):
            continue
        check = "registry_unchecked" if address is None else "registry_redirect"
        line = data.count(b"\n", 0, span.start) + 1
        yield Sighting(check, file.path, line, column_of(data, span.start), make_excerpt(found), LAYER)
