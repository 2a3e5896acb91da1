"""The grammar of a warning: which words before a place speak against it, and not about something else.

"Do not run X" warns of X; "do not wait and run X", "never start without X" and "if you do not have X" do not. So a negation
counts only where nothing but its own verb and a few small words stand between it and the place. A label counts where it
names an example and not a symptom, a comment where it says nothing but that the code is bad, a heading where all of it does.
"""

from __future__ import annotations

import re

_BAD = (
    r"(?:bad|wrong|vulnerable|insecure|unsafe|dangerous|malicious|incorrect|hostile|poisoned|attack(?:er)?s?(?:['’]s)?|"
    r"exploit|suspicious|injected|compromised|adversarial|obfuscated)"
)
FOREIGN_ATTACKS = (
    r"(?:gefährlich\w*|bösartig\w*|schadsoftware|angriff\w*|angreifer\w*|dangereu\w+|malveillant\w*|attaquant\w*|attaques?|"
    r"peligros\w*|malicios\w*|atacante\w*|ataques?|perigos\w*|вредоносн\w*|опасн\w*|атак\w*|злоумышленник\w*|"
    r"恶意|攻击|漏洞|危险(?:模式|命令|操作|代码)|木马|悪意|攻撃|危険な|악성|공격|위험한)"
)
"""What attacks and attackers are called in other languages."""
_FOREIGN_BAD = (
    r"(?:schlecht|falsch|unsicher|mauvais(?:e)?|incorrecte?|vulnérable|dangereux|malo|incorrecto|inseguro|peligroso|errado|mal|"
    r"плохо|неправильно|опасно|(?:错误|錯誤)(?:示例|写法|做法|範例|寫法)?|反例|不要这样|不要這樣|(?:危险|危險)(?:示例|範例)?|不安全(?:示例|写法|寫法)?|"
    r"悪い例|ダメな例|危険な例|誤り|間違い|잘못된 예|나쁜 예)"
)
_EXAMPLE = (
    r"(?:examples?|practices?|code|patterns?|approach(?:es)?|ways?|habits?|ideas?|inputs?|skills?|prompts?|commands?|"
    r"lines?|scenarios?|vectors?|flows?|chains?|payloads?|descriptions?|variants?|usage|snippets?|strings?|texts?|"
    r"tools?|instructions?|pages?|comments?|implementations?|scripts?|techniques?|surfaces?|content|readme|issue|"
    r"workflows?|configurations?|injections?|phrases?|requests? seen|seen|found|attempts?|constructs?|apis?|functions?|"
    r"defaults?|settings?|options?|documents?|files?|server|user|data|package|email|message|response|output|and|or|of|"
    r"in|\d+|[a-z])"
)
_SIGN = r"(?:❌|✗|✘|🚫|⛔|❎)"
_ACTION = (
    r"(?:run|running|execut(?:e|ing)|us(?:e|ing)|(?:switch|turn)(?:ing)? (?:off|on)|"
    r"copy(?:ing)?|past(?:e|ing)|typ(?:e|ing)|pip(?:e|ing)|install(?:ing)?|"
    r"download(?:ing)?|fetch(?:ing)?|do(?:ing)?|writ(?:e|ing)|add(?:ing)?|put(?:ting)?|ship(?:ping)?|commit(?:ting)?|"
    r"send(?:ing)?|upload(?:ing)?|follow(?:ing)?|obey(?:ing)?|trust(?:ing)?|open(?:ing)?|call(?:ing)?|read(?:ing)?|"
    r"print(?:ing)?|log(?:ging)?|stor(?:e|ing)|shar(?:e|ing)|allow(?:ing)?|set(?:ting)?|pass(?:ing)?|enabl(?:e|ing)|"
    r"disabl(?:e|ing)|suggest(?:ing)?|recommend(?:ing)?|offer(?:ing)?|includ(?:e|ing)|post(?:ing)?|say(?:ing)?|"
    r"output(?:ting)?|reveal(?:ing)?|push(?:ing)?|execution|accept(?:ing)?|invok(?:e|ing)|issu(?:e|ing)|generat(?:e|ing)|"
    r"creat(?:e|ing)|hard-?cod(?:e|ing)|delet(?:e|ing)|remov(?:e|ing)|bypass(?:ing)?|try(?:ing)?|attempt(?:ing)?|"
    r"access(?:ing)?|expos(?:e|ing)|edit(?:ing)?|modify(?:ing)?|chang(?:e|ing)|touch(?:ing)?|cat|curl|wget|eval|sudo|"
    r"ask(?:ing)? for|mention(?:ing)?|request(?:ing)?|rely(?:ing)? on|see|forward(?:ing)?|mak(?:e|ing)|"
    r"connect(?:ing)?|visit(?:ing)?|clon(?:e|ing)|load(?:ing)?|launch(?:ing)?|import(?:ing)?|point(?:ing)?|contact(?:ing)?|"
    r"reach(?:ing)?|submit(?:ting)?|enter(?:ing)?|grant(?:ing)?|overwrit(?:e|ing)|wip(?:e|ing)|embed(?:ding)?|"
    r"clear(?:ing)?|kill(?:ing)?|drop(?:ping)?|forc(?:e|ing)|reset(?:ting)?|rebas(?:e|ing)|flush(?:ing)?|purg(?:e|ing)|"
    r"truncat(?:e|ing)|format(?:ting)?|chmod|chown|renam(?:e|ing)|mov(?:e|ing)|teach(?:ing)?|support(?:ing)?|"
    r"normali[sz](?:e|ing)|promot(?:e|ing)|endors(?:e|ing)|approv(?:e|ing)|permit(?:ting)?|deploy(?:ing)?|"
    r"publish(?:ing)?|tolerat(?:e|ing)|propos(?:e|ing))"
)
_SMALL = (
    r"(?:the|a|an|any|this|that|these|those|such|such as|as|like|plain|raw|of|it|them|from|with|in|into|for|on|to|"
    r"commands?|lines?|code|scripts?|flags?|something|things?|your|their|its|other people's|user(?:'s|’s)?|both|all|whole|via|"
    r"files?|content|patterns?|one-?liners?|text|either|directly|or|is|are|be|been|"
    r"downloads?|shells?|bash|sh|internet|web|network|remote|unknown|untrusted|input|urls?|secrets|credentials|keys|passwords|"
    r"root|production|output|data)"
)
_OF_VERBS = (
    r"never|do not|don['’]t|must not|mustn['’]t|should not|shouldn['’]t|may not|refuses? to|not to|forbidden to|"
    r"prohibited to|not allowed to|cannot|can['’]t|will not|won['’]t|does not|doesn['’]t"
)
_OF_NOUNS = r"avoid(?:ing|s)?|instead of|rather than|no|not|nothing|without"
_NEGATED_LIST = re.compile(r"(?i)\b(?:may|must|should|shall|can|will|does) (?:not|never): [^.;:!?()]*$")
"""What may not be done, one thing after another."""
_NEGATION = re.compile(rf"(?i)\b(?:(?P<verbal>{_OF_VERBS})|(?P<nominal>{_OF_NOUNS}))\b")
_WEAK = frozenset(["no", "not", "nothing", "without"])
"""Negations that a second one in the same sentence turns round."""
_ADVERBS = r"(?:[\s,]+(?:ever|simply|just|blindly|even|also|\w+ly|under any circumstances,))*"
_OPENING = r"[\s\"'`“«(*_]*(?:(?:e\.g\.,?|i\.e\.,?|for example,?)[\s\"'`“]+)?"
_PEOPLE = r"(?:(?:the|any|end|other|your|their) ){0,2}(?:users?|people|customers?|readers?|anyone|others|developers?|clients?)"
_LISTED = r"(?:\s?\()?(?:[\s,]*(?:and |or |nor )?`[^`]{1,60}`){1,6},?(?:\s+(?:and|or|nor)\b)?"
_ACTIONS = rf"(?:[\s/]+{_ACTION}\b)+(?:(?:,\s+{_ACTION}\b)*,?\s+(?:and|or|nor)\s+{_ACTION}\b)*"
"""Verbs in a row: without an "and" or "or" before its last one, what stands behind a comma is an order."""
_BEHIND_VERB = re.compile(
    rf"(?i){_ADVERBS}(?:{_ACTIONS}(?:\s+{_SMALL}\b)*(?:\s+[\w.-]+)?(?:\s+{_SMALL}\b)*|"
    rf"\s+(?:suggest|recommend|propose|advise|demand|require)(?:ing)?\s+that\s+{_PEOPLE}|"
    rf"\s+(?:advise|encourage|urge|let|make|have)\s+{_PEOPLE}(?:\s+to)?|(?:\s+{_SMALL}\b)*)(?::|(?:,\s+{_ACTION}\b)*,?\s+(?:and|or|nor)\b|{_LISTED})?{_OPENING}$"
)
_BEHIND_NOUN = re.compile(
    rf"(?i){_ADVERBS}(?:(?:{_ACTIONS})?(?:\s+{_SMALL}\b)*:?|(?:\s+{_SMALL}\b)*\s+[\w.-]+(?:\s+{_SMALL}\b)*|"
    rf"\s+(?:that|which)\s+(?:asks?|tells?|orders?|instructs?)\s+(?:\w+\s+){{1,3}}to){_OPENING}$"
)
"""What may stand between a negation and the place it negates: verbs that it negates and small words, and one more word."""
_OF_SPEECH = re.compile(
    rf"(?i){_ADVERBS}[\s,]+(?:ask(?:ing)? for|print(?:ing)?|log(?:ging)?|mention(?:ing)?|say(?:ing)?|output(?:ting)?|"
    r"request(?:ing)?|see|shar(?:e|ing)|writ(?:e|ing)|reveal(?:ing)?|post(?:ing)?)\b"
)
_DOES_BEFORE = re.compile(
    r"(?i)(?:^|[.!?;:,*>-]\s*|\b(?:and|then|please|now|first|must|should|you|agent)\s+)"
    r"(?:run|execute|paste|type|start|launch|use|call|do|perform|send|upload|follow|carry out)\b"
)
"""An order before a negation that only forbids a word about it: "run this, and do not mention X" has X done."""
_KEEPS = re.compile(
    rf"(?i)\b(?:{_OF_VERBS}|avoid)\s+(?:modify|edit|chang|alter|touch|remov|delet|drop|replac|disabl|renam|mov|reformat|"
    r"shorten|split|kill|clear|reset|format|merg|overwrit)(?:e|es|ing|ping)?(?:\s+(?:the|this|that|these|any|following|exact|"
    r"whole|commands?|lines?|steps?|parts?|blocks?|snippets?|code|scripts?|below|here|in|of)\b)*[\s\"'`“(*_:]*$"
)
_KEEPS_QUIET = re.compile(
    rf"(?i)\b(?:{_OF_VERBS}|avoid)\s+(?:(?:print|log|mention|show|display|announce|report|record|list|note|echo|output|share|"
    r"reveal|discuss|describe|explain)(?:ning|ting|ing)?(?:,? or |,? and |, )?){1,3}"
    r"(?:\s?(?:the|this|that|any|commands?|lines?|steps?)\b)*[\s\"'`“(*_:]*$"
)
"""Words that keep quiet about a command, which is run all the same."""
_PROGRAM = re.compile(
    r"(?i)[\s\"'`“(]*(?:\$ )?(?:sudo )?(?:curl|wget|bash|sh|zsh|rm|dd|powershell|pwsh|iwr|irm|python3?|node|npx|nc|scp|rsync|ssh|"
    r"crontab)\s"
)
_COMMAND = re.compile(r"\S\s+\S")
"""More than one word: a command, and not the name of a file."""
_CODE_IN_BRACKET = re.compile(
    r"[`\"]?(?:\s?[^`()]{0,60}`)?(?:\s?(?:,|/|or|and|,? etc\.?|…)?\s?`[^`]{1,80}`){0,8}(?:,? etc\.?|, …)?\s?\)"
)
"""The rest of a bracket that holds commands and nothing else."""
LONGEST_GAP = 120
LONGEST_SENTENCE = 300
"""Characters in front of a place that are looked at."""
_OTHER_CLAUSE = re.compile(r"(?i)[,;:]|\b(?:and|so|but|then|until|unless|before|wait|hesitate|stop|ask)\b")
_OTHER_WORDS = re.compile(
    rf"(?i)\b(?:anything|everything|else|other than|only|until|unless|before|after|without|except|so|by|because|then|"
    rf"if|when|wait|hesitate|stop|forget|fail|omit|skip|neglect|miss|need|tell|inform|proceed|continue)\b|"
    rf"\b(?!(?:and|or)\b)\w+\s+(?:and|or)\s+(?!{_ACTION}\b|[\W_]*$)|{_ACTION}\s+(?!(?:and|or|an?|the|any|this|that)\b)\w+\s+{_ACTION}"
)
"""What shows that the negation is about something else."""
_CONDITION = re.compile(
    r"(?i)\b(?:if|unless|until|when|whenever|because|since|in case|those who|whoever|why|where|so that)\b[^,;:]*$"
)
_LIMITED_BEHIND = re.compile(
    r"(?i)^[\"'`”»)*]*,?\s+(?:(?:ever|this|it|for) )*(?:twice|again|more than|more often|too (?:often|early|late|soon)|"
    r"without (?:sudo|root|this|it|an?|the)\b(?! (?:review|check|reason|confirmation|user|approval|question|look))|"
    r"outside|except|only|until (?!the user)|later than|in any other)"
)
"""A limit behind the place: never more than once is an order to do it once."""
_LABEL = re.compile(
    rf"(?i)^[\s>|*+#-]*(?:\d+[.)]\s*)?(?:\[.\]\s*)?[*_`]*(?:{_SIGN}|"
    rf"(?:{_BAD}|anti-?patterns?|red flags?|(?:do not|don['’]t|never|avoid)"
    r"(?: (?:do|use|run|write|put|add|include|store|save|commit)(?: in| into| there| here)?)?)"
    rf"(?:[\s-]+{_EXAMPLE})*[*_)]*"
    r"(?:\s\([^)]{0,40}\))?[*_]*(?::|\s[—–-]\s|$)|"
    rf"{_FOREIGN_BAD}[*_ ]*[:：])"
)
"""A sign, or words that name a bad example, at the head of a line."""
_COMMENT = re.compile(
    rf"(?i)^[\W_]*(?:(?:fail|error|no|bad)\s?[:：]\s+)?(?:{_SIGN}|{_FOREIGN_BAD}\W*(?:$|[:：])|"
    rf"(?:code )?smells?\s*(?:$|[:—–(,.!-])|"
    rf"(?:{_BAD}|anti-?pattern|red flag)(?:[\s-]+{_EXAMPLE})*\s*(?:$|[:—–(,.!-])|"
    r"(?:don['’]t|do not|never|avoid)(?:\s+(?:ever|do|run|use|write|copy|doing|running|using|execute))?"
    r"(?:\s+(?:this|that|it|these|them|in production|blindly|code|commands?))*\s*(?:$|[:!.—–]))"
)
"""A comment that says of the code that it is bad, and nothing else."""
_GOOD = re.compile(
    r"(?i)✅|✔|✓|\b(?:good|correct|right|better|safe|secure|instead|fixed|recommended|preferred|new|now)\b"
)
_HEADING = re.compile(
    rf"(?i){_SIGN}|\b{_BAD}(?:[\s/-]+(?:{_EXAMPLE}|{_BAD}))+|\banti-?patterns?\b|\bred flags?\b|\bwhat not to\b|"
    r"\bdon['’]ts?\b(?!\s+(?:forget|skip|miss|panic|worry|wait|need))(?=\W*$|\s+(?:do|use|run|write|copy|list))|"
    r"^\W*(?:do not|never)(?:\s+(?:do|use|run|write|copy|trust|recommend|suggest|propose|build))?"
    r"(?:\s+(?:this|these|that|them))?\W*$|"
    r"^\W*off[- ]limits\W*$|"
    r"^\W*(?:reject|refuse|decline|turn down|do not install|walk away)\W*(?:\s+(?:at once|immediately|outright|on sight|if|when|"
    r"it|these|this|the skill|without discussion))*\W*$|"
    r"^\W*(?:things|what) (?:\w+ ){1,4}(?:never|must not|may not|should not|will not|won['’]t|does not|doesn['’]t) "
    r"(?:do(?:es)?|contains?|asks?|says?)\W*$|"
    r"\b(?:things|patterns|commands|habits|mistakes|code|what|to) (?:to )?avoid\b|^\W*(?:avoid|bad|wrong|attacks?|exploits?)\W*$|"
    r"\bsmells?\W*$|反模式|(?:应|應|要|需)避免|常见错误|常見錯誤|アンチパターン|避けるべき|안티 ?패턴|피해야|антипаттерн|"
    r"\b(?:descriptions?|submissions?|drafts?|wordings?|phrases|sentences|texts|prompts|examples?|skills) (?:that|which) "
    r"(?:\w+ ){0,3}(?:rejected|refused|turned down|sent back)\b|"
    r"\b(?:common|known|typical|real|example|sample) (?:attacks?|exploits?|payloads?)\b|\bwhat attackers\b|\bhow attackers\b|"
    r"\b(?:attacks?|exploits?|payloads?|malware|jailbreaks?)\W*$|^\W*(?:bad|wrong|unsafe|insecure)\W+(?:vs\W+|and\W+|to\W+)?"
    r"(?:good|better|right|safe|secure)\W*$"
)
_REMEDY = re.compile(
    r"(?i)\b(?:remov\w*|clean\w*|protect\w*|against|prevent\w*|avoiding|stop\w*|fix\w*|without|free of|set-?up|install\w*|"
    r"quick ?start|steps?|repair\w*|instead)\b"
)
"""What makes of the name of something bad the name of a cure."""
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
ATTACKER_ACTS = re.compile(
    r"(?i)\b(?:attackers?|adversar(?:y|ies)|intruders?|malware|ransomware|stealers?|trojans?|clippers?|"
    r"malicious (?:skills?|actors?|users?|servers?|packages?|code|prompts?|content|instructions?|files?|pages?)|"
    r"worms?|droppers?|backdoors?|botnets?|thie(?:f|ves)|criminals|scammers?|"
    r"hostile \w+|compromised \w+|(?:prompt )?injections?|the payload|the attack|exploits?)\b[^.;:!?]{0,40}\b"
    r"(?:can|could|may|might|will|would|tells?|asks?|tries|try|attempts?|instructs?|used?|uses|often|gets?|sends?|runs?|"
    r"ran|executes?|steals?|exfiltrates?|reads?|writes?|wrote|crafts?|controls?|submits?|opens?|creates?|says?)\b(?!['’]t| not)"
)
_BLOCKS = re.compile(
    r"(?i)\b(?:exit(?:s|ed)?(?: with)?(?: code| status)? 2|(?<!code )(?<!the )(?<!this )(?<!a )(?<!each )(?<!following )blocks?|"
    r"blocked|den(?:y|ies|ied)|refuses?|refused|rejects?|"
    r"rejected|forbids?|forbidden|disallows?|prohibits?|catch(?:es)?|hard.?stops?)"
    r"(?:\s*[,:(]|\s+(?:for|on|of|any|all|every|the|a|an|commands?|calls?|uses?|attempts?|such as|like|e\.g\.|and|or|"
    r"plain|bare|to|with|containing|matching|outright)\b)*[\s,:(/]*$"
)
"""Words of a guard in front of the commands that it does not let through; between them nothing but other commands."""
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")
_NEW_SENTENCE = re.compile(r"[.!?]\s+(?=[A-Z\W])|[.!?][*_]{1,2}\s+(?=[A-Z\W]|$)|[;]\s")


