"""Reports as SARIF 2.1.0, the format that code hosts and editors take findings in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from vskill_platform import __version__
from vskill_platform.domain.scan import Finding, ScanReport, Severity
from vskill_platform.scanning.tier1.rules import Rule, Ruleset, read_ruleset

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
    Severity.INFO: "note",
}
SECURITY_SEVERITIES = {
    Severity.CRITICAL: "9.5",
    Severity.HIGH: "8.0",
    Severity.MEDIUM: "5.5",
    Severity.LOW: "2.5",
    Severity.INFO: "0.0",
}

Json = dict[str, object]


def sarif_log(scans: Sequence[tuple[str, ScanReport]], *, ruleset: Ruleset | None = None) -> Json:
    """One run with the findings of all reports. Each report comes with the path of its skill's folder."""
    ruleset = ruleset or read_ruleset()
    rules = ruleset.rules
    numbers = {rule_id: number for number, rule_id in enumerate(rules)}
    results = [_result(path, finding, numbers) for path, report in scans for finding in report.findings]
    run: Json = {
        "tool": {"driver": _driver(ruleset)},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(scans)],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _driver(ruleset: Ruleset) -> Json:
    return {
        "name": "vskill-platform",
        "version": __version__,
        "semanticVersion": __version__,
        "properties": {"rulesetVersion": ruleset.version},
        "rules": [_rule(rule) for rule in ruleset.rules.values()],
    }


def _rule(rule: Rule) -> Json:
    return {
        "id": rule.id,
        "name": rule.title,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.message},
        "help": {
            "text": f"{rule.why}\n\nWhat to do: {rule.fix}",
            "markdown": f"{rule.why}\n\n**What to do:** {rule.fix}",
        },
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {
            "severity": rule.severity.value,
            "security-severity": SECURITY_SEVERITIES[rule.severity],
            "owasp": rule.owasp.value,
            "tags": ["security", rule.category.value, f"owasp/{rule.owasp.value}"],
        },
    }


def _result(path: str, finding: Finding, numbers: Mapping[str, int]) -> Json:
    uri = _uri(path, finding.file)
    known: Json = {"ruleIndex": numbers[finding.rule_id]} if finding.rule_id in numbers else {}
    return {
        "ruleId": finding.rule_id,
        **known,
        "level": LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, **_region(finding)}}],
        "partialFingerprints": {"vskillFinding/v1": _fingerprint(uri, finding)},
        "properties": {
            "severity": finding.severity.value,
            "category": finding.category.value,
            "owasp": finding.owasp.value,
            "layer": finding.layer,
            "moreLines": list(finding.more_lines),
        },
    }


def _region(finding: Finding) -> Json:
    """The place in the file; a finding about the file as a whole has none."""
    if finding.line < 1:
        return {}
    region: Json = {"startLine": finding.line}
    if finding.column > 0:
        region["startColumn"] = finding.column
    if finding.excerpt:
        region["snippet"] = {"text": finding.excerpt}
    return {"region": region}


def _invocation(scans: Sequence[tuple[str, ScanReport]]) -> Json:
    """How the scan went. A limit that was hit is told here, because it belongs to no line."""
    notes = [_notification(path, limit) for path, report in scans for limit in report.limits_hit]
    return {"executionSuccessful": not notes, "toolExecutionNotifications": notes}


def _notification(path: str, limit: str) -> Json:
    return {
        "level": "warning",
        "descriptor": {"id": limit},
        "message": {"text": f"The scan did not see everything ({limit}), so the skill cannot pass."},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(path, "")}}}],
    }


def _uri(path: str, file: str) -> str:
    """A relative reference for a path, or the address it is below, with everything unusual percent-encoded."""
    scheme, found, rest = path.partition("://")
    joined = "/".join(part for part in ((rest if found else path).rstrip("/"), file) if part)
    quoted = quote(joined.encode(errors="surrogateescape"), safe="/")
    return f"{scheme}://{quoted}" if found else quoted or "."


def _fingerprint(uri: str, finding: Finding) -> str:
    """The same for the same finding after lines have moved."""
    return hashlib.sha256(f"{finding.rule_id}\0{uri}\0{finding.excerpt}".encode()).hexdigest()[:32]
