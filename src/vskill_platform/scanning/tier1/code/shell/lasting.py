"""What is written to places from which it comes back: schedules, profiles, services, hooks, agents' own files."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.jobs import fetches, fetches_and_runs, has_orders
from vskill_platform.scanning.tier1.code.places import Lasting, is_disk, is_history, is_log, lasting_at, plain_path
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call, handles
from vskill_platform.scanning.tier1.code.shell.packages import notice_registry
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Origin, Source, Value

LONGEST = 20_000
_SCRATCH = re.compile(
    r"(?:^|[\s\"'=(])(?:/tmp/|/var/tmp/|/dev/shm/|/private/tmp/|(?:~|\$HOME|\$\{HOME\})/\.(?!local/bin|nvm|cargo|"
    r"bun|deno|pyenv|rbenv|sdkman|npm|volta|asdf|fzf|config/)[\w.-]+/[\w./-]*\.(?:sh|py|js|bin)\b)"
)
_OWN_TABLE = Origin(Source.MACHINE, "crontab")
_JOB = re.compile(r"(?m)^[ \t]*(?:@\w+|[\d*/,-]+(?:[ \t]+[\w*/,-]+){4})[ \t]+(\S.*)$")
_UNSTEADY = re.compile(
    r"\bgit\b.{0,200}\b(?:pull|fetch|clone)\b|\b(?:npx|uvx|bunx|pipx|npm|pip3?|brew|docker|ssh|scp|rsync)\b|\beval\b|base64|\.\.?/?\s|-c\b"
)
"""A job that brings something first, or does not say what it runs."""
_DOES_MORE = re.compile(
    r"\b(?:npx|uvx|bunx|pipx|ssh|scp|sftp|rsync|telnet|eval|base64|perl|ruby|osascript|openssl|mail|sendmail)\b|"
    r"\bgit\b.{0,80}\b(?:pull|fetch|clone)\b|\b(?:python3?|node|php|(?:ba|z|da)?sh)\s+-"
)
"""What a program that comes back by itself may do that its own words do not show."""
_HIDDEN = re.compile(r"(?:^|[/\s\"'])\.[\w-]+/")
_WORD_WITH_PATH = re.compile(r"[^\s\"'<>;|&()]{0,200}/[^\s\"'<>;|&()]{1,200}")
_LOGGED = re.compile(r"\s[12]?>>?\s?([\"']?)(?:\$\{?HOME\}?)?[\w./~ -]{1,200}?\1(?=\s|\Z)")
"""Where a job writes what it says, which is not run."""
_SHADOWS = re.compile(
    r"\balias\s+(?:sudo|su|ssh|git|curl|cd|ls|npm|pip|docker|kubectl|aws|gpg|claude|codex)=|^\s*(?:sudo|su|ssh|git|"
    r"npm|gpg)\s*\(\)\s*\{|\bLD_PRELOAD=|\bDYLD_INSERT_LIBRARIES=|\bPROMPT_COMMAND=",
    re.MULTILINE,
)
_REDIRECTS = re.compile(
    r"\b(?!127\.|0\.|10\.|192\.168\.|172\.)\d{1,3}(?:\.\d{1,3}){3}:\d{2,5}\b|\b(?:ANTHROPIC|OPENAI)_(?:API_)?BASE(?:_URL)?=|\bHTTPS?_PROXY=https?://(?!localhost|127\.)",
    re.IGNORECASE,
)
_SKILL = re.compile(r"^~/\.(?:claude|codex|gemini|openclaw|cursor|agents)/(?:skills|agents|commands)/.*\.md$")
"""What tells an agent how to do something, in the user's own folder."""
FINGERPRINT_LOGIN = "/etc/pam.d/sudo_local"
"""Where a Mac is told to take a fingerprint for sudo, from a template beside it."""
_LETS_IN = re.compile(r"PermitRootLogin\s+yes|PasswordAuthentication\s+yes|NOPASSWD|pam_permit", re.IGNORECASE)
_SOUGHT = re.compile(r"(?<!\w)s([/|#@,])(?:\\.|(?!\1).)*\1")
"""What an editor's command replaces; what it writes stands behind."""
_WHOLE_KEY = re.compile(r"AAAA[A-Za-z0-9+/]{40}")
_SHORTENED_KEY = re.compile(r"\bAAAA[A-Za-z0-9+/]{0,30}(?:\.\.\.|…)")
"""A key of which only the beginning is shown, for the reader to put their own."""
_LOGIN_KEY = re.compile(r"\bssh-(?:rsa|ed25519|dss)\s+AAAA|\becdsa-sha2-\S+\s+AAAA|\bsk-ssh-")


