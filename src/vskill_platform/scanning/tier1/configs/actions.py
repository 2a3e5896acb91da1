"""Actions of a forge's workflows that imitate well-known ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.configs.typosquats import is_one_slip
from vskill_platform.scanning.tier1.configs.word_lists import words
from vskill_platform.scanning.tier1.patterns import Pattern

OWNERS = words(
    "actions docker github aws-actions azure google-github-actions hashicorp pnpm oven-sh astral-sh codecov softprops "
    "peaceiris peter-evans dtolnay actions-rs pypa ruby gradle anthropics"
)
_REPOSITORIES = words(
    "checkout setup-node setup-python setup-go setup-java setup-uv setup-bun setup-ruby setup-buildx-action "
    "setup-qemu-action cache upload-artifact download-artifact login-action build-push-action metadata-action "
    "configure-aws-credentials login codeql-action create-pull-request gh-release github-script labeler stale "
    "codecov-action claude-code-action"
)
PLACE = f"/(?:{'|'.join(sorted(_REPOSITORIES))})@"
_PLACE = Pattern(PLACE)
_OWNER = re.compile(r"(?<![\w./@-])[A-Za-z0-9][\w-]{1,38}\Z")
LONGEST_OWNER = 40


def find_imitations(data: bytes) -> Iterator[tuple[int, str]]:
    """The offsets of actions whose owner is a slip away from a known one, with words that say so."""
    for span in _PLACE.spans(data):
        before = data[max(0, span.start - LONGEST_OWNER) : span.start].decode(errors="replace")
        found = _OWNER.search(before)
        owner = found.group().lower() if found else ""
        known = next((known for known in OWNERS if owner not in OWNERS and is_one_slip(owner, known)), None)
        if known is not None:
            repository = data[span.start + 1 : span.end - 1].decode()
            yield span.start - len(owner), f"{owner}/{repository} looks like {known}/{repository}"
