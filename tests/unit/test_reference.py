"""The reference pages say what the code says, and the documents name only what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.accuracy import written
from tools.reference import FOLDER, PAGES
from tools.rule_reference import without_fences
from vskill_platform.scanning.accuracy import FIGURES

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("name", PAGES)
def test_reference_page_is_what_the_code_says(name: str) -> None:
    assert (FOLDER / name).read_text() == PAGES[name](), "run `make docs`"


def test_accuracy_that_pages_show_is_what_the_corpus_says() -> None:
    assert FIGURES.read_bytes() == written(), "run `make docs`"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_document_links_to_files_that_are_there(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", without_fences(document.read_text()))
    missing = [target for target in targets if not (document.parent / target).exists()]
    assert missing == []


def test_page_of_the_rules_leads_from_its_table_to_every_rule() -> None:
    text = (FOLDER / "rules.md").read_text()
    anchors = re.findall(r"^\| \[`([^`]+)`\]\(#([^)]+)\)", text, re.MULTILINE)
    headings = re.findall(r"^## (.+)$", without_fences(text), re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"): heading.split(" ")[0] for heading in headings}
    assert len(anchors) > 100
    assert [name for name, anchor in anchors if made.get(anchor) != name] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_document_names_only_make_targets_that_are_there(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)", without_fences(document.read_text())))
    assert named <= targets


def test_architecture_names_every_room_of_the_house() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    rooms = [path.name for path in (ROOT / "src" / "vskill_platform").iterdir() if not path.name.startswith("_")]
    assert [room for room in rooms if room != "py.typed" and room not in text] == []
