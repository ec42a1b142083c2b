"""The log on a terminal: texts that others wrote cannot control the terminal."""

from __future__ import annotations

import json
import logging
import os
import pty
import re
from pathlib import Path

import pytest
import structlog

from actors.monitoring import logs
from tests.support.configured_log import configured

HOSTILE = [
    "\x1b[31mRED",
    "\x1b]0;pwn\x07",
    "a\u202eb",
    "two\nlines",
    "\x9b2J",
    "\u2028",
    "bell\x07 and space",
]
OURS = re.compile("\x1b\\[[0-9;]*m")  # our own colours


def _written(fields: dict[str, object], *, is_terminal: bool) -> str:
    """Return the text that is logged for one event and one record of another package."""
    reading, writing = pty.openpty() if is_terminal else os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as stream, configured(stream):
        structlog.get_logger().warning("test.logged", **fields)
        logging.getLogger("other").warning("other\x1b[2J")
    text = b""
    try:
        while piece := os.read(reading, 65536):
            text += piece
    except OSError:  # a terminal ends with an error
        pass
    finally:
        os.close(reading)
    return text.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_terminal_shows_controls_as_escapes(hostile: str) -> None:
    """Only printable characters of a value or key reach the terminal."""
    text = _written({"path": hostile, "many": [hostile], hostile: 1}, is_terminal=True)

    assert hostile not in text
    assert 2 == len(lines := text.splitlines())
    assert all(OURS.sub("", line).isprintable() for line in lines)


def test_a_stack_keeps_its_lines() -> None:
    """The lines of a stack stay separate; control characters in the exception's text are escaped."""
    text = _written({"exc_info": ValueError("\x1b[31mRED"), "stack": "a:1 f\nb:2 g"}, is_terminal=True)

    lines = OURS.sub("", text).splitlines()
    assert {"a:1 f", "b:2 g", "ValueError: \\x1b[31mRED"} <= set(lines)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_json_keeps_every_value(hostile: str) -> None:
    """Characters that JSON escapes by itself are not changed."""
    first, _ = _written({"path": hostile}, is_terminal=False).splitlines()

    assert hostile == json.loads(first)["path"]


def test_a_secret_equal_to_the_name_of_a_field_leaves_lines_intact() -> None:
    """The secret is masked in values, never in names; event, level and time do not change."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as stream, configured(stream, ("source", "test", "20")):
        structlog.get_logger().warning(
            "test.logged", source="a source of 2026", test="20", file="odds.test"
        )
    with os.fdopen(reading, encoding="utf-8") as written:
        line = json.loads(written.read())

    assert {"timestamp", "level", "event", "source", "test", "file"} == line.keys()
    assert ("20", "warning", "test.logged") == (line["timestamp"][:2], line["level"], line["event"])
    assert ("a *** of ***26", "***", "odds.***") == (line["source"], line["test"], line["file"])


def test_a_long_text_of_an_exception_is_cut() -> None:
    """Texts of causes and of grouped exceptions are cut too; the place of the raise stays."""
    long = ValueError("x" * 1_000_000)
    for error in (long, _raised_from(long), ExceptionGroup("group", [_raised_from(long)])):
        (line, _) = _written({"exc_info": error}, is_terminal=False).splitlines()

        assert len(line) < 10_000
        assert type(error).__name__ in json.loads(line)["exception"]


def _raised_from(cause: Exception) -> Exception:
    error = KeyError("known")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(("level", "shown"), [("debug", 3), ("info", 2), ("warning", 1), ("error", 0)])
@pytest.mark.parametrize("first", ["debug", "error"])
def test_another_level_holds_at_once(tmp_path: Path, first: str, level: str, shown: int) -> None:
    """A new level also holds for loggers that were bound at another level."""
    path = tmp_path / "log"
    with path.open("w", encoding="utf-8") as stream, configured(stream):
        logs.set_level(first)
        bound = structlog.get_logger().bind(actor="a")
        logs.set_level(level)
        structlog.get_logger().debug("test.logged")
        bound.info("test.logged")
        bound.warning("test.logged")

    assert shown == path.read_text("utf-8").count("test.logged")
