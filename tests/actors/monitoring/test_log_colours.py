"""Colours of the log on a terminal: they are used unless the environment says that they are unwanted."""

from __future__ import annotations

import io
import os

import pytest

from actors.monitoring.logs import _renderers, show
from actors.service.settings import is_colourless
from tests.support.configured_log import configured


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        """Return that the stream is a terminal."""
        return True


@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_colours_are_left_out_where_they_are_not_wanted(
    environment: dict[str, str],
    is_coloured: bool,  # noqa: FBT001 - a case
) -> None:
    """As no-color.org says, NO_COLOR counts if it is set and not empty, whatever its value."""
    event: object = {"event": "source.down", "level": "warning"}
    stream, colourless = Terminal(), is_colourless(environment)
    for render in _renderers(stream, lambda _logger, _name, found: found, is_colourless=colourless):
        event = render(None, "warning", event)  # type: ignore[arg-type]  # the last renderer returns a text

    assert is_coloured is ("\x1b" in str(event))


@pytest.mark.parametrize("is_terminal", [True, False])
def test_plain_lines_are_shown_on_a_terminal_alone(*, is_terminal: bool) -> None:
    """A log file has only lines that are events."""
    reading, writing = os.openpty() if is_terminal else os.pipe()
    with os.fdopen(reading, "rb", 0) as shown:
        with os.fdopen(writing, "w", encoding="utf-8") as stream, configured(stream):
            show("To end it, press Ctrl+C.")

        assert is_terminal is (b"To end it, press Ctrl+C." in shown.read(100))
