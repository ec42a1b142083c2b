"""The command line in its own process: its output and its exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.systems.process import ROOT, ran, service, simulated
from tests.support.time.waiting import DEADLINE_S, eventually
from web.__main__ import main
from web.endpoints.release import release

SECRETS = ("s3cr3t", 'it\'s "quoted"', "back\\slash", "two\nlines", "ümlaut\u202e")
NOT_OURS = ("192.0.2.1:80", "a..b:80")
NO_ADDRESSES = ("nonsense", "127.0.0.1:65536")
CONFIG = """
[sources.feed]
kind = "football_data"
url = "{url}"
poll_interval_s = {interval}
[bookmakers.bet365]
name = "Bet365"
source = "feed"
key = "B365"
"""


def _config(folder: Path, url: str, interval: str = "900") -> Path:
    config = folder / "some.toml"
    config.write_text(CONFIG.format(url=url, interval=interval), "utf-8")
    return config


@pytest.mark.parametrize("command", ["check-config", "serve"])
def test_a_configuration_error_is_78_and_one_line(tmp_path: Path, command: str) -> None:
    """The line is on standard error, with nothing on standard output, because nothing has started."""
    config = _config(tmp_path, "gopher://x")

    code, out, err = ran("-m", "web", command, "--config", str(config))

    assert (78, "") == (code, out)
    assert re.fullmatch(rf"oddsboard: {config}: sources\.feed\.url was 'gopher://x', .*\n", err)


def _events(out: str) -> list[str]:
    return [json.loads(line)["event"] for line in out.splitlines()]


def test_an_address_in_use_is_71_and_one_line(tmp_path: Path) -> None:
    """A failed bind names the address."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"

        code, out, err = ran(
            "-m", "web", "serve", "--config", str(_config(tmp_path, "http://x/")), "--bind", address
        )

    assert (71, ["service.configured"]) == (code, _events(out))
    assert re.fullmatch(rf"oddsboard: cannot listen on {re.escape(address)}: .*\n", err)


@pytest.mark.parametrize("host", NOT_OURS)
def test_an_address_of_another_machine_is_71_and_one_line(tmp_path: Path, host: str) -> None:
    """Every reason for a failed bind has the same exit code."""
    code, out, err = ran(
        "-m", "web", "serve", "--config", str(_config(tmp_path, "http://x/")), "--bind", host
    )

    assert (71, ["service.configured"], 1) == (code, _events(out), err.count("\n"))
    assert host in err


@pytest.mark.parametrize("bind", NO_ADDRESSES)
def test_a_malformed_address_is_78_and_one_line(bind: str) -> None:
    """The line says which form is allowed."""
    code, out, err = ran("-m", "web", "serve", "--bind", bind)

    assert (78, "", 1) == (code, out, err.count("\n"))
    assert (True, True) == (repr(bind) in err, "HOST:PORT" in err)


def test_the_version_is_the_release() -> None:
    """The output is one line with name, number, and the commit where there is one."""
    assert (0, f"oddsboard {release()}\n", "") == ran("-m", "web", "version")