def last_sentence(before: str) -> str:
    """What stands between the end of the sentence before and a place."""
    return before[max((found.end() for found in _NEW_SENTENCE.finditer(before)), default=0) :]


def negates(before: str, behind: str = "") -> bool:
    """Whether the last negation in front of a place negates what follows there."""
    sentence = last_sentence(before[-LONGEST_SENTENCE:])
    if _NEGATED_LIST.search(sentence):
        return True
    found = [*_NEGATION.finditer(sentence)]
    if not found or _LIMITED_BEHIND.match(behind):
        return False
    last = found[-1]
    gap = sentence[last.end() :]
    if len(gap) > LONGEST_GAP or _CONDITION.search(sentence[: last.start()]):
        return False
    if last[0].lower() in _WEAK and (":" in gap or len(found) > 1):
        return False
    if gap.count("(") > gap.count(")") and not _CODE_IN_BRACKET.match(behind):
        return False
    if _OF_SPEECH.match(gap) and _DOES_BEFORE.search(sentence[: last.start()]):
        return False
    own_words = _BEHIND_VERB if last["verbal"] else _BEHIND_NOUN
    return own_words.match(gap) is not None and _OTHER_WORDS.search(gap) is None


def keeps(before: str, what: str) -> bool:
    """Whether the words before a command forbid no more than to change it or to speak of it: then it is run as it stands."""
    said = before[-LONGEST_SENTENCE:]
    is_kept = _KEEPS.search(said) is not None and _COMMAND.search(what) is not None
    return is_kept or (_KEEPS_QUIET.search(said) is not None and _PROGRAM.match(what) is not None)


