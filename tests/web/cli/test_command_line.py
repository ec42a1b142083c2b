"""The command line: help texts, wrong use, Ctrl+C, and the address at which a user sees the board."""

from __future__ import annotations

import argparse
import asyncio
import builtins
import re
import signal
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.support.systems.process import Ended
from tests.support.time.waiting import DEADLINE_S
from web.cli.main import _parser
from web.cli.terminal import directions, run_until_interrupted
from web.endpoints.release import release

CONFIG_OPTION = "unrecognized arguments: mine.toml; a configuration is named with --config mine.toml"
NO_TIME, NO_SPEED = "must be like 90s, 15m, 2h or 1d", "must be a number above 0, or max"
WRONG = {
    "serve --server uvicorn": "as fast as uvicorn was: leave the option out",
    "serve --server=hypercorn": "as fast as uvicorn was: leave the option out",
    "serve mine.toml": CONFIG_OPTION,
    "record --out x mine.toml": CONFIG_OPTION,
    "check-config mine.toml": CONFIG_OPTION,
    "probe azuro mine.toml": CONFIG_OPTION,
    "links suggest --limit -1": "argument --limit: was '-1', must be 0 to 9999",
    "links suggest --limit 10000": "argument --limit: was '10000', must be 0 to 9999",
    "links suggest --limit 1e3": "argument --limit: was '1e3', must be 0 to 9999",
    "replay x --speed 0": f"was '0', {NO_SPEED}",
    "replay x --speed -1": "--speed",
    "replay x --speed nan": f"was 'nan', {NO_SPEED}",
    "record --out x --for 90": f"was '90', {NO_TIME}",
    "record --out x --for 0s": f"was '0s', {NO_TIME}",
    "record": "--out",
    "replay": "DIR|FILE",
}
"""Arguments, and a text that the last line of their error has."""


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _parsers(command)


def test_every_command_and_option_has_a_help_text() -> None:
    """No text breaks the formatting of argparse."""
    parsers = [*_parsers(_parser())]
    without = [
        f"{parser.prog} {action.option_strings or action.dest}"
        for parser in parsers
        for action in parser._actions
        if not action.help and not isinstance(action, argparse._SubParsersAction)
    ]

    assert [] == without + [parser.prog for parser in parsers if not parser.description]
    assert all(parser.format_help().startswith(f"usage: {parser.prog}") for parser in parsers)


def test_no_command_prints_the_help(ended: Ended) -> None:
    """A call without a command is wrong use, but the error shows examples of right use."""
    code, out, err = ended()

    assert (2, "") == (code, out)
    assert all(f"\n  oddsboard {line} " in err for line in ("serve", "init football_data"))


@pytest.mark.parametrize("given", WRONG)
def test_wrong_use_is_2_under_the_usage_of_the_command(given: str, ended: Ended) -> None:
    """The last line of the error says what was found and what is allowed."""
    words = given.split()
    code, out, err = ended(*words)

    assert (2, "") == (code, out)
    assert err.startswith(f"usage: oddsboard {' '.join(words[:2]) if words[0] == 'links' else words[0]} ")
    assert WRONG[given] in re.split("\noddsboard.*: error: ", err)[-1]


@pytest.mark.parametrize("bind", ["nonsense", "127.0.0.1:65536"])
def test_a_malformed_address_is_78_and_one_line(bind: str, ended: Ended) -> None:
    """The error says which form of an address is allowed, and the service has not begun to start."""
    code, out, err = ended("serve", "--bind", bind)

    assert (78, "", 1) == (code, out, err.count("\n"))
    assert (True, True) == (repr(bind) in err, "HOST:PORT" in err)


@pytest.mark.parametrize("option", ["version", "-V", "--version"])
def test_the_version_is_a_line(option: str, ended: Ended) -> None:
    """The line has the name, the number, and the commit if there is one."""
    assert (0, f"oddsboard {release()}\n", "") == ended(option)


def test_ctrl_c_while_the_command_line_is_imported_is_told_in_a_line(
    ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The import takes most of a second, and no handler of signals is installed during that time."""
    monkeypatch.setattr(builtins, "__import__", _interrupted)
    before = signal.getsignal(signal.SIGINT)
    try:
        found = ended("probe", "azuro")
    finally:
        signal.signal(signal.SIGINT, before)

    assert (130, "", "oddsboard: ended by Ctrl+C\n") == found


def _interrupted(name: str, *arguments: Any, load: Callable[..., Any] = builtins.__import__) -> Any:
    if name == "web.cli.main":
        raise KeyboardInterrupt
    return load(name, *arguments)


def test_ctrl_c_that_a_wait_takes_for_its_end_ends_the_command() -> None:
    """A wait can mistake the cancellation for its own deadline: the Ctrl+C must not be lost."""
    taken = []

    async def command() -> None:
        asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            taken.append("the end of a wait")
        await anyio.sleep(DEADLINE_S)
        taken.append("no Ctrl+C")

    with pytest.raises(KeyboardInterrupt):
        run_until_interrupted(command)

    assert ["the end of a wait"] == taken


def test_second_ctrl_c_ends_a_command_at_once() -> None:
    """A second Ctrl+C ends the command even while the command still ends in order."""

    async def command() -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(signal.raise_signal, signal.SIGINT)
        with anyio.CancelScope(shield=True):
            loop.call_later(0.05, signal.raise_signal, signal.SIGINT)
            await anyio.sleep(DEADLINE_S)

    with pytest.raises(KeyboardInterrupt):
        run_until_interrupted(command)


def test_a_command_goes_on_where_ctrl_c_is_ignored() -> None:
    """A background job of a shell script ignores Ctrl+C, because the shell starts it so."""
    ended = []

    async def command() -> None:
        signal.raise_signal(signal.SIGINT)
        for _ in range(10):  # in these turns of the loop a handler would run
            await anyio.lowlevel.checkpoint()
        ended.append("by itself")

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        run_until_interrupted(command)
    except KeyboardInterrupt:
        ended.append("by Ctrl+C")
    finally:
        signal.signal(signal.SIGINT, before)

    assert ["by itself"] == ended


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"url": "http://127.0.0.1:8000"}, "To see the board, open http://127.0.0.1:8000 in a browser."),
        *(
            (
                {"url": f"http://{host}:80"},
                "To see the board, open http://127.0.0.1:80 here, or http://ADDRESS:80 on other machines.",
            )
            for host in ("0.0.0.0", "[::]")  # noqa: S104 - the address is only printed
        ),
        ({"url": "unix:/run/board"}, "It serves the Unix socket /run/board; a proxy shows it to browsers."),
        ({"folder": "rec"}, "It records to the folder rec."),
    ],
)
def test_directions_name_what_can_be_opened(facts: dict[str, str], line: str) -> None:
    """A browser cannot open an address that means all addresses, so another address is named."""
    assert (line, "To end it, press Ctrl+C.") == directions(**facts)
