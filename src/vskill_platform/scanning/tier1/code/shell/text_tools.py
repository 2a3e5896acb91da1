"""Commands that print, change, encode and decode text: what they print is made from what they are given."""

from __future__ import annotations

import re
from collections.abc import Callable

from vskill_platform.scanning.tier1.code import decoding
from vskill_platform.scanning.tier1.code.chosen import NAME, as_key
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call, handles
from vskill_platform.scanning.tier1.code.shell.escapes import decode_escapes, format_printf, is_spelled_out
from vskill_platform.scanning.tier1.code.shell.lasting import notice_edit
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Origin, Source, Value, joined, unknown
from vskill_platform.scanning.tier1.skill import FactKind

_SUBSTITUTE = re.compile(r"s(?P<sign>[/|#,:])(?P<old>[^\\]{0,200}?)(?P=sign)(?P<new>[^\\]{0,200}?)(?P=sign)[gi]*\Z")
_RANGE = re.compile(r"(.)-(.)")
_SYSTEM = re.compile(r'(?:system\(\s*|\|\s*getline|cmd\s*=\s*)"((?>[^"\\]+|\\.){1,2000})"')
_INET = re.compile(r"/inet/tcp/\d*/([^/\"\s]+)/(\d+)")


_OF_GREP = re.compile(rf"\^(?:export )?{NAME}(?:=|$)")
_OF_SED = re.compile(rf"s[/|#,:]\^(?:export )?{NAME}=[^;]*p$")
_OTHER_NAME = NAME.replace("?P<name>", "?P<other>")
_OF_AWK = re.compile(rf"\s*(?:/\^(?:export )?{NAME}=?/|\$1\s*==\s*\"{_OTHER_NAME}\")\s*\{{[^{{}};]*\}}\s*$")
"""Programs that print the line of one variable, or a part of it."""


def file_or_input(call: Call, paths: list[Value]) -> Value:
    """What a filter reads: the files that it names, or what flows in."""
    contents = [call.stdin if path.text == "-" else call.machine.read(path.text, call.at) for path in paths]
    return joined(contents, by="\n") if contents else call.stdin


@handles("echo")
def run_echo(call: Call) -> Value:
    """echo, which may take escapes."""
    words = list(call.arguments)
    takes_escapes = False
    while words and re.fullmatch(r"-[neE]+", words[0].text):
        takes_escapes |= "e" in words.pop(0).text
    printed = joined(words, by=" ") if words else NOTHING
    if takes_escapes:
        return _escaped(printed, decode_escapes(printed.text))
    return printed.with_text(printed.text + "\n")


@handles("printf")
def run_printf(call: Call) -> Value:
    """printf: a format with escapes, and what is put into it."""
    words = [word for word in call.arguments if word.text != "--"]
    if words and words[0].text == "-v" and len(words) > 2:
        call.machine.variables.set(words[1].text, _formatted(words[2:]))
        return NOTHING
    return _formatted(words)


def _formatted(words: list[Value]) -> Value:
    if not words:
        return NOTHING
    everything = joined(words, by=" ")
    return _escaped(everything, format_printf(words[0].text, [word.text for word in words[1:]]))


def _escaped(given: Value, printed: str) -> Value:
    value = given.with_text(printed)
    return value.having(Source.DECODED, "escapes") if is_spelled_out(given.text) else value


@handles(
    "cat tac bat less more head tail nl strings sort uniq fold fmt column expand paste cut shuf od hexdump jq yq "
    "zcat gzcat bzcat xzcat zstdcat gunzip bunzip2 pv"
)
def run_filter(call: Call) -> Value:
    """Filters that keep or thin out what they read."""
    paths = call.plain(
        with_value="nckdbftvsw", long_with_value=frozenset(["--arg", "--bytes", "--lines", "--delimiter", "--fields"])
    )
    if call.name in {"jq", "yq"}:
        paths = paths[1:]
    value = file_or_input(call, paths)
    if call.name in {"zcat", "gzcat", "bzcat", "xzcat", "zstdcat", "gunzip", "bunzip2"}:
        return _decoded(call, value, call.name, lambda _text: None)
    if call.name == "jq" and any("@base64d" in text for text in call.texts):
        return _decoded(call, value, "base64", lambda text: decoding.as_text(decoding.from_base64(text.strip('"\n'))))
    if call.name == "tac":
        return value.with_text("\n".join(reversed(value.text.split("\n"))))
    is_changed = call.name in {"cut", "od", "hexdump", "jq", "yq", "strings", "column", "nl"}
    return unknown(call.name, origins=value.origins) if is_changed else value


