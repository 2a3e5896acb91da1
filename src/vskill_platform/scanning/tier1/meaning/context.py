"""Instruction or quotation: whether the place of a hit tells the agent to do something, or speaks of it.

A guide that shows an attack as a bad example is not the attack. What excuses a place stands right beside it, on its line,
at the head of its fenced block or in its own heading, where whoever follows the text reads it too: so that no word added
elsewhere excuses anything. Only text for readers can be excused; code, settings, descriptions and what had to be uncovered
cannot.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from vskill_platform.domain.content import SKILL_FILE_NAMES
from vskill_platform.domain.scan import Threat
from vskill_platform.scanning.tier1.markdown.document import Block, BlockKind
from vskill_platform.scanning.tier1.rules import Rule
from vskill_platform.scanning.tier1.skill import FileUnderScan, Hit, SkillUnderScan

LONGEST_LINE = 1_000
LEAD_LINES = 3
"""Lines of a fenced block above a place in which a comment may speak of it, and lines above a block that lead to it."""


class Stance(StrEnum):
    """How a text stands to what it says."""

    STATED = ""
    QUOTED = "quoted"
    WARNED = "warned against"


READ_AS_IT_STANDS = frozenset(
    [
        "raw",
        "prose",
        "plain",
        "normalised",
        "unquoted",
        "unescaped",
        "joined",
        "decoded",
        "shell",
        "python",
        "javascript",
    ]
)
"""The layers whose hits stand in what a reader sees, if only in other letters. Comments and invisible text do not."""
WRITTEN_IN_CODE = frozenset(["unquoted", "unescaped", "joined", "decoded"])
"""The layers of what nobody quotes in other letters, except to teach how it is done."""
CODE_LAYERS = frozenset(["shell", "python", "javascript"])
ABOUT_WORDS = frozenset(
    [
        Threat.PROMPT_INJECTION,
        Threat.CONCEALMENT,
        Threat.PROMPT_LEAK,
        Threat.TRIGGER_HIJACK,
        Threat.MEMORY_POISONING,
        Threat.SAFETY_DISABLEMENT,
        Threat.SOCIAL_ENGINEERING,
        Threat.REMOTE_INSTRUCTIONS,
    ]
)
"""Harm that is done by words to an agent, which a program that looks for such words must be able to name."""

_NEGATION = re.compile(
    r"(?i)\b(?:never|do not|don['’]t|must not|mustn['’]t|should not|shouldn['’]t|cannot|avoid|refuse to|"
    r"rather than|instead of|"
    r"not recommended|forbidden|prohibited)\b(?! (?:\w+ )?(?:forget|fail|omit|skip|hesitate|neglect|"
    r"miss|matter|worry|need|"
    r"tell|mention|inform|ask|proceed|continue)\b)"
)
_NO_SUCH = re.compile(r"(?i)\b(?:no|nothing|none)\s(?:\w+\s){0,3}$")
_CLAUSE_END = re.compile(r"[;:.,]\s|\bbut\b|\bthen\b|\bjust\b")
_BEFORE_CODE = re.compile(r":\s{0,2}[`\"*“]{1,3}$")
"""The colon between a sentence and the code that it is about."""
_SPEAKS_OF = re.compile(
    r"(?i)❌|✗|✘|🚫|⛔|⚠|\b(?:attack\w*|malicious\w*|malware|exploit\w*|inject\w*|jailbreak\w*|payloads?|"
    r"adversar\w*|evasion|suspicious|"
    r"red flags?|anti-?patterns?|dangerous|vulnerab\w*|insecure|unsafe|detect\w*|flag(?:s|ged)? (?:any|"
    r"commands?|it|this|as|when|text|skills?|phrases?|such)|indicators?|"
    r"phish\w*|obfuscat\w*|"
    r"exfiltrat\w*|threats?|phrases?|patterns?|such as|e\.g\.|reject\w*|refus\w*|block(?:s|ed)?|look(?:s|"
    r"ing)? for|search(?:es|ing)? for|"
    r"critical|high|medium|bad|wrong|hostile|untrusted|poison\w*|abus\w*)\b"
)
_ATTACKER_ACTS = re.compile(
    r"(?i)\b(?:attackers?|adversar(?:y|ies)|malware|ransomware|stealers?|trojans?|clippers?|"
    r"malicious (?:skills?|actors?|users?|servers?|packages?|code|"
    r"prompts?|content|instructions?|"
    r"files?)|hostile \w+|compromised \w+|(?:prompt )?injections?|the payload|the attack|"
    r"exploits?)\b[^.]{0,40}\b(?:can|could|may|might|"
    r"will|would|tells?|asks?|tries|try|attempts?|instructs?|used?|uses|often|gets?|sends?|runs?|executes?|"
    r"steals?|exfiltrates?|reads?|"
    r"writes?|crafts?|controls?|submits?|opens?|creates?|is|are|to)\b"
)
_LABEL = re.compile(
    r"(?i)❌|✗|✘|🚫|⛔|^[\W_]*(?:bad|wrong|vulnerable|insecure|unsafe|dangerous|malicious|incorrect|anti-?pattern|"
    r"attack|exploit|"
    r"payload|red flag)(?: \w+){0,3}[*_]{0,3}(?::| [—–-] )"
)
"""A sign or a word before a colon at the head of a line."""
_COMMENT = re.compile(
    r"(?i)❌|✗|✘|🚫|⛔|^[\W_]*(?:bad|wrong|vulnerable|insecure|unsafe|dangerous|malicious|incorrect|anti-?pattern|"
    r"attack\w*|"
    r"exploit\w*|payload|don['’]t|do not (?:do|use|run|write)|never (?:do|use|run|write)|avoid|suspicious|"
    r"hostile|red flag)\b"
)
"""What a comment in code begins with that speaks of the lines below it."""
_LEADS_TO_ATTACK = re.compile(
    r"(?i)\b(?:attackers?|adversar\w+|malicious \w+|exploit(?:s|ed|ation)?|payloads?|injected|anti-?patterns?|"
    r"red flags?|poisoned|"
    r"attack (?:examples?|vectors?|scenarios?|flow|chain|pattern)s?|look(?:s|ing)? (?:for|like)|bad (?:example|practice|habit)s?|"
    r"(?:do not|don['’]t|never) (?:run|do|use|copy|write)|"
    r"(?:vulnerable|compromised|dangerous|insecure|unsafe|suspicious|hostile) "
    r"(?:code|commands?|examples?|patterns?|versions?|ways?|variants?|inputs?|skills?|scripts?|usage|configurations?|snippets?|implementations?|descriptions?|workflows?|lines?))\b"
)
_PROTECTS = re.compile(
    r"(?i)\b(?:against|protect\w*|prevent\w*|mitigat\w*|defend\w*|harden\w*|first run|please run|must run)\b"
)
_TOPIC = re.compile(
    r"(?i)\b(?:attack\w*|malicious|malware|exploit\w*|vulnerab\w*|injection\w*|jailbreak\w*|threats?|red flags?|"
    r"anti-?patterns?|dangerous|"
    r"insecure|unsafe|payloads?|evasion|detect\w*|suspicious|indicators?|incidents?|forensic\w*|sharp edges|"
    r"footguns?|pitfalls?|abuse|"
    r"poison\w*|exfiltrat\w*|supply.chain|escalation|vectors?|real.world|findings?|patterns?|risks?|audit\w*|"
    r"hardening|what not|misuse)\b"
)
_BAD_HEADING = re.compile(
    r"(?i)\b(?:bad|wrong|anti-?patterns?|don['’]ts?|do not|never|avoid|what not|insecure|unsafe|vulnerable|"
    r"red flags?|malicious|attacks?|"
    r"attack (?:examples?|patterns?|vectors?)|dangerous)\b|❌"
)
_SECURITY = re.compile(
    r"(?i)\b(?:security|secure|vulnerab\w*|threats?|malware|attacks?|attackers?|audit\w*|pentest\w*|penetration|"
    r"exploit\w*|injection|forensic\w*|"
    r"incident|ransomware|phishing|obfuscat\w*|honeytokens?|canar(?:y|ies)|decoys?|guardrails?|breach\w*|cyber\w*|triage|CTF|hack\w*|blue.team\w*|jailbreak\w*|red.team\w*|"
    r"harden\w*|scanner|scans?|detect\w*|CVE|OWASP|misuse|footguns?|fuzz\w*|yara|semgrep|codeql)\b"
)
_LOOKS_FOR = re.compile(r"\\s|\\b|\\w|\(\?i\)|\br[\"']|re\.compile|(?i:pattern|regex|signature)")
_ORDERS = re.compile(
    r"(?i)\b(?:run|execute|type|paste|install|start|use|enter|launch|call|try|first|then|now|please|"
    r"copy)\b[^\"'`“‘«|]{0,25}[\"'`“‘«|*]{1,3}[^\"'`|]{0,30}$"
)
_SAID = re.compile(
    r"(?i)\b(?:says?|said|saying|reads?|reading|contains?|containing|such as|like|e\.g\.|called|phrases?|words?|"
    r"sentences?|strings?)"
    r"\s{0,2}[\"`“«][^\"`”»]{0,40}$|(?:出现|例如|比如|写着|包含)[“「\"][^”」\"]{0,40}$"
)
"""What leads to words that are somebody else's."""
_SAMPLES = re.compile(
    r"(?i)(?:^|[/_.-])(?:tests?|fixtures?|samples?|cases|corpus|prompts?|evals?|examples?|payloads?)(?:[/_.-]|$)"
)
_QUOTES = re.compile('["`“”«»|]')
_LABELLED = re.compile(r"[\w ]{0,16}: ?[\"`“]")


