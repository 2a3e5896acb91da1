"""The configuration of package managers: where packages come from, whether that is checked, and what is started."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.configs.installs import is_foreign_index
from vskill_platform.scanning.tier1.configs.reporting import Seen, Source
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.configs.word_lists import words

_INDEX_KEY = re.compile(
    r"(?i)(?:@[\w-]+:)?registry|(?:extra-)?index-url|extra_index_url|index_url|find-links|npmregistryserver|index|url|"
    r"channel_alias|sources?|proxy|replace-with|default-index|registries.*|mirror.*"
)
_UNCHECKED = words("trusted-host strict-ssl")
_STARTS = words("script-shell node-options rustc-wrapper runner linker onload-script")


def judge_manager(source: Source) -> Iterator[Seen]:
    """What is wrong with the configuration of a package manager."""
    for entry in source.entries:
        key = entry.key.lower()
        if _INDEX_KEY.fullmatch(key) or entry.value.lower().startswith("registry "):
            for word in entry.value.split():
                yield from judge_index(source, entry, word.strip("\"'"))
        elif key in _UNCHECKED and entry.value.lower() not in ("true", ""):
            yield source.sighting("registry_unchecked", entry)
        elif key in _STARTS:
            yield source.sighting("manager_runs_program", entry)


def judge_index(source: Source, entry: Entry, address: str) -> Iterator[Seen]:
    """An address that packages come from."""
    if is_foreign_index(address):
        yield source.sighting("registry_redirect", entry)
