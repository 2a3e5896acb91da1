"""Schemes: things that a program may do each by itself, and that together have no honest reading.

Each is a handful of signs in one program, found in the one pass that is made for all signs. No path between them is followed:
what makes a scheme is that nobody needs all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.patterns import compile_pattern
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.glance import Sign, signs_of
from vskill_platform.scanning.tier1.views.view import places_in

SWAPS_ADDRESSES = "swaps_copied_addresses"
WITHDRAWS = "withdraws_to_built_in_address"
SERVES_ANY_FILE = "serves_any_file"
LETS_IN = "lets_in_by_built_in_word"
LOOKS_UP_DATA = "looks_up_encoded_data"
PACKS_SECRETS = "packs_secrets_of_environment"
COUNTS_NAMES = "builds_names_from_numbers"
WIPES_ALL = "overwrites_and_deletes_all_files"
RUNS_FROM_CHAIN = "runs_code_from_a_chain"
CHECKS = frozenset(
    [
        SWAPS_ADDRESSES,
        WITHDRAWS,
        SERVES_ANY_FILE,
        LETS_IN,
        LOOKS_UP_DATA,
        PACKS_SECRETS,
        COUNTS_NAMES,
        WIPES_ALL,
        RUNS_FROM_CHAIN,
    ]
)
_WALLET = (
    r"[\"'`](?:T[1-9A-HJ-NP-Za-km-z]{33}|bc1[a-z0-9]{25,60}|[13][1-9A-HJ-NP-Za-km-z]{25,34}|0x[0-9a-fA-F]{40}|"
    r"[48][0-9AB][1-9A-HJ-NP-Za-km-z]{93})[\"'`]"
)
"""An address that money can be sent to, in quotes."""
_ADDRESS_PATTERN = (
    r"\bbc1[|)\[]|\[13\]\)?\[[a-zA-Z]|(?:0x|\(0x\)\?)\[[a-fA-F0-9-]{3,12}\]\\?\{40|\bT\[[A-Za-z0-9-]{3,24}\]\{33\}|"
    r"\[1-9A-HJ-NP-Za-km-z\]\{\d|\[13\]\[a-km-z"
)
"""The way in which such addresses are recognised."""
_SETS_CLIPBOARD = (
    r"(?i)pyperclip\.copy|clipboard\.(?:copy|write|set)|Set-Clipboard|\bxclip\b|\bxsel\b|\bwl-copy\b|\bpbcopy\b|SetClipboardData|"
    r"clipboard_append|clipboardy|NSPasteboard|clipboardData\.setData"
)
_LOOKS_AGAIN = r"(?i)\bwhile\b|setInterval|addEventListener|\bloop\b|\bevery\b|addListener|WM_CLIPBOARDUPDATE|\.after\("
_WITHDRAWS = r"(?i)[/\"'._]withdraw(?:al)?s?(?:[/\"'(]|_crypto)|create_?withdraw|request_?withdraw"
_EXCHANGE = r"(?i)\bccxt\b|/withdraw|hmac|api[_-]?secret|X-[A-Z-]{2,12}KEY"
_SERVES = r"createServer\s?\(|BaseHTTPRequestHandler|http\.HandleFunc|\bBun\.serve\b|\bDeno\.serve\b"
_PATH_OF_REQUEST = r"\breq(?:uest)?\.(?:url|path)\b|\bself\.path\b|\br\.URL\.Path\b|\.pathname\b"
_OPENS_PATH = (
    r"\breadFile(?:Sync)?\s?\(|create(?:Read|Write)Stream\s?\(|\bopen\s?\(|os\.(?:Open|ReadFile)\s?\(|\bBun\.file\s?\("
)
_TO_ALL = r"[\"']0\.0\.0\.0[\"':]|[\"']::[\"']|\bngrok\b|cloudflared|localtunnel|\(\s?\(?\s?[\"']{2}\s?,\s?\w"
_STAYS_INSIDE = (
    r"\.\.[\"'/]|normpath|realpath|commonpath|is_relative_to|\.resolve\s?\(|\bresolve\s?\(|relative\s?\(|normalize\s?\(|basename\s?\(|"
    r"startsWith\s?\(\s?[a-zA-Z_]|startswith\s?\(\s?[a-zA-Z_(]|filepath\.Clean|safe_join|HasPrefix|sanitize|SimpleHTTPRequestHandler"
)
_MAKES_ADMIN = (
    r"\b(?:req|request|ctx|context|c|locals|state|g|session)\.(?:user|auth|account|principal|currentUser|current_user|identity)\s?=\s?"
    r"[^;\n]{0,160}\b(?:roles?|isAdmin|is_admin|is_superuser|admin|scopes?|permissions?)[\"']?\s?[:=]\s?"
    r"(?:[\"'`\[{(]{1,3}(?:admin|root|superuser|owner|\*)|[Tt]rue\b)"
)
"""Whoever asks is made somebody who may do everything, in so many words."""
_READS_HEADER = (
    r"(?i)\b(?:get|header|headers|getHeader)\s?(?:\.get\s?)?[(\[]\s?[\"'`](?:x-|http_x_)|"
    r"\bMETA\s?(?:\.get\s?)?[(\[]\s?[\"']HTTP_X_"
)
_BUILT_IN_WORD = (
    r"[\"'`][0-9a-f]{32,128}[\"'`]|[=!]==?\s?[\"'`][\w+/=.-]{6,80}[\"'`]|"
    r"(?:compare_digest|timingSafeEqual)\([^)\n]{1,80}[\"'][\w+/=.-]{6,80}[\"']"
)
_LOOKS_UP = (
    r"\bnet\.Lookup(?:Host|IP|TXT|CNAME)\s?\(|\bdns\.(?:lookup|resolve\w{0,6})\s?\(|\bgethostbyname\s?\(|\bgetaddrinfo\s?\(|"
    r"\bresolver\.(?:resolve|query)\s?\(|Resolve-DnsName|InetAddress\.getByName|Resolv\.getaddress|\bdns_get_record\s?\("
)
_ENCODES_FOR_NAMES = (
    r"\bbase32\.\w*Encoding\b|\bb32(?:hex)?encode\s?\(|\b[bB]ase32\.encode\s?\(|\bbase32Encode\s?\(|\btoBase32\s?\("
)
"""Into the few letters that a name may have: whoever encodes a key for people to type looks up no names with it."""
_AS_HEX = r"\btoString\(\s?[\"']hex[\"']\s?\)|\.hex\(\)|\bhexlify\s?\(|\bhex\.EncodeToString\("
_WRITES_AS_LETTERS = rf"{_AS_HEX}|\btoString\(\s?[\"']base64url[\"']\s?\)"
_CUTS_FOR_NAMES = (
    r"\{1,\s?(?:[3-5]\d|6[0-3])\}|,\s?(?:[3-5]\d|6[0-3])\)\]|\+\s?(?:[3-5]\d|6[0-3])\s?(?:\]|\))|"
    r"wrap\([^)\n]{1,40}(?:[3-5]\d|6[0-3])\)"
)
"""Into pieces that fit between two dots of a name."""
_WALKS_ENVIRONMENT = (
    r"\bos\.environ\.items\(\)|\bin\s+(?:sorted\(|list\()?os\.environ\b|\bObject\.(?:entries|keys)\(\s?process\.env\s?\)|"
    r"\bos\.Environ\(\)|\bENV\.(?:select|to_h|each|filter)\b"
)
_NAMES_OF_SECRETS = (
    r"(?i)[\"'`/][^\"'`/\n]{0,60}(?:token|secret|passw|credential)[^\"'`/\n]{0,30}\|[^\"'`/\n]{0,80}[\"'`/]"
)
"""A pattern of what variables with secrets are called."""
_PACKS = r"\b(?:zlib|gzip|lzma|bz2)\.compress\s?\(|\bdeflateSync\s?\(|\bgzipSync\s?\(|\bb32encode\s?\(|" + _AS_HEX
_IMPORTS_BY_VALUE = r"\b(?:import_module|__import__)\(\s?[a-zA-Z_]\w{0,40}[(\[]"
_TAKES_BY_VALUE = r"\bgetattr\(\s?[\w.]{1,40}\s?,\s?[a-zA-Z_]\w{0,40}[(\[]"
_MAKES_LETTERS = r"\bmap\(\s?chr\b|\bchr\(\s?(?:round|int)\(|\bchr\(\s?\w{1,20}\s?[)^+*/-]"
"""Numbers that are made letters."""
_OVERWRITES = (
    r"\bRandom\.bytes\b|\bSecureRandom\.(?:random_)?bytes\b|\bwrite\(\s?os\.urandom\b|\bcrypto\.randomBytes\s?\(|\brand\.Read\s?\(|"
    r"\bwrite\(\s?b?[\"']\\x00[\"']\s?\*|\bsecrets\.token_bytes\s?\("
)
_WALKS = (
    r"\bFind\.find\b|\bos\.walk\s?\(|\bfilepath\.Walk(?:Dir)?\s?\(|\.rglob\s?\(|\bDirectory\.EnumerateFiles\b|"
    r"\breaddir(?:Sync)?\([^)\n]{1,60}recursive"
)
_HOME_FOLDER = (
    r"\bDir\.home\b|\bos\.UserHomeDir\s?\(|\bexpanduser\s?\(|\bPath\.home\s?\(|\bhomedir\s?\(|"
    r"\bSpecialFolder\.UserProfile\b"
)
_DELETES_FILE = (
    r"\bFile\.delete\b|\bos\.(?:remove|unlink|Remove)\s?\(|\.unlink\s?\(|\bunlinkSync\s?\(|\bFile\.Delete\s?\("
)
_WRITES_NOISE = r"\bwrite\(\s?(?:os\.urandom|Random\.bytes)\b|\bwriteFileSync\([^\n]{0,60}\brandomBytes\("
"""Random bytes that are written, where those that are only made may be for a key."""
_READS_CHAIN = (
    r"\bnew\s+(?:ethers\.)?Contract\(|\bw3\.eth\.contract\(|\beth_call\b|\bgetAccountInfo\(|\bgetTransaction\(|"
    r"\bJsonRpcProvider\("
)
_EVALUATES = r"\beval\(\s?[a-z_]|\bnew\s+Function\(|\bexec\(\s?[a-z_]|\bvm\.runIn\w{4,20}\("


class Scheme(NamedTuple):
    """What must be in a program, the first being shown, and what must not."""

    check: str
    needs: tuple[Sign, ...]
    unless: Sign | None = None


_SCHEMES = (
    Scheme(SWAPS_ADDRESSES, tuple(map(Sign, (_ADDRESS_PATTERN, _SETS_CLIPBOARD, _LOOKS_AGAIN)))),
    Scheme(WITHDRAWS, tuple(map(Sign, (_WITHDRAWS, _WALLET, _EXCHANGE)))),
    Scheme(LOOKS_UP_DATA, tuple(map(Sign, (_LOOKS_UP, _ENCODES_FOR_NAMES)))),
    Scheme(LOOKS_UP_DATA, tuple(map(Sign, (_LOOKS_UP, _WRITES_AS_LETTERS, _CUTS_FOR_NAMES)))),
    Scheme(PACKS_SECRETS, tuple(map(Sign, (_WALKS_ENVIRONMENT, _NAMES_OF_SECRETS, _PACKS)))),
    Scheme(COUNTS_NAMES, tuple(map(Sign, (_IMPORTS_BY_VALUE, _TAKES_BY_VALUE, _MAKES_LETTERS)))),
    Scheme(WIPES_ALL, tuple(map(Sign, (_OVERWRITES, _WALKS, _HOME_FOLDER, _DELETES_FILE)))),
    Scheme(WIPES_ALL, tuple(map(Sign, (_WRITES_NOISE, _WALKS, _HOME_FOLDER)))),
    Scheme(RUNS_FROM_CHAIN, tuple(map(Sign, (_EVALUATES, _READS_CHAIN)))),
    Scheme(LETS_IN, tuple(map(Sign, (_MAKES_ADMIN, _READS_HEADER, _BUILT_IN_WORD)))),
    Scheme(SERVES_ANY_FILE, tuple(map(Sign, (_OPENS_PATH, _SERVES, _PATH_OF_REQUEST, _TO_ALL))), Sign(_STAYS_INSIDE)),
)


def find_schemes(skill: SkillUnderScan) -> Iterator[Sighting]:
    """The schemes in a skill's programs; what a text shows is looked at elsewhere."""
    for file in skill.files:
        if not file.is_program:
            continue
        signs = signs_of(file)
        for scheme in _SCHEMES:
            if signs.issuperset(scheme.needs) and _is_carried_out(scheme, file):
                yield _sighting(scheme, file)


def _is_carried_out(scheme: Scheme, file: FileUnderScan) -> bool:
    if not all(_is_in(sign, file) for sign in scheme.needs):
        return False
    return scheme.unless is None or not _is_in(scheme.unless, _without_comments(file))


def _without_comments(file: FileUnderScan) -> FileUnderScan:
    """The file without lines that only comment: a check that is only spoken of is none."""
    code = "\n".join(line for line in file.lines if not line.lstrip().startswith(("//", "#", "*")))
    return FileUnderScan(path=file.path, content=code.encode())


def _is_in(sign: Sign, file: FileUnderScan) -> bool:
    return compile_pattern(sign.source).is_in(file.encoded)


def _sighting(scheme: Scheme, file: FileUnderScan) -> Sighting:
    span = next(iter(compile_pattern(scheme.needs[0].source).spans(file.encoded)))
    place = places_in(file)(span.start)
    line = file.lines[place.line - 1] if place.line else ""
    return Sighting(scheme.check, file.path, place.line, place.column, make_excerpt(line), "schemes")
