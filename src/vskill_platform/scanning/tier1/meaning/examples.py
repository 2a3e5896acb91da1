"""Sentences of a guide that speak of a command and do not order it: by a technique's name, a verdict or a question.

Only a guide that says it is about attacks is read so, and only where no verb right before the command has it carried out.
"""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.meaning.orders import leads_by_order
from vskill_platform.scanning.tier1.meaning.quotations import quotation_at, without_quotations

LONGEST_SENTENCE = 300
_TECHNIQUE = re.compile(
    r"(?i)^[\W\d_]*(?:(?:an?|the|classic|typical|simple|common|bash|python|linux|windows|outbound|hidden) )*"
    r"(?:\b(?:reverse|bind|web) ?shells?|\b(?:pip\w+|downloads?) (?:\w+ )?(?:in)?to (?:a |the )?(?:shell|bash|interpreter)|"
    r"\bdownload(?:s|ed)?(?: and |-and-| \+ |-)(?:exec\w*|runs?)|\blateral movement|\bexfiltration|\bbackdoors?|\bdroppers?|"
    r"\b(?:crypto ?)?miners?|\bprivilege escalation|\bcredential (?:theft|dumping|access|harvesting)|\bfork bombs?|\bbeacon\w*|"
    r"\bcommand and control|\bC2|\bransomware|\bwipers?|\btampering|\banti-forensics|\bliving off the land|\bLOLBins?|"
    r"反弹 ?shell|反向 ?shell|管道执行|后门|挖矿|提权|注入|数据外[泄传]|リバースシェル|バックドア|обратн\w+ (?:шелл|оболочк\w+))"
    r"[\w\s()/,.-]{0,40}[*_]*\s*[:：—–-]?[*_]*\s*$"
)
"""The name of a technique as the label of what follows."""
_PART = re.compile(
    r"[`\"“]+(?:[\w.\s()]*\w\([`\"”]+$|(?:GET|POST|PUT|HEAD|DELETE) /[^\s|;&]*(?: HTTP/[\d.]+)?[`\"”]+$)"
)
"""A call that is opened and not closed, or the first line of a request to a server."""
_DISOWNED_BEHIND = re.compile(
    r"(?i)(?:[\s,;/…]|\bor\b|\band\b|[\"“][^\"”]{1,120}[\"”])*\)?,?\s*(?:then )?(?:do not|don['’]t|never) "
    r"(?:follow|obey|act on|carry out|comply with|execute) (?:it|them|this|that|these|those)\b"
)
_SUCH_AS = re.compile(
    r"(?i)\b(?:an?|any|some|every|each|\w+s)\b[^.;:!?]{0,60}\b(?:such as|like|e\.g\.,?|for example,?|for instance,?)\s*[\"“*(]*$"
)
_BY_MEANS = re.compile(r"(?i)\b(?:with|by|via|through|using|from|into|do|does|is done|happens)\b")
_VERDICT_BEHIND = re.compile(
    r"(?i)[\s)*\"”,]*(?:[^.;:!?`]{0,60}\b(?:is|are|counts? as|means?)\b[^.;:!?`]{0,24}\b"
    r"(?:signs?\b(?! of)|red flags?|reasons?|giveaways?|"
    r"indicators?|malicious|suspicious|dangerous|unsafe|findings?|compromised?|an? (?:attack|backdoor|incident|alarm))\b|"
    r"(?:runs?|executes?) whatever|turns? [^.;:!?]{0,40}into code|"
    r"lets? (?:an?|any|the) \w+ (?:read|run|write|take|steal))"
)
_QUESTION = re.compile(
    r"(?i)^[\W\d_]*(?:q\d*[.:]\s*)?[\W_]*(?:is|are|which|who|how (?:does|do|would)|why (?:is|are|does|do|can['’]?t|must|should)|"
    r"what (?:is|does|makes|happens|would)|"
    r"should (?:i|we)|can i|may i)\b"
)
_ABOUT_CODE = re.compile(
    r"(?i)\b(?:this|these|the following) (?:\w+ )?(?:lines?|commands?|code|scripts?|blocks?|snippets?|functions?|"
    r"one-?liners?|requests?)\b"
)
_DESCRIBED = re.compile(
    r"(?i)\b(?:wrong|dangerous|risky|suspicious|unsafe) (?:with|about|in)\s*$|"
    r"\b(?:that|which) (?:pipes?|downloads?|fetch(?:es)?|deletes?|sends?|opens?|steals?)\b[^.;:`]{0,60}\($"
)
"""What is wrong with it, or a clause that says what something bad does, and the command in brackets."""
_NARRATED = re.compile(
    r"(?i)\b(?:was|were|had been) (?:called|run|executed|started|found|seen|typed|launched|spawned|used|logged|observed)"
    r"\b[^.;!?`]{0,40}:?\s*$"
)
_DENIED = re.compile(r"(?i)\b(?:not|no|nothing|never|hardly|neither|nor)\b|n['’]t\b")
_MADE_SURE = re.compile(r"(?i)\b(?:after|once|when|until|unless|if|before|sure|must|ensure|verify|check)\b")


def is_example(before: str, quoted: str, behind: str) -> bool:
    """Whether the sentence around a quotation speaks of it: by what stands before it in its sentence, and behind it."""
    said = without_quotations(before[-LONGEST_SENTENCE:])
    if leads_by_order(said):
        return False
    verdict = _VERDICT_BEHIND.match(behind[:LONGEST_SENTENCE])
    if _is_part(quoted) or _TECHNIQUE.search(said) or (verdict and not _DENIED.search(verdict[0])):
        return True
    if _SUCH_AS.search(said) and not _BY_MEANS.search(said):
        return True
    if (_QUESTION.match(said) and _ends_in_question(behind)) or (_DESCRIBED.search(said) and not _DENIED.search(said)):
        return True
    return _NARRATED.search(said) is not None and _MADE_SURE.search(said) is None


def _is_part(quoted: str) -> bool:
    """Whether a quotation is the beginning of something, which no shell can carry out as it stands."""
    return _PART.match(quoted) is not None


def is_disowned_behind(line: str, at: int) -> bool:
    """Whether a place is in a quotation behind which the same sentence says not to follow it."""
    quoted = quotation_at(line, at)
    return quoted is not None and _DISOWNED_BEHIND.match(line, quoted.end) is not None


def asks(sentence: str) -> bool:
    """Whether a sentence is a question about what follows, and no polite order."""
    is_question = sentence.rstrip("*_ ").endswith(("?", "？")) and _QUESTION.match(sentence) is not None
    return is_question and _ABOUT_CODE.search(sentence) is not None


def _ends_in_question(behind: str) -> bool:
    found = re.search(r"[.!?。？]", behind[:LONGEST_SENTENCE])
    return found is not None and found[0] in "?？"
