"""Which findings of others are ours already: the same file, the same line or the one beside it, and the same subject.

Tools name their rules as they like, so the subject of a finding is told by the words in its rule's name and message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from vskill_platform.domain.external_scan import ExternalFinding
from vskill_platform.domain.scan import Finding, ScanReport, Threat

NEAR_LINES = 1
_RUNNING = {
    Threat.COMMAND_EXECUTION,
    Threat.DOWNLOAD_EXECUTE,
    Threat.OBFUSCATED_EXECUTION,
    Threat.REVERSE_SHELL,
    Threat.DESTRUCTIVE_ACTION,
    Threat.PRIVILEGE_ESCALATION,
}
_TAKING = {Threat.CREDENTIAL_ACCESS, Threat.DATA_EXFILTRATION, Threat.HARDCODED_SECRET}
_TALKING = {
    Threat.PROMPT_INJECTION,
    Threat.CONCEALMENT,
    Threat.PROMPT_LEAK,
    Threat.TRIGGER_HIJACK,
    Threat.MEMORY_POISONING,
    Threat.SAFETY_DISABLEMENT,
    Threat.REMOTE_INSTRUCTIONS,
    Threat.SOCIAL_ENGINEERING,
}
_SUBJECTS: Mapping[str, set[Threat]] = {
    r"shell|subprocess|command|exec|eval|popen|process|malware|tool.chain|code.injection|reverse": _RUNNING,
    r"download|curl|wget|fetch|pipe|remote.code|supply": {*_RUNNING, Threat.SUPPLY_CHAIN, Threat.REMOTE_INSTRUCTIONS},
    r"obfuscat|base64|encoded|decode|hidden|unicode|stegano|invisible": {
        Threat.OBFUSCATED_EXECUTION,
        Threat.CONCEALMENT,
        Threat.PROMPT_INJECTION,
    },
    r"secret|password|passwd|credential|api.?key|private.key|access.key|token|harvest": _TAKING,
    r"exfil|upload|webhook|send|leak|data.theft": _TAKING,
    r"prompt|instruction|inject|override|jailbreak|social|autonomy|transitive|discovery|vague|manipulat": _TALKING,
    r"persist|cron|startup|autostart|launch|service": {Threat.PERSISTENCE, Threat.HOOK_INJECTION},
    r"sudo|privilege|setuid|permission|chmod|unauthori[sz]ed": {Threat.PRIVILEGE_ESCALATION, Threat.OVER_PERMISSION},
    r"delete|destroy|destruct|wipe|ransom|rm.rf|rmtree": {Threat.DESTRUCTIVE_ACTION},
    r"pickle|yaml|marshal|deseriali[sz]|unserialize": {Threat.UNSAFE_DESERIALISATION},
    r"ssrf|metadata.(service|endpoint|address)|169\.254": {Threat.SSRF},
    r"miner|mining|resource.abuse|fork.bomb|infinite": {Threat.RESOURCE_ABUSE},
    r"mcp": {Threat.MCP_POISONING, Threat.OVER_PERMISSION},
    r"dependenc|package|typosquat|install": {Threat.SUPPLY_CHAIN, Threat.DOWNLOAD_EXECUTE},
    r"unread|binary|analy[sz]ab|archive|bytecode": {Threat.UNANALYSABLE_CONTENT},
    r"traversal|symlink|path.escape": {Threat.PATH_ESCAPE},
    r"wallet|money|crypto.?currency|fraud": {Threat.FRAUD},
}
_PATTERNS = tuple((re.compile(words), frozenset(threats)) for words, threats in _SUBJECTS.items())
_BY_NAME = {
    threat.value: frozenset({threat}).union(*(group for group in (_RUNNING, _TAKING, _TALKING) if threat in group))
    for threat in Threat
}
"""Our own rules for semgrep begin their names with the subject."""


def mark_known(findings: Iterable[ExternalFinding], report: ScanReport) -> tuple[ExternalFinding, ...]:
    """The findings, each with the rule of ours that found the same in `same_as` where one did."""
    by_file: dict[str, list[Finding]] = {}
    for found in report.findings:
        by_file.setdefault(found.file, []).append(found)
    return tuple(
        msgspec.structs.replace(finding, same_as=_same_as(finding, by_file.get(finding.file, ())))
        for finding in findings
    )


def subjects_of(finding: ExternalFinding) -> frozenset[Threat]:
    """What a finding may be about; nothing where no word tells."""
    rule = finding.rule_id.partition("/")[2]
    named = _BY_NAME.get(rule.partition(".")[0])
    if named is not None:
        return named
    text = f"{rule} {finding.message}".lower().replace("_", "-")
    return frozenset[Threat]().union(*(threats for pattern, threats in _PATTERNS if pattern.search(text)))


def _same_as(finding: ExternalFinding, ours: Iterable[Finding]) -> str:
    subjects = subjects_of(finding)
    same = [found for found in ours if found.category in subjects and _is_near(finding.line, found)]
    return min(same, key=lambda found: (_distance(finding.line, found), found.rule_id)).rule_id if same else ""


def _is_near(line: int, found: Finding) -> bool:
    return _distance(line, found) <= NEAR_LINES and (line == 0) == (found.line == 0)


def _distance(line: int, found: Finding) -> int:
    return min(abs(line - other) for other in (found.line, *found.more_lines))
