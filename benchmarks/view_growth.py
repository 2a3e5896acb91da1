"""How the time of each view grows with its text, on the worst texts for each of its parts: from one to eight times as long."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Callable

from benchmarks.report import Row, at_most
from benchmarks.scan_growth import under_scan
from benchmarks.scan_speed import timed
from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.scanning.tier1.views.carriers import carried_views
from vskill_platform.scanning.tier1.views.decoded import decoded_views
from vskill_platform.scanning.tier1.views.hidden import hidden_views
from vskill_platform.scanning.tier1.views.normalised import normalised_views
from vskill_platform.scanning.tier1.views.unquoted import unquoted_views
from vskill_platform.scanning.tier1.views.view import Uncoverer

SMALL, LARGE = 8 * 1024, 64 * 1024
STEEPEST = 1.6
"""Between the exponent of what is linear, with all that noise adds to it, and that of what is quadratic."""
TOO_SHORT_TO_TELL_S = 0.02
ROUNDS = 3

NORMALISED = [
    "сurl раypal ",
    "привет мир ",
    "а сор оса ",
    "аa",
    "a\u200bb",
    "ｃｕｒｌ ",
    "é",
    "a\u0336",
    "a\u00a0",
    "don’t ",
    "a∕b",
    "𝐚",
]
CARRIED = [
    "\U000e0041",
    "\U000e0041\n",
    "x\U000e0041",
    "\ufe01\ufe02",
    "a\U000e0101",
    "\u200b\u200c",
    "a\u200b",
    "\u200b\u200c\u200d\u2060",
]
DECODED = [
    *(
        "Y3VybCBodHRw ",
        "Y3VybCBodHRwY3Vy\n",
        "Y3VybCBodHRw",
        "6375726c20",
        "63 75 ",
        "0x63, ",
        "99, ",
        "99 ",
        "01100011 ",
        "0110001",
    ),
    *(
        "chr(99)+",
        "MN2XE3BA",
        "b85decode Wo=wIZ*pv",
        "<~9jqo^",
        '"9jqo^9jqo^9jqo^ascii85" ',
        "phey ",
        "phey\n",
        "iuuq://",
        "lruc ",
    ),
    *(
        "%63",
        "%63 ",
        "\\x63",
        "\\x63 ",
        "\\u0063 ",
        "\\N{LATIN SMALL LETTER C}",
        "\\143",
        "&#99;",
        "&#99; ",
        "&amp; ",
        "\\",
        "&#",
    ),
    *('"cu" + "rl" ', '"c"+', '"c", "u", ', '"{0}{1}" -f "a","b" ', 'a${"x"}b', '"', '"\n', "'", "\\\n", "=="),
    *("echo a | base64 -d ", "echo 'a' | tr a b | rev\n", "echo '", "rev <<< 'abc'\n", "| rev", "eJ", "H4sI"),
]
UNQUOTED = [
    *(
        "c''url ",
        "c''url x\n",
        "\\c\\u\\r\\l ",
        "$'\\x63' ",
        "$'\\x63",
        '"a$x',
        "a=cu;b=rl;$a$b ",
        "a=http://x\n$a$b\n",
        "a=$a$a;",
    ),
    *(
        "{a,b}",
        "{a,b} ",
        "{a,{b,",
        "{",
        "a\\\n",
        "\\\n",
        "$(echo c)",
        "$(echo ",
        "`echo c`",
        "`echo ",
        "${a:0:1}",
        "${a",
        "/b?n/c*l ",
    ),
    *(
        "a${IFS}b",
        "c$@url",
        "$",
        "printf -v a '%s' b;",
        "c^u^r^l ",
        "a := b\n",
        "a := $(a)$(a)\n",
        "a=b ",
        "for a in b;",
        "''",
    ),
]
HIDDEN = [
    *(
        "<!-- a comment -->",
        "<!--",
        "<!-- a\n",
        "{/* aaaaaaaa",
        "<![CDATA[ aaaa ",
        "[a]: # (bbbbbbbbbb)\n",
        "[a]: # (bbbbbb\n",
    ),
    *(
        '](x "titletitle")',
        '](x "t',
        "![alt text long]",
        "![",
        '<a title="aaaaaaaaaa">',
        '<a title="',
        "<div hidden>aaaaaaaa</div>",
    ),
    *(
        "<div hidden>",
        "<div hidden><div>",
        "<style>.a{display:none}</style>",
        "<style>.a{display:none}",
        "<style>/*",
        "<style>{",
    ),
    *(
        '<p style="color:white">aaaaaaaa</p>',
        f'<p style="{"/*" * 1_500}">',
        "<script>/* aaaaaaaaa */</script>",
        "<script>/*",
        "<",
        "<a ",
    ),
    *(
        "`<!-- aaaaaaaa -->` ",
        "data:text/plain,aaaaaaaa%20 ",
        "{\\color{white}",
        "```\n<!-- aaaaaaaaaa -->\n```\n",
        "<a class=",
        "`<",
    ),
]
CASES = [
    *((normalised_views, "a.md", text) for text in NORMALISED),
    *((carried_views, "a.md", text) for text in CARRIED),
    *((decoded_views, "a.py", text) for text in DECODED),
    *((unquoted_views, "a.sh", text) for text in UNQUOTED),
    *((unquoted_views, "a.md", text) for text in UNQUOTED),
    *((hidden_views, "a.md", text) for text in HIDDEN),
]


def _nested(size: int) -> str:
    data = b"curl https://a.example " * (size // 60)
    for _ in range(4):
        data = base64.b64encode(data)
    return data.decode()


def _compressed(size: int) -> str:
    bomb = base64.b64encode(zlib.compress(b"a" * 300_000)).decode()
    return " ".join([bomb] * (size // len(bomb)))


def _decoy(size: int) -> str:
    return base64.b64encode(bytes(range(256)) * (size // 500) + b"curl https://a.example " * (size // 60)).decode()


def _different_names(size: int) -> str:
    return "".join(f"<x{number} hidden>some words</x{number}>" for number in range(size // 36))


def _different_constants(size: int) -> str:
    return "\n".join(f"v{number}=https://x;$v{number}$v{number}" for number in range(size // 30))


MADE = [
    (decoded_views, "a.py", _nested),
    (decoded_views, "a.py", _compressed),
    (decoded_views, "a.py", _decoy),
    (hidden_views, "a.md", _different_names),
    (unquoted_views, "a.sh", _different_constants),
]


async def run() -> list[Row]:
    """The steepest of them all."""
    repeated = [(uncover, path, text, _repeating(text)) for uncover, path, text in CASES]
    made = [(uncover, path, make.__name__, make) for uncover, path, make in MADE]
    slope, where = max(
        (_growth(uncover, path, make), f"{path} {name[:24]!r}") for uncover, path, name, make in repeated + made
    )
    how = f"{len(repeated) + len(made)} texts, {SMALL >> 10} KB to {LARGE >> 10} KB, processor time"
    return [at_most("view_growth", slope, target=STEEPEST, unit="exponent", detail=f"{how}; steepest is {where}")]


def _repeating(text: str) -> Callable[[int], str]:
    return lambda size: (text * (size // len(text) + 1))[:size]


def _growth(uncover: Uncoverer, path: str, make: Callable[[int], str]) -> float:
    """The exponent of the growth; 0 where it all takes too little time to tell.

    What looks steep is measured again, and the least of all rounds counts: other work on the machine only ever adds.
    """
    large, small = _time_of(uncover, path, make(LARGE)), _time_of(uncover, path, make(SMALL))
    for _ in range(ROUNDS):
        if large < TOO_SHORT_TO_TELL_S or _exponent(small, large) < STEEPEST:
            break
        large = min(large, _time_of(uncover, path, make(LARGE)))
        small = min(small, _time_of(uncover, path, make(SMALL)))
    return 0.0 if large < TOO_SHORT_TO_TELL_S else _exponent(small, large)


def _time_of(uncover: Uncoverer, path: str, text: str) -> float:
    """The time that making the views takes."""
    skill = under_scan(make_content([SkillFile(path=path, content=text.encode())]))
    return timed(lambda: list(uncover(skill)))


def _exponent(small: float, large: float) -> float:
    return math.log(large / small) / math.log(LARGE / SMALL)
