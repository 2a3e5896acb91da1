"""Commands that reach the network: what they fetch, what they send, and whether it was theirs to send."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from vskill_platform.scanning.tier1.code.hosts import (
    METADATA_HOSTS,
    UNKNOWN,
    HostKind,
    gives_identity,
    has_scheme,
    host_of,
    is_hidden_metadata,
    kind_of_host,
)
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call, handles
from vskill_platform.scanning.tier1.code.shell.sending import Channel, has_field_of_key, notice_sent
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Origin, Source, Value, joined, unknown
from vskill_platform.scanning.tier1.skill import FactKind

_DIGEST = re.compile(r"dgst|md5|sha\d+|blake2\w+|ripemd160|sm3")
_NUMBER = re.compile(r"[\d.]+|[0-9a-f:]*:[0-9a-f:]+")
"""A host that has no name."""
_CURL_LONG = (
    "--data --data-raw --data-binary --data-ascii --data-urlencode --json --form --form-string --upload-file "
    "--output --url --header --user --proxy --request "
    "--connect-timeout --max-time --retry --retry-delay --retry-max-time --cacert --capath --cert --key "
    "--user-agent --referer --cookie --cookie-jar --resolve "
    "--config --write-out --interface --limit-rate --proto --proto-redir --range --output-dir --connect-to "
    "--unix-socket --dns-servers --doh-url --url-query "
    "--variable --expand-url --expand-data --ciphers --tls-max --max-redirs --max-filesize --noproxy --proxy-user "
    "--socks5 --socks5-hostname --dump-header "
    "--stderr --trace --trace-ascii --speed-limit --speed-time --oauth2-bearer --aws-sigv4 --mail-from --mail-rcpt "
    "--netrc-file --time-cond"
)
CURL_LONG = frozenset(_CURL_LONG.split())
CURL_SHORT = "AbcCdDeEFhHKmoPQrtTuUwxXyYz"
_CURL_BODY = frozenset(
    [
        "-d",
        "--data",
        "--data-binary",
        "--data-ascii",
        "--data-urlencode",
        "--json",
        "--url-query",
        "--expand-data",
        "-F",
        "--form",
    ]
)
_WGET_LONG = (
    "--post-data --post-file --body-data --body-file --header --output-document --directory-prefix --output-file "
    "--user --password --user-agent --referer --method "
    "--timeout --tries --input-file --load-cookies --save-cookies --ca-certificate --certificate --private-key "
    "--wait --limit-rate --level --accept --reject"
)
WGET_LONG = frozenset(_WGET_LONG.split())
_LOGIN = re.compile(
    r"[\w-]*(?:auth|cookie|token|key|secret|session|credential)[\w-]*[ \t]*:|[^:\s]*:[^:\s]*\Z", re.IGNORECASE
)
"""Headers that clients log in with, and a user with a password."""
_LOGIN_SETTING = re.compile(r"(?m)^\s*-?-?(?:header|user|oauth2-bearer|H|u)\b")
"""The same in a file of settings, where tokens are kept from the list of processes."""


@dataclass(slots=True)
class Request:
    """What a command asks of a host."""

    addresses: list[Value] = field(default_factory=list)
    body: list[Value] = field(default_factory=list)
    headers: list[Value] = field(default_factory=list)
    output: Value | None = None
    is_named_by_address: bool = False
    folder: str = ""


@handles("curl curlie")
def run_curl(call: Call) -> Value:
    """curl."""
    request = Request()
    for name, value in call.options(with_value=CURL_SHORT, long_with_value=CURL_LONG):
        if name in {"", "--url", "--expand-url"}:
            request.addresses.append(value)
        elif name in _CURL_BODY:
            request.body += _curl_body(call, name, value)
        elif name in {"--data-raw", "--form-string"}:
            request.body.append(value)
        elif name in {"-T", "--upload-file"}:
            request.body.append(call.stdin if value.text in {"-", "."} else call.machine.read(value.text, call.at))
        elif name in {
            "-H",
            "--header",
            "-u",
            "--user",
            "-b",
            "--cookie",
            "-A",
            "--user-agent",
            "-e",
            "--referer",
            "--oauth2-bearer",
        }:
            request.headers.append(_header(call, value))
        elif name in {"-o", "--output"}:
            request.output = value
        elif name in {"-O", "--remote-name", "--remote-name-all", "-J"}:
            request.is_named_by_address = True
        elif name == "--output-dir":
            request.folder = value.text
        elif name in {"-K", "--config"} and value.text == "-":
            has_login = _LOGIN_SETTING.search(call.stdin.text) is not None
            (request.headers if has_login else request.addresses).append(call.stdin)
    return perform(call, request)


def _curl_body(call: Call, option: str, value: Value) -> Iterator[Value]:
    """What is sent: the text itself, or with `@` the content of a file."""
    if option in {"-F", "--form"}:
        name, _, given = value.text.partition("=")
        is_file = given.startswith(("@", "<"))
        path = given[1:].partition(";")[0].strip("\"'")
        yield _content(call, path) if is_file else Value(given or name, value.origins)
    elif option == "--data-urlencode" and "@" in value.text and "=" not in value.text.partition("@")[0]:
        yield _content(call, value.text.partition("@")[2])
    elif value.text.startswith("@") and option != "--url-query":
        yield _content(call, value.text[1:])
    else:
        yield value


def _header(call: Call, value: Value) -> Value:
    return _content(call, value.text[1:]) if value.text.startswith("@") else value


def _content(call: Call, path: str) -> Value:
    return call.stdin if path == "-" else call.machine.read(path, call.at)


@handles("wget wget2 axel")
def run_wget(call: Call) -> Value:
    """wget, which writes a file unless it is told not to."""
    request = Request(is_named_by_address=True)
    for name, value in call.options(with_value="OPoaietTQUlwADRIX", long_with_value=WGET_LONG):
        if not name:
            request.addresses.append(value)
        elif name in {"-O", "--output-document"}:
            request.output = value
        elif name in {"-P", "--directory-prefix"}:
            request.folder = value.text
        elif name in {"--post-data", "--body-data"}:
            request.body.append(value)
        elif name in {"--post-file", "--body-file"}:
            request.body.append(_content(call, value.text))
        elif name == "--header":
            request.headers.append(value)
        elif name in {"-i", "--input-file"} and value.text == "-":
            request.addresses.append(call.stdin)
    return perform(call, request)


@handles("aria2c fetch lwp-request lwp-download GET lynx links w3m elinks")
def run_fetcher(call: Call) -> Value:
    """Other commands that fetch."""
    request = Request(is_named_by_address=call.name in {"aria2c", "fetch", "lwp-download"})
    letters = "od" if call.name in {"aria2c", "fetch"} else ""
    for name, value in call.options(with_value=letters, long_with_value=frozenset(["--out", "--dir", "--output"])):
        if not name:
            request.addresses.append(value)
        elif name in {"-o", "--out", "--output"} and value is not NOTHING:
            request.output = value
        elif name in {"-d", "--dir"} and value is not NOTHING:
            request.folder = value.text
    return perform(call, request)


@handles("http https xh xhs")
def run_httpie(call: Call) -> Value:
    """HTTPie: a method, an address, and fields; `@` sends a file, `:` makes a header."""
    request = Request()
    for _name, value in call.options(with_value="ao", long_with_value=frozenset(["--auth", "--output", "--timeout"])):
        text = value.text
        if _name in {"-o", "--output"}:
            request.output = value
        elif _name or text in {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}:
            continue
        elif not request.addresses:
            request.addresses.append(value)
        elif "@" in text and has_file(text):
            request.body.append(_content(call, text.partition("@")[2]))
        else:
            (request.body if "=" in text else request.headers).append(value)
    if call.stdin is not NOTHING:
        request.body.append(call.stdin)
    return perform(call, request)


def has_file(field_text: str) -> bool:
    """Whether a field of HTTPie names a file."""
    name, _, path = field_text.partition("@")
    return "=" not in name and ":" not in name and bool(path)


@handles("certutil bitsadmin Invoke-WebRequest iwr Start-BitsTransfer mshta regsvr32")
def run_windows_fetcher(call: Call) -> Value:
    """Windows' own ways to fetch a file, as they turn up in shell blocks."""
    addresses = [value for value in call.arguments if has_scheme(value.text)]
    if call.name in {"mshta", "regsvr32"} and any(host_of(address.text) for address in addresses):
        call.see(checks.runs_download([address.text for address in addresses]) or checks.RUNS_DOWNLOAD_REPOSITORY)
    paths = [value for value in call.arguments if not has_scheme(value.text) and not value.text.startswith(("-", "/"))]
    return perform(call, Request(addresses=addresses, output=paths[-1] if paths and addresses else None))