def notice_write(call: Call, path: str, content: Value) -> None:
    """Reports what is written to a place that matters."""
    if is_disk(path):
        call.see(checks.OVERWRITES_DISK)
    if is_history(path) or is_log(path):
        _notice_traces(call, content)
    kind = lasting_at(path)
    if kind is None:
        if _SKILL.search(plain_path(path)) and checks.come_from_stranger(content.details(Source.NETWORK)):
            call.see(checks.REWRITES_SKILL)
        return
    text = content.text[:LONGEST]
    if kind is Lasting.SCHEDULE:
        notice_job(call, content)
    elif kind is Lasting.PROFILE:
        _notice_profile(call, content, text)
    elif kind in {Lasting.AUTOSTART, Lasting.SERVICE}:
        _notice_service(call, kind, content, text)
    elif kind is Lasting.GIT_HOOK:
        if _is_dubious(content, text):
            call.see(checks.GIT_HOOK)
    elif kind is Lasting.LOGIN_KEY:
        if not _is_let_in_already(content) and (not _SHORTENED_KEY.search(text) or _WHOLE_KEY.search(text)):
            call.see(checks.GRANTS_LOGIN)
    elif kind is Lasting.AGENT:
        _notice_agent(call, path, content)
    elif kind in {Lasting.SUDO, Lasting.LOADER} and (path != FINGERPRINT_LOGIN or _LETS_IN.search(text)):
        call.see(checks.GRANTS_ROOT)
    elif kind is Lasting.PACKAGES:
        notice_registry(call, text.replace("=", " "))


def _is_let_in_already(content: Value) -> bool:
    """Whether what is written comes whole from the same file of another account on that machine."""
    paths = [origin.detail for origin in content.origins]
    return bool(paths) and all(path.startswith(("/", "~")) and path.endswith("/.ssh/authorized_keys") for path in paths)


def notice_edit(call: Call, program: str, paths: list[str]) -> None:
    """A file that is changed in its place: those that say who may log in are nobody's business but the owner's."""
    is_login = any(path.startswith(("/etc/ssh/", "/etc/sudoers", "/etc/pam.d/")) for path in paths)
    if is_login and _LETS_IN.search(_SOUGHT.sub(" ", program)):
        call.see(checks.GRANTS_ROOT)


def notice_job(call: Call, content: Value) -> None:
    """A job for a scheduler."""
    text = content.text[:LONGEST]
    call.see(checks.SCHEDULES_FETCH if fetches_and_runs(text) or _is_foreign(content) else checks.SCHEDULES)


def _notice_traces(call: Call, content: Value) -> None:
    if not content.text.strip() or content.comes_from(Source.FILE):
        call.see(checks.WIPES_TRACES)


def _notice_profile(call: Call, content: Value, text: str) -> None:
    if _is_dubious(content, text) or _SHADOWS.search(text) or _REDIRECTS.search(text) or _SCRATCH.search(text):
        call.see(checks.HIJACKS_PROFILE)


def _notice_service(call: Call, kind: Lasting, content: Value, text: str) -> None:
    if _is_dubious(content, text) or _SCRATCH.search(text):
        call.see(checks.SCHEDULES_FETCH)
    elif kind is Lasting.AUTOSTART and not _is_seen(call, text):
        call.see(checks.AUTOSTART)


def _notice_agent(call: Call, path: str, content: Value) -> None:
    """An agent's own files: those of the user, or what tells an agent how to behave, written by a command."""
    is_users = plain_path(path).startswith("~/")
    if is_users and has_orders(content.text):
        call.see(checks.PLANTS_ORDERS)
    elif is_users or _is_foreign(content):
        call.see(checks.REWRITES_AGENT)


def _is_dubious(content: Value, text: str) -> bool:
    return _is_foreign(content) or fetches_and_runs(text) or (fetches(text) and ("|" in text or "-d" in text))


def _is_foreign(content: Value) -> bool:
    return any(content.comes_from(source) for source in (Source.NETWORK, Source.DECODED, Source.SOCKET))


@handles("crontab")
def run_crontab(call: Call) -> Value:
    """crontab: takes a whole table from a file or from what it reads."""
    plain = call.plain(with_value="u")
    if "-l" in call.texts:
        return Value("\n", frozenset([_OWN_TABLE]))
    if any(text in {"-e", "-r"} for text in call.texts):
        return NOTHING
    content = call.machine.read(plain[0].text, call.at) if plain and plain[0].text != "-" else call.stdin
    if not _is_plain_table(call, content):
        notice_job(call, content)
    return NOTHING


