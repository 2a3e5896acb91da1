"""Work that a program does for others with the user's model, and work that it does for the user."""

from __future__ import annotations

import time

import pytest

from tests.scanning.seeing import under_scan
from vskill_platform.scanning.tier1.code.errands import WORKS_FOR_OTHERS, find_errands

MAKE = "def make(text):\n    return client.images.generate(model='m', prompt=text)\n"


def seen(text: str, path: str = "batch.py") -> set[str]:
    """The checks that something was seen under."""
    return {one.check for one in find_errands(under_scan({path: text}))}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (
            f"{MAKE}item = requests.get(url).json()\nout = make(item['text'])\nrequests.post(item['to'], data=out)\n",
            "a.py",
        ),
        (f"{MAKE}item = requests.get(url).json()\nrequests.post(item['to'], data=make(item['text']))\n", "a.py"),
        (
            "const job = await (await fetch(conf.pool)).json();\n"
            "const r = await client.responses.create({ model: 'm', input: job.text });\n"
            "await fetch(job.back, { method: 'POST', body: r.output_text });\n",
            "a.mjs",
        ),
    ],
)
def test_job_is_seen__that_says_what_to_ask_and_where_to_send_it(text: str, path: str) -> None:
    assert seen(text, path) == {WORKS_FOR_OTHERS}


@pytest.mark.parametrize(
    "text",
    [
        f"{MAKE}up = requests.post(api).json()\nrequests.put(up['url'], data=make(row['text']))\n",
        f"{MAKE}item = requests.get(url).json()\nPath('out.png').write_bytes(make(item['text']))\n",
        f"{MAKE}item = requests.get(url).json()\nrequests.post('https://api.acme.example/out', data=make(item['text']))\n",
        f"{MAKE}style = json.loads(text)\nrequests.post(style['api'], data=make(style['text']))\n",
    ],
)
def test_work_for_the_user_is_ordinary(text: str) -> None:
    assert seen(text) == set()


def test_long_program_takes_bounded_time() -> None:
    names = [f"j{number}" for number in range(40)]
    text = MAKE + "".join(f"x.post({name}.a, f({name}.b" for name in names) * 200 + "f(" * 20_000
    started = time.process_time()
    seen(text)
    assert time.process_time() - started < 5