def perform(call: Call, request: Request) -> Value:
    """Fetches and sends: gives what the command prints, writes what it writes, and notices what leaves."""
    addresses = [address for address in request.addresses if address.text]
    if not addresses:
        return unknown(call.name, origins=call.stdin.origins)
    hosts = [host_of(address.text) for address in addresses]
    for host in hosts:
        call.know(FactKind.REACHES, host)
        call.know(FactKind.DOWNLOADS, "")
    if any(kind_of_host(host) is not HostKind.LOCAL for host in hosts):
        call.machine.act(call.at)
    _notice(call, request, addresses, hosts)
    origins = [Origin(Source.NETWORK, address.text) for address in addresses]
    if not METADATA_HOSTS.isdisjoint(hosts):
        origins += _notice_metadata(call, addresses)
    answer = unknown(f"answer:{addresses[0].text[:60]}", origins=origins)
    if request.output is None and not request.is_named_by_address:
        return answer
    return _save(call, request, answer, addresses[0].text)


def _save(call: Call, request: Request, answer: Value, address: str) -> Value:
    name = (
        request.output.text if request.output is not None else address.partition("?")[0].rstrip("/").rpartition("/")[2]
    )
    if name in {"-", "/dev/stdout"} or (request.output is None and not name):
        return answer
    path = f"{request.folder.rstrip('/')}/{name}" if request.folder else name
    call.machine.write(Value(path), answer, call.at)
    return NOTHING


