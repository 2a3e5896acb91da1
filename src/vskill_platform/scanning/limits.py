"""How much one scan looks at, and the words for what kept it from seeing everything.

A report that names one of these words never says PASS: what was not seen is not known to be safe.
"""

from __future__ import annotations

import msgspec

BYTES_LIMIT = "bytes_limit"
FILE_TOO_LARGE = "file_too_large"
UNANALYSABLE_FILE = "unanalysable_file"
NO_SKILL_FILE = "no_skill_file"
MATCH_LIMIT = "match_limit"
YARA_TIME_LIMIT = "yara_time_limit"
ARCHIVE_LIMIT = "archive_limit"
CONFIG_LIMIT = "config_limit"
VIEW_LIMIT = "view_limit"
DECODE_LIMIT = "decode_limit"
UNREAD_CODE = "unread_code"
ANALYSER_FAILED = "analyser_failed"


class ScanLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much one scan looks at and says. What lies beyond a limit is named in the report, never passed over."""

    max_bytes: int = 64 * 1024 * 1024
    """Bytes of files that are looked at; the smallest files come first."""
    max_findings: int = 500
    """Findings a report keeps, the gravest first. The score counts all."""
    max_places: int = 21
    """Places of one rule in one file that are told apart."""
    max_matches: int = 1000
    """Matches of one rule in one file that are looked at in search of one that no exception covers."""
    max_capabilities: int = 100
    """Entries in each list of capabilities."""
