"""Names of skills: what the specification asks of them, and the tricks that make one name look like another.

Nothing here refuses a name. The public name of a skill is its slug, which has no room for any of this; what is found
tells the author, and the reviewer, that the name as written is not what it seems.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from vskill_platform.domain.lint import Problem
from vskill_platform.ingest.escaping import printable
from vskill_platform.ingest.problems import error, warning

MAX_NAME_CHARACTERS = 64
MAX_NAME_BYTES = 255

_FORM = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\..*)?", re.IGNORECASE | re.DOTALL)
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{1,7}\U000e007f")
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_JOINERS = "\u200c\u200d"
_EMOJI_STYLE = "\ufe0f"
# What is taken for a Latin letter or a digit at a glance. Fullwidth, mathematical and accented forms need no entry here.
_LOOKALIKES = {
    ord(character): latin
    for latin, characters in {
        "a": "аɑαᴀ",
        "b": "ьв",
        "c": "сϲᴄ",
        "d": "ԁɗ",
        "e": "еєҽɛεᴇ",
        "g": "ɡց",
        "h": "һհн",
        "i": "іıιɩӏ",
        "j": "јϳ",
        "k": "кκᴋ",
        "l": "ⅼʟ|1",
        "m": "мᴍ",
        "n": "пոηɴ",
        "o": "оοօσⲟᴏ0",
        "p": "рρք",
        "q": "ԛգ",
        "r": "гᴦʀ",
        "s": "ѕꜱ",
        "t": "тτᴛ",
        "u": "υսцᴜ",
        "v": "νѵᴠ",
        "w": "ԝωшᴡ",
        "x": "хχ",
        "y": "уγү",
        "z": "ᴢ",
    }.items()
    for character in characters
}


def find_name_problems(name: str, *, line: int, folder_name: str | None) -> Iterator[Problem]:
    """What is wrong with a name that is not empty."""
    yield from _find_form_problems(name, line=line)
    if folder_name is not None and name != folder_name:
        yield error(
            "name_not_folder",
            line=line,
            message=f"The name is '{printable(name)}', the folder is '{printable(folder_name)}'.",
            fix="Give both the same name.",
        )
    yield from _find_portability_problems(name, line=line)
    if not name.isascii():
        yield from _find_lookalike_problems(name, line=line)


def name_skeleton(name: str) -> str:
    """A form that names which look alike have in common; equal skeletons mean that one may pass for the other."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    letters = "".join(
        character for character in folded if not (unicodedata.combining(character) or _is_unseen(character))
    )
    return letters.translate(_LOOKALIKES).replace("rn", "m").replace("vv", "w")


def hidden_characters(text: str) -> tuple[str, ...]:
    """The characters that do not show, as `U+202E`, each once. Joiners and selectors within words and emoji do not count."""
    if text.isascii() and text.isprintable():
        return ()
    plain = _FLAG.sub("", text)
    found = {
        f"U+{ord(character):04X}"
        for position, character in enumerate(plain)
        if _is_unseen(character) and not _belongs(plain, position)
    }
    return tuple(sorted(found))


def _is_unseen(character: str) -> bool:
    if character in "\t\n\r":
        return False
    point = ord(character)
    is_selector = 0xFE00 <= point <= 0xFE0F or 0xE0100 <= point <= 0xE01EF
    is_break = character in "\u2028\u2029"
    return is_selector or is_break or character in _UNSEEN or unicodedata.category(character) in ("Cf", "Cc")


def _belongs(text: str, position: int) -> bool:
    """Whether a joiner or a selector does its ordinary work between characters that are not ASCII."""
    before = text[position - 1] if position else " "
    after = text[position + 1] if position + 1 < len(text) else " "
    if text[position] in _JOINERS:
        return not before.isascii() and not after.isascii()
    return text[position] == _EMOJI_STYLE and not before.isalpha() and not before.isspace()


def _find_form_problems(name: str, *, line: int) -> Iterator[Problem]:
    if not _FORM.fullmatch(name):
        yield error(
            "name_form",
            line=line,
            message=f"The name '{printable(name)}' has other characters than a-z, 0-9 and single hyphens between them.",
            fix="Write it in lower case with hyphens, such as 'pdf-tools'.",
        )
    if len(name) > MAX_NAME_CHARACTERS:
        yield error(
            "name_too_long",
            line=line,
            message=f"The name has {len(name)} characters; {MAX_NAME_CHARACTERS} are allowed.",
            fix="Shorten it.",
        )


def _find_portability_problems(name: str, *, line: int) -> Iterator[Problem]:
    if len(name.encode()) > MAX_NAME_BYTES:
        yield warning(
            "name_too_many_bytes",
            line=line,
            message=f"The name has more than {MAX_NAME_BYTES} bytes; no file system takes it for a folder.",
            fix="Shorten it.",
        )
    if name != name.strip() or name.endswith("."):
        yield warning(
            "name_edges",
            line=line,
            message="The name ends in a dot or has a space at an end; some systems drop those.",
            fix="Delete them.",
        )
    if _DEVICE.fullmatch(name.strip()):
        yield warning(
            "name_is_device",
            line=line,
            message=f"'{printable(name)}' is a device on Windows and cannot be a folder there.",
            fix="Choose another name.",
        )


def _find_lookalike_problems(name: str, *, line: int) -> Iterator[Problem]:
    hidden = hidden_characters(name)
    if hidden:
        yield warning(
            "name_hidden_characters",
            line=line,
            message=f"The name has characters that do not show: {', '.join(hidden[:5])}.",
            fix="Type the name anew.",
        )
    if unicodedata.normalize("NFKC", name) != name:
        yield warning(
            "name_not_normal",
            line=line,
            message="The name has characters that are other forms of ordinary ones (NFKC changes it).",
            fix="Use the ordinary characters.",
        )
    if name.casefold() != name.lower():
        yield warning(
            "name_case_unstable",
            line=line,
            message="The name has a letter that systems fold to different small letters.",
            fix="Write it with the letters a to z.",
        )
    yield from _find_script_problems(name, line=line)


def _find_script_problems(name: str, *, line: int) -> Iterator[Problem]:
    scripts = {_script(character) for character in name if character.isalpha()}
    if len(scripts) > 1 and not scripts <= _JAPANESE:
        yield warning(
            "name_mixed_script",
            line=line,
            message=f"The name mixes letters of different scripts: {', '.join(sorted(scripts))}.",
            fix="Use letters of one script.",
        )
    skeleton = name_skeleton(name)
    if skeleton.isascii() and scripts - {"LATIN"}:
        yield warning(
            "name_confusable",
            line=line,
            message=f"The name looks like '{printable(skeleton)}', but its letters are not those.",
            fix="Write it with the letters that it shows.",
        )


_JAPANESE = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"})


def _script(character: str) -> str:
    """The script of a letter, by the first word of its Unicode name."""
    return unicodedata.name(character, "UNKNOWN").split(" ", 1)[0]
