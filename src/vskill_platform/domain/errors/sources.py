"""What the source of a submission turned out to be: its address, its host, and the repository there."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError
from vskill_platform.domain.errors.general import InvalidInput


class InvalidRepositoryUrl(InvalidInput):
    """A repository address has no host, no owner or no name."""

    code = "invalid_repository_url"


class SourceRefused(VskillError):
    """The repository cannot be taken as it is. Fetching it again will not help until its owner changes it."""

    code = "source_refused"


class RepositoryNotFound(SourceRefused):
    """The repository is not there, or not for everybody to read."""

    code = "repository_not_found"


class RepositoryMoved(SourceRefused):
    """The repository's address answers with another address. Redirects are not followed."""

    code = "repository_moved"


class RepositoryEmpty(SourceRefused):
    """The repository has no commit."""

    code = "repository_empty"


class BranchNotFound(SourceRefused):
    """The repository has no such branch, tag or folder."""

    code = "branch_not_found"


class BranchNotDefault(SourceRefused):
    """The address names a branch or tag that is not the repository's default one. Only that one is published from."""

    code = "branch_not_default"


class RepositoryTooLarge(SourceRefused):
    """The repository has more bytes, files or nested folders than may be fetched."""

    code = "repository_too_large"


class RepositoryMalformed(SourceRefused):
    """The repository's objects are broken or forged."""

    code = "repository_malformed"


class NoSkillFound(SourceRefused):
    """The repository, or the folder of it, has no SKILL.md."""

    code = "no_skill_md"


class TooManySkills(SourceRefused):
    """The repository holds more skills than one submission may."""

    code = "too_many_skills"


class ClaimNotProven(SourceRefused):
    """The repository does not hold the challenge of the claim, so it is not known whose it is."""

    code = "claim_not_proven"


class AddressForbidden(SourceRefused):
    """A host, port, protocol or address is one that this registry neither fetches from nor sends to."""

    code = "address_forbidden"


class SourceUnreachable(VskillError):
    """The repository's host does not answer, or not in time."""

    code = "source_unreachable"
    retryable = True


class FetchTimedOut(SourceUnreachable):
    """Fetching the repository took longer than it may."""

    code = "fetch_timed_out"
