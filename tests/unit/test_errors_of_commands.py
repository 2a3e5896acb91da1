"""How a command ends with an error: in its own words, though tasks that ran at once had it together."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from vskill_platform.cli.main import main
from vskill_platform.domain.errors import InvalidInput

MODULE = sys.modules[main.__module__]


def raising(error: BaseException) -> Callable[[], None]:
    def run() -> None:
        raise error

    return run


OURS = InvalidInput("The folder 'x' is no skill.")


@pytest.mark.parametrize("error", [OURS, ExceptionGroup("several", [ExceptionGroup("inner", [OURS])])])
def test_error_is_told__and_its_status_kept(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(MODULE, "app", raising(error))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "The folder 'x' is no skill." in capsys.readouterr().err


def test_error_that_is_not_ours_is_not_hidden__by_one_that_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "app", raising(ExceptionGroup("several", [OURS, ZeroDivisionError()])))
    with pytest.raises(ExceptionGroup) as raised:
        main()
    assert {type(error) for error in raised.value.exceptions} == {InvalidInput, ZeroDivisionError}
