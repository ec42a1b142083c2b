"""The end of a process: in order after one signal, immediately after two (faults.md, I); exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.peers.loading import CLIENTS, loading, read_to_the_end
from tests.support.systems.process import (
    ROOT,
    Service,
    logging_to,
    program,
    ran,
    service,
    simulated,
    small_pipe,
    started,
)
from tests.support.systems.program_stage import PRELUDE, processes_with
from tests.support.time.waiting import DEADLINE_S, eventually

SIGNALS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
STREAMS, DRAIN_S, SMALL = 100, 5.0, 4096
BUSY_S = 20.0  # the end after a drain takes less, even on a busy machine
PROGRAM = """
[sources.own]
kind = "program"
command = ["{python}", "-S", "{script}"]
[bookmakers.mine]
name = "Mine"
source = "own"
key = "program"
"""
LISTS = ("/api/v2/odds", "/api/odds", "/api/odds?bookmaker=nobody", "/nothing", "/", "/health/live")


def _asking(running: Service, stack: contextlib.ExitStack, sent: str, *, buffer: int = 0) -> socket.socket:
    """Return a connection on which `sent` was sent; with `buffer` it receives few bytes at a time."""
    connection = stack.enter_context(socket.socket())
    if buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(10)
    connection.connect(running.address)
    connection.sendall(sent.encode())
    return connection


def _request(path: str) -> str:
    return f"GET {path} HTTP/1.1\r\nHost: board\r\n\r\n"


def _own(config: Path) -> Path:
    """Add a program as a source of the service to a configuration, and return the program."""
    script = config.with_name("program.py")
    script.write_text(f"{PRELUDE}\nlisted(item())\ntime.sleep(1000)", "utf-8")
    text = config.read_text("utf-8") + PROGRAM.format(python=sys.executable, script=script)
    config.write_text(text, "utf-8")
    return script


@SIGNALS
def test_a_signal_under_load_fails_no_request(
    tmp_path: Path,
    number: signal.Signals,
    capfd: pytest.CaptureFixture[str],
    record_property: Callable[[str, object], None],
) -> None:
    """A signal comes while 100 streams are open and clients use kept and new connections (faults.md, I1).

    From then on readiness is 503, each answer ends its connection, and clients that ask nothing, or half a
    request, delay nothing. The programs of the service end with it.
    """
    config = simulated(tmp_path, drain_s=DRAIN_S, matches=200, server="max_streams = 200")
    script = _own(config)
    with service(config) as running, contextlib.ExitStack() as stack, running.client() as client:
        eventually(lambda: running.has("live", "mine"), "the program is shown")
        outcomes = stack.enter_context(loading(running.base))
        streams = [_asking(running, stack, _request("/api/v2/stream")) for _ in range(STREAMS)]
        for stream in streams:
            assert stream.recv(1 << 16).startswith(b"HTTP/1.1 200")
        for half in ("", "GET /api/odds HTTP/1.1\r\nHo"):
            _asking(running, stack, half)
        before = {client.head(path).headers.get("connection") for path in LISTS}
        running.process.send_signal(number)
        began = time.monotonic()
        eventually(lambda: client.get("/health/ready").status_code == 503, "readiness is 503")
        reason = client.get("/health/ready").json()["reason"]
        during = [client.head(path) for path in LISTS]
        not_modified = client.get(LISTS[0], headers={"If-None-Match": "*"})
        received = read_to_the_end(streams, DRAIN_S + BUSY_S)
        code, took_s = running.process.wait(20), time.monotonic() - began
        eventually(lambda: running.events("service.stopped"), "the last line of the log")

    failed = [outcome for outcome in outcomes if outcome not in {(200, ""), (0, "refused")}]
    told = sum(body.endswith(b"}\n\n\r\n0\r\n\r\n") and b"\nevent: bye\n" in body for body in received)
    record_property(
        "figure",
        f"Python {sys.version_info[0]}.{sys.version_info[1]}, {number.name}: {len(failed)} of"
        f" {len(outcomes):,} requests failed, {told} of {STREAMS} streams told,"
        f" exit code {code} after {took_s:.1f} s with a drain of {DRAIN_S:g} s",
    )
    assert ([], "draining", 0, "") == (failed, reason, code, capfd.readouterr().err)
    assert ([200, 200, 400, 404, 200, 200], 304) == (
        [answer.status_code for answer in during],
        not_modified.status_code,
    )
    ends = {answer.headers.get("connection") for answer in (*during, not_modified)}
    assert ({None}, {"close"}) == (before, ends)
    assert told >= 0.9 * STREAMS  # on a busy machine some streams do not end within the drain
    assert CLIENTS == len([outcome for outcome in outcomes if outcome[1]])
    assert DRAIN_S <= took_s < DRAIN_S + BUSY_S
    assert [] == processes_with(str(script))


@pytest.mark.parametrize(
    ("number", "second"), [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT)]
)
def test_a_second_signal_ends_the_process_at_once(
    tmp_path: Path, number: signal.Signals, second: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 128 and the signal's number, despite an open stream and a minute of drain (I4)."""
    with service(simulated(tmp_path, drain_s=60)) as running, contextlib.ExitStack() as stack:
        running.wait_ready()
        _asking(running, stack, _request("/api/v2/stream"))
        running.process.send_signal(number)
        eventually(lambda: running.events("service.stopping"), "it is stopping")
        code = running.stop(second, within_s=BUSY_S)
        eventually(lambda: running.events("service.killed"), "the last line of the log")

    assert (128 + second, second.name) == (code, running.events("service.killed")[0]["signal"])
    assert "" == capfd.readouterr().err


