"""The command line: its help texts, and `init`."""

from __future__ import annotations

import argparse
import asyncio
import builtins
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from errno import ENOSPC
from pathlib import Path
from typing import Any

import anyio
import pytest

from actors.core.errors import ServiceUnreachableError
from actors.service.settings import load
from tests.support.systems.process import ROOT
from tests.support.time.waiting import DEADLINE_S
from web.__main__ import main
from web.cli.examples import CONFIGURATIONS, EXAMPLES
from web.cli.main import _parser
from web.cli.terminal import directions, run_until_interrupted

KEYS = (
    *("THE_ODDS_API_KEY", "FIVE_DOLLAR_FOOTBALL_KEY"),
    *("BETFAIR_APP_KEY", "BETFAIR_USERNAME", "BETFAIR_PASSWORD"),
)


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _parsers(command)


def _ended(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def test_every_command_and_option_has_a_help_text() -> None:
    """`oddsboard COMMAND --help` explains each command and option."""
    parsers = [*_parsers(_parser())]
    without = [
        f"{parser.prog} {action.option_strings or action.dest}"
        for parser in parsers
        for action in parser._actions
        if not action.help and not isinstance(action, argparse._SubParsersAction)
    ]
    named = [parser.prog.rpartition(" ")[2] for parser in parsers[1:]]

    assert [] == without + [parser.prog for parser in parsers if not parser.description]
    commands = {
        "clv",
        "init",
        "serve",
        "record",
        "replay",
        "check-config",
        "sources",
        "inspect",
        "version",
        "links",
        "surebets",
        "archive",
        "alerts",
        "check-program",
        "probe",
        "completion",
        "trace",
        "get",
        "watch",
        "test",
        "mcp",
    }
    of_links, of_archive = {"explain", "suggest", "stats"}, {"info", "check", "seal", "export"}
    assert commands | of_links | of_archive == {*named}


@pytest.mark.parametrize("command", ["", *("init", "serve", "record", "replay", "check-config", "inspect")])
def test_help_is_printed(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No help text breaks the formatting of argparse."""
    code, out, err = _ended(capsys, *command.split(), "--help")

    assert (0, "") == (code, err)
    assert out.startswith(f"usage: oddsboard {command}".rstrip())


@pytest.mark.parametrize("given", [["--server", "uvicorn"], ["--server=hypercorn"]])
def test_an_option_that_there_was_says_what_to_do(
    given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The command fails as for any unknown option."""
    with pytest.raises(SystemExit) as ended:
        main(["serve", *given])

    assert 2 == ended.value.code
    assert capsys.readouterr().err.endswith("as fast as uvicorn was: leave the option out\n")


@pytest.mark.parametrize("command", ["serve", "record", "check-config", "probe"])
def test_a_file_without_its_option_is_told_where_it_belongs(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under the usage of that command, which does not list all the others."""
    needed = {"record": ["--out", "x"], "probe": ["azuro"]}.get(command, [])
    code, _, err = _ended(capsys, command, *needed, "mine.toml")

    assert (2, True) == (code, err.startswith(f"usage: oddsboard {command} "))
    why = "unrecognized arguments: mine.toml; a configuration is named with --config mine.toml\n"
    assert f"oddsboard {command}: error: {why}" in err


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_is_an_option_as_well(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As of most commands."""
    assert _ended(capsys, "version") == _ended(capsys, option)


def test_ctrl_c_while_the_command_line_is_imported_is_told_in_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """That takes most of a second, and there are no handlers of signals yet."""
    monkeypatch.setattr(builtins, "__import__", _interrupted)
    before = signal.getsignal(signal.SIGINT)
    try:
        code, out, err = _ended(capsys, "probe", "azuro")
    finally:
        signal.signal(signal.SIGINT, before)

    assert (130, "", "oddsboard: ended by Ctrl+C\n") == (code, out, err)


def _interrupted(name: str, *arguments: Any, load: Callable[..., Any] = builtins.__import__) -> Any:
    if name == "web.cli.main":
        raise KeyboardInterrupt
    return load(name, *arguments)


def test_ctrl_c_ends_a_command_that_runs_with_a_line() -> None:
    """Also while it waits for a program."""
    program = "echo I! begun >&2; exec sleep 60"
    command = [sys.executable, "-m", "web", "check-program", "--for", "60s", "--", "/bin/sh", "-c", program]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        begun = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=DEADLINE_S)

    assert "says: I! begun\n" == begun
    assert (130, "oddsboard: ended by Ctrl+C\n") == (process.returncode, err)


def test_ctrl_c_that_a_wait_takes_for_its_end_ends_the_command() -> None:
    """As a cancellation may be taken that comes when a deadline passes: it is not lost."""
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
    """Whatever it does to end in order."""

    async def command() -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(signal.raise_signal, signal.SIGINT)
        with anyio.CancelScope(shield=True):
            loop.call_later(0.05, signal.raise_signal, signal.SIGINT)
            await anyio.sleep(DEADLINE_S)

    with pytest.raises(KeyboardInterrupt):
        run_until_interrupted(command)


@pytest.mark.parametrize("command", ["version", "completion bash"])
def test_a_full_disk_is_told_in_a_line(command: str) -> None:
    """It is neither an error of the configuration nor one of ours."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "web", *command.split()],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

    assert (74, "oddsboard: the output: No space left on device\n") == (done.returncode, done.stderr)


def test_init_leaves_no_cut_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk is full."""
    out = tmp_path / "mine.toml"

    def full(_: Path, __: int) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "chmod", full)  # the step after the file is written

    line = f"oddsboard: {out}: No space left on device\n"
    assert (74, "", line) == _ended(capsys, "init", "--out", str(out))
    assert not out.exists()


def test_init_lets_nobody_else_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the umask: what `serve` reads without being told must be of this user alone."""
    before = os.umask(0)
    try:
        _ended(capsys, "init", "--out", str(tmp_path / "mine.toml"))
    finally:
        os.umask(before)

    assert 0o644 == (tmp_path / "mine.toml").stat().st_mode & 0o777


@pytest.mark.parametrize("limit", ["-1", "10000", "1e3", "many", ""])
def test_limit_of_suggestions_is_checked(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A limit that the service would refuse is a wrong use of the command."""
    code, _, err = _ended(capsys, "links", "suggest", "--limit", limit)

    assert 2 == code
    assert f"argument --limit: was {limit!r}, must be 0 to 9999" in err


@pytest.mark.parametrize("ids", [("..", ".."), (".", "alder_1"), ("alder_1", ".."), ("",)])
def test_dots_are_no_id(ids: tuple[str, ...]) -> None:
    """An id that would lead to another address is refused before anything is asked."""
    given = _parser().parse_args(["links", "explain", *ids, "--url", "http://127.0.0.1:1"])

    with pytest.raises(ServiceUnreachableError, match="is no id of a fixture, an entry or an event"):
        list(given.lines(given))


@pytest.mark.parametrize("command", [["trace", "alder_1"], ["links", "stats"]])
def test_without_a_service_it_says_what_to_do(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """Nobody knows at once that a command needs a service that runs."""
    code, _, err = _ended(capsys, *command, "--url", "http://127.0.0.1:1")

    assert 69 == code
    assert "no service answers at http://127.0.0.1:1: " in err
    assert "start it, or name another with --url" in err


@pytest.mark.parametrize("example", CONFIGURATIONS)
def test_init_writes_an_example_that_is_valid(
    example: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file equals the shipped one, comments included, and runs once its keys are set."""
    for key in KEYS:
        monkeypatch.setenv(key, "a-key")
    out = tmp_path / "mine.toml"

    code, printed, err = _ended(capsys, "init", example, "--out", str(out))

    assert (0, "") == (code, err)
    assert str(out) in printed
    assert (ROOT / "config" / f"{example}.toml").read_bytes() == out.read_bytes()
    assert load(out).bookmakers


@pytest.mark.parametrize("example", ["programs/json_feed.sh", "deploy/nginx.conf"])
def test_init_writes_what_is_no_configuration_under_its_own_name(
    example: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs stay executable, and nothing is said of serving them."""
    monkeypatch.chdir(tmp_path)
    shipped = ROOT / "config" / example

    printed = _ended(capsys, "init", example)

    assert (0, f"{shipped.name}: written\n", "") == printed
    written = tmp_path / shipped.name
    assert shipped.read_bytes() == written.read_bytes()
    assert os.access(shipped, os.X_OK) == os.access(written, os.X_OK)


def test_init_alone_writes_the_default_to_oddsboard_toml(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is in the current folder, and the output names the command that runs it."""
    monkeypatch.chdir(tmp_path)

    printed = _ended(capsys, "init")

    text = "oddsboard.toml: written; run it with: oddsboard serve --config oddsboard.toml\n"
    assert (0, text, "") == printed
    assert (ROOT / "config/default.toml").read_text("utf-8") == Path("oddsboard.toml").read_text("utf-8")


def test_init_does_not_overwrite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 78 with one line, and the file stays as it is."""
    mine = tmp_path / "mine.toml"
    mine.write_text("# mine\n", "utf-8")

    code, out, err = _ended(capsys, "init", "--out", str(mine))

    assert (78, "", f"oddsboard: {mine}: exists already; name another file with --out\n") == (
        code,
        out,
        err,
    )
    assert "# mine\n" == mine.read_text("utf-8")


@pytest.mark.parametrize("example", ["nothing", "../default", "default.toml", ""])
def test_init_of_an_unknown_example_lists_the_examples(
    example: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 78 with one line that names the nearest, and nothing is written."""
    code, out, err = _ended(capsys, "init", example, "--out", str(tmp_path / "mine.toml"))

    named = ", ".join(EXAMPLES)
    near = "; did you mean 'default'?" if "default" in example else ""
    assert (78, "", f"oddsboard: EXAMPLE was {example!r}, must be one of: {named}{near}\n") == (
        *(code, out),
        err,
    )
    assert [] == [*tmp_path.iterdir()]


def test_init_into_a_missing_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 78, with one line that says why."""
    code, out, err = _ended(capsys, "init", "--out", str(tmp_path / "no" / "mine.toml"))

    assert (78, "", 1) == (code, out, err.count("\n"))
    assert "cannot be written: No such file or directory" in err


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """It is still a wrong use, but says with examples what would be right."""
    code, out, err = _ended(capsys)

    assert (2, "") == (code, out)
    assert ["oddsboard serve", "oddsboard init football_data"] == [
        line for line in ("oddsboard serve", "oddsboard init football_data") if f"\n  {line} " in err
    ]


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"url": "http://127.0.0.1:8000"}, "To see the board, open http://127.0.0.1:8000 in a browser."),
        (
            {"url": "http://0.0.0.0:80"},
            "To see the board, open http://127.0.0.1:80 here, or http://ADDRESS:80 on other machines.",
        ),
        (
            {"url": "http://[::]:80"},
            "To see the board, open http://127.0.0.1:80 here, or http://ADDRESS:80 on other machines.",
        ),
        ({"url": "unix:/run/board"}, "It serves the Unix socket /run/board; a proxy shows it to browsers."),
        ({"folder": "rec"}, "It records to the folder rec."),
    ],
)
def test_directions_name_what_can_be_opened(facts: dict[str, str], line: str) -> None:
    """An address that means all addresses is not one to open."""
    assert (line, "To end it, press Ctrl+C.") == directions(**facts)


@pytest.mark.long
def test_a_start_on_a_terminal_ends_with_directions() -> None:
    """Two lines of plain text say where to look and how to end, after the log of the start."""
    reading, writing = os.openpty()
    command = [sys.executable, "-m", "web", "serve", "--bind", "127.0.0.1:0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=writing, stderr=writing) as process:
        text = b""
        while b"Ctrl+C.\r\n" not in text:
            text += os.read(reading, 65536)
        process.send_signal(signal.SIGINT)
    os.close(writing)
    os.close(reading)
    look, end = [line for line in text.decode().splitlines() if line][-2:]

    assert re.fullmatch(r"To see the board, open http://127.0.0.1:[0-9]+ in a browser[.]", look)
    assert ("To end it, press Ctrl+C.", 0) == (end, process.returncode)
