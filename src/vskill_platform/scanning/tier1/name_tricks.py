"""Tricks with the letters of a name: characters that do not show, and letters of one script that pass for another's."""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_WORD = re.compile(r"[^\W\d_]+")
_ALIKE = frozenset(["LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"])
"""Scripts whose letters are taken for each other's. Others are mixed by honest people."""
_LOOKS_LATIN = frozenset(
    "аɑαᴀьвсϲᴄԁɗеєҽɛεᴇɡցһհніıιɩӏјϳкκᴋⅼʟмᴍпոηɴоοօσⲟᴏрρքԛգгᴦʀѕꜱтτᴛυսᴜνѵᴠԝωᴡхχуγүᴢӀΙΑΒΕΖΗΚΜΝΟΡΤΥΧАВЕКМНОРСТХУЅІЈ"
)


def has_hidden_characters(text: str) -> bool:
    """Whether a name has characters in it that no screen shows, or that a screen obeys."""
    return any(_is_hidden(text, position) for position in range(len(text)))


def _is_hidden(text: str, position: int) -> bool:
    """Whether a character does not show. Joiners between letters that are not Latin, and emoji styles, do their work."""
    character = text[position]
    if character.isascii():
        return not character.isprintable()
    if character in "\u200c\u200d\ufe0f":
        before = text[position - 1] if position else " "
        return before.isascii() or (position + 1 == len(text) and character != "\ufe0f")
    point = ord(character)
    is_selector = 0xFE00 <= point <= 0xFE0F or 0xE0100 <= point <= 0xE01EF
    return is_selector or character in _UNSEEN or unicodedata.category(character) in ("Cf", "Cc", "Zl", "Zp")


def mixes_scripts(text: str) -> bool:
    """Whether one word has letters of scripts that are taken for each other."""
    words = (word for word in _WORD.findall(text) if not word.isascii())
    return any(len({_script(letter) for letter in word} & _ALIKE) > 1 for word in words)


def imitates_latin(name: str) -> bool:
    """Whether a word in another script consists of nothing but letters that look like Latin ones."""
    words = [word for word in _WORD.findall(name) if not word.isascii()]
    return any(len(word) > 2 and all(letter in _LOOKS_LATIN for letter in word) for word in words)


def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").split(" ", 1)[0]
