"""Commands and variables that send a package manager elsewhere, or have it trust without checking."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from vskill_platform.scanning.tier1.configs.installs import LAYER, column_of, is_foreign_index
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting

MOST_SIGHTINGS = 20
LONGEST = 300
PLACES = (
    r"(?:GOPROXY|(?:\b|PIP_|EXTRA_|UV_)INDEX_URL|UV_INDEX|UV_DEFAULT_INDEX|(?:NPM_CONFIG|npm_config|YARN|YARN_NPM)_(?:REGISTRY|registry)\w*)\s*=\s*[\"']?https?://"
    r"|config\s+set\s+\S*(?:index-url|registry)\S*\s+[\"']?https?://"
    r"|gem\s+sources?\s+(?:-a|--add)\s+[\"']?https?://|channels\s+[\"']?https?://|registry\s*=\s*[\"']sparse\+https?://"
    r"|\[\s*trusted=yes\s*\]|\bapt(?:-get|itude)?\b[^\n]{0,120}--allow-unauthenticated\b|AllowInsecureRepositories=true|GOSUMDB=off|GONOSUMCHECK=1|GOFLAGS=\S*-insecure\b"
)
_PLACES = Pattern(PLACES)
_ADDRESS = re.compile(r"https?://[^\s\"'`<>|;)]+")


def find_redirects(file: FileUnderScan) -> Iterator[Sighting]:
    """Where a file changes where packages come from, or drops the check of what comes."""
    return islice(_sightings(file), MOST_SIGHTINGS)


def _sightings(file: FileUnderScan) -> Iterator[Sighting]:
    data = file.encoded
    for span in _PLACES.spans(data):
        found = data[span.start : span.start + LONGEST].decode(errors="replace").partition("\n")[0]
        address = _ADDRESS.search(found) if b"://" in data[span.start : span.end] else None
        if address is not None and not is_foreign_index(address.group(), is_shown=file.is_markdown):
            continue
        check = "registry_unchecked" if address is None else "registry_redirect"
        line = data.count(b"\n", 0, span.start) + 1
        yield Sighting(check, file.path, line, column_of(data, span.start), make_excerpt(found), LAYER)
