"""Functions of the language and of Node that make, change and decode values."""

from __future__ import annotations

import posixpath
import re

from vskill_platform.scanning.tier1.code.chosen import NAME, as_key
from vskill_platform.scanning.tier1.code.javascript import checks
from vskill_platform.scanning.tier1.code.javascript.calls import SOURCES, Call, handles
from vskill_platform.scanning.tier1.code.javascript.folding import decoded, from_codes, percent_decoded
from vskill_platform.scanning.tier1.code.javascript.modules import PARSED
from vskill_platform.scanning.tier1.code.javascript.values import (
    NOTHING,
    Origin,
    Source,
    Value,
    all_origins,
    bounded,
    text_of,
)
from vskill_platform.scanning.tier1.code.places import SCRATCH_FOLDERS
from vskill_platform.scanning.tier1.code.printers import STORE_ENTRY
from vskill_platform.scanning.tier1.skill import FactKind

_DESTROYS = re.compile(r"(?i)\b(?:truncate\s+(?:table\s)?|drop\s+(?:table|database|schema)|delete\s+from)\b")
_FOLDERS = {"homedir": "~", "tmpdir": SCRATCH_FOLDERS[0].rstrip("/"), "cwd": "."}


@handles("String.fromCharCode String.fromCodePoint")
def run_codes(call: Call) -> Value:
    """Characters from their codes."""
    return from_codes(call.arguments)


@handles("atob Base64.decode base64.decode js-base64.decode")
def run_atob(call: Call) -> Value:
    """base64 back into text."""
    call.world.know(FactKind.DECODES, call.at, "base64")
    return decoded(call.argument(0), "base64")


@handles("Buffer.from new:Buffer Buffer")
def run_buffer(call: Call) -> Value:
    """Bytes, decoded where an encoding says so."""
    given, encoding = call.argument(0), (call.argument(1).text or "").lower()
    if encoding in {"base64", "base64url", "hex"}:
        call.world.know(FactKind.DECODES, call.at, encoding)
        return decoded(given, "hex" if encoding == "hex" else "base64")
    if given.items is not None:
        return from_codes([given])
    return Value(given.text, origins=given.origins, is_built=given.is_built)


@handles("unescape decodeURIComponent decodeURI querystring.unescape")
def run_percent(call: Call) -> Value:
    """Percent signs back into text."""
    return percent_decoded(call.argument(0))


@handles("zlib.*")
def run_zlib(call: Call) -> Value:
    """Compressed bytes, forth or back."""
    origins = all_origins(call.arguments)
    if any(word in call.callee.name.lower() for word in ("inflate", "gunzip", "unzip", "decompress")):
        call.world.know(FactKind.DECODES, call.at, "zlib")
        origins |= {Origin(Source.DECODED, "zlib")}
    return Value(origins=origins)


@handles("crypto.createDecipheriv crypto.createDecipher CryptoJS.AES.decrypt crypto-js.AES.decrypt")
def run_decipher(call: Call) -> Value:
    """Encrypted bytes back into text."""
    call.world.know(FactKind.DECODES, call.at, "cipher")
    return Value(origins=all_origins(call.arguments) | {Origin(Source.DECODED, "cipher")})


@handles(
    "String Object JSON.stringify structuredClone encodeURIComponent encodeURI btoa escape Array.from util.inspect "
    "util.format querystring.stringify new:URLSearchParams new:Blob"
)
def run_same(call: Call) -> Value:
    """Functions whose result is their argument in another form."""
    first = call.argument(0)
    return Value(
        first.text, origins=all_origins(call.arguments), items=first.items, fields=first.fields, is_built=first.is_built
    )


@handles("JSON.parse")
def run_json(call: Call) -> Value:
    """JSON: keys in it that reach into every object are no data, and what stands behind a name in it is not all of it."""
    text = call.argument(0).text or ""
    if '"__proto__"' in text[:20_000]:
        call.world.see(checks.POLLUTES_PROTOTYPE, call.at)
    return Value(path=PARSED, origins=call.argument(0).origins)


_ONE_KEY = re.compile(rf"/\^?(?:\(\?:\^\|\\n\))?(?:\\s\*)?(?:export )?{NAME}(?:\\s\*)?=")


@handles(".match RegExp().exec")
def run_match(call: Call) -> Value:
    """What a regular expression takes out of a text: the line of one variable is not the whole file."""
    pattern, text = (
        (call.receiver, call.argument(0)) if call.callee.name == "exec" else (call.argument(0), call.receiver)
    )
    found = _ONE_KEY.match(pattern.name)
    return Value(origins=as_key(text.origins, found["name"]) if found else text.origins)


SOURCES["JSON.parse"] = lambda call: call.argument(0).origins


@handles("Object.getPrototypeOf Reflect.getPrototypeOf")
def run_prototype(call: Call) -> Value:
    """What a function is made by is what all functions are."""
    first = call.argument(0)
    return Value(origins=first.origins, function=first.function)


@handles(
    "Object.entries Object.values Object.keys Object.assign Object.fromEntries Promise.all Promise.allSettled "
    "Promise.race Promise.resolve Array.of"
)
def run_union(call: Call) -> Value:
    """Functions whose result holds parts of their arguments."""
    first = call.argument(0)
    items = first.items
    if items is None and first.fields and call.callee.name == "values":
        items = tuple(first.fields.values())
    elif items is None and first.fields and call.callee.name == "keys":
        items = tuple(Value(name) for name in first.fields)
    elif items is None and first.fields and call.callee.name == "entries":
        items = tuple(Value(items=(Value(name), value), origins=value.origins) for name, value in first.fields.items())
    return Value(origins=all_origins(call.arguments), items=items)


