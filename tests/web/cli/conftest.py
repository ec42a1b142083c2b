"""Commands that run within the process of the tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from web.__main__ import main

Ended: TypeAlias = Callable[..., tuple[object, str, str]]


@pytest.fixture
def ended(capsys: pytest.CaptureFixture[str]) -> Ended:
    """Return a function that runs a command and returns its exit code, output and errors."""

    def run(*arguments: object) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as exited:
            main([*map(str, arguments)])
        return exited.value.code, *capsys.readouterr()

    return run
