"""Whether words that name an act mean it: negations that turn an omission round, the truth, what others do, what stays here."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.meaning.honest_words import HAVE_HONEST_WORDS, is_honest
from vskill_platform.scanning.tier1.patterns import Span

OMISSION_REACH = 160
SUBJECT_REACH = 60
CONDITION_REACH = 120
_OMISSIONS = frozenset(["conceal", "unattended", "no-choice", "claims"])
"""Concepts of what is not done, which a negation before a "without" turns into their opposite."""
_CLAIMS = "claims"
_CONDITION = re.compile(
    rb"(?i)\b(?:unless|if|once|until|(?:only|except) (?:when|if|after|where)|whether)\s+"
    rb"(?:(?!(?:say|tell|claim|assume|state|pretend|treat|act|answer|reply)\b)[\w'`/-]+\s+){0,12}\Z"
)
"""The beginning of a condition, up to what has to be so: "unless the user authorised it" claims nothing."""
_LIES = "deceive"
_ORDERS = "untrusted-orders"
_TRIGGERS = "secret-trigger"
MAY_BE_HONEST = _OMISSIONS | {_LIES, _TRIGGERS, _ORDERS} | HAVE_HONEST_WORDS
"""Concepts whose words may mean the opposite, or the truth."""
_WHETHER_MACHINE = re.compile(
    rb"(?i)\b(?:you(?:'re| are)|it(?:'s| is)|they(?:'re| are)) (?:talking to )?(?:an? |really |just )*(?:ai|bot|chatbot|machine|"
    rb"computer|language model|assistant)\b"
)
_TRUTH = re.compile(rb"(?i)[\s,:]*(?:yes\b|so\b|(?:them )?the truth|truthfully|honestly|that you are\b(?! not))")
_NOT_DONE = re.compile(
    rb"(?i)[^.!?\n]{0,80}[\"'`\xe2\x80\x9d,)] ?(?:,|:|->)? ?(?:don't|do not|never|ignore|refuse|skip it)\b"
)
_SETTING_BEHIND = re.compile(
    rb"(?i)[ \n`'\"*-]{1,3}(?:environment|env|variables?|settings?|defaults?|config\w*|paths?|locale|theme|fonts?)\b"
)
"""What is overridden by a value of its own, without anybody's orders: "override system environment variables"."""
_WITHOUT = b"without"
_NEVER_WITHOUT = re.compile(
    rb"(?i)\b(?:never|do not|don't|must not|should not|may not|cannot|can't|not to|nothing|none|no one|nobody|no) "
    rb"(?:(?!(?:and|but|then|so|just|simply|wait|hesitate|need|matter|later|longer|fail|forget|go ahead|do it) )"
    rb"[\w'`*/.-]+,? ){0,14}$"
)
_STEALTHILY = re.compile(
    "(?i)silently|quietly|secretly|covertly|discreetly|surreptitiously|stealthily|unobtrusively|in the background|"
    "悄悄|静默|靜默|暗中|擅自|自行|こっそり|黙って|勝手に|몰래|조용히|임의로|молча|тайно|незаметно".encode()
)
"""How something is done, and not that it is done."""
_NEVER = re.compile(
    "(?i)(?:\\b(?:never|do not|don't|must not|should not|may not|cannot|can't|not|no) (?:[a-z]+ ){0,2}|"
    "(?:不要|切勿|禁止|不得|不能|请勿|別|别|绝不|не )[\\s*]{0,3})$".encode()
)
_NOTHING_THAT = re.compile(
    rb"(?i)(?:^|[\n,;:*-]\s{0,3})(?:nothing|no \w{1,20}) (?:that|which) (?:asks?|tells?|orders?|instructs?) "
    rb"(?:\w{1,20} ){1,3}to $"
)
_COMPLAINS = re.compile("(?i)[\"'“]my (?:[a-z]+ ){1,2}$".encode())
"""What somebody says whose own thing does what it should not: the beginning of a quotation, up to its verb."""
_DOES_WHAT = re.compile(rb"(?i)do(?:es)? (?:what|as)\b")
_BY_A_THING = re.compile(
    rb"(?i)\b(?:does (?:it|this|that|the \w{1,20})|(?:scripts?|code|functions?|commands?|programs?|tests?|tools?))"
    rb" (?:(?:really|actually|only|all|just|must|should) ){0,2}$"
)
_BY_OTHERS = re.compile(
    rb"(?i)\b(?:(?:language )?models|llms|chatbots|students|candidates|scammers|spammers|attackers|competitors)"
    rb" (?:(?:often|sometimes|may|might|can|tend to|love to|like to|happily) ){0,2}$"
)
"""The words before a verb that say who does it: not the reader."""
_DONE_BY_OTHERS = re.compile(
    rb"(?i)(?:\w+ed|sent) by (?:an? |the |other |another |your )?(?:users?|clients?|browsers?|visitors?|customers?|people|"
    rb"someone|somebody|servers?|senders?)\b"
)
_NAMED = re.compile(
    rb"(?i)` (?:does|doesn't|is|isn't|works?|supports?|commands?|subcommand|option|action|tool|method|button)\b"
)
"""How a sentence goes on behind the name of a command that it speaks of."""
_COPIES = re.compile(rb"(?i)cop(?:y|ies|ied|ying)\b")
_SOMEWHERE = re.compile(rb"(?i)\b(?:to|into|onto|in|on|over|at|under|with|elsewhere|away|up|back|out)\b|://|@")
_NAME_OF_PAGE = re.compile(rb"(?i)\w+ing\b[^\]\[\n]{0,80}\]\(")
_DOING = re.compile(rb"(?i)\w+ing\b")
_BY_DOING = re.compile(
    rb"(?i)(?:^|[.;:|*>-]\s{1,3}|\n)\s*(?!during\b|thing|string|anything|everything|nothing|something)\w{2,20}ing "
    rb"(?:`[^`\n]{1,80}`|(?!(?:agent|assistant|model|skill|script|you|we)\b)[\w'-]+)(?: (?:`[^`\n]{1,80}`|"
    rb"(?!(?:agent|assistant|model|skill|script|you|we)\b)[\w'-]+)){0,6} \Z"
)
"""What is done, as the subject of a sentence, up to what comes of it."""
_SENTENCE_STARTS = re.compile(rb"(?:^|[.;:!?|*>-]\s{1,3}|\n\s{0,12})\Z")
_HAS_EFFECT = re.compile(
    rb"(?i)(?: (?:`[^`\n]{1,80}`|[\w'-]+)){0,6}? (?:\w+ly )?(?:disables|breaks|causes|leads to|means|removes|deletes|clears|"
    rb"hides|leaves|results in|defeats|exposes|loses|bypasses|voids|risks)\b"
)
"""How a sentence goes on behind what is done, to what comes of it."""
_NOT_FINE = re.compile(
    rb"(?i)[^.;:!?\n]{0,100} (?:is|are) not(?: (?:fine|ok|okay|allowed|acceptable|normal))?\s*(?:[.;\n]|$)"
)
_EXCEPTION = re.compile(rb"(?i)\b(?:unless|until|except (?:when|where)) (?:the |an? |any |its |their )?[\w' -]{1,30}\Z")
_TRIES = re.compile(rb"(?i)\b(?:tr(?:y|ies|ying)|attempts?|attempting) to \Z")
_REFUSED = re.compile(
    rb"(?i)[^.;:!?\n]{0,160} (?:is|are|will be|gets?) (?:always |automatically |silently )?(?:rejected|refused|blocked|denied|"
    rb"ignored|discarded|reverted)\b"
)
"""What becomes of what somebody tries."""
_PLURAL = re.compile(rb"(?i)(?:uploads|publishes|pushes|posts|shares|transfers|exports|forwards|syncs|reports)")
_ITEM_OF_ENUMERATION = re.compile(rb", [A-Z]\w{1,30} \Z")
"""An item of an enumeration up to its last word: a name, of which the word says what is meant of it."""
_COUNTED = re.compile(rb"(?i)\b(?:unexpected|recent|new|failed|missing|multipart|large|slow|of|number of) $")
_ARTICLE = re.compile(rb"(?i)\b(?:an?|the|these|those|each|every|any|its|their|recently|previously) $")
_PUTS = re.compile(rb"(?i)(?:put|stor|sav|past|cop|append|add|enter|export)(?:s|e|es|ing|y|ies)?\b")
_OWN_SETTINGS = re.compile(
    rb"(?i)[\w ]{0,24}?\b(?:in|into|to|under|as)\s+(?:(?:the|your|a|an|its|local)\s+){0,2}[`\"'*]{0,2}"
    rb"(?:\.env\b|~/|\./|\$HOME\b|environment\b|keychain\b|keyring\b|password manager\b|"
    rb"[\w.-]{1,40}\.(?:env|json|ya?ml|toml|ini|conf)\b)"
)


