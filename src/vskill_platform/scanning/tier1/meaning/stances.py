"""What the ways to tell a quotation from an instruction share: the place, who acts in a sentence, what a section is about."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from vskill_platform.domain.content import SKILL_FILE_NAMES
from vskill_platform.scanning.tier1.markdown.document import Block, BlockKind, Section
from vskill_platform.scanning.tier1.meaning.warnings import (
    ATTACKER_ACTS,
    FOREIGN_ATTACKS,
    heading_helps,
    heading_warns,
)
from vskill_platform.scanning.tier1.patterns import compile_pattern
from vskill_platform.scanning.tier1.skill import FileUnderScan, SkillUnderScan

LONGEST_LINE = 1_000
LEAD_LINES = 3
"""Lines of a fenced block above a place in which a comment may speak of it, and lines above a block that lead to it."""


class Stance(StrEnum):
    """How a text stands to what it says."""

    STATED = ""
    QUOTED = "quoted"
    WARNED = "warned against"
    ORDINARY = "reads like ordinary advice"
    ALONE = "nothing else that is grave was found"


ABOUT_ATTACKS = re.compile(
    r"(?i)❌|✗|✘|🚫|⛔|⚠|\b(?:attack\w*|malicious\w*|malware|exploit\w*|inject\w*|jailbreak\w*|adversar\w*|evasion|"
    r"suspicious|red flags?|anti-?patterns?|dangerous|vulnerab\w*|insecure|unsafe|indicators?|phish\w*|obfuscat\w*|"
    r"exfiltrat\w*|threats?|hostile|untrusted|poison\w*|abus\w*|intruders?|flag(?:s|ged)? (?:any|commands?|it|this|as|when|"
    r"text|skills?|phrases?|such)|reject\w*|refus\w*|(?:not |dis)allowed|"
    r"blocks|denies|exit(?:s|ed)? (?:with )?(?:code |status )?2|signatures?|seen in|(?:bad|warning|tell-?tale) signs?|"
    r"tell-?tales?|giveaways?|IOCs?|lures?|T1\d{3}(?:\.\d{3})?|CWE-\d+|CVE-\d{4}-\d+)\b"
)
"""Words beside a quotation that say it is an attack."""
ABOUT_WORDS = re.compile(
    r"(?i)\b(?:detect\w*|phrases?|patterns?|such as|e\.g\.|block(?:s|ed)?|look(?:s|ing)? for|"
    r"search(?:es|ing)? for|bad|wrong|"
    r"payloads?|says?|said|contains?|examples?|like|words?|sentences?|strings?)\b|出现|例如|比如|写着|包含|之类"
)
"""Words beside a quotation of other words that say it is somebody else's."""
SPEECH = re.compile(r"[\"“«「][^\w\s]*(?:[^\W\d]+(?:[,:;]? [^\W\d]+(?:['’][^\W\d]+)?){2}|[^\x00-\u02ff])")
"""A quotation that begins as a sentence does, and not as a command."""
ORDERS = re.compile(
    r"(?i)\b(?:run|execute|type|paste(?![- ](?:sites?|bins?|pages?|in\b))|install|start|use|enter|"
    r"launch|call|try|first|then|now|please|copy|step|begin)\b"
    r"[^\"'`“‘«|]{0,60}[\"'`“‘«|*]{0,3}$"
)
"""Words right in front of a quotation that have the reader carry it out."""
LEADS_TO_ATTACK = re.compile(
    r"(?i)\b(?:injected|anti-?patterns?|red flags?|poisoned \w+|attack (?:examples?|vectors?|"
    r"scenarios?|flow|chain|pattern)s?|"
    r"bad (?:example|practice|habit)s?|lines? like (?:these|this)|(?:vulnerable|compromised|"
    r"dangerous|insecure|unsafe|suspicious|hostile|malicious|"
    r"attacker(?:['’]s|-controlled)?|exploit|injection) "
    r"(?:code|commands?|examples?|patterns?|ways?|variants?|inputs?|skills?|scripts?|usage|configurations?|snippets?|"
    r"implementations?|descriptions?|workflows?|lines?|payloads?|prompts?|content|text|instructions?|strings?|requests?|cases?|"
    r"files?|comments?|issues?|page|document|readme|output|response|string))\b|"
    r"^\W*look (?:for|out)\b|\blooks? like\b[^.]{0,30}$|(?:^|\s)(?:the )?payloads?\W*$|"
    r"\b(?:attackers?|adversar\w+|exploits?)\b[^.,]{0,40}:$|"
    r"\b(?:shapes?|forms?|strings?|patterns?|signs?) (?:to|worth) (?:recogni[sz](?:e|ing)|spot(?:ting)?|detect(?:ing)?|"
    r"flag(?:ging)?|look(?:ing)? for)\b[^.:]{0,60}:$"
)
"""How a line ends that leads to a block of bad code."""
LEADS_TO_TRACES = re.compile(
    r"(?i)\b(?:typical|common|known|observed|seen|found|left)\b[^.:]{0,60}\b(?:command lines?|entries|lines|traces|artefacts|"
    r"artifacts|processes|process lists?|logs?|histor(?:y|ies)|hosts?|machines?)\b[^.:]{0,60}:$|"
    r"\b(?:seen|observed|found|reported|caught) (?:last|in|on|at|by|this|during|among|again)\b[^.:]{0,60}:$|"
    r"\b(?:EDR|SIEM|IDS|alerts?|logs?|sensor|audit trail|sandbox) "
    r"(?:shows?|has|had|reports?|saw|records?|contains?|fired)\b[^.:]{0,60}:$"
)
"""How a line ends that leads to what is found where an attacker has been, in a guide about attacks."""
LEADS_TO_EXPLOIT = re.compile(
    r"(?i)\b(?:theft|forgery|takeover|remote code execution|RCE|SSRF|XSS|IDOR|SQLi|traversal|exploit\w*|compromise|"
    r"leftovers?|IOCs?|indicators?|specimens?|probes?|payloads?|reverse shells?|"
    r"tried|attempts?|in the wild|looks? like(?: this)?)\b[^.:]{0,60}:$|"
    rf"{FOREIGN_ATTACKS}[^.:：]{{0,60}}[:：]$"
)
"""How a line ends that leads to a request or a trace, in a guide about attacks and a block that nothing runs."""
PROTECTS = re.compile(
    r"(?i)\b(?:against|protect\w*|prevent\w*|avoid\w*|mitigat\w*|defend\w*|harden\w*|remov(?:e|es|"
    r"ing)|clean\w*|off the|fix(?:es)?|"
    r"stops?|heals?|repairs?|first run|please run|must run|gegen|schutz|contre|protég\w*|contra|proteg\w*|против|защит\w*)\b|"
    r"防|清除|修复|対策|방지"
)
_ATTACK_TOPIC = re.compile(
    r"(?i)\b(?:attack\w*|malicious|malware|exploit\w*|vulnerab\w*|injection\w*|jailbreak\w*|threats?|red flags?|"
    r"anti-?patterns?|dangerous|insecure|unsafe|payloads?|evasion|suspicious|indicators?|sharp edges|footguns?|abuse|"
    r"poison\w*|exfiltrat\w*|supply.chain|escalation|vectors?|what not|misuse|persistence|techniques?|signatures?|"
    r"stealers?|droppers?|clippers?|lures?|cradles?|encoded stages?|trojans?|backdoors?|worth (?:detecting|hunting|spotting))\b"
)
_WEAKNESS = (
    r"(?:CWE-\d+|CAPEC-\d+|OWASP|SSRF|XSS|CSRF|RCE|IDOR|SQLi|XXE|SSTI|LFI|path traversal|"
    r"(?:un|de)(?:safe )?seriali[sz]ation|request forgery)"
)
"""The names that weaknesses have in the trade."""
_TOPIC = re.compile(
    rf"{_ATTACK_TOPIC.pattern}|\b(?:{_WEAKNESS}|detect\w*|incidents?|forensic\w*|pitfalls?|real.world|findings?|patterns?|"
    r"risks?|audit\w*|hardening|checks?|checklist|(?:look|watch|grep|search|scan) (?:for|out)|"
    r"warning signs|signs (?:of|that|it|you)|quot(?:ations?|ed)|specimens?|"
    r"(?:reject|refuse|deny|block) (?:when|if|any|all|these|it|skills?|commands?)|(?:denied|blocked|forbidden) (?:commands?|"
    r"patterns?|words|calls)|smells?|bypass\w*|leaves? behind|ATT&CK|TTPs?|IOCs?|hunt\w*)\b|"
    rf"{FOREIGN_ATTACKS}"
)
LABEL = re.compile(r"\*\*([^*]{3,60})\*\*:?")
"""A line that is nothing but a label."""
_BOX = re.compile(r"\s*[-*+] \[[ xX]\] ")
"""A box to tick: an entry of a checklist, whatever words it has."""
_SPECIMENS = re.compile(
    rf"{_ATTACK_TOPIC.pattern}|\b(?:{_WEAKNESS}|specimens?|quotations?|probes?|test (?:strings|inputs|prompts|messages)|"
    r"warning signs|bypass\w*|smells?|TTPs?|IOCs?)\b"
)
"""Headings of sections that show what attacks look like."""
_STEP_NUMBER = re.compile(r"(?i)^\W*(?:step|part|phase|chapter)? ?\d+\W+")
FEWEST_TITLES = 2
FEWEST_COMMAS = 3
_TRACES = re.compile(
    r"(?i)\b(?:look(?:ing)? (?:at|for)|hunt\w*|traces?|evidence|artefacts?|artifacts?|indicators?|IOCs?)\b"
)
"""Headings of what an investigator looks at."""
_LOOKED_FOR = re.compile(
    r"(?i)\W*(?:what to (?:look|watch) (?:for|out for)|signs|indicators|traces|symptoms|what it looks like)\W*$"
)
_ADDRESS = re.compile(r"(?i)\w://|/dev/tcp|\b\d{1,3}(?:\.\d{1,3}){3}\b")
_NUMBERED = re.compile(r"\s*\d{1,3}[.)]\s")
_SECURITY = re.compile(
    r"(?i)\b(?:security|secure|vulnerab\w*|threats?|malware|attacks?|attackers?|audit\w*|pentest\w*|penetration|"
    r"exploit\w*|injection|forensic\w*|"
    r"incident|ransomware|phishing|obfuscat\w*|honeytokens?|canar(?:y|ies)|decoys?|guardrails?|"
    r"back-?doors?|stealers?|droppers?|trojans?|typo-?squat\w*|break-?ins?|intrusions?|intruders?|weak spots?|"
    r"third-party (?:\w+ ){0,2}(?:skills?|plugins?|packages?|dependenc(?:y|ies)|code|servers?|extensions?)|"
    r"safe to (?:install|depend|trust|adopt)|vet(?:s|ting)|"
    r"breach\w*|cyber\w*|triage|CTF|hack\w*|blue.?team\w*|jailbreak\w*|red.?team\w*|malicious|suspicious|insecure|bug.?bount(?:y|ies)|"
    rf"{_WEAKNESS}|adversar\w*|(?:dangerous|destructive) (?:\w+ )?(?:commands?|habits?|code)|"
    r"compromised|supply.chain (?:reviews?|security|audits?)|"
    r"harden\w*|scanner|scans?|detect\w*|CVE|OWASP|misuse|footguns?|fuzz\w*|yara|semgrep|codeql)\b|"
    rf"{FOREIGN_ATTACKS}|安全(?:审|检|扫|测|分析|评估|加固)|セキュリティ|脆弱性|보안|취약|безопасност|уязвим|"
    r"(?:seguridad|segurança|sécurité|sicherheits|schwachstelle|vulnérab|intrusion)"
)
_LEADS_ASTRAY = re.compile(
    r"(?i)\b(?:could|might|may|can|would) (?:\w+ly )?(?:steer|trick|fool|manipulate|coerce|push|lead|nudge|talk|persuade|mislead|"
    r"get|cause) (?:an?|the|any|your) (?:\w+ )?(?:agent|model|assistant|llm|chatbot|ai) (?:in)?to $"
)
"""What something might make of an agent, up to what that would do."""
_ATTACKER_IS_SUBJECT = re.compile(
    r"(?i)[\s>*+-]*(?:(?:an?|the|real|most|many|some|typical|other) )*"
    r"(?:attackers?|adversar(?:y|ies)|intruders?|criminals|thieves)\s+(?:\w+ly\s+)?$"
)
"""A sentence that has begun with an attacker, and whose verb is at the place."""
_NEW_CLAUSE = re.compile(
    r"(?i)[,;](?!\s+(?:and|or|which|they|who|it|for example|e\.g\.|such as|like|where|whose)\b)|"
    r"\b(?:so|unless|until|before|if)\b|:\s+\w|\s[—–-]\s|"
    r"\b(?:and|then|while)\s+(?:you|we|the agent|i)\b|\bby\s+\w+ing\b"
)


