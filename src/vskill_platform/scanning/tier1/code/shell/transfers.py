"""Commands that carry files or words to other machines: copies, buckets, mail, repositories, names that are looked up."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.hosts import UNKNOWN, host_of
from vskill_platform.scanning.tier1.code.places import secret_at
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call, handles
from vskill_platform.scanning.tier1.code.shell.sending import Channel, notice_sent
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Origin, Source, Value, joined, unknown
from vskill_platform.scanning.tier1.skill import FactKind

_REMOTE = re.compile(r"(?:[^/:\s@]+@)?([^/:\s]+):(?!\\)")
_BUCKETS = {"s3": "amazonaws.com", "gs": "storage.googleapis.com"}
_ENCODED = re.compile(r"base64|base32|xxd|hex|od|tr|fold|md5|sha")


@handles("scp rsync sftp lftp ncftpput rclone")
def run_copy(call: Call) -> Value:
    """Copies between machines: what is not remote is sent to what is."""
    plain = call.plain(
        with_value="iPFloSJceTBf",
        long_with_value=frozenset(["--exclude", "--include", "--rsh", "--exclude-from", "--include-from", "--config"]),
    )
    if call.name == "rclone":
        plain = plain[1:]
    remote = [value for value in plain if _REMOTE.match(value.text) or "://" in value.text]
    if not remote or not plain or plain[-1] not in remote:
        return NOTHING
    host = _host_of_remote(remote[-1].text) if call.name != "rclone" else ""
    call.know(FactKind.SENDS, host)
    _notice_files(call, [value for value in plain if value not in remote], host)
    return NOTHING


def _host_of_remote(text: str) -> str:
    if "://" in text:
        return host_of(text)
    found = _REMOTE.match(text)
    return host_of(found[1]) if found and UNKNOWN not in found[1] else ""


def _notice_files(call: Call, paths: list[Value], host: str, *, channel: Channel = Channel.COPY) -> None:
    for path in paths:
        content = call.machine.read(path.text, call.at)
        notice_sent(call, content, host, channel)


@handles("ssh")
def run_ssh(call: Call) -> Value:
    """ssh: what flows in, flows to the other machine. What runs there is no matter of this one."""
    plain = call.plain(with_value="bcDEeFIiJLlmOopQRSWw")
    host = host_of(plain[0].text.rpartition("@")[2]) if plain else ""
    call.know(FactKind.REACHES, host)
    notice_sent(call, call.stdin, host, Channel.COPY)
    return unknown("ssh")


@handles("aws gsutil gcloud az s3cmd mc")
def run_bucket(call: Call) -> Value:
    """Copies into buckets. Whose bucket it is, a name does not say."""
    texts = call.texts
    is_copy = any(
        text in {"cp", "sync", "mv", "put", "rsync", "upload", "upload-batch", "storage"} for text in texts[:4]
    )
    target = next((text for text in texts if text.startswith(("s3://", "gs://"))), "")
    if not is_copy or not (target or call.name in {"az", "mc"}):
        return unknown(call.name, origins=call.stdin.origins)
    is_named = target and UNKNOWN not in target
    host = _BUCKETS.get(target.partition(":")[0], "") if is_named else ""
    sources = [Value(text) for text in texts if secret_at(text) or call.machine.files.written(text)]
    for source in sources:
        if call.machine.read(source.text, call.at).comes_from(Source.SECRET) and is_named:
            call.see(checks.COPIES_SECRET)
    if "-" in texts and call.stdin.comes_from(Source.SECRET):
        call.see(checks.COPIES_SECRET)
    call.know(FactKind.SENDS, host)
    return NOTHING


@handles("mail mailx mutt sendmail msmtp swaks ssmtp")
def run_mail(call: Call) -> Value:
    """Mail: the letter is what the command reads, and the files that it is told to attach."""
    recipient = next((text for text in call.texts if "@" in text), "")
    host = host_of(recipient.rpartition("@")[2])
    call.know(FactKind.SENDS, host)
    attached = [call.machine.read(text.lstrip("@"), call.at) for text in call.texts if secret_at(text.lstrip("@"))]
    notice_sent(call, joined([call.stdin, *call.arguments, *attached], by=" "), host or "mail.invalid", Channel.BODY)
    return NOTHING


@handles("dig nslookup host drill resolvectl getent ping kdig")
def run_lookup(call: Call) -> Value:
    """Looking up a name tells it to whoever owns the domain."""
    for value in call.plain(with_value="ctpWi"):
        host = host_of(value.text)
        if not value.is_known and host:
            notice_sent(call, value, host, Channel.NAME)
            if value.comes_from(Source.FILE) or _has_encoded(value.text):
                call.see(checks.LEAKS_BY_NAME)
    answers = [
        Origin(Source.NETWORK, host) for value in call.plain(with_value="ctpWi") if (host := host_of(value.text))
    ]
    return unknown(call.name, origins=answers if call.name in {"dig", "nslookup", "host", "drill", "kdig"} else [])


def _has_encoded(text: str) -> bool:
    """Whether a piece of the name was printed by something that turns data into letters."""
    return any(_ENCODED.fullmatch(piece) for piece in text.split(UNKNOWN)[1::2])


@handles("gh glab")
def run_forge(call: Call) -> Value:
    """Gists and issues: a file that is published there is out."""
    if call.texts[:2] in (["gist", "create"], ["snippet", "create"]):
        call.know(FactKind.SENDS, "gist.github.com")
        for path in call.plain()[2:]:
            content = call.machine.read(path.text, call.at)
            notice_sent(call, content, "gist.github.com", Channel.BODY)
        notice_sent(call, call.stdin, "gist.github.com", Channel.BODY)
    elif "--body-file" in call.texts or "-F" in call.texts or "--body" in call.texts:
        notice_sent(call, joined([call.stdin, *call.arguments], by=" "), "api.github.com", Channel.BODY)
    return unknown(call.name, origins=call.stdin.origins)


@handles("git")
def run_git(call: Call) -> Value:
    """git: secrets that are added and pushed, and settings that run commands."""
    texts = call.texts
    action = next((text for text in texts if not text.startswith("-") and "=" not in text and "/" not in text), "")
    if action == "add" and any(_is_key(text) for text in texts):
        call.machine.variables.set("(git)", Value("secrets"))
    elif action == "push" and call.machine.variables.is_set("(git)"):
        call.see(checks.COPIES_SECRET)
    elif action == "clone":
        _clone(call)
    elif action == "config":
        _configure(call, texts)
    return unknown("git", origins=call.stdin.origins)


def _is_key(text: str) -> bool:
    secret = secret_at(text)
    return secret is not None


def _clone(call: Call) -> None:
    plain = [
        value.text
        for value in call.plain(
            with_value="bcojuw", long_with_value=frozenset(["--branch", "--depth", "--config", "--origin"])
        )
    ]
    address = next((text for text in plain if "://" in text or _REMOTE.match(text)), "")
    if not address:
        return
    call.know(FactKind.REACHES, host_of(address) or _host_of_remote(address))
    call.machine.unpack(address)


def _configure(call: Call, texts: list[str]) -> None:
    """Settings of git for all repositories that make it run something."""
    is_global = any(text in {"--global", "--system"} for text in texts)
    setting = next((text.lower() for text in texts if "." in text and not text.startswith("-")), "")
    value = next((text for text in reversed(texts) if not text.startswith("-")), "")
    runs = setting in {"core.hookspath", "core.fsmonitor", "core.sshcommand", "init.templatedir"} or (
        setting == "credential.helper" and value.startswith("!")
    )
    if is_global and runs and value.lower() != setting:
        call.see(checks.GIT_HOOK)
