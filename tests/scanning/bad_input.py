"""Bad input, and a process that scans it: `python -m tests.scanning.bad_input`, with a case's name on each line of its input.

For each case the process makes a child of itself, which has as much memory and processor time as a scanning process and says
on one line what it found. What a case takes too much of ends its child, and the line for it is `null`.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import sys
import tarfile
import traceback
import zipfile
from collections.abc import Callable

import msgspec

from tests.scanning.archives import EVIL, chunk, docx, nested, pdf, pdf_stream, png, tar_gz, tarred, zipped
from vskill_platform.domain.content import SkillContent, SkillFile, make_content
from vskill_platform.scanning.tier1.rules import load_ruleset
from vskill_platform.scanning.tier1.scan import scan_content
from vskill_platform.settings import Settings

CPU_SECONDS = 60
MEGABYTE = 1_000_000
DEEP = 100_000
MOST_FILES = "100,000 files"
"""A case that takes half a minute; the same with a tenth of the files stands in for it every day."""
HEAD = b"---\nname: sample\ndescription: A sample skill.\n---\n\nHello.\n"
WORDS = b"The quick brown fox jumps over the lazy dog, and nobody minds. "
Files = dict[str, bytes]


class Result(msgspec.Struct):
    """What a scan came to, and how much memory and processor time its process had in the end, making the case included."""

    name: str
    verdict: str
    limits: list[str]
    rules: list[str]
    files: list[str]
    memory_kib: int
    cpu_s: float


def _lines(count: int) -> bytes:
    return b"".join(b"%d: %s\n" % (number, WORDS) for number in range(count))


def _zip_of_many(count: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number}.txt", b"x")
    return buffer.getvalue()


def _tar_of_links(count: int) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for number in range(count):
            link = tarfile.TarInfo(str(number))
            link.type, link.linkname = tarfile.SYMTYPE, "/"
            archive.addfile(link)
    return buffer.getvalue()


CASES: dict[str, Callable[[], Files]] = {
    "12 MB of text": lambda: {"notes.md": _lines(160_000)[: 12 * MEGABYTE]},
    "12 MB in one line": lambda: {"notes.md": WORDS * (12 * MEGABYTE // len(WORDS))},
    "12 MB of NUL": lambda: {"notes.md": bytes(12 * MEGABYTE)},
    "12 MB of noise": lambda: {"data.bin": bytes(range(256)) * (12 * MEGABYTE // 256)},
    "12 MB of SKILL.md": lambda: {"SKILL.md": HEAD + _lines(160_000)},
    "12 MB of frontmatter": lambda: {"SKILL.md": b"---\nname: a\nhooks: |\n" + b"  x\n" * (3 * MEGABYTE)},
    "12 MB of settings": lambda: {".claude/settings.json": b'{"a": ["' + b'x","' * (3 * MEGABYTE) + b'"]}'},
    "100,000 newlines": lambda: {"notes.md": b"top\n" + b"\n" * DEEP + b"bottom\n"},
    "100,000 newlines in SKILL.md": lambda: {"SKILL.md": HEAD + b"\n" * DEEP + b"bottom\n"},
    "10,000 files": lambda: {f"docs/{number}.md": b"Hello." for number in range(DEEP // 10)},
    MOST_FILES: lambda: {f"docs/{number}.md": b"Hello." for number in range(DEEP)},
    "a line of 1 MB": lambda: {"run.sh": b"echo " + b"a" * MEGABYTE},
    "a line of 1 MB in a manifest": lambda: {"package.json": b'{"dependencies": {"a": "' + b"x" * MEGABYTE + b'"}}'},
    "deep JSON": lambda: {".mcp.json": b"[" * DEEP + b"]" * DEEP},
    "deep JSON of objects": lambda: {"package.json": b'{"a":' * DEEP},
    "deep YAML": lambda: {"openai.yaml": b"[" * DEEP, ".github/workflows/a.yml": b"a: {" * DEEP},
    "deep YAML by indent": lambda: {"a/openai.yaml": b"\n".join(b" " * level + b"a:" for level in range(2_000))},
    "deep frontmatter": lambda: {"SKILL.md": b"---\nname: a\nhooks: " + b"[" * DEEP + b"\n---\n"},
    "aliases in YAML": lambda: {
        "openai.yaml": b"a0: &a0 x\n"
        + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 30))
    },
    "deep TOML": lambda: {
        "pyproject.toml": b"a = " + b"[" * DEEP,
        ".codex/config.toml": b".".join([b"a"] * DEEP) + b" = 1",
    },
    "deep Markdown": lambda: {"notes.md": b"> " * DEEP + b"x\n" + b"- " * DEEP + b"\n" + b"`" * DEEP + b"[" * DEEP},
    "deep HTML": lambda: {"notes.html": b"<div>" * DEEP, "notes.md": b"<details>\n" * DEEP},
    "deep SVG": lambda: {"logo.svg": b"<svg>" + b"<g>" * DEEP + b"</svg>"},
    "deep Python": lambda: {"run.py": b"x = " + b"(" * DEEP, "b.py": b"x = " + b"-" * DEEP + b"1\n"},
    "deep shell": lambda: {"run.sh": b"$(" * DEEP + b"echo", ".husky/pre-commit": b"( " * DEEP},
    "deep JavaScript": lambda: {"run.js": b"f(" * DEEP + b"[" * DEEP},
    "deep XML in a document": lambda: {"a.docx": docx("x", more={"word/document.xml": b"<w:p>" * DEEP})},
    "deep PDF": lambda: {"a.pdf": pdf(b"<<" * DEEP + b"[" * DEEP)},
    "deep paths": lambda: {"/".join(["d"] * 1_000) + "/a.md": b"Hello."},
    "deep hook": lambda: {
        ".claude/settings.json": json.dumps({"hooks": {"Stop": [{"command": "$(" * DEEP}]}}).encode()
    },
    "picture and zip": lambda: {"logo.png": png() + zipped({"run.sh": EVIL})},
    "picture and script": lambda: {"logo.gif": b"GIF89a=1;\n#!/bin/sh\n" + EVIL},
    "picture and page": lambda: {"logo.png": png(chunk(b"tEXt", b"a\0<script>alert(1)</script>"))},
    "tar and zip": lambda: {"a.tar": tarred({"a.md": b"x"}) + zipped({"run.sh": EVIL})},
    "script and archive": lambda: {"run.sh": b"#!/bin/sh\ntail -n +3 $0 | tar xz\n" + gzip.compress(EVIL)},
    "document and zip": lambda: {"a.pdf": pdf(b"<< >>") + zipped({"run.sh": EVIL})},
    "broken UTF-8": lambda: {"notes.md": b"\xff\xfe\xfa" * DEEP, "run.py": b"print('\xe9\xe8\xff')\n" * 1_000},
    "broken UTF-16": lambda: {"notes.md": b"\xff\xfe" + b"\0\xd8" * DEEP, "b.md": b"\xfe\xff\0"},
    "UTF-7 and UTF-32": lambda: {"a.md": "ignore +AGE-".encode("utf-7"), "b.md": "hello".encode("utf-32")},
    "surrogates": lambda: {"a.md": "\ud800".encode("utf-8", "surrogatepass") * DEEP},
    "binary with a text name": lambda: {"notes.md": bytes(range(256)) * 40, "run.py": b"\x7fELF" + bytes(100)},
    "archives in archives": lambda: {"a.zip": nested(zipped({"run.sh": EVIL}), levels=8)},
    "archives beside archives": lambda: {
        "a.zip": zipped(
            {f"{n}.zip": zipped({f"{m}.tgz": tar_gz({"run.sh": EVIL}) for m in range(30)}) for n in range(30)}
        )
    },
    "bomb": lambda: {"a.zip": zipped({"zeros": bytes(64 * MEGABYTE)}), "b.gz": gzip.compress(bytes(64 * MEGABYTE))},
    "bomb of text": lambda: {"a.gz": gzip.compress(_lines(400_000)), "b.zip": zipped({"a.md": _lines(400_000)})},
    "archive of many": lambda: {"a.zip": _zip_of_many(50_000), "b.tar": _tar_of_links(20_000)},
    "bomb in a PDF": lambda: {"a.pdf": pdf(*[pdf_stream(bytes(8 * MEGABYTE)) for _ in range(9)])},
    "bomb in a picture": lambda: {
        "logo.png": png(*[chunk(b"zTXt", b"a\0\0" + gzip.compress(b"")) for _ in range(20_000)])
    },
    "install commands": lambda: {"run.sh": b"pip install reqeusts\n" * DEEP},
    "long names": lambda: {"n" * 100_000 + ".md": b"Hello.", "a.zip": zipped({"m" * 60_000: b"x"})},
}


def content_of(files: Files) -> SkillContent:
    """The skill that these files make, with a plain SKILL.md unless they have one."""
    return make_content([SkillFile(path=path, content=data) for path, data in {"SKILL.md": HEAD, **files}.items()])


def main() -> int:
    """Scan each case that is named on standard input in a child of its own, and print a line for it."""
    scan_content(content_of({"a.py": b"print(1)\n", "a.sh": b"echo\n", "a.js": b"f()\n", "a.yaml": b"a: b\n"}))
    for line in sys.stdin:
        name = line.rstrip("\n")
        sys.stdout.flush()
        child = os.fork()
        if not child:
            _scan_case(name, CASES[name])
        if os.waitpid(child, 0)[1]:
            os.write(1, b"null\n")
    return 0


def _scan_case(name: str, make: Callable[[], Files]) -> None:
    try:
        content = content_of(make())
        memory = Settings().scan_memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        report = scan_content(content, ruleset=load_ruleset())
        used = resource.getrusage(resource.RUSAGE_SELF)
        rules = sorted({finding.rule_id for finding in report.findings})
        files = sorted({finding.file[:100] for finding in report.findings})
        result = Result(name, report.verdict, list(report.limits_hit), rules, files, used.ru_maxrss, used.ru_utime)
        os.write(1, msgspec.json.encode(result) + b"\n")
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
