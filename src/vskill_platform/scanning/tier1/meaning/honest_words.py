"""Words of a concept that say something else where they stand: those beside them tell.

"Leave the section out if none is provided" keeps nothing from anybody, nor does "flush the audio that the user will never hear".
"""

from __future__ import annotations

import re
from typing import NamedTuple

from vskill_platform.scanning.tier1.patterns import Span

REACH = 120


class _Honest(NamedTuple):
    """How the words of a concept go on where they are honest, and what leads to them; the words themselves included."""

    on: re.Pattern[bytes] | None = None
    up_to: re.Pattern[bytes] | None = None


_CONCEAL = _Honest(
    re.compile(
        rb"(?i)leave [\w -]{1,40}? out(?: of [\w ]{1,30})?,? if (?:none|nothing|(?:it is )?(?:empty|missing|unknown)|"
        rb"there (?:is|are) (?:no|none|nothing)|you have (?:no|none|nothing)|not (?:provided|available|given|known))\b|"
        rb"[\w ]{1,20}?not (?:be )?asked to (?:review|read|write|submit|provide|pay|repeat|complete|fill)\b"
        rb"(?! (?:it|this|that|them|these|those|what|whether|any|the (?:changes?|commands?|diff|actions?))\b)|"
        rb"(?:not|never) include (?:it|this|that|them) in (?:any |the |your |a |an )?(?:forms?|urls?|quer(?:y|ies)|"
        rb"bundles?|builds?|payloads?|headers?|cookies|images?|production|version control)\b|"
        rb"[\w ]{1,20}?mention (?:that )?(?:an?|the|this|your) (?:\w+ )?(?:notes?|texts?|repl(?:y|ies)|messages?|posts?|commits?|"
        rb"code|changes?|descriptions?|pull requests?) (?:was|were|is|are) (?:written|generated|drafted|made) by (?:an? )?"
        rb"(?:AI|assistant|agent|bot|model|LLM)\b|"
        rb"users? should not need to know (?:any |which |the |about )?(?:\w+ )?(?:internal|exact|technical|underlying|raw)\b|"
        rb"(?:do not|don't|don\xe2\x80\x99t|never) tell (?:it|them|him|her|the \w+) to\b"
        rb"(?! (?:the user|users?|any|them|him|her|people))|"
        rb"(?:do|does) not (?:need|have) to (?:see|know|read|handle) (?:an? |the |any |your |its |their )?(?:\w+ )?"
        rb"(?:secrets?|passwords?|tokens?|keys?|values?|credentials?)\b|"
        rb"woven (?:naturally )?into (?:the )?(?:prose|narrative|paragraphs?|fabric|story|plot)\b"
    ),
    re.compile(
        rb"(?i)\b(?:audio|speech|sounds?|playback) (?:that |which )?(?:the )?(?:users?|listeners?) [\w ]{1,24}hear\Z|"
        rb"\b(?:inject|use|pass|insert|fill|load|put)(?:s|ing)? (?:the |your |a )?"
        rb"(?:secrets?|passwords?|tokens?|credentials?|keys?) "
        rb"(?:into|in|for) (?:a |the |any )?(?:commands?|environment|scripts?|process(?:es)?|forms?) "
        rb"without (?:ever )?(?:showing|printing|displaying|revealing) (?:them|it)\Z"
    ),
)
_ORDERS = _Honest(
    re.compile(rb"(?i)[\w ]{1,40}?(?:approval|authori[sz]ation|confirmation|consent|review)-[a-z]"),
    re.compile(
        rb"(?i)\b(?:if|when|where|whether) [\w' -]{0,40}\b(?:settings?|options?|flags?|config\w*|polic(?:y|ies)) "
        rb"(?:disables?|skips?|bypass(?:es)?|overrides?|removes?|waives?)\b[\w ]{0,40}\Z"
    ),
)
_FALSIFY = _Honest(
    re.compile("(?:伪造|編造|编造|虚构|捏造|篡改)的".encode()),
    re.compile(
        "(?:带有|含有|包含|发现|發現|存在|没有|沒有|无|無|检测|檢測|识别|避免|防止)"
        "(?:伪造|編造|编造|虚构|捏造|篡改)[^。；]{0,20}\\Z".encode()
    ),
)
_LATER = _Honest(
    re.compile(
        rb"(?i)(?:when|while|once|if) (?:the )?(?:user|operator) (?:wants?|needs?|prefers?|asks?|works?|runs?)\b|"
        rb"(?:unless|except when|only when|only if|if not) [\w ]{0,120}?"
        rb"\b(?!(?:is|are|not|you|it|code|skill|agent|we|this|currently|still) )\w+ being (?:tested|evaluated|reviewed)\b"
    )
)
_INTEREST = _Honest(
    re.compile(rb"(?i)the exchange (?:boundar|rates?\b|formats?\b|protocol|of\b|between\b|with\b|itself\b|is over\b)")
)
_LEAK = _Honest(
    re.compile(
        rb"(?i)outputs? (?:formats?|schemas?|structures?|styles?|types?|contracts?|files?|folders?|lengths?|tokens?|limits?|"
        rb"guardrails?|channels?|of|from|parsers?|validation|(?:is|are|was|were|must be|should be|can be) \w+)\b"
    ),
    re.compile(rb"(?i)\b(?:tool|command|script|program|raw|structured|json|its|of|from|clear) outputs?\Z"),
)
_DECEIVE = _Honest(
    re.compile(
        rb"(?i)[^.!?\n]{0,120}?\b(?:tell (?:them|him|her|the \w+)|say|answer|reply|explain)(?: that)? (?:this|the) "
        rb"(?:skill|tool|script|bot|helper) (?:can't|can\xe2\x80\x99t|cannot)"
        rb"(?:\s*[.;,)\n]|\s+(?:do|help|trade|place|buy|sell|transfer|answer|give)\b|\Z)"
    )
)
_WRITE = _Honest(re.compile(rb"(?i)notes?:"), re.compile(rb"(?i)[a-z]-writing\Z"))
_SECRET = _Honest(
    up_to=re.compile(rb"(?i)\b(?:agent|conversation|chat|claude|codex|thread)(?:'s|\xe2\x80\x99s)? session ids?\Z")
)
_SEND = _Honest(re.compile(rb"(?i)ships? with\b"))
_HONEST = {
    "send": _SEND,
    "secret": _SECRET,
    "conceal": _CONCEAL,
    "deceive": _DECEIVE,
    "untrusted-orders": _ORDERS,
    "falsify": _FALSIFY,
    "later": _LATER,
    "interest": _INTEREST,
    "leak": _LEAK,
    "write": _WRITE,
}
HAVE_HONEST_WORDS = frozenset(_HONEST)
"""The concepts whose words may say something else."""


def is_honest(name: str, data: bytes, span: Span) -> bool:
    """Whether the words of a concept say something else at a place."""
    honest = _HONEST.get(name)
    if honest is None:
        return False
    if honest.on is not None and honest.on.match(data, span.start, span.end + REACH):
        return True
    return honest.up_to is not None and honest.up_to.search(data, max(0, span.start - REACH), span.end) is not None