@handles("grep egrep fgrep rg ag awk gawk mawk sed perl-filter")
def run_matcher(call: Call) -> Value:
    """Filters whose first argument is a pattern or a program."""
    paths = call.plain(
        with_value="Fvf" if call.name.endswith("awk") else "efmABC",
        long_with_value=frozenset(["--regexp", "--file", "--expression", "--include", "--exclude"]),
    )
    has_pattern = any(text.startswith(("-e", "--expression", "--regexp")) for text in call.texts)
    program = paths[0] if paths and not has_pattern else NOTHING
    value = file_or_input(call, paths if has_pattern else paths[1:])
    if call.name.endswith("awk"):
        _run_awk(call, program)
    if call.name == "sed" and any(text.startswith("-i") or text == "--in-place" for text in call.texts):
        notice_edit(call, program.text, [path.text for path in paths[1:]])
    if call.name == "sed" and value.is_known and (found := _SUBSTITUTE.match(program.text)):
        return value.with_text(value.text.replace(found["old"], found["new"]))
    if value.comes_from(Source.SECRET) and (name := _asked_for(call, program.text)):
        value = Value(value.text, as_key(value.origins, name))
    return joined([value, Value("", program.origins)])


def _asked_for(call: Call, program: str) -> str:
    """The variable whose line is all that a filter prints; empty where it may print others."""
    if call.name.endswith("awk"):
        found = _OF_AWK.match(program)
        return (found["name"] or found["other"]) if found else ""
    flags = [text for text in call.texts if text.startswith("-")]
    if call.name == "sed":
        found = _OF_SED.match(program) if "-n" in flags else None
    else:
        found = _OF_GREP.match(program) if not any(text.startswith("--inv") or "v" in text for text in flags) else None
    return found["name"] if found else ""


def _run_awk(call: Call, program: Value) -> None:
    if found := _INET.search(program.text[:20_000]):
        call.see(checks.reverse_shell(f"{found[1]}:{found[2]}"))
    for code in _SYSTEM.findall(program.text[:20_000]):
        call.machine.run_inner(decode_escapes(code), stdin=call.stdin, at=call.at)


@handles("base64 gbase64 base32 basenc uudecode uuencode")
def run_base64(call: Call) -> Value:
    """base64, forth or back."""
    flags = [text for text in call.texts if text.startswith("-")]
    decodes = call.name == "uudecode" or any(_is_decoding(flag) for flag in flags)
    value = file_or_input(call, call.plain(with_value="wbio"))
    if not decodes:
        return unknown(call.name, origins=value.origins).having(Source.ENCODED, call.name)
    decode = decoding.from_base32 if call.name == "base32" else decoding.from_base64
    return _decoded(call, value, call.name, lambda text: decoding.as_text(decode(text)) or _decompressed(decode(text)))


def _is_decoding(flag: str) -> bool:
    return flag.startswith("--d") or (not flag.startswith("--") and ("d" in flag or "D" in flag))


def _decompressed(data: bytes | None) -> str | None:
    return decoding.as_text(decoding.unpacked(data)) if data else None


@handles("xxd")
def run_xxd(call: Call) -> Value:
    """xxd, which writes hexadecimal digits, or with `-r` reads them."""
    value = file_or_input(call, call.plain(with_value="clogs"))
    if not any("r" in text for text in call.texts if text.startswith("-")):
        return unknown("xxd", origins=value.origins).having(Source.ENCODED, "hex")
    return _decoded(call, value, "hex", lambda text: decoding.as_text(decoding.from_hex(text)))


@handles("rev")
def run_rev(call: Call) -> Value:
    """rev, which turns lines round."""
    value = file_or_input(call, call.plain())
    return _decoded(call, value, "rev", lambda text: "\n".join(line[::-1] for line in text.split("\n")))


