"""What became of keys, values, commits, listings, records and blobs."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError
from vskill_platform.domain.errors.general import InvalidInput, NotFound


class InvalidKey(InvalidInput):
    """A key is empty, too long or holds a character no key may hold."""

    code = "invalid_key"


class ValueTooLarge(InvalidInput):
    """A value is larger than the store takes."""

    code = "value_too_large"


class CommitTooLarge(InvalidInput):
    """A commit holds more operations than one commit may."""

    code = "commit_too_large"


class InvalidCursor(InvalidInput):
    """A cursor was not made by the listing it was handed to."""

    code = "invalid_cursor"


class InvalidQuery(InvalidInput):
    """A catalog query names a facet, sort or page that the collection does not have."""

    code = "invalid_query"


class MalformedRecord(VskillError):
    """A stored record is not JSON, has wrong types or an unknown word in it."""

    code = "malformed_record"


class RecordFromFuture(VskillError):
    """A record was written by a newer version: it can be read, not written."""

    code = "record_from_future"


class Conflict(VskillError):
    """A condition of the commit did not hold any more. Nothing was written: read again, decide again."""

    code = "conflict"
    retryable = True


class CommitUnknown(VskillError):
    """The connection was lost, or the disk failed, in the middle of a commit, and what came of it could not be learnt in time."""

    code = "commit_unknown"
    retryable = True


class BlobCorrupt(VskillError):
    """A blob's bytes do not have the digest they are stored under."""

    code = "blob_corrupt"


class BlobMissing(NotFound):
    """No blob is stored under the digest."""

    code = "blob_missing"
