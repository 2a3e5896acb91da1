"""Commands that carry files or words to other machines: copies, buckets, mail, repositories, names that are looked up."""

from __future__ import annotations

import re
from itertools import pairwise

from vskill_platform.scanning.tier1.code.hosts import UNKNOWN, HostKind, has_scheme, host_of, kind_of_host
from vskill_platform.scanning.tier1.code.places import secret_at
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call, handles
from vskill_platform.scanning.tier1.code.shell.sending import Channel, notice_sent
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Origin, Source, Value, joined, unknown
from vskill_platform.scanning.tier1.skill import FactKind

_REMOTE = re.compile(r"(?:[^/:\s@]+@)?([^/:\s]+):(?!\\)")
_BUCKETS = {"s3": "amazonaws.com", "gs": "storage.googleapis.com"}
_INNER_PORT = re.compile(r":(?:22|2375|2376|3389|5900|5901|6443|9229|10250)\Z")
"""Ports behind which a machine lets itself be controlled."""
_KUBECTL_VALUES = frozenset(
    ["--namespace", "--output", "--context", "--kubeconfig", "--cluster", "--user", "--selector", "--field-selector"]
)
_SSH_VALUES = "bcDEeFIiJLlmOopQRSWw"
"""The options of ssh that have a value."""
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
    call.know(FactKind.SENDS_FILE, host)
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


@handles("ssh autossh")
def run_ssh(call: Call) -> Value:
    """ssh: what flows in, flows to the other machine. What runs there is no matter of this one."""
    plain = call.plain(with_value=_SSH_VALUES if call.name == "ssh" else f"{_SSH_VALUES}M")
    host = host_of(plain[0].text.rpartition("@")[2]) if plain else ""
    call.know(FactKind.REACHES, host)
    _notice_tunnel(call, host)
    notice_sent(call, call.stdin, host, Channel.COPY)
    return unknown("ssh")


def _notice_tunnel(call: Call, host: str) -> None:
    """A way back into the machine: its own log-in, its container engine, a debugger or its screen, for somebody elsewhere."""
    forwarded = [value.text for name, value in call.options(with_value=_SSH_VALUES) if name == "-R"]
    is_way_in = any(_INNER_PORT.search(text) for text in forwarded)
    if is_way_in and kind_of_host(host) in {HostKind.NAMED, HostKind.THROWAWAY}:
        call.see(checks.REVERSE_TUNNEL)


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
    chosen = [after for before, after in pairwise(texts) if before == "--include"]
    if is_named and any(secret_at(text) for text in chosen):
        call.see(checks.COPIES_SECRET)
    for source in sources:
        if call.machine.read(source.text, call.at).comes_from(Source.SECRET) and is_named:
            call.see(checks.COPIES_SECRET)
    if "-" in texts and call.stdin.comes_from(Source.SECRET):
        call.see(checks.COPIES_SECRET)
    call.know(FactKind.SENDS, host)
    endpoint = next((after for before, after in pairwise(texts) if before == "--endpoint-url"), "")
    call.know(FactKind.SENDS_FILE, host_of(endpoint) if endpoint else "")
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
        host = _asked_of(value.text)
        if not value.is_known and host:
            notice_sent(call, value, host, Channel.NAME)
            if value.comes_from(Source.FILE) or _has_encoded(value.text):
                call.see(checks.LEAKS_BY_NAME)
    answers = [
        Origin(Source.NETWORK, host) for value in call.plain(with_value="ctpWi") if (host := host_of(value.text))
    ]
    return unknown(call.name, origins=answers if call.name in {"dig", "nslookup", "host", "drill", "kdig"} else [])


def _asked_of(name: str) -> str:
    """Whose name it is, as far as its end is known: what stands in front may have signs in its mark that no name has."""
    _, gap, known = name.rpartition(UNKNOWN)
    return host_of(f"x{known}" if gap and known.startswith(".") else name)


def _has_encoded(text: str) -> bool:
    """Whether a piece of the name was printed by something that turns data into letters."""
    return any(_ENCODED.fullmatch(piece) for piece in text.split(UNKNOWN)[1::2])


@handles("gh glab")
def run_forge(call: Call) -> Value:
    """Gists and issues: a file that is published there is out, and what is read there anybody may have written."""
    texts = call.texts
    if texts[:2] in (["gist", "create"], ["snippet", "create"]):
        call.know(FactKind.SENDS, "gist.github.com")
        contents = [call.stdin, *(call.machine.read(path.text, call.at) for path in call.plain()[2:])]
        for content in contents:
            notice_sent(call, content, "gist.github.com", Channel.BODY)
        if any(content.comes_from(Source.SECRET) for content in contents):
            call.see(checks.SENDS_SECRET)
    elif texts[:1] in (["secret"], ["variable"]):
        pass  # where a repository keeps its own secrets
    elif "--body-file" in texts or "-F" in texts or "--body" in texts:
        notice_sent(call, joined([call.stdin, *call.arguments], by=" "), "api.github.com", Channel.BODY)
    elif texts[:1] == ["api"] and "DELETE" in texts and any("/protection" in text for text in texts):
        call.see(checks.DISABLES_PROTECTION)
    written_by_anybody = texts[:1] in (["issue"], ["pr"], ["gist"], ["discussion"], ["mr"])
    origins = [Origin(Source.NETWORK, "https://gist.github.com/")] if written_by_anybody else []
    return unknown(call.name, origins=[*call.stdin.origins, *origins])