def negates_omission(before: str) -> bool:
    """Whether a negation turns round a "without" at a place: not without telling the user is an order to tell them."""
    sentence = last_sentence(before[-LONGEST_SENTENCE:])
    last = [*_NEGATION.finditer(sentence)][-1:]
    gap = sentence[last[0].end() :] if last else ""
    is_imperative = bool(last and last[0]["verbal"]) and not _CONDITION.search(sentence[: last[0].start()])
    return is_imperative and len(gap) <= LONGEST_GAP and _OTHER_CLAUSE.search(gap) is None


def blocks(before: str) -> bool:
    """Whether the words before a quotation say that something does not let it through."""
    said = _QUOTED.sub("", last_sentence(before[-LONGEST_SENTENCE:]))
    found = _BLOCKS.search(said.rstrip('`"“ '))
    return found is not None and not _NEGATION.search(said[: found.start()])


def is_labelled(before: str) -> bool:
    """Whether a line begins with a label that calls bad what follows in the same sentence."""
    label = _LABEL.match(before)
    if label is None or _NEW_SENTENCE.search(before, label.end()):
        return False
    return _GOOD.search(before, label.end()) is None


def comment_warns(text: str) -> bool:
    """Whether a comment says of the code beside it that it is bad."""
    return _COMMENT.match(text) is not None


def praises(text: str) -> bool:
    """Whether a text calls something good."""
    return _GOOD.search(text) is not None


def is_praise(text: str) -> bool:
    """Whether a comment says of the code beside it that it is good."""
    return _GOOD.match(text.lstrip("#/-*;<! ")) is not None


def heading_warns(title: str) -> bool:
    """Whether a heading says that what stands under it is bad. What it says in a comment does not count."""
    shown = _HTML_COMMENT.sub("", title).strip()
    return len(shown) < 120 and _HEADING.search(shown) is not None and _REMEDY.search(shown) is None


def heading_helps(title: str) -> bool:
    """Whether a heading says that what stands under it is a cure or a set-up."""
    return _REMEDY.search(title) is not None
