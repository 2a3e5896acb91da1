"""Commands that can harm the machine: deletion, disks, rights, protection, traces, miners."""

from __future__ import annotations

import re
from itertools import pairwise

from vskill_platform.scanning.tier1.code.hosts import UNKNOWN
from vskill_platform.scanning.tier1.code.jobs import fetches_and_runs
from vskill_platform.scanning.tier1.code.places import (
    holds_backups,
    is_disk,
    is_hidden,
    is_history,
    is_home,
    is_log,
    is_personal,
    is_system_place,
    is_system_root,
    plain_path,
    secret_at,
)
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call, handles
from vskill_platform.scanning.tier1.code.shell.lasting import is_guard, is_protection
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Source, Value, unknown

_SETUID = re.compile(r"[ug]*\+[rwx]*s|[4-7][0-7]{3}|0[4-7][0-7]{3}")
_STARTS = re.compile(
    r"CurrentVersion\\?(?:Run|RunOnce|PoliciesExplorerRun|Policies\\Explorer\\Run)\b|\\?Winlogon\b", re.IGNORECASE
)
"""Keys of the registry that start programs; a shell that is not of Windows takes the strokes out."""
_CRADLE = re.compile(
    r"(?i)\b(?:iex|invoke-expression|downloadstring|bitsadmin|certutil)\b|\bmshta\s+https?:|\s-e(?:nc\w*|c)?\s"
)
"""How Windows is told to run what it fetches or decodes."""
_OPEN = re.compile(r"0?777|a\+rwx|ugo\+rwx|o\+w")
_MAY_BE_EMPTY = re.compile(
    rf"{UNKNOWN}(\w+){UNKNOWN}/(?:\*|\.\*)?\Z|{UNKNOWN}(\w+){UNKNOWN}/(?:bin|lib|usr|etc|home|var|opt)(?:/|\Z)"
)


@handles("rm unlink srm rmdir trash")
def run_rm(call: Call) -> Value:
    """rm."""
    flags = "".join(text for text in call.texts if text.startswith("-"))
    is_recursive = "r" in flags.lower() and call.name in {"rm", "srm"}
    for path in call.plain():
        text = path.text
        if is_history(text) or (is_log(text) and "*" not in text.rpartition("/")[2].rstrip("*")):
            call.see(checks.WIPES_TRACES)
        elif is_recursive and (is_home(text) or is_system_root(text)):
            is_by_accident = text in {"/", "/*"} and path.comes_from(Source.VARIABLE)
            call.see(checks.MAY_DELETE_ROOT if is_by_accident else checks.DELETES_EVERYTHING)
        elif is_recursive and is_personal(text):
            call.see(checks.DELETES_PERSONAL)
        elif is_recursive and holds_backups(text):
            call.see(checks.DELETES_BACKUPS)
        elif is_recursive and _may_be_root(call, path):
            call.see(checks.MAY_DELETE_ROOT)
    return NOTHING


def _may_be_root(call: Call, path: Value) -> bool:
    """Whether the path is `/` when a variable is empty that nothing here has set."""
    found = _MAY_BE_EMPTY.match(path.text)
    name = (found[1] or found[2]) if found else ""
    return bool(name) and name in path.details(Source.VARIABLE) and not call.machine.variables.is_set(name)


@handles("shred wipe")
def run_shred(call: Call) -> Value:
    """shred."""
    for path in call.plain(with_value="ns"):
        if is_disk(path.text):
            call.see(checks.OVERWRITES_DISK)
        elif is_home(path.text) or is_system_root(path.text):
            call.see(checks.DELETES_EVERYTHING)
        elif is_personal(path.text) or secret_at(path.text):
            call.see(checks.DELETES_PERSONAL)
        elif is_history(path.text) or is_log(path.text):
            call.see(checks.WIPES_TRACES)
    return NOTHING


@handles("mkfs mkfs.ext4 mkfs.ext3 mkfs.xfs mkfs.btrfs mkfs.vfat mke2fs wipefs sgdisk blkdiscard")
def run_mkfs(call: Call) -> Value:
    """New file systems on old disks."""
    if any(is_disk(text) for text in call.texts):
        call.see(checks.OVERWRITES_DISK)
    return NOTHING


@handles("truncate")
def run_truncate(call: Call) -> Value:
    """truncate, which empties files."""
    if any(is_history(path.text) or is_log(path.text) for path in call.plain(with_value="s")):
        call.see(checks.WIPES_TRACES)
    return NOTHING


@handles("chmod")
def run_chmod(call: Call) -> Value:
    """chmod."""
    plain = call.plain()
    mode = next((text for text in call.texts if _SETUID.fullmatch(text) or _OPEN.fullmatch(text)), "")
    targets = [value.text for value in plain if value.text != mode]
    if mode and _SETUID.fullmatch(mode) and mode not in {"g+s", "2775"} and not mode.startswith(("g", "2", "02")):
        call.see(checks.GRANTS_ROOT)
    elif mode and any(is_system_place(target) or is_home(target) or is_system_root(target) for target in targets):
        call.see(checks.OPENS_SYSTEM)
    if any(_is_hidden_download(call, value.text) for value in plain):
        call.see(checks.HIDES_DOWNLOAD)
    return NOTHING