def stance_of(skill: SkillUnderScan, file: FileUnderScan, hit: Hit, rule: Rule) -> Stance:
    """How the text stands to what the rule found at this place."""
    if hit.layer not in READ_AS_IT_STANDS or not 0 < hit.line <= len(file.lines):
        return Stance.STATED
    if hit.layer in WRITTEN_IN_CODE and not is_about_security(skill):
        return Stance.STATED
    if not file.is_markdown:
        return _stance_in_script(skill, file, hit, rule)
    block = file.document.block_at(hit.line)
    if block is None or block.kind in (BlockKind.COMMENT, BlockKind.HTML, BlockKind.FRONTMATTER):
        return Stance.STATED
    line = file.lines[hit.line - 1][:LONGEST_LINE]
    if block.kind is BlockKind.FENCE:
        beside = _stance_in_fence(file, block, hit, line)
    else:
        beside = _stance_in_prose(line, _in_line(hit, line), is_security=is_about_security(skill))
    return beside or _stance_under_heading(skill, file, hit)


def _in_line(hit: Hit, line: str) -> Hit:
    """The hit with its place in the line: parsers count in the piece of code that they were given."""
    found = line.find(hit.excerpt[:40]) if hit.layer in CODE_LAYERS and hit.excerpt else -1
    return hit._replace(column=found + 1) if line[:found].strip() and found > 0 else hit


