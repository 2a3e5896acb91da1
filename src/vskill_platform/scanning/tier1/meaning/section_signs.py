"""What is looked for in a section: something to fetch, why one must, how it is unlocked, unguarded and run."""

from __future__ import annotations

from functools import cache

from vskill_platform.scanning.tier1.patterns import Pattern, PatternSet, compile_pattern
from vskill_platform.scanning.tier1.views.glance import Sign

_BEHIND_PROGRAM = r"(?:[\s)>\"'`?#,;]|\.?$|\.\s)"
_PROGRAMS = r"exe|msix?|dmg|pkg|apk|appimage|scr|bat|cmd|ps1|jar|deb|rpm|vbs|hta|run|command|crx|xpi|vsix|zip|rar|7z"
_DROPS = (
    r"(?:glot\.io|pastebin\.com|paste\.\w+|rentry\.(?:co|org)|hastebin\.\w+|ghostbin\.\w+|dpaste\.\w+|"
    r"bit\.ly|tinyurl\.com|is\.gd|t\.co|cutt\.ly|rebrand\.ly)/\w|ngrok[\w.-]*|trycloudflare\.com|transfer\.sh|"
    r"file\.io|gofile\.io|mediafire\.com|mega\.nz|anonfiles?\.\w+|workers\.dev/\w|pages\.dev/\w|duckdns\.org|webhook\.site"
)
_GUARDS = (
    r"anti-?virus|virus (?:protection|scanner)|defender|real-?time protection|security software|smart ?screen|gatekeeper|"
    r"virenscanner|virenschutz|антивирус|защитник|杀毒|防毒|ウイルス対策|백신"
)
_LOWERS = (
    r"disabl\w+|deactivat\w+|turn\w* (?:\w+ )?off|switch\w* (?:\w+ )?off|paus\w+|exclu\w+|exception|allow-?list|whitelist|"
    r"false (?:alarm|positive)|by mistake|bypass\w*|ignor\w+|desactiv\w+|désactiv\w+|deaktivier\w+|ausschalt\w+|desativ\w+|"
    r"отключ|关闭|關閉|退出|無効|끄"
)
_PATTERNS = {
    "archive": (
        r"(?i)(?:https?://|\]\()[^\s)>\"'`]{3,300}\.(?:zip|rar|7z|tar\.gz|tgz|iso|cab)\b|\b[\w.-]{2,80}\.(?:zip|"
        r"rar|7z)\b"
    ),
    "program": (
        rf"(?i)(?:https?://[^\s)>\"'`/]{{1,100}}/|\]\()[^\s)>\"'`:]{{1,300}}\.(?:{_PROGRAMS}){_BEHIND_PROGRAM}"
        r"|https?://[^\s)>\"'`]{3,200}/releases/(?:latest/)?download/[^\s)>\"'`]{0,200}"
    ),
    "drop": (
        rf"(?i)https?://\d{{1,3}}\.\d{{1,3}}\.\d{{1,3}}\.\d{{1,3}}|https?://(?:[\w-]+\.)*(?:{_DROPS})[^\s)>\"'`]{{0,200}}"
    ),
    "package": r"(?i)git\+https?://[^\s)>\"'`]{3,300}",
    "installer": (r"(?i)[\w)-]\.(?:exe|msix?|dmg|pkg|appimage|scr|command|crx|xpi|vsix|deb|rpm|apk|hta|zip|rar|7z)\b"),
    "link": r"(?i)https?://[^\s)>\"'`]{3,300}",
    "fetch": (
        r"(?i)\b(?:download\w*|fetch|grab|obtain|curl|wget|iwr|releases?)\b|https?://|"
        r"descarg|télécharg|herunterlad|baixa|scarica|скач|下载|下載|ダウンロード|다운로드"
    ),
    "get": (
        r"(?i)\b(?:download\w*|fetch(?:ed)?|grab|obtain|get (?:it|the|`|\*|\w+\.)|mount(?:ing|ed)?|releases?|curl|wget|lies at|"
        r"liegt)\b|descarg|télécharg|herunterlad|baixa|scarica|скач|下载|下載|ダウンロード|다운로드|\bget `"
    ),
    "password": (
        r"(?i)(?:(?:^|[^$\w{])pwd\b|\bpass(?: is\b|[ \t]*[:=])|\b(?:pass(?:word|code|phrase)|"
        r"contraseña|clave|mot de passe|passwort|kennwort|senha)\b|"
        r"пароль|密码|密碼|パスワード|비밀번호)"
        r"[^\n]{0,40}?(?::|=| is\b|：|«|»|`|\*\*|\")"
    ),
    "unpack": (
        r"(?i)\b(?:extract|unzip|unpack|unrar|7z x|decompress|open the archive|expand)\b|распаку|解压|解壓|"
        r"extra(?:e|er|iga)|entpack|décompress|展開|압축"
    ),
    "run": (
        r"(?i)\b(?:run(?:s|ning)?|execut\w+|launch\w*|start(?:s|ed)?|install(?:s|ed)?|open|double-?click|paste|drag)\b|"
        r"запуст|运行|運行|執行|执行|双击|雙擊|ejec[uú]t|exécut|\blance[rz]\b|ausführ|instal|実行|실행"
    ),
    "unguard": (
        r"(?i)\bxattr\s+-\w*[cd]\w*\s|\bUnblock-File\b|\bspctl\s+--(?:master|global|add)|\b(?:Set|Add)-MpPreference\b|"
        r"--no-quarantine\b|\b(?:right|control|ctrl)[- ]?click\w*[^\n.]{0,60}\bopen\b|\b(?:run|open|keep|install) anyway\b|"
        r"\bunidentified developer\b|\b(?:cannot|can't|can not|could not) be (?:verified|opened because)\b|"
        rf"\b(?:{_LOWERS})[^\n.]{{0,60}}(?:{_GUARDS})|(?:{_GUARDS})[^\n]{{0,80}}(?:{_LOWERS})"
    ),
    "by-hand": (
        r"(?i)\bdrag(?:s|ged)?\b[^\n]{0,60}\b(?:in(?:to)?|on(?:to)?)\b[^\n.]{0,20}"
        r"\b(?:terminal|console|powershell|command prompt)\b|"
        r"\b(?:enter|type)\b[^\n.]{0,30}\b(?:mac|login|computer|system|admin\w*|sudo|user'?s?|your) password\b|"
        r"\bas (?:an )?administrator\b|\bdeveloper mode\b|como administrador|en tant qu'administrateur|als administrator|"
        r"от имени администратора|以管理员|以系統管理員|管理者として|관리자 권한"
    ),
    "must": (
        r"(?i)\b(?:prerequisites?|required?|requires|requirements?|must|mandatory|needed|necessary|"
        r"before (?:you|using|first|any)|"
        r"won't work|will not work|does not work|cannot (?:work|function|run)|first\b|do not (?:skip|continue|"
        r"proceed)|setup|set-up)\b|"
        r"необходим|обязательн|сначала|必须|必須|前提|obligatori|imprescindible|requisito|prérequis|voraussetzung|"
        r"pré-requisit|erforderlich|필수"
    ),
    "needs": (
        r"(?i)\b(?:needs?|rel(?:y|ies) on|depends? on|talks? to|companion|helper|not (?:work|start|run|answer) (?:until|unless|"
        r"without)|without (?:it|the|this))\b"
    ),
}
FETCHED = ("archive", "program", "drop", "package", "installer")
"""Patterns without which the others need not be looked for."""
HINT = Sign(
    rf"(?i)[\w)]\.(?:{_PROGRAMS}|tgz|iso|cab|gz)(?:[\s)>\"'`?#,.;]|$)|/releases/|://\d|git\+http|"
    r"(?:paste|glot\.|rentry|bin\.|bit\.ly|tinyurl|is\.gd|t\.co/|cutt\.|rebrand|ngrok|trycloud|transfer\.sh|file\.io|gofile|"
    r"mediafire|mega\.nz|anonfile|workers\.dev|pages\.dev|duckdns|webhook\.site)"
)
"""What a text must have for any of its sections to be looked at."""
IS_FETCHED = Sign("|".join(f"(?:{_PATTERNS[name]})" for name in FETCHED).replace(_BEHIND_PROGRAM, r"\b"))
"""The same patterns over a whole file. Something else may stand behind a program there than in a section, but a word ends."""


def signs_in(text: bytes) -> set[str]:
    """The names of all signs in the text; none where there is nothing to fetch in it."""
    found = {name for name in map(FETCHED.__getitem__, may_be_fetched().which(text)) if sign(name).is_in(text)}
    return found | {name for name in _PATTERNS if name not in FETCHED and sign(name).is_in(text)} if found else found


@cache
def sign(name: str) -> Pattern:
    """The pattern of a sign."""
    return compile_pattern(_PATTERNS[name])


@cache
def may_be_fetched() -> PatternSet:
    """Tells in one quick pass what a section may have to fetch: the patterns themselves count, and counting is slow."""
    return PatternSet([_PATTERNS[name] for name in FETCHED])
