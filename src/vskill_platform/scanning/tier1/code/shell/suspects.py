"""Which texts are worth reading as shell: one search decides, because most commands in most skills are of no interest.

It may let too much through and nothing else: it has the words without which no flow begins or ends, and the marks of words
that are put together from pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from vskill_platform.scanning.limits import UNREAD_CODE
from vskill_platform.scanning.tier1.patterns import Pattern, PatternSet
from vskill_platform.scanning.tier1.skill import Fact, FactKind, LimitHit

MOST_FACTS = 2_000
_WORDS = (
    "curl|wget|aria2c|httpie|xh|iwr|irm|invoke-webrequest|certutil|bitsadmin|mshta|nc|ncat|netcat|socat|telnet|"
    "openssl|base32|base64|basenc|xxd|uudecode|"
    "crontab|ffmpeg|arecord|chpasswd|schtasks|launchctl|osascript|printenv|authorized_keys|sudoers|setenforce|csrutil|spctl|xattr|ufw|"
    "iptables|pfctl|histfile|histsize|"
    "shred|mkfs(?:\\.\\w+)?|wipefs|dd|mkfifo|mknod|nohup|setsid|disown|dig|nslookup|sendmail|mailx?|mutt|scp|rsync|"
    "rclone|sftp|"
    "xmrig|minerd|cpuminer|pkill|killall|setcap|gpg|dscl|pbpaste|xclip|screencapture|dump-keychain|keychain|"
    "hookspath|sshcommand|powershell|pwsh|mitmproxy|xinput|logger|autossh|logkeys|evtest|showkey|osqueryd|falcon-sensor|"
    "wevtutil|journalctl|auditctl|lwp-request|lynx|id_rsa|id_ed25519|wallet|stratum|index-url|endpoint-url|gunzip|zcat"
)
_COMMAND = r"(?:^|[;&|(`]|\b(?:sudo|do|then|exec|nohup|xargs))[ \t]*"
_MARKS = (
    # Words put together from pieces.
    rf"{_COMMAND}[\w/]*(?:\\[a-z]|''|\"\"|['\"]\w+['\"])\w|{_COMMAND}\w+(?:'\w*'|\"\w*\")|\$'[^'\n]*\\[xuU0-7]|"
    rf"\$\{{?IFS|\$\{{?\w+\}}?\$\{{?\w|\$\{{\w+:\d|\w\$@|"
    rf"=['\"]?(?:rm|chmod|find|env|sh|bash|zsh|source|python3?|perl|node|git|pip3?|npm|systemctl|set|cat|tar|cp|mv|"
    rf"tee|eval|~|/|\$\{{?HOME\}}?)['\"]?[ \t]*(?:[;&\n]|$)|"
    rf"(?:^|[\s;&|(`])/[?*\w]*[?*][?*\w]*/|{_COMMAND}\{{[a-z/]\w*,[^\s}}]+\}}|"
    # Interpreters that are fed.
    r"\b(?:(?:ba|z|da|k)?sh|source|python[23]?|perl|ruby|node|php)\s+<\(|(?:^|[;&|])\s*\.\s+<\(|"
    r"\|\s*(?:sudo\s+)?(?:/\S*/)?(?:env\s+)?(?:ba|z|da|k|a|fi)?sh\b|"
    r"\b(?:ba|z|da|k)?sh\s+-\w*c|\|\s*rev\b|\brev\s*<|\beval(?:[ \t\"'`$]|$)|\b(?:python[23]?|perl|ruby|node|php|"
    r"lua)\s+-\w*[cer]\b|"
    r"\|\s*(?:python[23]?|perl|ruby|node|php)\b|\b(?:source|sh|bash|zsh|dash|python[23]?|node|perl|ruby|"
    r"php)\s+[^\s;&|]*\.(?:png|jpe?g|gif|webp|svg|ico|pdf|dat|data|bin|"
    r"blob|txt|md|json|log|csv|xml|html|db|enc|b64|tmp|bak|gz)\b|\bdo shell script|"
    # The network, the environment, secrets.
    r"\b(?:node|bun)\b[^\n;|&]*\s(?:-r|--require|--import|--loader)\s|sshd_config|/dev/(?:tcp|udp|sd|nvme|disk|hd|vd|mapper)|/inet/|\bset\s*\||\benv\s*(?:\||>|\))|\bexport\s+-p|"
    r"\bdeclare\s+-[px]|compgen|"
    r"\.(?:ssh|aws|gnupg|kube|netrc|npmrc|pypirc|git-credentials|bash_history|zsh_history|docker/config|mozilla|config/g[hc])\b|/etc/shadow|"
    r"\bhttps?\s+(?:POST|PUT|GET|://)|"
    r"\bping\b[^\n]*\$\(|\baws\s+s3|\bgsutil|\baz\s+storage|\bgh\s+(?:gist|issue|pr|api)|\b(?:kubectl|oc)\b[^\n]*\s(?:get\s+secret|config\s+view|create\s+token)|\baws\s+(?:iam|sts|secretsmanager|configure)|set-url|\bgit\b[^\n]*\s(?:--mirror|--all)\b|\btimeshift\b|\b(?:claude|codex|gemini|opencode|aider|goose)\s[^\n]*(?:\$\(|mcp\s+add\b)|insteadof|sslverify|\bssh\b[^\n]*\s-\w*R|\bln\s+-\w*s[^\n]*\.(?:ssh|aws|gnupg|config)|\bgit\s+clone|\bgit\s+add[^\n]*(?:\.env|secret|credential)|"
    r"\bat\s+now|"
    # What lasts or harms.
    r"\breg(?:\.exe)?\s+add\b|\brm\s+-\w*[rR][^\n;&|]*[\s\"'](?:/|~|\$\{?\w+\}?[\"']?/|\$\{?HOME|\$\w+\s*$)|\brm\s+--recursive|"
    r"\bfind\s+[\"']?(?:~|/|\$)[^\n]*-(?:delete|exec|ok)|"
    r"\w\s*\|\s*\w+\s*&\s*[};\n]|:\(\)|\.(?:bashrc|zshrc|bash_profile|zprofile|zshenv|profile)\b|LaunchAgents|"
    r"LaunchDaemons|autostart|\.config/systemd|"
    r"/etc/(?:cron|systemd|init|sudo|passwd|profile|ld\.so)|systemctl|\.git/hooks|\bchmod\b(?:[ \t]+(?:-\w+[ "
    r"\t]+)*(?:[^+\s\d-]|\d{4}|777|\+\w*s)|[;\"'&|)])|"
    r"\b(?:HISTCONTROL|core\.hooks)|\bhistory\s+-\w*[cw]|\bhistory\s*[|)]|\bnft\s+(?:flush|delete)|\btruncate\s+-|"
    r"(?:>>?[ \t]*|\b(?:tee|cp|mv|sed|ln)\b[^\n|;&]*[\s/\"'])(?:[\"'~$./\w{}-]*/)?(?:(?:CLAUDE|AGENTS|MEMORY|SOUL|"
    r"GEMINI)\.md|\.?mcp\.json|"
    r"\.(?:claude|codex|gemini|cursor|openclaw|clawdbot|moltbot)\b)|"
    r"(?:~|HOME\}?[\"']?)/\.(?:claude|codex|gemini|cursor|openclaw|clawdbot|moltbot|config/opencode)/[\w./-]{0,60}\.md\b|"
    # Code and settings that lie in another file of the skill.
    r"^[ \t]*(?:\.|source)[ \t]+[\"']?[$./\w{(][^\n]{0,80}\.(?:sh|bash|zsh|env|inc|lib|conf)\b|"
    # Packages from elsewhere, and gates.
    r"\b(?:pip[23]?|uv|uvx|pipx|npm|npx|pnpm|yarn|bunx|gem|cargo)\s+(?:install|i|add|run|tool|dlx|exec|config|-\S+|"
    r"git\+|https?:|github:)[^\n]*(?:://|github:|--registry)|"
    r"(?:PIP|UV|NPM_CONFIG)\w*(?:INDEX|REGISTRY)|(?:-[lg][te]|[<>=])\s*[\"']?(?:1[6-9]\d{8}|"
    r"20[2-9]\d-?[01]\d-?[0-3]\d)\b|"
    r"\b(?:hostname|whoami|HOSTNAME|LOGNAME)\b[^\n]*\]|\bcase\s[^\n]*hostname"
)
_HOT = (rf"(?i)\b(?:{_WORDS})\b", f"(?im){_MARKS}")
_ANYWHERE = Pattern(
    rf"(?i)\b(?:{_WORDS}|eval)\b|\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|/dev/tcp|\brm\s+-\w*r|\.ssh/|\bsh\s+-c|\bgit\s+clone|"
    r"LaunchAgents|\.config/autostart|\b(?:auto)?ssh\s+-|\b(?:node|bun)\b[^\n]*--require|\bchmod\s+-\w*R|"
    r"(?:~|\$HOME)/\.(?:aws|kube|gnupg|docker|config|netrc|npmrc|mozilla|\w+_history)\b|\bhistory\s+-c|\bgh\s+(?:api|gist)|"
    r"insteadof|sslverify|\b(?:python[23]?|node|perl|ruby|php)\s+-\w*[cer]\b|\bmcp\s+add\b"
)
_FILE_RUN = (
    r"(?m)(?:^|[;&|(]\s*|\b(?:sudo|exec|nohup|time)\s+)(?:(?:(?:ba|z|da)?sh|python[23]?|node|perl|ruby|php|"
    r"source)\s+(?:-[a-zA-Z]\s+)?)?((?:\./|\../|[\w-]+/|/)?[\w./-]{1,100}\.(?:sh|py|js|mjs|ts|pl|rb|php|bash|zsh|"
    r"bin|exe|run))\b"
)
_RUNS_FILE = Pattern(_FILE_RUN)
_LOOKED_FOR = PatternSet([*_HOT, _FILE_RUN])


def suspect_lines(data: bytes) -> Iterator[int]:
    """The numbers of the lines that have such a word in them, for a text in which commands are rare."""
    line = counted = 0
    last = -1
    for span in _ANYWHERE.spans(data):
        line += data.count(b"\n", counted, span.start)
        counted = span.start
        if line != last:
            last = line
            yield line + 1


class Glance(NamedTuple):
    """What one look at a text tells: whether it may hold a flow of interest, and whether it may run files."""

    is_suspect: bool
    runs_files: bool


def glance_at(data: bytes) -> Glance:
    """Looks at a text."""
    found = _LOOKED_FOR.which(data)
    return Glance(bool(found) and found[0] < len(_HOT), bool(found) and found[-1] == len(_HOT))


def files_run(data: bytes) -> Iterator[str]:
    """The files that plain commands run, for a text that is not read any further."""
    return iter(dict.fromkeys(_RUNS_FILE.groups(data)))


def plain_facts(file: str, data: bytes, *, first_line: int) -> Iterator[Fact | LimitHit]:
    """What can be said at a glance of a text that holds nothing of interest."""
    paths = files_run(data)
    for path in islice(paths, MOST_FACTS):
        yield Fact(FactKind.EXECUTES, file, first_line, path[:300], "shell")
    if next(paths, None) is not None:
        yield LimitHit(UNREAD_CODE)