@handles("claude codex gemini opencode cursor-agent aider goose")
def run_agent(call: Call) -> Value:
    """An agent that is started: what it is told to do should come from its user, and a server it is to ask gets its own keys."""
    if call.texts[:2] == ["mcp", "add"]:
        _notice_server(call)
    given = [call.stdin, *call.arguments]
    addresses = [address for value in given for address in value.details(Source.NETWORK)]
    if checks.come_from_stranger(addresses):
        call.see(checks.PROMPTS_FROM_NETWORK)
    return unknown(call.name)


def _notice_server(call: Call) -> None:
    host = next((host_of(text) for text in call.texts if has_scheme(text)), "")
    for name, value in call.options(with_value="H", long_with_value=frozenset(["--header"])):
        if host and name in {"-H", "--header"}:
            notice_sent(call, value, host, Channel.HEADER)


@handles("kubectl oc")
def run_kubectl(call: Call) -> Value:
    """kubectl: all secrets of a cluster are another thing than one value of one of them."""
    plain = [value.text for value in call.plain(with_value="nocfl", long_with_value=_KUBECTL_VALUES)]
    names_secrets = (
        len(plain) > 1 and plain[0] == "get" and any(kind in {"secret", "secrets"} for kind in plain[1].split(","))
    )
    if plain[:2] == ["config", "view"] and {"--raw", "--flatten"} & set(call.texts):
        return call.machine.read("~/.kube/config", call.at)
    if plain[:2] == ["create", "token"]:
        return unknown("token").having(Source.SECRET, "token of a cluster")
    if names_secrets and len(plain) == 2:
        call.know(FactKind.READS_SECRET, "cluster secrets")
        return unknown("secrets").having(Source.SECRET, "cluster secrets")
    return unknown(call.name, origins=call.stdin.origins)


_SHOWS_CODE = frozenset(["diff", "show", "archive", "bundle", "format-patch", "cat-file"])
_AS_PATCH = frozenset(["-p", "-u", "--patch"])


@handles("git")
def run_git(call: Call) -> Value:
    """git: secrets that are added and pushed, and settings that run commands."""
    texts = call.texts[2:] if call.texts[:1] == ["-C"] else call.texts
    action = next((text for text in texts if not text.startswith("-") and "=" not in text and "/" not in text), "")
    if action == "add" and any(_is_key(text) for text in texts):
        call.machine.variables.set("(git)", Value("secrets"))
    elif action == "push":
        _push(call, texts)
    elif action == "clone":
        _clone(call)
    elif action == "config":
        _configure(call, texts)
    elif action == "remote" and {"set-url", "--push", "--add"} <= set(texts):
        _notice_redirection(call, texts[-1])
    elif action == "remote" and "add" in texts and len(texts) > 3 and _is_strange(texts[-1]):
        call.machine.variables.set(f"(remote {texts[-2]})", Value(texts[-1]))
    is_code = action in _SHOWS_CODE or (action == "log" and not _AS_PATCH.isdisjoint(texts))
    code = [Origin(Source.FILE, "repository")] if is_code else []
    return unknown("git", origins=[*call.stdin.origins, *code])


def _push(call: Call, texts: list[str]) -> None:
    """What is pushed: secrets that were added before, or all there is to a host that the script names itself.

    What the script has cloned itself is not the user's.
    """
    if call.machine.variables.is_set("(git)"):
        call.see(checks.COPIES_SECRET)
    targets = [text for text in texts if _is_strange(text) or call.machine.variables.is_set(f"(remote {text})")]
    if targets and {"--all", "--mirror"} & set(texts) and not call.machine.unpacked:
        call.see(checks.PUSHES_AWAY)


def _is_strange(address: str) -> bool:
    """Whether an address is on a host that is no known forge."""
    if "://" not in address and "@" not in address:
        return False
    return kind_of_host(host_of(address) or _host_of_remote(address)) in {HostKind.NAMED, HostKind.THROWAWAY}


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
        call.see(checks.DISABLES_PROTECTION if value == "/dev/null" else checks.GIT_HOOK)
    elif is_global and setting == "http.sslverify" and value.lower() in {"false", "0"}:
        call.see(checks.DISABLES_PROTECTION)
    elif setting.startswith("url.") and setting.endswith((".insteadof", ".pushinsteadof")):
        _notice_redirection(call, setting.removeprefix("url."))
    elif is_global and setting in {"http.proxy", "https.proxy"} and value.lower() != setting:
        _notice_redirection(call, value)


def _notice_redirection(call: Call, address: str) -> None:
    """Code that is pushed or fetched then goes by way of a host that the user did not choose."""
    if _is_strange(address) or kind_of_host(host_of(address)) in {HostKind.NAMED, HostKind.THROWAWAY}:
        call.see(checks.REDIRECTS_GIT)
