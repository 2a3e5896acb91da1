"""The table of clients' commands is true: every row has a test, every test a row, every test has passed, and the page says so."""

from __future__ import annotations

from pathlib import Path

from tests.clients.table import FOLDER, PASSED, Row, RowKey, find_faults, read_outcomes, read_proofs, read_rows
from tools.client_reference import clients_page

INSTALL = RowKey("client 1.0", "install")
ROW = {INSTALL: Row(INSTALL, does="installs", requests=("GET /",))}
TEST = "test_client::test_client_installs"
PROOF = {INSTALL: frozenset({TEST})}
PASSING = {INSTALL: {TEST: PASSED}}


def test_table_has_a_passing_test_for_every_row_and_a_row_for_every_test() -> None:
    assert find_faults(read_rows(), proofs=read_proofs(), outcomes=read_outcomes()) == []


def test_table_is_in_order__when_row_test_and_outcome_agree() -> None:
    assert find_faults(ROW, proofs=PROOF, outcomes=PASSING) == []


def test_table_names_a_row__when_it_has_no_test() -> None:
    assert find_faults(ROW, proofs={}, outcomes=PASSING) == ["client 1.0 install: the row has no test"]


def test_table_names_a_test__when_it_has_no_row() -> None:
    assert find_faults({}, proofs=PROOF, outcomes=PASSING) == [
        f"client 1.0 install: {TEST} prove a row that is not there"
    ]


def test_table_names_a_test__when_it_did_not_pass_or_was_never_run() -> None:
    assert "failed" in find_faults(ROW, proofs=PROOF, outcomes={INSTALL: {TEST: "failed"}})[0]
    assert "skipped" in find_faults(ROW, proofs=PROOF, outcomes={INSTALL: {TEST: "skipped"}})[0]
    assert "has not run" in find_faults(ROW, proofs=PROOF, outcomes={})[0]


def test_table_wants_no_outcome__when_the_row_says_why_it_is_broken() -> None:
    row = {INSTALL: ROW[INSTALL]._replace(broken="The client refuses loopback.")}
    assert find_faults(row, proofs=PROOF, outcomes={}) == []


def test_page_counts_and_tells_what_passes(tmp_path: Path) -> None:
    broken = RowKey("client 1.0", "publish")
    rows = {**ROW, broken: Row(broken, does="publishes", requests=("PUT /",), broken="Wants https.")}
    page = clients_page(rows, proofs=PROOF, outcomes=PASSING)
    assert "1 of 2 commands" in page
    assert "| `install` | installs | `GET /` | passes (1 test) |" in page
    assert "| `publish` | publishes | `PUT /` | does not work: Wants https. |" in page
    assert "not tried" in clients_page(ROW, proofs=PROOF, outcomes={})


def test_proofs_are_read_from_the_text_of_tests(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text('@proves("a 1", "b")\n@proves("a 2", "b")\nasync def test_one(): ...\n')
    assert read_proofs(tmp_path) == {
        RowKey("a 1", "b"): {"test_some::test_one"},
        RowKey("a 2", "b"): {"test_some::test_one"},
    }
    assert FOLDER.name == "clients"