class Place(NamedTuple):
    """The place of a hit in a text for readers. `at` counts in the line, from 0; `is_of_words` says what the rule is about."""

    skill: SkillUnderScan
    file: FileUnderScan
    block: Block
    number: int
    line: str
    at: int
    is_of_words: bool
    is_in_prose: bool

    @property
    def is_wording(self) -> bool:
        """Whether it is words that do the harm, which nobody has to run."""
        return self.is_of_words or self.is_in_prose


def is_about_security(skill: SkillUnderScan) -> bool:
    """Whether the skill says of itself that it is about attacks and defences."""
    return skill.frontmatter is not None and _names_security(skill.frontmatter.text[:2_000])


def speaks_of_attacks(passage: bytes) -> bool:
    """Whether a passage calls something an attack."""
    return ABOUT_ATTACKS.search(passage.decode(errors="ignore")) is not None


@lru_cache(maxsize=8)
def _names_security(text: str) -> bool:
    """In letters of ASCII google-re2 finds the same, and passes over the rest ten times as fast."""
    if text.isascii():
        return compile_pattern(_SECURITY.pattern).is_in(text.encode())
    return _SECURITY.search(text) is not None


def is_label_of_attack(line: str) -> bool:
    """Whether a line is nothing but a label, and that of an attack."""
    label = LABEL.fullmatch(line)
    return label is not None and _ATTACK_TOPIC.search(label[1]) is not None and not PROTECTS.search(label[1])


