"""Colours of the log on a terminal: there, unless the environment says that they are not wanted."""

from __future__ import annotations

import io

import pytest

from actors.monitoring.logs import _renderers
from actors.service.settings import is_colourless


class Terminal(io.StringIO):
    """A stream that is one."""

    def isatty(self) -> bool:
        """Return that it is."""
        return True


@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_colours_are_left_out_where_they_are_not_wanted(
    environment: dict[str, str],
    is_coloured: bool,  # noqa: FBT001 - a case
) -> None:
    """By no-color.org: a variable that is set and not empty, whatever it is."""
    event: object = {"event": "source.down", "level": "warning"}
    stream, colourless = Terminal(), is_colourless(environment)
    for render in _renderers(stream, lambda _logger, _name, found: found, is_colourless=colourless):
        event = render(None, "warning", event)  # type: ignore[arg-type]  # the last returns a text

    assert is_coloured is ("\x1b" in str(event))