def is_about_security(skill: SkillUnderScan) -> bool:
    """Whether the skill says of itself that it is about attacks and defences."""
    return skill.frontmatter is not None and _names_security(skill.frontmatter.text[:2_000])


@lru_cache(maxsize=8)
def _names_security(text: str) -> bool:
    return _SECURITY.search(text) is not None


def _stance_in_script(skill: SkillUnderScan, file: FileUnderScan, hit: Hit, rule: Rule) -> Stance:
    """A program that looks for words has them in it, as patterns or as samples to try, in a skill that says it looks for such."""
    line = file.lines[hit.line - 1][:LONGEST_LINE]
    is_sample = _LOOKS_FOR.search(line) or _SAMPLES.search(file.path)
    is_named = rule.category in ABOUT_WORDS and is_sample is not None
    return Stance.QUOTED if is_named and is_about_security(skill) else Stance.STATED


def _stance_in_prose(line: str, hit: Hit, *, is_security: bool) -> Stance:
    before = line[: max(0, hit.column - 1)]
    lead = _BEFORE_CODE.sub("", before)
    clause = lead[max((found.end() for found in _CLAUSE_END.finditer(lead)), default=0) :]
    if (
        _NEGATION.search(clause)
        or _NO_SUCH.search(clause)
        or _LABEL.search(before[:60])
        or _COMMENT.search(_comment_behind(line, hit))
    ):
        return Stance.WARNED
    if _ATTACKER_ACTS.search(before) or _ATTACKER_ACTS.search(clause):
        return Stance.QUOTED
    at = hit.column - 1
    is_opened = _QUOTES.search(line[max(0, at - 60) : at]) or _LABELLED.match(line[at:])
    is_quoted = is_opened is not None and _QUOTES.search(line[at:]) is not None
    if not is_quoted or _ORDERS.search(before[-60:]):
        return Stance.STATED
    is_spoken_of = _SPEAKS_OF.search(_around_quotation(line, at)) or _SAID.search(before[-60:])
    return Stance.QUOTED if is_security or is_spoken_of else Stance.STATED