def is_done_by_attacker(sentence: str) -> bool:
    """Whether an attacker is who does it: whose clause has not ended where the place begins."""
    if _ATTACKER_IS_SUBJECT.match(sentence) or _LEADS_ASTRAY.search(sentence):
        return True
    acts = ATTACKER_ACTS.search(sentence)
    return acts is not None and _NEW_CLAUSE.search(sentence, acts.end()) is None and not PROTECTS.search(sentence)


def comment_behind(code: str) -> str:
    """The comment that ends a line of code."""
    return (re.split(r"\s(?:#|//|--|<!--)\s", code, maxsplit=1)[1:] or [""])[0]


def stance_under_heading(place: Place, *, is_quoted: bool, is_ordered: bool) -> Stance:
    """The heading of the place's own section, and in other files than the SKILL.md those above it and the file's name."""
    file = place.file
    section = file.document.section_at(place.number)
    titles = section.titles if section else ()
    if file.path in SKILL_FILE_NAMES:
        titles = titles[1:][-1:]
    is_listed = place.block.kind in (BlockKind.ITEM, BlockKind.TABLE)
    is_step = is_ordered and (not is_listed or _NUMBERED.match(place.line) is not None)
    if titles and heading_warns(titles[-1]) and not is_step:
        return Stance.WARNED
    if is_ordered or not is_about_security(place.skill):
        return Stance.STATED
    names = titles if file.path in SKILL_FILE_NAMES else (*titles, file.path.replace("-", " ").replace("_", " "))
    is_entry = is_listed and (not (place.is_in_prose and place.is_of_words) or _BOX.match(place.line) is not None)
    topic = _TOPIC if is_quoted or is_entry else _ATTACK_TOPIC
    is_topic = any(topic.search(name) for name in names) or (is_quoted and _is_among_traces(place, section))
    return Stance.QUOTED if is_topic else Stance.STATED


