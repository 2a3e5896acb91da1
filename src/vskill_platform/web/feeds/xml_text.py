"""Untrusted text in XML: escaped, and without the characters that XML cannot hold at all."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'
_IMPOSSIBLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """The text as it stands between tags or in an attribute in double quotes."""
    return escape(_IMPOSSIBLE.sub("", text), {'"': "&quot;"})