@handles("tr")
def run_tr(call: Call) -> Value:
    """tr: turns letters into others, or takes some out."""
    sets = [_spread(decode_escapes(text)) for text in call.texts if not re.fullmatch(r"-[cCdst]+", text)]
    if any("d" in text for text in call.texts if text.startswith("-")) and sets:
        removed = set(sets[0])
        return call.stdin.with_text("".join(character for character in call.stdin.text if character not in removed))
    if len(sets) < 2 or not sets[1]:
        return call.stdin
    old, new = sets[0], sets[1].ljust(len(sets[0]), sets[1][-1])
    changed = (
        call.stdin.text.translate({ord(a): b for a, b in zip(old, new, strict=False)})
        if call.stdin.is_known
        else call.stdin.text
    )
    is_cipher = (
        sum(1 for a, b in zip(old, new, strict=False) if a.isalpha() and b.isalpha() and a.lower() != b.lower()) >= 4
    )
    value = call.stdin.with_text(changed)
    return value.having(Source.DECODED, "tr") if is_cipher else value


def _spread(text: str) -> str:
    spread = _RANGE.sub(
        lambda found: "".join(map(chr, range(ord(found[1]), min(ord(found[2]), ord(found[1]) + 200) + 1))), text[:200]
    )
    return spread.replace("[:upper:]", "ABCDEFGHIJKLMNOPQRSTUVWXYZ").replace("[:lower:]", "abcdefghijklmnopqrstuvwxyz")


@handles("sha1sum sha224sum sha256sum sha384sum sha512sum shasum md5sum md5 b2sum cksum sum (openssl-digest)")
def run_digest(call: Call) -> Value:
    """A digest: nobody gets back from it what was read, though a machine is known by it."""
    value = file_or_input(call, call.plain(with_value="ac"))
    return unknown(call.name, origins=[each for each in value.origins if each.source is Source.MACHINE])


@handles("gzip pigz bzip2 xz zstd lz4 brotli")
def run_gzip(call: Call) -> Value:
    """Compression, forth or back."""
    value = file_or_input(call, call.plain())
    if any("d" in text for text in call.texts if text.startswith("-")):
        return _decoded(call, value, call.name, lambda _text: None)
    for path in call.plain():
        call.machine.files.write(f"{path.text}.gz", value)
    return unknown(call.name, origins=value.origins)


@handles("gpg gpg2 age (openssl-enc)")
def run_cipher(call: Call) -> Value:
    """Ciphers: encrypted code is code that nobody has read."""
    texts = call.texts
    plain = [
        value
        for value in call.plain(
            with_value="oriku", long_with_value=frozenset(["--output", "--recipient", "--passphrase"])
        )
        if call.machine.files.written(value.text) or "." in value.text
    ]
    given = next((Value(texts[number + 1]) for number, text in enumerate(texts[:-1]) if text == "-in"), None)
    value = file_or_input(call, [given] if given else [path for path in plain if "/" in path.text or "." in path.text])
    output = next(
        (texts[number + 1] for number, text in enumerate(texts[:-1]) if text in {"-out", "-o", "--output"}), ""
    )
    if any(text in {"-d", "--decrypt", "-D"} for text in texts):
        value = _decoded(
            call,
            value,
            call.name.strip("()"),
            lambda text: (
                decoding.as_text(decoding.from_base64(text)) if "-base64" in texts or "base64" in texts else None
            ),
        )
    else:
        value = unknown(call.name, origins=value.origins)
    if output:
        call.machine.write(Value(output), value, call.at)
        return NOTHING
    return value


def _decoded(call: Call, value: Value, how: str, decode: Callable[[str], str | None]) -> Value:
    """The decoded value: its text where it is fixed and readable, and in any case where it came from."""
    call.know(FactKind.DECODES, how)
    text = decode(value.text) if value.is_known and value.text else None
    origins = value.origins | {Origin(Source.DECODED, how)}
    return Value(text, origins) if text is not None else unknown(how, origins=origins)


@handles("tee sponge")
def run_tee(call: Call) -> Value:
    """tee: writes what it reads, and passes it on."""
    is_added = any(text in {"-a", "--append"} for text in call.texts)
    for path in call.plain():
        call.machine.write(path, call.stdin, call.at, is_added=is_added)
    return call.stdin