def _notice_metadata(call: Call, addresses: list[Value]) -> Iterator[Origin]:
    """What a machine in a cloud is told of itself; gives what of it is a secret."""
    for address in addresses:
        if is_hidden_metadata(address.text):
            call.see(checks.HIDDEN_METADATA)
        if gives_identity(address.text):
            call.know(FactKind.READS_SECRET, "cloud identity")
            yield Origin(Source.SECRET, "cloud identity")


def _notice(call: Call, request: Request, addresses: list[Value], hosts: list[str]) -> None:
    for host in hosts:
        if request.body:
            call.know(FactKind.SENDS, host)
        if any(value.comes_from(Source.FILE) for value in request.body):
            call.know(FactKind.SENDS_FILE, host)
        for channel in (Channel.FIELD, Channel.BODY):
            sent = [value for value in request.body if has_field_of_key(value.text) is (channel is Channel.FIELD)]
            notice_sent(call, joined(sent, by=" "), host, channel)
        for header in request.headers:
            notice_sent(call, header, host, Channel.HEADER if _LOGIN.match(header.text) else Channel.LABEL)
        for address in addresses:
            notice_sent(call, address, host, Channel.FIELD if has_field_of_key(address.text) else Channel.ADDRESS)


@handles("nc ncat netcat nc.traditional nc.openbsd telnet")
def run_netcat(call: Call) -> Value:
    """netcat: sends what it reads, prints what comes, and may hand over a shell."""
    program = NOTHING
    plain: list[Value] = []
    is_scan = is_listening = False
    for name, value in call.options(
        with_value="ecgGiIoOpPqsTVwWxXm",
        long_with_value=frozenset(["--exec", "--sh-exec", "--source-port", "--proxy", "--wait"]),
    ):
        if name in {"-e", "-c", "--exec", "--sh-exec"}:
            program = value
        elif name in {"-z", "-l", "-k"}:
            is_scan |= name == "-z"
            is_listening |= name != "-z"
        elif not name:
            plain.append(value)
    address = ":".join(value.text for value in plain[:2])
    call.know(FactKind.REACHES, host_of(address))
    if program.text:
        call.see(checks.REVERSE_SHELL if is_listening else checks.reverse_shell(address))
    if is_scan:
        return NOTHING
    if call.stdin is not NOTHING:
        send_to_socket(call, address)
    return unknown("socket", origins=[Origin(Source.SOCKET, address)])


def send_to_socket(call: Call, address: str) -> None:
    """What flows into a connection."""
    host = host_of(address)
    call.know(FactKind.SENDS, host)
    if call.stdin.text.startswith(f"{UNKNOWN}shell{UNKNOWN}"):
        call.see(checks.reverse_shell(address))
    notice_sent(call, call.stdin, host, Channel.BODY)
    is_printed = call.stdin.text.startswith(UNKNOWN) and call.stdin.text.endswith(UNKNOWN)
    if is_printed and _NUMBER.fullmatch(host) and kind_of_host(host) is HostKind.THROWAWAY:
        call.see(checks.SENDS_TO_NUMBER)


@handles("logger")
def run_logger(call: Call) -> Value:
    """logger: with a server it sends what it reads to another machine's log."""
    servers = call.options(with_value="fnPpti", long_with_value=frozenset(["--server", "--port", "--file", "--tag"]))
    address = next((value.text for name, value in servers if name in {"-n", "--server"}), "")
    if address and call.stdin is not NOTHING:
        send_to_socket(call, address)
    return NOTHING


@handles("socat")
def run_socat(call: Call) -> Value:
    """socat: joins two ends; a shell at one and the network at the other is remote control."""
    ends = [value.text for value in call.plain()]
    runs = any(end.upper().startswith(("EXEC:", "SYSTEM:")) for end in ends)
    network = [end for end in ends if end.upper().startswith(("TCP", "UDP", "OPENSSL", "SSL"))]
    if not network:
        return NOTHING
    kind, _, address = network[0].partition(":")
    if runs:
        call.see(checks.REVERSE_SHELL if "LISTEN" in kind.upper() else checks.reverse_shell(address))
    if call.stdin is not NOTHING:
        send_to_socket(call, address)
    return unknown("socket", origins=[Origin(Source.SOCKET, address)])


@handles("openssl")
def run_openssl(call: Call) -> Value:
    """openssl: a connection, or a way to encode and decode."""
    words = call.texts
    if "s_client" in words:
        at = next((number for number, word in enumerate(words) if word in {"-connect", "-host"}), None)
        address = (
            words[at + 1]
            if at is not None and at + 1 < len(words)
            else next((word for word in words[1:] if ":" in word), "")
        )
        if call.stdin is not NOTHING:
            send_to_socket(call, address)
        return unknown("socket", origins=[Origin(Source.SOCKET, address)])
    if _DIGEST.fullmatch(words[0] if words else ""):
        return call.machine.run_words([Value("(openssl-digest)"), *call.arguments], stdin=call.stdin, at=call.at)
    return call.machine.run_words([Value("(openssl-enc)"), *call.arguments], stdin=call.stdin, at=call.at)
