"""The network: what is asked for, what is sent, and what comes back."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.hosts import (
    UNKNOWN,
    HostKind,
    gives_identity,
    has_scheme,
    host_of,
    is_hidden_metadata,
    kind_of_address,
)
from vskill_platform.scanning.tier1.code.javascript import checks
from vskill_platform.scanning.tier1.code.javascript.calls import SOURCES, Call, handles
from vskill_platform.scanning.tier1.code.javascript.checks import HIDES_ADDRESS
from vskill_platform.scanning.tier1.code.javascript.values import NOTHING, Origin, Source, Value, all_origins, text_of
from vskill_platform.scanning.tier1.code.sending import Channel, has_field_of_key, is_field_of_key
from vskill_platform.scanning.tier1.code.shell.checks import HIDDEN_METADATA
from vskill_platform.scanning.tier1.skill import FactKind

_BODIES = (
    "body",
    "data",
    "json",
    "form",
    "formData",
    "params",
    "searchParams",
    "query",
    "multipart",
    "content",
    "text",
    "html",
    "attachments",
)
_LOGIN = re.compile(r"auth|cookie|token|key|secret|session|credential|^user(?:name)?$|^pass(?:word)?$", re.IGNORECASE)
"""Names of headers that clients log in with."""
_SENDING = frozenset(["post", "put", "patch"])


def _address(call: Call) -> Value:
    """Where a request goes: the first argument, or what its options say."""
    first = call.argument(0)
    if first.text is not None:
        return first
    options = first if first.fields is not None else NOTHING
    whole = options.field("url", "uri", "baseURL", "href")
    if whole.text is not None or whole.origins:
        path = options.field("path")
        return whole if not path.origins else Value(text_of(whole), origins=whole.origins | path.origins)
    host = options.field("hostname", "host")
    if host.text is not None:
        path = options.field("path", "pathname")
        return Value(
            f"https://{host.text}{text_of(path, 'path') if path is not NOTHING else ''}",
            origins=host.origins | path.origins,
        )
    return Value(f"{UNKNOWN}{first.path or 'address'}{UNKNOWN}", origins=first.origins)


def _answer(call: Call) -> frozenset[Origin]:
    return frozenset([Origin(Source.NETWORK, text_of(_address(call)))])


SOURCES["(http)"] = _answer


@handles(".post .put .patch")
def run_request_of_any(call: Call) -> Value:
    """A request by a client that nobody knows, where it says the whole address."""
    return run_request(call) if has_scheme(text_of(call.argument(0))) else Value(origins=all_origins(call.arguments))


@handles("(http) $.post $.get $.ajax $.getJSON jQuery.post jQuery.get jQuery.ajax")
def run_request(call: Call) -> Value:
    """A request of any client: its address, its headers and its body leave, and an answer comes."""
    if call.callee.name in {
        "create",
        "extend",
        "defaults",
        "Agent",
        "createServer",
        "isAxiosError",
        "Headers",
        "Request",
        "FormData",
    }:
        return Value(
            path=call.callee.path.partition(".")[0] if call.callee.name in {"create", "extend", "defaults"} else "",
            origins=all_origins(call.arguments),
        )
    address = _address(call)
    text = text_of(address)
    _reach(call, text)
    if _is_hidden(call, address):
        call.world.see(HIDES_ADDRESS, call.at)
    options = [argument for argument in call.arguments if argument.fields is not None]
    is_sending = call.callee.name in _SENDING
    bodies = [option.fields[name] for option in options if option.fields for name in _BODIES if name in option.fields]
    headers = [option.field("headers", "auth", "cookies") for option in options]
    if is_sending and len(call.arguments) > 1 and not bodies:
        bodies.append(call.argument(1))
    elif is_sending and len(call.arguments) > 1 and call.callee.path.startswith("axios"):
        bodies.append(Value(origins=call.argument(1).origins))
    call.world.send([address], text, Channel.FIELD if has_field_of_key(text) else Channel.ADDRESS, call.at)
    if bodies:
        call.world.know(FactKind.SENDS, call.at, host_of(text))
        _know_file(call, bodies, text)
        _send_bodies(call, bodies, text)
    _send_headers(call, headers, text)
    answer = frozenset([Origin(Source.NETWORK, text), *_identity(call, text)])
    return Value(path="connection()", origins=answer, fields={"address": Value(text)})


def _is_hidden(call: Call, address: Value) -> bool:
    """Whether an address stands nowhere in the program, and is made of something that does."""
    if not address.comes_from(Source.DECODED):
        return False
    if has_scheme(text_of(address)):
        host = host_of(text_of(address))
        return bool(host) and not call.world.is_written(host)
    return text_of(address).startswith(UNKNOWN) and all(origin.source is Source.DECODED for origin in address.origins)


def _send_bodies(call: Call, bodies: list[Value], address: str) -> None:
    """Bodies, and by themselves the fields of them in which a service asks for its own key."""
    keys = [value for body in bodies for name, value in (body.fields or {}).items() if is_field_of_key(name)]
    if not keys:
        call.world.send(bodies, address, Channel.BODY, call.at)
        return
    call.world.send(keys, address, Channel.FIELD, call.at)
    others = [value for body in bodies for name, value in (body.fields or {}).items() if not is_field_of_key(name)]
    call.world.send([*others, *(body for body in bodies if not body.fields)], address, Channel.BODY, call.at)


def _know_file(call: Call, sent: list[Value], address: str) -> None:
    if any(value.path.startswith("file()") or value.comes_from(Source.FILE) for value in sent):
        call.world.know(FactKind.SENDS_FILE, call.at, host_of(address))


def _identity(call: Call, address: str) -> list[Origin]:
    """What a machine in a cloud is asked about itself."""
    if is_hidden_metadata(address):
        call.world.see(HIDDEN_METADATA, call.at)
    if not gives_identity(address):
        return []
    call.world.know(FactKind.READS_SECRET, call.at, "cloud identity")
    return [Origin(Source.SECRET, "cloud identity")]


def _send_headers(call: Call, headers: list[Value], address: str) -> None:
    for header in headers:
        for name, value in (header.fields or {"authorization": header}).items():
            channel = Channel.HEADER if _LOGIN.search(name) else Channel.LABEL
            call.world.send([value], address, channel, call.at)


def _reach(call: Call, address: str) -> None:
    call.world.know(FactKind.REACHES, call.at, host_of(address))
    call.world.know(FactKind.DOWNLOADS, call.at, "")
    if kind_of_address(address) is not HostKind.LOCAL:
        call.world.act("network", call.at)


@handles(
    "connection().write connection().end connection().send connection().field connection().attach connection().set "
    "connection().post connection().emit connection().sendMail"
)
def run_send(call: Call) -> Value:
    """What is written into a connection; a datagram says itself where it goes."""
    address = text_of(call.receiver.field("address"))
    if UNKNOWN in address and len(call.arguments) > 2:
        address = _socket_address(call.arguments[2:]) or address
    if call.arguments:
        call.world.know(FactKind.SENDS, call.at, host_of(address))
        sent = [*call.arguments, *_attached(call)]
        _know_file(call, sent, address)
        channel = Channel.HEADER if call.callee.name == "set" else Channel.BODY
        call.world.send(sent, address, channel, call.at)
    return call.receiver


def _attached(call: Call) -> list[Value]:
    """The files that a mail takes along by their paths."""
    attachments = call.argument(0).field("attachments").items or ()
    paths = [one.field("path", "href") for one in attachments]
    read = SOURCES["fs.readFile"]
    return [Value(origins=read(Call(call.world, call.callee, [path], call.at))) for path in paths if path.text]


@handles(
    "new:WebSocket new:ws new:EventSource new:WebSocket() socket.io-client io new:ws.WebSocket new:XMLHttpRequest "
    "new:Image"
)
def run_connect(call: Call) -> Value:
    """Connections that are opened first and used later."""
    address = call.argument(0)
    text = text_of(address, "address") if call.arguments else f"{UNKNOWN}address{UNKNOWN}"
    if call.arguments:
        _reach(call, text)
        call.world.send([address], text, Channel.ADDRESS, call.at)
    return Value(
        path="connection()", origins=frozenset([Origin(Source.NETWORK, text)]), fields={"address": Value(text)}
    )


@handles("connection().open")
def run_open(call: Call) -> Value:
    """XMLHttpRequest gets its address late."""
    address = call.argument(1)
    text = text_of(address, "address")
    if call.receiver.fields is not None:
        call.receiver.fields["address"] = Value(text)
    _reach(call, text)
    call.world.send([address], text, Channel.ADDRESS, call.at)
    return NOTHING


@handles(
    "net.connect net.createConnection tls.connect new:net.Socket new:tls.TLSSocket Deno.connect Bun.connect "
    "dgram.createSocket"
)
def run_socket(call: Call) -> Value:
    """A plain connection."""
    text = "" if call.callee.name == "createSocket" else _socket_address(call.arguments)
    if text:
        _reach(call, text)
    if any(argument.comes_from(Source.SOCKET) for argument in call.arguments):
        call.world.see(checks.RELAYS, call.at)
    return Value(
        path="connection()",
        origins=frozenset([Origin(Source.SOCKET, text)]),
        fields={"address": Value(text or f"{UNKNOWN}address{UNKNOWN}")},
    )


def _socket_address(arguments: list[Value]) -> str:
    options = next((argument for argument in arguments if argument.fields), NOTHING)
    host = options.field("host", "hostname").text or next(
        (value.text for value in arguments[:2] if value.text and not value.text.isdigit()), ""
    )
    return f"tcp://{host}" if host else ""


@handles("new:ssh2-sftp-client new:basic-ftp.Client new:ssh2.Client new:promise-ftp new:ftp new:jsftp")
def run_file_client(_call: Call) -> Value:
    """A client that puts files on a server; where that is, it is told when it connects."""
    return Value(path="connection()", fields={"address": Value(f"{UNKNOWN}address{UNKNOWN}")})


@handles(
    "connection().put connection().fastPut connection().uploadDir connection().uploadFrom connection().uploadFromDir "
    "connection().append"
)
def run_upload(call: Call) -> Value:
    """Files that are put on a server, by their paths."""
    address = text_of(call.receiver.field("address"))
    content = Value(origins=SOURCES["fs.readFile"](call), path="file()")
    call.world.know(FactKind.SENDS, call.at, host_of(address))
    _know_file(call, [content], address)
    call.world.send([content], address, Channel.BODY, call.at)
    return NOTHING


@handles("connection().connect connection().access")
def run_socket_connect(call: Call) -> Value:
    """A socket that is connected late."""
    text = _socket_address(call.arguments)
    if call.receiver.fields is not None and text:
        call.receiver.fields["address"] = Value(text)
        _reach(call, text)
    return call.receiver


SOURCES["net.connect"] = SOURCES["net.createConnection"] = lambda call: frozenset(
    [Origin(Source.SOCKET, _socket_address(call.arguments))]
)


@handles("dns.lookup dns.resolve dns.resolve4 dns.resolveTxt dns.resolveAny dns.promises.lookup dns.promises.resolve")
def run_lookup(call: Call) -> Value:
    """A name that is looked up; what it is made of is told to its owner."""
    name = call.argument(0)
    host = host_of(name.text or "")
    call.world.know(FactKind.REACHES, call.at, host)
    if name.text is not None and not name.is_known and host:
        call.world.send([name], name.text, Channel.NAME, call.at)
    return Value(origins=frozenset([Origin(Source.NETWORK, host)]) if call.callee.name == "resolveTxt" else frozenset())


SOURCES["dns.resolveTxt"] = lambda call: frozenset([Origin(Source.NETWORK, host_of(call.argument(0).text or ""))])


@handles("navigator.sendBeacon")
def run_beacon(call: Call) -> Value:
    """A message that leaves even when the page closes."""
    text = text_of(call.argument(0), "address")
    _reach(call, text)
    call.world.know(FactKind.SENDS, call.at, host_of(text))
    call.world.send(call.arguments[1:], text, Channel.BODY, call.at)
    return NOTHING


@handles("nodemailer.createTransport nodemailer.createTransporter")
def run_mailer(call: Call) -> Value:
    """A way to send mail."""
    host = call.argument(0).field("host", "service").text or "mail.invalid"
    call.world.know(FactKind.REACHES, call.at, host)
    address = host if "." in host else f"{host}.com"
    return Value(path="connection()", fields={"address": Value(f"smtp://{address}")})


@handles(".pipe .pipeTo pipeline stream.pipeline")
def run_pipe(call: Call) -> Value:
    """What flows from one end into another."""
    ends = [call.receiver, *call.arguments] if call.callee.name in {"pipe", "pipeTo"} else call.arguments
    source, target = ends[0] if ends else NOTHING, ends[-1] if ends else NOTHING
    if target.path == "connection()":
        call.world.send([source], text_of(target.field("address")), Channel.BODY, call.at)
    elif target.path == "written()":
        from vskill_platform.scanning.tier1.code.javascript.library_files import write_file

        write_file(call, target.field("path"), source)
    elif target.path.startswith("child()") and source.comes_from(Source.SOCKET):
        call.world.see(checks.REVERSE_SHELL, call.at)
    elif target.path.startswith("child()"):
        call.world.run_code(source, call.at)
    return target
