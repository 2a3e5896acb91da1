"""What became of a scan: the rules, the scanning processes, the judge, and scanners of other makes."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError
from vskill_platform.domain.errors.general import InvalidInput


class InvalidRules(InvalidInput):
    """A rule of the scanner cannot be read, does not compile, or has no examples."""

    code = "invalid_rules"


class YaraNotInstalled(InvalidRules):
    """A rules folder has YARA rules, and yara-x, which reads them, is not installed."""

    code = "yara_not_installed"


class RemoteScannerUnreachable(VskillError):
    """An external scanner elsewhere did not take the scan that was sent to it."""

    code = "remote_scanner_unreachable"
    retryable = True


class ScannerUnavailable(VskillError):
    """No scan could be started."""

    code = "scanner_unavailable"
    retryable = True


class JudgeUnavailable(VskillError):
    """The judge was not reached, was too slow, or may not be asked any more today."""

    code = "judge_unavailable"
    retryable = True


class JudgeVoid(VskillError):
    """The judge answered, and its answer is none: another form, a contradiction, or words that it was told to keep."""

    code = "judge_void"


class ScannerNotInstalled(VskillError):
    """An external scanner could not be installed into its environment."""

    code = "scanner_not_installed"


class ExternalScanOver(VskillError):
    """Somebody came about an external scan that is not theirs to end any more: late, repeated, or asked anew of other bytes."""

    code = "external_scan_over"
