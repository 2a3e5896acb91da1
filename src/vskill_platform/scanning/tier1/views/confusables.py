"""Letters and signs that look like ASCII and are not.

The table is written by hand from what the characters look like, after the model of Unicode's UTS 39. It has the scripts
that people use for disguise; a script that is missing here still shows up as a word of two scripts to a reader. What NFKC
folds (full width, mathematical letters, ligatures) is not in the table.
"""

from __future__ import annotations

import re
import unicodedata

from vskill_platform.scanning.tier1.skill import WITHOUT_WIDTH

OTHER_SCRIPTS = {
    "a": "аα⍺",
    "b": "ЬьвᏏᏼᖯᑲ",
    "c": "сϲⲥꮯ𐐽",
    "d": "ԁᏧᑯꓒ",
    "e": "еҽε",
    "f": "քϝ",
    "g": "ցԍ",
    "h": "һհᏂн",
    "i": "іӏιᎥꭵꙇ⍳",
    "j": "јϳյ",
    "k": "кκ",
    "l": "Ӏ",
    "m": "м",
    "n": "пոռη",
    "o": "оοσօⲟ",
    "p": "рρϱⲣ⍴",
    "q": "ԛգզ",
    "r": "гᴦⲅꮁ",
    "s": "ѕꮪ𐑈",
    "t": "тτ",
    "u": "υսц",
    "v": "ѵνꮩ",
    "w": "ԝѡωաꮃ",
    "x": "хχᕁ",
    "y": "уүγყ",
    "z": "ꮓ",
    "A": "АΑᎪᗅꓮ",
    "B": "ВΒᏴᗷꓐ",
    "C": "СϹᏟⲤꓚ",
    "D": "ᎠᗞᗪꓓԀ",
    "E": "ЕΕᎬꓰ",
    "F": "ϜᖴꓝҒ",
    "G": "ԌᏀᏳꓖ",
    "H": "НΗᎻᕼⲎꓧ",
    "I": "ІΙᏆⲒꓲ",
    "J": "ЈͿᎫᒍꓙ",
    "K": "КΚᏦⲔꓗ",
    "L": "ᏞᒪⳐꓡԼ",
    "M": "МΜϺᎷᗰⲘꓟ",
    "N": "ΝⲚꓠ",
    "O": "ОΟՕⲞꓳ",
    "P": "РΡᏢᑭⲢꓑ",
    "Q": "Ԛⵕ",
    "R": "ᎡᏒᖇꓣ",
    "S": "ЅՏᏕᏚꓢ",
    "T": "ТΤᎢⲦꓔ",
    "U": "Սᑌꓴ",
    "V": "ѴᏙᐯꓦ",
    "W": "ԜᎳᏔꓪ",
    "X": "ХΧⲬ᙭ꓫ",
    "Y": "УΥҮᎩᎽϒⲨꓬ",
    "Z": "ΖᏃꓜ",
}
"""Letters of other scripts, by the ASCII letter they look like."""

LATIN = {
    **{"a": "ɑᴀ", "b": "ƅƄʙ", "c": "ᴄ", "d": "đᴅ", "e": "ᴇə", "f": "ſꜰ", "g": "ɡɢ", "h": "ħʜ", "i": "ıɪɩ", "j": "ȷᴊ"},
    **{"k": "ᴋĸ", "l": "łʟɫƖ", "m": "ᴍ", "n": "ɴ", "o": "øᴏ", "p": "ᴘ", "r": "ʀꭇ", "s": "ꜱƽ", "t": "ŧᴛ", "u": "ᴜʋ"},
    **{"v": "ᴠ", "w": "ᴡɯ", "y": "ʏɣ", "z": "ᴢƶ", "D": "Đ", "L": "Ł", "R": "Ʀ", "O": "Ø", "H": "Ħ", "T": "Ŧ"},
}
"""Latin letters beyond ASCII that NFKC leaves alone."""

SIGNS = {
    **{"/": "∕⁄⧸╱⟋", "|": "∣ǀ⏐￨❘", "\\": "∖⧵⧹", ":": "∶꞉ː˸", ";": "\u037e", ".": "․ꓸ", "'": "‘’‛′ʼʹ", '"': "“”„‟″"},
    **{"-": "‐‑‒–—―−˗➖⁃", "<": "‹❮˂ᐸ", ">": "›❯˃ᐳ", "~": "∼˜⁓", "*": "∗⁎", "=": "꓿⹀", ",": "‚", "(": "❨❲", ")": "❩❳"},
    **{"{": "❴", "}": "❵", "`": "ˋ", " ": "\u2028\u2029\u0085"},
}
"""Signs that look like the ones a shell cares about."""

LETTERS = "".join(OTHER_SCRIPTS.values())
TYPOGRAPHY = frozenset("‐‑‒–—―−⁃‘’‛′“”„‟″‹›❮❯∼˜⁓∗⁎‚\u2028\u2029\u0085 \u00a0\u2002\u2003\u2009\u202f\u3000")
"""What people type, or their programs do, without wanting to hide anything."""
_ENCLOSED = {
    code: chr(ord("a") + (code - first) % 26)
    for first, last in ((0x1F150, 0x1F169), (0x1F170, 0x1F189), (0x1F1E6, 0x1F1FF))
    for code in range(first, last + 1)
}
_TABLE = _ENCLOSED | {
    ord(sign): plain for table in (OTHER_SCRIPTS, LATIN, SIGNS) for plain, signs in table.items() for sign in signs
}
_MARKS = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]+")


def normalise(text: str) -> str:
    """The same, and without what has no width."""
    return skeleton(WITHOUT_WIDTH.sub("", text))


def skeleton(text: str) -> str:
    """The text in ASCII, as far as it looks like ASCII: compatibility forms, marks and look-alikes folded."""
    folded = unicodedata.normalize("NFKD", text.translate(_TABLE)).translate(_TABLE)
    return unicodedata.normalize("NFC", _MARKS.sub("", folded))
