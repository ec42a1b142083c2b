"""A service whose operators need a token, and the commands that ask it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.core.errors import ConfigError
from actors.service.settings import operators_token
from tests.support.systems.process import Service, service, simulated
from web.__main__ import main

TOKEN = "a-long-enough-token"  # noqa: S105 - of these tests
ASKING = (["links", "stats"], ["trace", "nobody_x"])


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Service]:
    """Run the service with a token that its environment has."""
    config = simulated(tmp_path)
    config.write_text(config.read_text("utf-8") + '\n[operators]\ntoken = "${BOARD_TOKEN}"\n', "utf-8")
    with service(config, {**os.environ, "BOARD_TOKEN": TOKEN}) as found:
        found.wait_ready()
        yield found


def _code(*arguments: str) -> object:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


@pytest.mark.parametrize("command", ASKING)
def test_commands_send_the_token(
    running: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    """From a file, or from the environment; without it they say what is missing."""
    file, url = tmp_path / "token", f"--url={running.base}"
    file.write_text(f"{TOKEN}\n", "utf-8")
    monkeypatch.delenv("ODDSBOARD_TOKEN", raising=False)
    codes = [_code(*command, url), _code(*command, url, f"--token-file={file}")]
    monkeypatch.setenv("ODDSBOARD_TOKEN", TOKEN)
    codes.append(_code(*command, url))

    assert [69, 0, 0] == codes
    assert TOKEN not in str(running.log)


@pytest.mark.parametrize("content", ["", "two words", "\xfc" * 20])
def test_a_file_without_a_token_is_named(tmp_path: Path, content: str) -> None:
    """Its content is not shown."""
    file = tmp_path / "token"
    file.write_text(content, "utf-8")
    with pytest.raises(ConfigError, match=str(file)) as refused:
        operators_token(file, {})

    assert not content or content not in str(refused.value)
