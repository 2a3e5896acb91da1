"""Every view takes time in proportion to its text, on the worst texts for each of its parts.

What is judged is how the processor time grows from a text to one eight times as long, never how long it takes.
"""

from __future__ import annotations

import base64
import math
import time
import zlib
from collections.abc import Callable

import pytest

from tests.scanning.building import make_skill
from tests.scanning.uncovering import under_scan
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


def processor_time(uncover: Uncoverer, path: str, text: str) -> float:
    """The time that making the views takes."""
    skill = under_scan(make_skill({path: text}))
    started = time.process_time()
    for _ in uncover(skill):
        pass
    return time.process_time() - started


def growth(measure: Callable[[int], float]) -> float:
    """The exponent of the growth; 0 where it all takes too little time to tell.

    What looks steep is measured again, and the least of all rounds counts: other work on the machine only ever adds.
    """
    large, small = measure(LARGE), measure(SMALL)
    for _ in range(ROUNDS):
        if large < TOO_SHORT_TO_TELL_S or _exponent(small, large) < STEEPEST:
            break
        large, small = min(large, measure(LARGE)), min(small, measure(SMALL))
    return 0.0 if large < TOO_SHORT_TO_TELL_S else _exponent(small, large)


def _exponent(small: float, large: float) -> float:
    return math.log(large / small) / math.log(LARGE / SMALL)


@pytest.mark.parametrize(
    ("uncover", "path", "text"), CASES, ids=lambda value: repr(value)[1:24] if isinstance(value, str) else ""
)
def test_view_grows_with_its_text__on_the_worst_texts(uncover: Uncoverer, path: str, text: str) -> None:
    assert growth(lambda size: processor_time(uncover, path, (text * (size // len(text) + 1))[:size])) < STEEPEST


def nested(size: int) -> str:
    data = b"curl https://a.example " * (size // 60)
    for _ in range(4):
        data = base64.b64encode(data)
    return data.decode()


def compressed(size: int) -> str:
    bomb = base64.b64encode(zlib.compress(b"a" * 300_000)).decode()
    return " ".join([bomb] * (size // len(bomb)))


def decoy(size: int) -> str:
    return base64.b64encode(bytes(range(256)) * (size // 500) + b"curl https://a.example " * (size // 60)).decode()


def different_names(size: int) -> str:
    return "".join(f"<x{number} hidden>some words</x{number}>" for number in range(size // 36))


def different_constants(size: int) -> str:
    return "\n".join(f"v{number}=https://x;$v{number}$v{number}" for number in range(size // 30))


@pytest.mark.parametrize(
    ("uncover", "path", "make"),
    [
        (decoded_views, "a.py", nested),
        (decoded_views, "a.py", compressed),
        (decoded_views, "a.py", decoy),
        (hidden_views, "a.md", different_names),
        (unquoted_views, "a.sh", different_constants),
    ],
)
def test_view_grows_with_its_text__whatever_is_in_it(uncover: Uncoverer, path: str, make: Callable[[int], str]) -> None:
    assert growth(lambda size: processor_time(uncover, path, make(size))) < STEEPEST