@handles("path.join path.resolve path.normalize path.posix.join path.win32.join join resolve")
def run_path(call: Call) -> Value:
    """Paths put together."""
    if not any(argument.text is not None for argument in call.arguments):
        return Value(origins=all_origins(call.arguments))
    pieces = [text_of(argument, "part") for argument in call.arguments]
    if call.callee.name == "resolve":
        absolute = max((number for number, piece in enumerate(pieces) if piece.startswith(("/", "~"))), default=0)
        pieces = pieces[absolute:]
    else:
        pieces = [pieces[0], *(piece.lstrip("/") for piece in pieces[1:])]
    text = bounded(posixpath.join(*pieces)) if pieces else ""
    return Value(text, origins=all_origins(call.arguments))


@handles("path.basename path.extname path.relative path.dirname")
def run_path_part(call: Call) -> Value:
    """Parts of paths."""
    return Value(origins=call.argument(0).origins)


@handles("os.homedir os.tmpdir process.cwd")
def run_folder(call: Call) -> Value:
    """Folders that every machine has."""
    return Value(_FOLDERS.get(call.callee.name, "~"))


@handles("os.hostname os.userInfo os.platform os.type os.release os.arch os.networkInterfaces os.cpus")
def run_machine(call: Call) -> Value:
    """Who, where and what the machine is."""
    detail = {"hostname": "host", "userInfo": "user", "networkInterfaces": "network"}.get(call.callee.name, "system")
    return Value(origins=frozenset([Origin(Source.MACHINE, detail)]))


@handles("Date.now new:Date Date")
def run_date(call: Call) -> Value:
    """What day it is."""
    if call.arguments:
        return NOTHING
    return Value(path="Date()", origins=frozenset([Origin(Source.MACHINE, "date")]))


@handles("util.promisify promisify util.callbackify bluebird.promisify")
def run_promisify(call: Call) -> Value:
    """The same function in another form."""
    return call.argument(0)


@handles("require module.require process.mainModule.require require.main.require")
def run_require(call: Call) -> Value:
    """A module."""
    return call.world.load(call.argument(0), call.at)


@handles(".toString")
def run_to_string(call: Call) -> Value:
    """Bytes as text, in an encoding that hides what they are where one is named."""
    how = call.argument(0).text or ""
    encoded = {Origin(Source.ENCODED, how)} if how in {"hex", "base64", "base64url"} else set()
    return Value(origins=call.receiver.origins | encoded)


@handles(".query .execute")
def run_query(call: Call) -> Value:
    """A statement for a database; one that empties tables is an act."""
    if _DESTROYS.search((call.argument(0).text or "")[:2_000]):
        call.world.act("destroys", call.at)
    return Value(origins=all_origins(call.arguments))


@handles("._load")
def run_load(call: Call) -> Value:
    """A module, past `require`."""
    return call.world.load(call.argument(0), call.at)


@handles("document.write document.writeln .insertAdjacentHTML")
def run_markup(call: Call) -> Value:
    """Markup that is put into a page."""
    if call.arguments:
        call.world.show(call.arguments[-1], call.at)
    return NOTHING


@handles("module.createRequire createRequire")
def run_create_require(_call: Call) -> Value:
    """A way to get modules."""
    return Value(path="require")


@handles("Reflect.apply")
def run_reflect(call: Call) -> Value:
    """A call by other means."""
    return call.world.call(call.argument(0), list(call.argument(2).items or ()), call.at)


@handles("Reflect.construct")
def run_reflect_construct(call: Call) -> Value:
    """`new` by other means."""
    return call.world.call(call.argument(0), list(call.argument(1).items or ()), call.at)


@handles("Reflect.get")
def run_reflect_get(call: Call) -> Value:
    """A member by other means."""
    name = call.argument(1)
    if name.is_known and name.text is not None:
        return call.world.member(call.argument(0), name.text, is_built=name.is_built, at=call.at)
    return Value(origins=call.argument(0).origins)


@handles(".storageState .cookies")
def run_browser_state(_call: Call) -> Value:
    """All cookies of a browser that a program drives."""
    return Value(origins=frozenset([Origin(Source.SECRET, "cookies")]))


@handles("bip39.generateMnemonic @scure/bip39.generateMnemonic")
def run_mnemonic(_call: Call) -> Value:
    """The words that a wallet is made from, which are the wallet."""
    return Value(origins=frozenset([Origin(Source.SECRET, "wallet")]))


@handles("keytar.getPassword keytar.findPassword keytar.findCredentials")
def run_keychain(call: Call) -> Value:
    """One entry of the system's store of passwords, which tools ask for themselves, or all of them."""
    name = "keychain" if call.callee.name == "findCredentials" else STORE_ENTRY
    return Value(origins=frozenset([Origin(Source.SECRET, name)]))


@handles(
    "localStorage.getItem sessionStorage.getItem localStorage.setItem sessionStorage.setItem localStorage.removeItem"
)
def run_storage(call: Call) -> Value:
    """One entry of a browser's storage, which is how pages keep their own."""
    return (
        Value(origins=frozenset([Origin(Source.VARIABLE, call.argument(0).text or "storage")]))
        if call.callee.name == "getItem"
        else NOTHING
    )


@handles(
    "clipboardy.read clipboardy.readSync clipboard.readSync clipboard.read electron.clipboard.readText "
    "clipboard.readText"
)
def run_clipboard(_call: Call) -> Value:
    """The clipboard, in which passwords travel."""
    return Value(origins=frozenset([Origin(Source.SECRET, "clipboard")]))