def is_under_traces(place: Place) -> bool:
    """Whether a guide about attacks says in the heading of the place's own section that it has what to look for."""
    section = place.file.document.section_at(place.number)
    titles = section.titles[1:] if section else ()
    return bool(titles) and _LOOKED_FOR.match(titles[-1]) is not None and is_about_security(place.skill)


def is_under_specimens(place: Place) -> bool:
    """Whether a guide about attacks says in the heading of the place's own section that it shows some."""
    section = place.file.document.section_at(place.number)
    titles = section.titles[place.file.path in SKILL_FILE_NAMES :] if section else ()
    title = _STEP_NUMBER.sub("", titles[-1]) if titles else ""
    is_topic = _SPECIMENS.search(title) is not None and not heading_helps(title)
    return is_topic and is_about_security(place.skill)


def _is_among_traces(place: Place, section: Section | None) -> bool:
    """Whether a place is one in a list of things to look at, by a heading above its own, and reaches nothing elsewhere."""
    titles = section.titles[1:] if section else ()
    if len(titles) < FEWEST_TITLES or heading_helps(titles[-1]) or _ADDRESS.search(place.line):
        return False
    is_list = place.line.count(",") >= FEWEST_COMMAS and place.line.count("`") >= FEWEST_COMMAS * 2
    return is_list and any(_TRACES.search(title) for title in titles[:-1])
