"""The words of a scan: what a finding is, how grave it is, and what a scan says in the end."""

from __future__ import annotations

from enum import StrEnum

import msgspec

TIME_LIMIT = "time_limit"
MEMORY_LIMIT = "memory_limit"
SCANNER_CRASHED = "scanner_crashed"
ENDED_EARLY = frozenset({TIME_LIMIT, MEMORY_LIMIT, SCANNER_CRASHED})
"""The words, among those for what kept a scan from seeing everything, of a scan that ended without a report of its own."""


class Severity(StrEnum):
    """How grave a finding is."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"


class Verdict(StrEnum):
    """What a scan says of a skill."""

    PASS = "PASS"
    CONCERNS = "CONCERNS"
    FAIL = "FAIL"


class Threat(StrEnum):
    """What kind of harm a finding points at."""

    PROMPT_INJECTION = "prompt-injection"
    CONCEALMENT = "concealment"
    PROMPT_LEAK = "prompt-leak"
    TRIGGER_HIJACK = "trigger-hijack"
    MEMORY_POISONING = "memory-poisoning"
    SAFETY_DISABLEMENT = "safety-disablement"
    COMMAND_EXECUTION = "command-execution"
    DOWNLOAD_EXECUTE = "download-execute"
    OBFUSCATED_EXECUTION = "obfuscated-execution"
    REVERSE_SHELL = "reverse-shell"
    CREDENTIAL_ACCESS = "credential-access"
    DATA_EXFILTRATION = "data-exfiltration"
    PERSISTENCE = "persistence"
    PRIVILEGE_ESCALATION = "privilege-escalation"
    DESTRUCTIVE_ACTION = "destructive-action"
    RESOURCE_ABUSE = "resource-abuse"
    SUPPLY_CHAIN = "supply-chain"
    REMOTE_INSTRUCTIONS = "remote-instructions"
    MCP_POISONING = "mcp-poisoning"
    HOOK_INJECTION = "hook-injection"
    OVER_PERMISSION = "over-permission"
    BEHAVIOUR_MISMATCH = "behaviour-mismatch"
    HARDCODED_SECRET = "hardcoded-secret"
    UNSAFE_DESERIALISATION = "unsafe-deserialisation"
    UNANALYSABLE_CONTENT = "unanalysable-content"
    PATH_ESCAPE = "path-escape"
    SOCIAL_ENGINEERING = "social-engineering"
    FRAUD = "fraud"
    SSRF = "ssrf"
    METADATA = "metadata"


class Owasp(StrEnum):
    """The OWASP Agentic Skills Top 10."""

    MALICIOUS_SKILL = "AST01"
    SUPPLY_CHAIN = "AST02"
    OVER_PRIVILEGED = "AST03"
    INSECURE_METADATA = "AST04"
    UNSAFE_DESERIALISATION = "AST05"
    WEAK_ISOLATION = "AST06"
    UPDATE_DRIFT = "AST07"
    POOR_SCANNING = "AST08"
    NO_GOVERNANCE = "AST09"
    CROSS_PLATFORM_REUSE = "AST10"

    @property
    def risk(self) -> str:
        """The risk in words."""
        return OWASP_RISKS[self]


OWASP_RISKS = {
    Owasp.MALICIOUS_SKILL: "Malicious skills",
    Owasp.SUPPLY_CHAIN: "Supply-chain compromise",
    Owasp.OVER_PRIVILEGED: "Over-privileged skills",
    Owasp.INSECURE_METADATA: "Insecure metadata",
    Owasp.UNSAFE_DESERIALISATION: "Unsafe deserialisation",
    Owasp.WEAK_ISOLATION: "Weak isolation",
    Owasp.UPDATE_DRIFT: "Update drift",
    Owasp.POOR_SCANNING: "Poor scanning",
    Owasp.NO_GOVERNANCE: "No governance",
    Owasp.CROSS_PLATFORM_REUSE: "Cross-platform reuse",
}


class Finding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One rule that hit one file. `line` and `column` count from 1; 0 means the file as a whole.

    `layer` names the way the file was looked at (`raw`, `structure`, and the views and parsers that join them).
    `more_lines` has the further lines of the same file that the same rule hit. `context` says why a finding counts less than
    its rule: the text quotes what the rule looks for, warns against it, or reads like ordinary advice. `detail` says what
    came together to make it one.
    """

    rule_id: str
    category: Threat
    owasp: Owasp
    severity: Severity
    file: str
    line: int
    column: int
    excerpt: str
    message: str
    why: str
    fix: str
    layer: str
    more_lines: tuple[int, ...] = ()
    context: str = ""
    detail: str = ""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a skill can do, as far as the scan saw. Sorted, without repetition."""

    network_hosts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    files_written: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    remote_instructions: tuple[str, ...] = ()


class ScanReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole answer of a scan.

    `flagged` is true where the skill would not be published without a person. `limits_hit` names every limit, time-out
    or crash that kept the scan from seeing everything; a report that has one never says PASS.
    """

    name: str
    verdict: Verdict
    score: int
    flagged: bool
    content_digest: str
    ruleset_version: str
    scanner_version: str
    limits_hit: tuple[str, ...] = ()
    capabilities: Capabilities = msgspec.field(default_factory=Capabilities)
    duration_ms: float = 0.0
    findings: tuple[Finding, ...] = ()
