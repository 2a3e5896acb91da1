"""What a failed git process means, in the words of the house.

git says everything in sentences. Those from the server itself (`remote: …`, `remote error: …`) are the server's to
choose and are never shown; a server can at worst choose how it is refused.
"""

from __future__ import annotations

import re
import signal
from typing import NamedTuple

from vskill_platform.children.processes import Ended
from vskill_platform.domain.errors import (
    BranchNotFound,
    FetchTimedOut,
    RepositoryEmpty,
    RepositoryMalformed,
    RepositoryMoved,
    RepositoryNotFound,
    RepositoryTooLarge,
    SourceUnreachable,
    VskillError,
)
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.git_environment import HARMLESS_FAULTS

_STATUS = re.compile(r"returned error: ([0-9]{3})")
_FAULT = re.compile(r"^(?:error|fatal|warning): .*?\b([a-z][A-Za-z0-9]{3,30}): ", re.MULTILINE)
_PASSING_STATUSES = frozenset({407, 408, 425, 429})
_LIMIT_SIGNALS = frozenset({signal.SIGXFSZ, signal.SIGXCPU})

_MEANINGS: tuple[tuple[re.Pattern[str], type[VskillError]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.MULTILINE), error)
    for pattern, error in (
        (r"couldn't find remote ref HEAD", RepositoryEmpty),
        (r"couldn't find remote ref", BranchNotFound),
        (r"^fatal: repository '.*' not found", RepositoryNotFound),
        (r"could not read (?:Username|Password)|Authentication failed", RepositoryNotFound),
        (r"unable to update url base from redirection", RepositoryMoved),
        (r"is this a git repository|does not support shallow|server does not support", RepositoryNotFound),
        (r"Operation too slow", FetchTimedOut),
        (r"out of memory|mmap failed|File too large|exceeds maximum allowed size", RepositoryTooLarge),
        (r"No space left on device", SourceUnreachable),
        (r"early EOF|unexpected disconnect|the remote end hung up|curl [0-9]+ ", SourceUnreachable),
        (r"Could not resolve|Failed to connect|Connection (?:reset|refused)|Empty reply|SSL|CONNECT", SourceUnreachable),
        (r"mismatched algorithms|index-pack failed|invalid index-pack output|pack has |bad (?:object|pack)", RepositoryMalformed),
        (r"fsck error|protocol error|bad line length|expected |invalid ", RepositoryMalformed),
    )
)  # fmt: skip


class Asked(NamedTuple):
    """What git was asked for: the repository's address, and the branch or tag if one was named."""

    url: str
    branch: str = ""


def explain(ended: Ended, *, asked: Asked) -> VskillError:
    """The error for a git process that failed."""
    said = _without_servers_words(ended.errors)
    if -ended.status in _LIMIT_SIGNALS:
        return make_error(RepositoryTooLarge, asked=asked)
    status = _STATUS.search(said)
    if status is not None:
        return make_error(_meaning_of_status(int(status[1])), asked=asked, status=int(status[1]))
    for pattern, error in _MEANINGS:
        if pattern.search(said):
            return make_error(error, asked=asked, **_details(error, said))
    return make_error(SourceUnreachable, asked=asked)


def is_harmless_fault(ended: Ended) -> bool:
    """Whether what git found wrong with an object is only what old programs wrote into author lines and modes."""
    return any(fault in HARMLESS_FAULTS for fault in _FAULT.findall(_without_servers_words(ended.errors)))


def make_error(error: type[VskillError], *, asked: Asked, **fields: object) -> VskillError:
    """An error of this kind with the sentence that goes with it."""
    url = printable(asked.url, limit=300)
    sentence = _SENTENCES[error].format(url=url, branch=printable(asked.branch))
    if "fault" in fields:
        sentence = f"{sentence} git calls it {fields['fault']}."
    if asked.branch:
        fields["branch"] = printable(asked.branch)
    return error(sentence, url=url, **fields)


_SENTENCES: dict[type[VskillError], str] = {
    RepositoryNotFound: "There is no repository at {url} that everybody can read. Check the address; a private "
    "repository cannot be submitted.",
    RepositoryMoved: "The repository at {url} has moved to another address. Submit that address.",
    RepositoryEmpty: "The repository at {url} has no commit on its default branch. Push one, then submit again; "
    "or check the address, if it should not be empty.",
    BranchNotFound: "The repository at {url} has no branch, tag or folder '{branch}'. Check the address.",
    RepositoryTooLarge: "The repository at {url} is larger than may be fetched. Submit a smaller one that holds the skill.",
    RepositoryMalformed: "The repository at {url} has objects that are broken or forged. Repair it, then submit again.",
    FetchTimedOut: "The repository at {url} could not be fetched in the time there is. Try again later.",
    SourceUnreachable: "The host of {url} does not answer as a git server does at the moment. Try again later.",
}


def _meaning_of_status(status: int) -> type[VskillError]:
    if 300 <= status < 400:
        return RepositoryMoved
    if status >= 500 or status in _PASSING_STATUSES:
        return SourceUnreachable
    return RepositoryNotFound


def _details(error: type[VskillError], said: str) -> dict[str, object]:
    fault = _FAULT.search(said) if error is RepositoryMalformed else None
    return {"fault": fault[1]} if fault is not None else {}


def _without_servers_words(errors: str) -> str:
    lines = re.split(r"[\r\n]+", errors)
    return "\n".join(line for line in lines if not line.startswith("remote:") and "remote error:" not in line)
