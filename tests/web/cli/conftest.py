"""Fixture that runs a command inside the process of the tests."""

from __future__ import annotations

import pytest

from tests.support.systems.process import Ended
from web.__main__ import main


@pytest.fixture
def ended(capsys: pytest.CaptureFixture[str]) -> Ended:
    """Return a function that runs a command and returns its exit code, output and errors."""

    def run(*arguments: object) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as exited:
            main([*map(str, arguments)])
        return exited.value.code, *capsys.readouterr()

    return run