@SIGNALS
def test_a_signal_right_after_the_start_is_handled(
    tmp_path: Path, number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    """From the line `service.started` on, a signal gives exit code 0 and no traceback (faults.md, I3)."""
    with service(simulated(tmp_path)) as running:
        code = running.stop(number)

    assert (0, "") == (code, capfd.readouterr().err)


def test_a_program_does_not_outlive_a_killed_service(tmp_path: Path) -> None:
    """The program ends although the killed service has no time to end it."""
    script = _own(config := simulated(tmp_path))
    with service(config) as running:
        eventually(lambda: running.has("live", "mine"), "the program is shown")
        assert processes_with(str(script))
        running.stop(signal.SIGKILL)
        eventually(lambda: not processes_with(str(script)), "no process is left")


def test_clients_that_do_not_read_hardly_delay_the_end(tmp_path: Path) -> None:
    """They read nothing of a list; the service ends soon after the drain, with the archive closed."""
    config = simulated(tmp_path, drain_s=DRAIN_S, matches=5_000, updates_per_s=100.0)
    archive = f"[archive]\npath = {str(tmp_path / 'archive')!r}\n"
    config.write_text(config.read_text("utf-8") + archive, "utf-8")
    with service(config) as running, contextlib.ExitStack() as stack:
        running.wait_ready()
        paths = ["/api/v2/stream"] * 5 + ["/api/v2/odds"]
        stuck = [_asking(running, stack, _request(path), buffer=SMALL) for path in paths]
        reader = _asking(running, stack, _request("/api/v2/stream"))
        while b"event: changes" not in reader.recv(1 << 20):
            pass
        code = running.stop(within_s=DRAIN_S + BUSY_S)
        got = [len(_left_over(connection)) for connection in stuck]
    with service(config) as running:
        (gap,) = running.get("/api/v2/archive").json()["gaps"]

    assert (0, "stopped") == (code, gap["reason"])
    assert max(got) < 1_000_000  # less than the list: the service could not send it all


def _left_over(connection: socket.socket) -> bytes:
    """Return what was received before the connection was reset."""
    received = b""
    with contextlib.suppress(OSError):
        while piece := connection.recv(1 << 20):
            received += piece
    return received


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        ("serve --config {config} --bind {taken}", 71, "cannot listen on {taken}: "),
        ("serve --config {config} --bind a..b:80", 71, "a..b:80"),
        ("record --config {config} --out {file}", 78, "{file}: cannot be written to: File exists"),
    ],
)
def test_what_cannot_start_says_why_in_a_line(tmp_path: Path, arguments: str, code: int, why: str) -> None:
    """The exit code says which kind of error it is; the log has begun by then."""
    config, file = simulated(tmp_path), tmp_path / "some.csv"
    file.write_bytes(b"Div,Date\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = {"config": config, "file": file, "taken": f"127.0.0.1:{taken.getsockname()[1]}"}
        found = ran("-m", "web", *arguments.format(**words).split())

    assert (code, ["service.configured"]) == (
        found[0],
        [json.loads(line)["event"] for line in found[1].splitlines()],
    )
    assert (1, True) == (found[2].count("\n"), why.format(**words) in found[2])


def test_an_archive_in_use_is_75(tmp_path: Path) -> None:
    """A second service on the same folder refuses to start, in one line; the first goes on (E14)."""
    config = simulated(tmp_path, matches=5)
    archive = f"[archive]\npath = {str(tmp_path / 'archive')!r}\n"
    config.write_text(config.read_text("utf-8") + archive, "utf-8")
    with service(config) as running:
        code, _, err = ran("-m", "web", "serve", "--config", str(config), "--bind", "127.0.0.1:0")
        status = running.get("/health/live").status_code

    assert (75, 200, 1) == (code, status, err.count("\n"))
    assert "another process uses it" in err


def test_output_that_nobody_takes_is_no_traceback() -> None:
    """A reader that has gone, such as `head`, is no error; a full disk is reported in a line."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone, Path("/dev/full").open("wb") as full:
        found = [
            subprocess.run(
                [sys.executable, "-m", "web", command],
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.PIPE,
                text=True,
                timeout=DEADLINE_S,
                check=False,
            )
            for command, output in (("sources", gone), ("version", full))
        ]

    expected = [(0, ""), (74, "oddsboard: the output: No space left on device\n")]
    assert expected == [(done.returncode, done.stderr) for done in found]


def test_ctrl_c_ends_a_command_that_runs_with_a_line() -> None:
    """Ctrl+C also ends a command that waits for a program."""
    waiting = "echo I! begun >&2; exec sleep 60"
    command = [sys.executable, "-m", "web", "check-program", "--for", "60s", "--", "/bin/sh", "-c", waiting]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        begun = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=DEADLINE_S)

    assert "says: I! begun\n" == begun
    assert (130, "oddsboard: ended by Ctrl+C\n") == (process.returncode, err)


@pytest.mark.parametrize("has_second", [False, True])
def test_a_log_that_nobody_reads_stops_nothing(tmp_path: Path, *, has_second: bool) -> None:
    """Requests are answered, a signal ends the process in order, and a second signal immediately (J4)."""
    with (
        small_pipe() as (_, writing),
        logging_to(tmp_path, writing, drain_s=60.0 * has_second) as running,
    ):
        statuses = {running.get("/health/live").status_code for _ in range(100)}  # each logs 200 bytes
        running.process.send_signal(signal.SIGTERM)
        if has_second:
            eventually(lambda: running.get("/health/ready").status_code == 503, "it is stopping")
            running.process.send_signal(signal.SIGTERM)
        code, errors = running.process.wait(DEADLINE_S), running.process.communicate()[1]

    assert ({200}, 128 + signal.SIGTERM if has_second else 0, "") == (statuses, code, errors)


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full", "| head -1"])
def test_a_log_that_cannot_be_written_costs_only_its_lines(tmp_path: Path, redirection: str) -> None:
    """Standard error says nothing about the log; lines that could not be written are counted (J4)."""
    is_gone = redirection == "| head -1"
    reading, writing = os.pipe()
    output, shell = (writing, "") if is_gone else (subprocess.DEVNULL, redirection)
    with logging_to(tmp_path, output, redirection=shell) as running:
        os.close(reading)
        os.close(writing)

        def log() -> dict[str, int]:
            lines: dict[str, int] = running.get("/api/stats").json()["log"]
            return lines

        eventually(lambda: redirection == ">&-" or log()["failed"] >= 10, "lines have failed")
        found = log()
        running.process.send_signal(signal.SIGTERM)
        code, errors = running.process.wait(DEADLINE_S), running.process.communicate()[1]

    assert (0, redirection == ">&-") == (found["dropped"], found["failed"] == 0)
    assert (0, "") == (code, errors)


NO_THREADS = """
import _thread


def refuse(*arguments):
    raise RuntimeError("can't start new thread")


_thread.start_new_thread = refuse
"""


@pytest.mark.parametrize("command", ["serve", "record"])
def test_without_threads_it_starts_and_ends(
    tmp_path: Path, command: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """With a tight limit of processes it serves, says that nothing watches its loop, and ends in order."""
    (tmp_path / "sitecustomize.py").write_text(NO_THREADS, "utf-8")
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    out = str(tmp_path / "out")
    ends = ("--bind", "127.0.0.1:0") if command == "serve" else ("--out", out, "--for", "1s")
    with program(command, "--config", str(simulated(tmp_path)), *ends, environment=environment) as running:
        if command == "serve":
            assert 200 == running.get("/health/live").status_code
            running.process.send_signal(signal.SIGTERM)
        code = running.process.wait(DEADLINE_S)

    assert (0, "", 1) == (code, capfd.readouterr().err, len(running.events("loop.unwatched")))


LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_with_few_descriptors_it_takes_fewer_clients(tmp_path: Path) -> None:
    """600 idle clients come; probes are answered meanwhile, and one log line names the lower limit."""
    serve = (sys.executable, "-m", "web", "serve", "--config", str(simulated(tmp_path)))
    command = [sys.executable, "-c", LIMITED, *serve, "--bind", "127.0.0.1:0"]
    with started(command, ROOT) as running, contextlib.ExitStack() as stack:
        for number in range(600):
            with contextlib.suppress(ConnectionError):
                _asking(running, stack, "")
            if number % 100 == 99:
                assert 200 == running.get("/health/live").status_code
        code = running.stop()

    (lowered,) = running.events("service.limits_lowered")
    assert (0, 256) == (code, lowered["open_files"])
    assert lowered["max_connections"] + lowered["max_streams"] < 256
    expected = {"service.configured", "service.limits_lowered", "service.started", "source.simulated"}
    found = {line["event"] for line in running.log}
    assert expected == found - {"service.stopping", "service.stopped"}