@pytest.mark.parametrize(
    ("name", "bookmakers"),
    [("config/default.toml", 3), ("config/football_data.toml", 3), ("scripts/benchmarks/scale.toml", 50)],
)
def test_the_shipped_configurations_are_valid(
    name: str, bookmakers: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """check-config shows what would run: sources, their addresses and times, and the bookmakers."""
    config = ROOT / name

    with pytest.raises(SystemExit) as ended:
        main(["check-config", "--config", str(config)])

    out = capsys.readouterr().out
    assert 0 == ended.value.code
    assert out.startswith(f"{config}: valid\n")
    assert bookmakers == out.count("bookmaker ")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("config/default.toml", []),
        (
            "config/deploy/oddsboard.toml",
            ["archive /var/lib/oddsboard/archive: 90 days, 10,737,418,240 bytes at most"],
        ),
    ],
)
def test_an_archive_is_said(name: str, said: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """check-config shows its folder and its bounds; without one there is no line."""
    with pytest.raises(SystemExit):
        main(["check-config", "--config", str(ROOT / name)])

    assert said == [line for line in capsys.readouterr().out.splitlines() if line.startswith("archive")]


def test_staleness_below_the_poll_interval_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is allowed, but lists would be withdrawn between polls."""
    config = _config(tmp_path, "http://x/", "900\nstale_after_s = 60")

    with pytest.raises(SystemExit):
        main(["check-config", "--config", str(config)])

    assert "withdrawn between polls" in capsys.readouterr().out


@pytest.mark.parametrize(("company", "warnings"), [("", 1), ('company = "bet"', 0)])
def test_two_bookmakers_of_a_name_without_a_company_are_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], company: str, warnings: int
) -> None:
    """Of one company only one price counts, which nobody else can know."""
    config = _config(tmp_path, "http://x/")
    more = "".join(
        f'[bookmakers.{name}]\nname = "{shown}"\nsource = "feed"\nkey = "{key}"\n{company}\n'
        for name, shown, key in (("wh", "William Hill", "WH"), ("wh-two", "WilliamHill", "PS"))
    )
    config.write_text(config.read_text("utf-8") + more, "utf-8")

    with pytest.raises(SystemExit):
        main(["check-config", "--config", str(config)])

    assert warnings == capsys.readouterr().out.count("warning: wh and wh-two have the same name")


def test_the_file_of_links_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """check-config counts what it says, and names the place of an error."""
    links = tmp_path / "links.toml"
    config = _config(tmp_path, "http://x/", f'900\n[links]\nfile = "{links}"')
    printed = []
    for text in ('[[team]]\nname = "a"\nalso = ["b"]', '[[team]]\nname = "a"'):
        links.write_text(text, "utf-8")
        with pytest.raises(SystemExit):
            main(["check-config", "--config", str(config)])
        printed.append("".join(capsys.readouterr()))

    assert f"{links}: teams 1, leagues 0, must 0, must_not 0\n" in printed[0]
    assert f"oddsboard: {config}: links.file: {links}: [[team]] 1.also is missing" in printed[1]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    ("url", "interval"),
    [
        ("https://x/?key=${A_SECRET}", "900"),
        ("https://x/?key=${A_SECRET}", '"${A_SECRET}"'),
        ("ftp://${A_SECRET}", "900"),
        ("${A_SECRET}", "900"),
    ],
    ids=["valid", "interval", "scheme", "whole"],
)
def test_a_secret_is_never_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], secret: str, url: str, interval: str
) -> None:
    """A value from the environment is shown by its name, whether the configuration is valid or not."""
    config = _config(tmp_path, url, interval)

    with _environment(A_SECRET=secret), pytest.raises(SystemExit):
        main(["check-config", "--config", str(config)])

    printed = "".join(capsys.readouterr())
    assert [] == [form for form in (secret, repr(secret)[1:-1], ascii(secret)[1:-1]) if form in printed]


def test_overlapping_secrets_are_both_hidden(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """When one secret begins with the other, no part of either is shown."""
    config = _config(tmp_path, "ftp://${SHORT}/${LONG}")

    with _environment(SHORT="abcdef", LONG="abcdefghijkl"), pytest.raises(SystemExit):
        main(["check-config", "--config", str(config)])

    assert "ghijkl" not in "".join(capsys.readouterr())


@contextlib.contextmanager
def _environment(**variables: str) -> Iterator[None]:
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]


def test_a_closed_pipe_is_no_error() -> None:
    """`oddsboard sources | head -0` ends without a message."""
    command = [sys.executable, "-P", "-m", "web", "sources"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()

        assert ("", 0) == (process.stderr.read(), process.wait(DEADLINE_S))


TIMED = """
import sys, time
from web.__main__ import process
from web.cli import main
from web.server import lifecycle

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(1.0)  # when handlers of signals are gone

slow = Slow()
lifecycle.HARD_STOP_S = 0.3
main.load = lambda _: lifecycle.start_exit_deadline(lifecycle.Exit.STOPPED)
main.configuration_lines = lambda _path, _settings: ["done"]
sys.argv[1:] = ["check-config"]
process()
"""


def test_the_timer_of_the_exit_does_not_outlive_its_handler() -> None:
    """An interpreter that ends slowly was ended by it: 142, a failed unit of systemd."""
    assert (0, "done\n", "") == ran("-c", TIMED)


def test_the_configuration_that_runs_is_the_first_line(tmp_path: Path) -> None:
    """With what it was chosen by."""
    config = simulated(tmp_path)
    with service(config, {"ODDSBOARD_CONFIG": "/nowhere.toml"}) as running:
        (first, *_) = running.log

    assert ("service.configured", str(config), "--config") == (
        first["event"],
        first["file"],
        first["chosen"],
    )


def test_an_archive_in_use_is_75(tmp_path: Path) -> None:
    """A second service on the same folder refuses to start, in one line; the first goes on."""
    config = simulated(tmp_path, matches=5)
    archive = f"[archive]\npath = {str(tmp_path / 'archive')!r}\n"
    config.write_text(config.read_text("utf-8") + archive, "utf-8")
    with service(config) as running:
        code, _, err = ran("-m", "web", "serve", "--config", str(config), "--bind", "127.0.0.1:0")
        status = running.get("/health/live").status_code

    assert (75, 200) == (code, status)
    assert "another process uses it" in err
    assert 1 == err.count("\n")


def test_a_hangup_without_links_ends_nothing(tmp_path: Path) -> None:
    """A reload by an operator is a line of the log, also where there is nothing to read again."""
    with service(simulated(tmp_path)) as running:
        running.process.send_signal(signal.SIGHUP)
        eventually(lambda: bool(running.events("configuration.read")), "the configuration is read again")
        status = running.get("/health/live").status_code

    assert (200, [[]]) == (status, [line["needs_restart"] for line in running.events("configuration.read")])