def _is_hidden_download(call: Call, path: str) -> bool:
    """Whether a file that listings leave out has come from a stranger."""
    content = call.machine.files.exactly(plain_path(path)) if is_hidden(path) else None
    return content is not None and checks.come_from_stranger(content.details(Source.NETWORK))


@handles("chpasswd")
def run_chpasswd(call: Call) -> Value:
    """A password that the script chooses for somebody."""
    if call.stdin.text.startswith("root:") or call.stdin.is_known:
        call.see(checks.GRANTS_ROOT)
    return NOTHING


@handles("useradd adduser usermod")
def run_useradd(call: Call) -> Value:
    """A second root."""
    texts = call.texts
    if any(before in {"-u", "--uid"} and after == "0" for before, after in pairwise(texts)):
        call.see(checks.GRANTS_ROOT)
    return NOTHING


@handles("setcap")
def run_setcap(call: Call) -> Value:
    """setcap, which gives a program the rights of root."""
    if any(re.search(r"cap_(?:setuid|sys_admin|dac_override|sys_ptrace)", text) for text in call.texts):
        call.see(checks.GRANTS_ROOT)
    return NOTHING


@handles(
    "setenforce ufw iptables nft csrutil spctl pfctl netsh Set-MpPreference Add-MpPreference tamper auditctl "
    "apparmor_parser aa-disable aa-teardown"
)
def run_guard(call: Call) -> Value:
    """Commands that switch what protects the machine on and off."""
    words = [text.lower() for text in call.texts]
    off = {
        "setenforce": {"0", "permissive"},
        "ufw": {"disable", "reset"},
        "iptables": {"-f", "--flush"},
        "nft": {"flush"},
        "csrutil": {"disable"},
        "spctl": {"--master-disable", "--global-disable"},
        "pfctl": {"-d"},
        "netsh": {"off"},
        "auditctl": {"-d", "-e0"},
    }.get(call.name)
    if off is None or off & set(words):
        call.see(checks.DISABLES_PROTECTION)
    return NOTHING


@handles("reg reg.exe")
def run_reg(call: Call) -> Value:
    """The registry of Windows: what starts with the user is a list in it."""
    texts = [text.replace("\\\\", "\\") for text in call.texts]
    if texts[:1] and texts[0].lower() == "add" and any(map(_STARTS.search, texts[1:2])):
        is_fetched = any(fetches_and_runs(text) or _CRADLE.search(text) for text in texts[2:])
        call.see(checks.SCHEDULES_FETCH if is_fetched else checks.AUTOSTART)
    return unknown("reg")


@handles("xattr")
def run_xattr(call: Call) -> Value:
    """xattr: takes the mark off what came from the network."""
    removes = any(text.startswith("-") and set(text[1:]) & {"c", "d"} for text in call.texts)
    plain = [value.text for value in call.plain()]
    is_mark = any("quarantine" in text for text in plain) or any(
        "c" in text for text in call.texts if text.startswith("-")
    )
    targets = [text for text in plain if "quarantine" not in text]
    if removes and is_mark:
        fetched = any(
            (found := call.machine.files.written(target)) is not None and found.comes_from(Source.NETWORK)
            for target in targets
        )
        if fetched or call.machine.unpacked:
            call.see(checks.REMOVES_QUARANTINE)
    return NOTHING


@handles("pkill killall kill taskkill")
def run_kill(call: Call) -> Value:
    """Ending programs: those that protect do not want to be ended."""
    names = [text.removesuffix(".exe") for text in call.texts]
    if any(map(is_guard, names)):
        call.see(checks.STOPS_GUARD)
    elif any(map(is_protection, names)):
        call.see(checks.DISABLES_PROTECTION)
    return NOTHING


@handles("timeshift")
def run_timeshift(call: Call) -> Value:
    """timeshift, which keeps what a machine was like before."""
    if "--delete-all" in call.texts:
        call.see(checks.DELETES_BACKUPS)
    return NOTHING


@handles("journalctl wevtutil")
def run_journal(call: Call) -> Value:
    """Logs, read or emptied."""
    vacuum = [text for text in call.texts if re.fullmatch(r"--vacuum-time=[01]s|--vacuum-size=[01][KM]?", text)]
    if vacuum or (call.name == "wevtutil" and "cl" in call.texts):
        call.see(checks.WIPES_TRACES)
    return unknown(call.name)


@handles("xmrig minerd cpuminer ethminer nbminer t-rex lolminer phoenixminer cgminer bfgminer nanominer")
def run_miner(call: Call) -> Value:
    """Miners, by the names they are known under."""
    call.see(checks.MINER)
    return NOTHING


@handles("dscl")
def run_dscl(call: Call) -> Value:
    """dscl -authonly tries a password, which only its owner should have to type."""
    if any("authonly" in text for text in call.texts):
        call.see(checks.ASKS_PASSWORD)
    return NOTHING