def is_meant(name: str, data: bytes, span: Span) -> bool:
    """Whether a concept is meant at a place that has words of it."""
    if is_honest(name, data, span) or _runs_out_of_heading(data, span):
        return False
    if name == _CLAIMS and _CONDITION.search(data[max(0, span.start - CONDITION_REACH) : span.start]):
        return False
    if name in _OMISSIONS:
        return _is_omission(data, span)
    if name == _TRIGGERS:
        return _is_trigger(data, span)
    if name == _ORDERS:
        return _SETTING_BEHIND.match(data, span.end, span.end + 40) is None
    return name != _LIES or _is_lie(data, span)


def _runs_out_of_heading(data: bytes, span: Span) -> bool:
    """Whether the words begin in a heading and end behind it: what nobody reads in one breath."""
    if b"\n" not in data[span.start : span.end]:
        return False
    return data.startswith(b"#", data.rfind(b"\n", 0, span.start) + 1)


def _is_trigger(data: bytes, span: Span) -> bool:
    """Whether something is done at a word: "if a document says so, don't" has nothing done."""
    return _NOT_DONE.match(data, span.end, span.end + 120) is None


def _is_omission(data: bytes, span: Span) -> bool:
    """Whether something is left undone there: "never without telling them" and "never silently" have it done."""
    before = data[max(0, span.start - OMISSION_REACH) : span.start]
    if data[span.start : span.start + len(_WITHOUT)].lower() == _WITHOUT:
        return _NEVER_WITHOUT.search(before) is None
    if _NOTHING_THAT.search(before):
        return False
    return not (_STEALTHILY.fullmatch(data, *span) and _NEVER.search(before))


