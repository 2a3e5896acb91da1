"""What makes a line of shell worth reading word by word, as patterns that both engines take."""

from __future__ import annotations

_NO_WORD = r"(?:^|[\s;|&(])"
_NO_WORD_OR_QUOTE = r"(?:^|[\s;|&(\x60'\"])"
TRICK = (
    rf"\\\r?\n|{_NO_WORD_OR_QUOTE}[A-Za-z]*\\[A-Za-z]|[A-Za-z](?:'[^'\s]*'|\"[^\"\s]*\")|{_NO_WORD}(?:'[^'\s]*'|\"[^\"\s]*\")[A-Za-z]"
    r"|\$'|\$\{!|\$\{?IFS|\$\{[A-Z]+:[0-9]|\$\((?:\s*(?:echo|printf)\b|\))|\x60\s*(?:echo|printf)\b|[A-Za-z]\$[@*0-9]"
    rf"|{_NO_WORD_OR_QUOTE}[^\s'\"$]*\{{[^\s'\"]*,[^\s'\"]*\}}|(?:^|[|;&(])\s*(?:\"[a-z][\w.-]*\"|'[a-z][\w.-]*')(?:\s|$)"
    r"|(?:^|[\s;|&({,])/[a-z?*\[\]]+/[^\s]*[?*\[]|\bprintf\s+-v\b|\bfor\s+\w+\s+in\s+[^\s;*?$\"]+\s*;|\$\{\w+:?[-=][^}\s]*://"
)
"""What stands on a line that may read otherwise than it is written."""
TELLING_VALUE = (
    r"://|\b(?:curl|wget|(?:ba|z|k|da)?sh|nc|ncat|socat|python3?|perl|ruby|node|php|ssh|scp|eval|exec|base64|openssl|rm|dd|"
    r"chmod|sudo|powershell|iex)\b|/dev/|/etc/|\.(?:ssh|aws|env|kube|npmrc|netrc)\b|[|;&,\x60]|[A-Za-z0-9+/]{24}|[0-9]\.[0-9]+\.[0-9]"
)
ADJACENT_NAMES = r"\$\{?[A-Za-z_][A-Za-z0-9_]*[})]?\$|[})]\$"
TELLING = (
    rf"[A-Za-z0-9_]=(?:\"[^\"$\n\x60]*?|'[^'\n]*?|[^\s\"'$\x60\n]*?)(?:{TELLING_VALUE})|{ADJACENT_NAMES}"
    r"|[A-Za-z0-9_][ \t]*:=[ \t]"
)
"""A constant that changes what a line with it means, or constants that are put together."""
OUT_OF_PLACE = (
    r"[A-Za-z](?:''|\"\")[A-Za-z]|\b[a-z]{1,4}(?:'[a-z]{1,3}'|\"[a-z]{1,3}\")[a-z]|\$\{?IFS\b|[a-z]\$[@*][a-z]|[a-z]\$\(\)[a-z]"
    r"|\$'(?:[^'\\\n]*\\(?:x[0-9a-fA-F]|[0-7]{2}|u[0-9a-fA-F]))|[\s\x60\"'|;&(][a-z]?\\[a-z]\\?[a-z]+[ \t]+[^\n]|\$\{[A-Z]+:[0-9]"
    r"|\$\((?:echo|printf)[ \t]|\{(?:curl|wget|bash|sh|nc|cat|python3?|rm|tar|ssh|base64),"
)
"""What has no use but in shell, so that a line with it is read as shell wherever it stands."""
