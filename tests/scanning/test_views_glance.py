"""One pass over a text leaves out no sign that is in it."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

import vskill_platform.scanning.tier1.scan  # noqa: F401  all signs are known when all that looks for them is loaded
from vskill_platform.scanning.tier1.patterns import Pattern
from vskill_platform.scanning.tier1.views import glance
from vskill_platform.scanning.tier1.views.escapes import ESCAPED
from vskill_platform.scanning.tier1.views.glance import signs_in
from vskill_platform.scanning.tier1.views.joined import JOINABLE

ALL = {sign: Pattern(sign.source) for sign in glance._known}
WORDS = (
    "\\x41 %41 &lt; \"a\" + \"b\" 'a','b','c','d' {\"a\"} {`x`} {0}\" -f base64 b85decode | rev a''b $IFS <!-- ![ ]( [a]: alt= "
    'style= <div class= data:text/ https:// wss:// $HOME ${TOKEN_A} os.environ["A_B"] process.env.X pip install flask npm i '
    "npx -y thing curl 48656c6c6f2c20776f726c64 0x41, 104, chr(65) 01000001 <~ hsab )("
)
TEXTS = st.lists(st.sampled_from([*WORDS.split(), " ", "\n", "\t", "word"]), max_size=30).map("".join)


@given(text=TEXTS)
def test_every_sign_that_matches__is_seen(text: str) -> None:
    data = text.encode()
    assert {sign for sign, pattern in ALL.items() if pattern.is_in(data)} <= signs_in(data)


def test_plain_text__has_no_signs() -> None:
    assert signs_in(b"Boil water and pour it over the leaves.\n\nWait for three minutes, then drink.\n") == frozenset()


def test_what_is_escaped_or_broken__has_its_own_sign() -> None:
    assert signs_in(b"see %41%42") == {ESCAPED}
    assert signs_in(b'x = "cu" + "rl"') & JOINABLE
