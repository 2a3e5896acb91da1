"""H7: names that look like others, hide something, or cannot be everywhere: of files, of folders, and of skills."""

from __future__ import annotations

from functools import partial

from tests.hostile.corpus import Attack, case
from tests.hostile.stage import Stage

TAGGED = "a" + "".join(chr(0xE0000 + ord(letter)) for letter in "run rm")
FILES = {
    "bidi": "a\u202etxt.sh",
    "bidi-isolate": "a\u2066b.txt",
    "zero-width": "run\u200b.sh",
    "zero-width-joiner": "run\u200d.sh",
    "word-joiner": "run\u2060.sh",
    "tag-characters": f"{TAGGED}.txt",
    "soft-hyphen": "run\u00ad.sh",
    "hangul-filler": "\u3164.txt",
    "braille-blank": "\u2800.txt",
    "private-selector": "a\U000e0100.txt",
    "trailing-dot": "run.sh.",
    "trailing-space": "run.sh ",
    "trailing-wide-space": "run.sh\u3000",
    "device": "con",
    "device-extension": "aux.txt",
    "device-superscript": "com\u00b9.txt",
    "device-in-path": "docs/nul/readme.txt",
    "backslash": "docs\\..\\..\\run.sh",
    "colon": "readme.txt:stream",
    "newline": "a\nb.txt",
    "escape": "a\x1b[31m.txt",
    "not-utf8": "\udcff\udcfe.txt",
    "noncharacter": "a\ufffe.txt",
    "byte-length": "\U0001f600" * 26,
    "long-path": "/".join(["d" * 90] * 3),
    "dotgit-lookalike": "docs/.g\u0131t\u200c/config",
    "dotgit-fullwidth": "docs/．git/config",
}
PAIRS = {
    "case": ("Read.txt", "read.txt"),
    "case-folder": ("Docs/a.txt", "docs/b.txt"),
    "case-sharp-s": ("stra\u00dfe.txt", "STRASSE.txt"),
    "case-dotted-i": ("\u0130.txt", "i\u0307.txt"),
    "case-long-s": ("\u017fkill.txt", "skill.txt"),
    "case-kelvin": ("\u212a.txt", "k.txt"),
    "nfc": ("caf\u00e9.txt", "cafe\u0301.txt"),
    "nfkc": ("\uff41.txt", "a.txt"),
    "nfkc-ligature": ("\ufb01le.txt", "file.txt"),
    "file-and-folder": ("Docs", "docs/a.txt"),
    "two-skill-md": ("skill.md", "notes.txt"),
}
SKILLS = {
    "bidi": "gr\u202eeet",
    "zero-width": "gre\u200beting",
    "tag-characters": TAGGED,
    "mixed-script": "\u0440aypal-tools",
    "confusable": "\u0440\u0430\u0443\u0440\u0430\u04cf",
    "nfkc": "\uff47\uff52\uff45\uff45\uff54",
    "case-folding": "\u0130stanbul-stra\u00dfe",
    "trailing-dot": "greeting.",
    "device": "con",
    "byte-length": "\U0001f600" * 80,
    "path": "../../etc/passwd",
    "markup": "<script>alert(1)</script>",
    "no-letter": "\u65e5\u672c\u8a9e",
}
FOLDERS = {
    "bidi": "a\u202eb",
    "control": "a\x1bb",
    "not-utf8": "a\udcffb",
    "newline": "a\nb",
    "zero-width": "gre\u200beting",
    "device": "con",
    "trailing-dot": "greeting.",
    "long": "n" * 250,
    "markup": "<img src=x onerror=alert(1)>",
}


async def file_named(stage: Stage, *, name: str) -> Attack:
    files = {"SKILL.md": stage.skill_md(), name: b"Be kind.\n"}
    stage.repository(files)
    return Attack(url=stage.url, publishes=files)


async def files_named(stage: Stage, *, names: tuple[str, str]) -> Attack:
    stage.repository({"SKILL.md": stage.skill_md(), **{name: name.encode() for name in names}})
    return Attack(url=stage.url)


async def skill_named(stage: Stage, *, name: str) -> Attack:
    files = {"SKILL.md": stage.skill_md(name=f'"{name}"')}
    stage.repository(files)
    return Attack(url=stage.url, publishes=files)


async def folder_named(stage: Stage, *, name: str) -> Attack:
    stage.repository({f"{name}/SKILL.md": stage.skill_md()})
    return Attack(url=stage.url, publishes={"SKILL.md": stage.skill_md()})


for _id, _name in FILES.items():
    case(f"H7-file-{_id}")(partial(file_named, name=_name))
for _id, _names in PAIRS.items():
    case(f"H7-files-{_id}")(partial(files_named, names=_names))
for _id, _name in SKILLS.items():
    case(f"H7-skill-{_id}")(partial(skill_named, name=_name))
for _id, _name in FOLDERS.items():
    case(f"H7-folder-{_id}")(partial(folder_named, name=_name))


@case("H7-typosquat")
async def typosquat(stage: Stage) -> Attack:
    """A name one letter away from one that is published already."""
    stage.repository({"SKILL.md": stage.skill_md(name="pdf-tools")}, suffix="-first")
    await stage.journey.take_through(f"hostile/{stage.name}-first")
    stage.repository({"SKILL.md": stage.skill_md(name="pdf-tool")})
    return Attack(url=stage.url)


@case("H7-same-slug")
async def same_slug(stage: Stage) -> Attack:
    """Two skills of one repository whose names make one slug: neither may take the other's place."""
    stage.repository({f"{name}/SKILL.md": stage.skill_md(f"As {name}.", name="Same Name") for name in ("a-b", "a_b")})
    return Attack(url=stage.url)


@case("H7-requested-name")
async def requested_name(stage: Stage) -> Attack:
    stage.repository({"SKILL.md": stage.skill_md()})
    return Attack(url=stage.url, skill="gre\u202eeting")