def _is_plain_table(call: Call, content: Value) -> bool:
    """Whether jobs start what lies in the open and stays as it is; that there are any, a rule over the text says."""
    text = content.text[:LONGEST]
    if not text.strip() and content.origins == {_OWN_TABLE}:
        return True
    jobs = _JOB.findall(text)
    is_known = bool(jobs) and not _is_foreign(content) and not fetches(text) and not _SCRATCH.search(text)
    run = [_LOGGED.sub("", job) for job in jobs]
    return is_known and not any(
        _UNSTEADY.search(job) or (_HIDDEN.search(job) and not _is_seen(call, job)) for job in run
    )


def _is_seen(call: Call, started: str) -> bool:
    """Whether every hidden program that is started was written by the same script, in words that show all of it."""
    hidden = [word for word in _WORD_WITH_PATH.findall(started) if _HIDDEN.search(word)]
    contents = [call.machine.files.written(word) for word in hidden]
    return bool(contents) and all(
        content is not None
        and content.is_known
        and not (_is_foreign(content) or fetches(content.text) or _DOES_MORE.search(content.text))
        for content in contents
    )


@handles("at batch")
def run_at(call: Call) -> Value:
    """at: code for later."""
    if call.stdin is not NOTHING:
        notice_job(call, call.stdin)
        call.machine.run_inner(call.stdin.text, stdin=NOTHING, at=call.at)
    return NOTHING


@handles("launchctl")
def run_launchctl(call: Call) -> Value:
    """launchctl: what it loads starts by itself."""
    is_started = bool(call.texts[:1]) and call.texts[0] in {"load", "bootstrap", "submit", "enable"}
    services = [content for text in call.texts[1:] if (content := call.machine.files.written(text)) is not None]
    if is_started and not (services and all(_is_seen(call, content.text[:LONGEST]) for content in services)):
        call.see(checks.AUTOSTART)
    return NOTHING


@handles("schtasks")
def run_schtasks(call: Call) -> Value:
    """schtasks, which is cron for Windows."""
    if "/create" in [text.lower() for text in call.texts]:
        call.see(checks.SCHEDULES)
    return NOTHING


@handles("systemctl")
def run_systemctl(call: Call) -> Value:
    """systemctl: starts services, and stops those that protect."""
    plain = [value.text for value in call.plain(with_value="tpM")]
    action, units = plain[0] if plain else "", plain[1:]
    if action in {"enable", "start", "restart"}:
        own = [unit for unit in units if _is_own_unit(call, unit)]
        if own and action == "enable" and ("--user" in call.texts):
            call.see(checks.AUTOSTART)
    elif action in {"stop", "disable", "mask", "kill"} and any(is_protection(unit) for unit in units):
        call.see(checks.STOPS_GUARD if any(map(is_guard, units)) else checks.DISABLES_PROTECTION)
    return NOTHING


def _is_own_unit(call: Call, unit: str) -> bool:
    name = unit if "." in unit else f"{unit}.service"
    return call.machine.files.written(name) is not None


_PROTECTION = re.compile(
    r"^(?:firewalld|ufw|apparmor|auditd|falcon-sensor|clamav[\w-]*|clamd|crowdstrike[\w-]*|osqueryd|wazuh[\w-]*|"
    r"fail2ban|selinux[\w-]*|sentinelone[\w-]*|carbonblack[\w-]*|"
    r"rsyslog|syslog|systemd-journald|mdatp|esets?|sophos[\w-]*|cbdaemon|littlesnitch[\w-]*|WinDefend|"
    r"MpsSvc)(?:\.service)?$",
    re.IGNORECASE,
)

_GUARD = re.compile(
    r"^(?:falcon-sensor|falcond?|crowdstrike[\w-]*|sentinel(?:one|agent|d)[\w-]*|carbonblack[\w-]*|cbagentd|cbdaemon|mdatp|"
    r"osqueryd|wazuh[\w-]*|esets?|sophos[\w-]*|ds_agent|taniumclient|xagt|WinDefend|MsMpEng|Sense|auditd|sysmon)(?:\.service)?$",
    re.IGNORECASE,
)


def is_guard(name: str) -> bool:
    """Whether a service or program looks for attackers; a firewall, which set-ups have reasons to stop, is none."""
    return _GUARD.match(name) is not None


def is_protection(name: str) -> bool:
    """Whether a service or program guards the machine or keeps its logs."""
    return _PROTECTION.match(name) is not None