def _around_quotation(line: str, at: int) -> str:
    """The line without what is between the quotation marks around a place."""
    opening = max((found.start() for found in _QUOTES.finditer(line[:at])), default=at)
    closing = next((found.end() for found in _QUOTES.finditer(line[at:])), len(line) - at)
    return f"{line[:opening]} {line[at + closing :]}"


def _stance_in_fence(file: FileUnderScan, block: Block, hit: Hit, line: str) -> Stance:
    above = [file.lines[number - 1] for number in range(max(block.first_line, hit.line - LEAD_LINES), hit.line)]
    comments = [
        text.strip()[:200] for text in above if text.lstrip().startswith(("#", "//", "--", "/*", "*", ";", "<!--"))
    ]
    own = [line] if line.lstrip().startswith(("#", "//", "--")) else []
    if any(
        _COMMENT.search(text.lstrip("#/-*;<! ")) or _ATTACKER_ACTS.search(text)
        for text in [*comments, *own, _comment_behind(line, hit)]
    ):
        return Stance.WARNED
    lead = _lead_in(file, block)
    if not lead or _PROTECTS.search(lead):
        return Stance.STATED
    clause = re.split(r"[,;]\s", lead)[-1]
    is_warning = _LABEL.search(lead) or _LEADS_TO_ATTACK.search(lead) or _NEGATION.search(clause)
    return Stance.WARNED if is_warning else Stance.STATED


def _comment_behind(line: str, hit: Hit) -> str:
    """The comment that ends a line of code."""
    return (re.split(r"\s(?:#|//|--|<!--)\s", line[hit.column - 1 :], maxsplit=1)[1:] or [""])[0]


def _lead_in(file: FileUnderScan, block: Block) -> str:
    """The line that leads to a fenced block, if it stands right above."""
    fence = block.first_line - 1
    for number in range(fence - 1, max(0, fence - 1 - LEAD_LINES), -1):
        text = file.lines[number - 1].strip()
        if text:
            return text[-300:]
    return ""


def _stance_under_heading(skill: SkillUnderScan, file: FileUnderScan, hit: Hit) -> Stance:
    """The heading of the place's own section, and in other files than the SKILL.md those above it and the file's name."""
    section = file.document.section_at(hit.line)
    titles = section.titles if section else ()
    if file.path in SKILL_FILE_NAMES:
        titles = titles[1:][-1:]
    if titles and _BAD_HEADING.search(titles[-1]) and len(titles[-1]) < 120:
        return Stance.WARNED
    names = titles if file.path in SKILL_FILE_NAMES else (*titles, file.path.replace("-", " ").replace("_", " "))
    is_topic = is_about_security(skill) and any(_TOPIC.search(title) for title in names)
    return Stance.QUOTED if is_topic else Stance.STATED