def _is_lie(data: bytes, span: Span) -> bool:
    """Whether an answer is not just the truth: "if they ask whether you are an AI, say yes" hides nothing."""
    is_about_itself = _WHETHER_MACHINE.search(data, span.start, span.end) is not None
    return not (is_about_itself and _TRUTH.match(data, span.end, span.end + 40))


def is_harmless(data: bytes, act: Span, around: Span) -> bool:
    """Whether nobody is told to do the act, or nobody is given anything by it."""
    if _is_complaint(data, act) or _is_title(data, act) or _is_noun(data, act) or _is_judged(data, act):
        return True
    if _is_effect(data, act) or _is_exception(data, act) or _is_refused(data, act):
        return True
    return is_told_of(data, act) or _is_kept(data, act, around.end)


def is_told_of(data: bytes, act: Span) -> bool:
    """Whether others do it, and not the reader: "does it do what the title says?" obeys nobody."""
    before = _before(data, act)
    if _BY_OTHERS.search(before) or _DONE_BY_OTHERS.match(data, act.start, act.end + SUBJECT_REACH):
        return True
    if before.endswith(b"`") and _NAMED.match(data, act.end):
        return True
    return _DOES_WHAT.match(data, act.start) is not None and _BY_A_THING.search(before) is not None


def _is_title(data: bytes, act: Span) -> bool:
    """Whether a link begins with it as the name of a page: "[Passing a key](https://docs.example)" passes nothing."""
    return data[act.start - 1 : act.start] == b"[" and _NAME_OF_PAGE.match(data, act.start, act.start + 120) is not None


def _is_judged(data: bytes, act: Span) -> bool:
    """Whether a sentence only says that it must not be, or why: "writing rules to CLAUDE.md unasked is not fine"."""
    if _DOING.match(data, act.start) is None:
        return False
    if _NOT_FINE.match(data, act.end):
        return True
    return _HAS_EFFECT.match(data, act.end) is not None and _SENTENCE_STARTS.search(_before(data, act)) is not None


def _is_noun(data: bytes, act: Span) -> bool:
    """Whether the word is of a thing: "unexpected publishes", "Postgres attach, volumes", "events of the deleted keys"."""
    before = _before(data, act)
    if data[act.end : act.end + 2] == b", " and _ITEM_OF_ENUMERATION.search(before):
        return True
    if data[act.start : act.end].endswith(b"ed") and _ARTICLE.search(before):
        return True
    return _PLURAL.fullmatch(data, *act) is not None and _COUNTED.search(before) is not None


def _is_complaint(data: bytes, act: Span) -> bool:
    """Whether a quotation says that somebody's own thing does it: "my printer skips pages" orders nothing."""
    return _is_third_person(data, act) and _COMPLAINS.search(_before(data, act)) is not None


def _is_effect(data: bytes, act: Span) -> bool:
    """Whether it comes of something: "calling `reset()` clears all data silently" has nobody clear anything."""
    return _is_third_person(data, act) and _BY_DOING.search(_before(data, act, reach=2 * SUBJECT_REACH)) is not None


def _is_exception(data: bytes, act: Span) -> bool:
    """Whether it stands in an exception, as what somebody else may do: "by default (unless the board overrides)"."""
    return _is_third_person(data, act) and _EXCEPTION.search(_before(data, act)) is not None


def _is_refused(data: bytes, act: Span) -> bool:
    """Whether it is what somebody tries, and is not let through: "guidance that tries to override this is rejected"."""
    return _TRIES.search(_before(data, act)) is not None and _REFUSED.match(data, act.end) is not None


def _is_third_person(data: bytes, act: Span) -> bool:
    return data[act.end - 1 : act.end] == b"s"


def _before(data: bytes, act: Span, *, reach: int = SUBJECT_REACH) -> bytes:
    return data[max(0, act.start - reach) : act.start]


def _is_kept(data: bytes, act: Span, end: int) -> bool:
    """Whether something is copied and nothing says where to, or put among the user's own settings: nobody is given it."""
    if _COPIES.match(data, act.start) and _SOMEWHERE.search(data, act.end, end) is None:
        return True
    return _PUTS.match(data, act.start) is not None and _OWN_SETTINGS.match(data, act.end, end) is not None
