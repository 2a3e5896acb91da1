"""Which programs are worth reading: one search decides, because most code in most skills is of no interest."""

from __future__ import annotations

from collections.abc import Sequence

from vskill_platform.scanning.tier1.patterns import PatternSet

_STRONG = (
    r"\beval\b|\bFunction\s*\(|\bchild_process\b|\bexecSync\b|\bspawn(?:Sync)?\s*\(|\bexecFile(?:Sync)?\b|"
    r"\bexeca\b|shelljs|\bcross-spawn|Deno\.(?:run|Command)|Bun\.spawn|"
    r"\bvm\b['\"]|\brunIn\w*Context|_compile\b|\batob\b|fromCharCode|fromCodePoint|\bunescape\b|['\"]hex['\"]|"
    r"['\"]base64(?:url)?['\"]|"
    r"\.ssh\b|\.aws\b|\.gnupg|\.npmrc|\.netrc|\.git-credentials|id_rsa|id_ed25519|\.kube\b|wallet|keychain|Login "
    r"Data|_history\b|"
    r"document\.cookie|cookies\.getAll|\bclipboard|sendBeacon|new Image|\bnet\b['\"]|\btls\b['\"]|\bdgram\b|\bdns\b|nodemailer|"
    r"WebAssembly|process\.binding|dlopen|mainModule|"
    r"createRequire|__proto__|\.bashrc|\.zshrc|\.profile\b|LaunchAgents|\.config/(?:autostart|systemd)|crontab|"
    r"\.git/hooks|authorized_keys|CLAUDE\.md|AGENTS\.md|"
    r"\.claude\b|\.cursor\b|mcp\.json|setRequestHandler|registerTool|\.tool\s*\(|_0x[0-9a-f]{4}|\\u00[0-9a-f]{2}|"
    r"\\x[0-9a-f]{2}|\\u\{|set(?:Timeout|Interval)\s*\(\s*(?:['\"`]|\(*\s*await)",
    r"\.cookies\s*\(|\bkeytar\b|\bsftp-client\b|\bbasic-ftp\b|generateMnemonic|doShellScript|from\s+['\"](?:zx|bun)['\"]|\{[^}\n]*\benv\b[^}\n]*\}\s*=\s*process\b|storageState|process\.env\s*[)\],;}\n]|\.\.\.\s*process\.env|process\.env\s*\[\s*[^'\"\s]|process\s*\[|(?:globalThis|"
    r"global|window|self|this)\s*\[|\[\s*['\"`][^'\"`\]\n]*['\"`]\s*\+|"
    r"\brequire\s*\(\s*[^'\"`)\s]|\brequire\s*\(\s*['\"][^'\"]*['\"]\s*\+|\bimport\s*\(\s*[^'\"`)\s]|"
    r"\bimport\s*\(\s*['\"](?:https?|data):|\brequire\s*[^(\s.]|"
    r"\bnew\s+Worker\b|\$\.(?:post|ajax)|innerHTML|\.constructor\b|\[\s*['\"]constructor|\bReflect\.|\.call\s*\(\s*null|\.reverse\(\)\s*\.join|"
    r"from\s+['\"]https?:|\bnew\s+Date\b[^\n]*[<>]|Date\.now\(\)\s*[<>]|hostname\(\)|homedir\(\)",
)
_SOURCES = (
    r"(?:OPENAI|ANTHROPIC|GITHUB|GITLAB|AWS_SECRET\w*|AWS_SESSION|NPM|STRIPE|HF|GEMINI|GOOGLE|SLACK_BOT|GH|"
    r"PYPI)_\w*(?:KEY|TOKEN|PAT)\b|readFile|createReadStream|localStorage|sessionStorage|\.env\b|\buserInfo\b"
)
_SINKS = (
    r"\bfetch\s*\(|\baxios\b|\bgot\b|\bhttps?\b['\"]|XMLHttpRequest|WebSocket|superagent|\bundici\b|\bky\b|"
    r"\brequest\s*\("
)
_CREDENTIAL = r"(?i)\b\w*(?:token|api_?key|secret|password)\b"
_LOADS = r"\bimport\s*\(|\brequire\s*\(\s*['\"`][./]"
_OWN_FOLDER = r"\b__dirname\b|\bimport\.meta\b"
_HOT = tuple(f"(?i){pattern}" for pattern in _STRONG)
_WARM = (f"(?i){_SOURCES}", _SINKS, r"writeFile|createWriteStream", _LOADS, _CREDENTIAL, _OWN_FOLDER)
_HELD = (
    r"\.cookies\s*\(|document\.cookie|cookies\.getAll|storageState|\bclipboard|readFile|\.ssh\b|\.aws\b|id_rsa|Login Data|"
    r"wallet|keychain|localStorage|process\.env\s*[)\],;}\n]"
)
_SPLIT = PatternSet([f"(?i){_HELD}", _SINKS])
_LOOKED_FOR = PatternSet([*_WARM, *_HOT])
_ENOUGH = (frozenset([0, 1]), frozenset([1, 2, 3]), frozenset([1, 4]), frozenset([1, 2, 5]))
"""Which of the warm ones together are reason enough to read on."""


def is_suspect(data: bytes) -> bool:
    """Whether a program may hold a flow of interest."""
    found = _LOOKED_FOR.which(data)
    if found and found[-1] >= len(_WARM):
        return True
    warm = frozenset(found)
    return any(enough <= warm for enough in _ENOUGH)


def split_over(blocks: Sequence[str]) -> list[int]:
    """The blocks that read what lies somewhere, or send: a flow may be in them together that is in none alone. Else none."""
    found = _SPLIT.which_of_each([block.encode() for block in blocks])
    numbers = [number for number, marks in enumerate(found) if marks]
    return numbers if len(numbers) > 1 and {mark for marks in found for mark in marks} == {0, 1} else []
