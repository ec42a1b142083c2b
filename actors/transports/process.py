"""Runs a child process without a shell, never blocks, ends its whole group.

The child prints lines for as long as it runs, or gets an input and is run to its end. The child leads its
own process group, and on Linux dies with us.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import IO

import anyio
import anyio.lowlevel

from actors.core.errors import TransportError

CHUNK_BYTES = 64 * 1024
MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_REMARK_BYTES = 4096  # longest line of standard error; the rest of a line is dropped
GRACE_S = 5.0  # seconds from SIGTERM to SIGKILL
EXIT_S = 0.2  # seconds between the end of the output and the exit
KILL_S = 1.0  # seconds for SIGKILL to have its effect
LOOK_S = 0.02
DRAINED_CHUNKS = 16

# Runs the command so that it is killed when its parent dies: prctl(PR_SET_PDEATHSIG, SIGKILL). This is set
# in the new process, because Python must not run between fork and exec if there are threads.
_CAN_LAUNCH = sys.platform == "linux"
_LAUNCH = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
if sys.argv[2] == "unset":  # Python sets it where there is no locale (PEP 538)
    os.environ.pop("LC_CTYPE", None)
try:
    os.execvp(sys.argv[3], sys.argv[3:])
except OSError as error:
    sys.exit(f"E! {sys.argv[3]}: cannot be run: {error.strerror}")
"""


class Program:
    """A running program."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.last_remark = ""
        self._process = process
        self._output = _Pipe(process.stdout)
        self._remarks = _Pipe(process.stderr)

    async def receive(self) -> bytes:
        """Wait for output; return the complete lines so far, with their line ends, perhaps none.

        Raises: TransportError when the output has ended, or if a line is too long.
        """
        chunk = await self._output.read()
        if not chunk:
            with anyio.move_on_after(EXIT_S):
                await anyio.sleep(LOOK_S)  # lets the last remarks arrive too
                await _until(self.has_exited)
            raise self.ending()
        unfinished = self._output.unfinished
        first = chunk.find(b"\n")
        if len(unfinished) + (len(chunk) if first < 0 else first) > MAX_LINE_BYTES:
            raise TransportError(f"a line exceeds {MAX_LINE_BYTES} bytes", reason="too_big")
        return self._output.whole_lines(chunk)

    async def remark(self) -> str | None:
        """Wait for a line on standard error; return it, cut to its limit, or None at the end."""
        while not self._remarks.lines:
            chunk = await self._remarks.read()
            if not chunk:
                return None
            self._remarks.lines.extend(self._remarks.whole_lines(chunk).splitlines())
            del self._remarks.unfinished[MAX_REMARK_BYTES:]
        self.last_remark = self._remarks.lines.popleft()[:MAX_REMARK_BYTES].decode("utf-8", "replace")
        return self.last_remark

    def has_exited(self) -> bool:
        """Return whether the program has exited; its own children may still have its output open."""
        return _exit_of(self._process.pid) is not None

    def ending(self) -> TransportError:
        """Return an error that says how the program ended."""
        found = _exit_of(self._process.pid)
        if found is None:
            return TransportError("it closed its output", reason="closed")
        is_code = found.si_code == os.CLD_EXITED
        how = f"with code {found.si_status}" if is_code else f"by signal {found.si_status}"
        is_error = self.last_remark[:2] not in {"", "W!", "I!", "D!"}
        said = f": {self.last_remark}" if is_error else ""
        return TransportError(f"it ended {how}{said}", reason="exited")

    async def finish(self, content: bytes) -> None:
        """Give it this input, drop its output, wait for exit 0. Raises: TransportError for another exit."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._feed, content)
            tasks.start_soon(self._remember)
            await _until(self._is_over)
            await anyio.sleep(LOOK_S)  # lets the last remarks arrive too
            tasks.cancel_scope.cancel()
        found = _exit_of(self._process.pid)
        if found is None or (found.si_code, found.si_status) != (os.CLD_EXITED, 0):
            raise self.ending()

    async def _feed(self, content: bytes) -> None:
        file = self._process.stdin
        assert file is not None  # noqa: S101 - it is a pipe
        os.set_blocking(file.fileno(), False)
        with file, suppress(BrokenPipeError):  # a program need not read its input
            while content:
                try:
                    content = content[os.write(file.fileno(), content) :]
                except BlockingIOError:
                    await anyio.wait_writable(file.fileno())

    async def _remember(self) -> None:
        while await self.remark() is not None:
            pass

    def _is_over(self) -> bool:
        self._output.is_drained()
        return self.has_exited()

    async def end(self) -> None:
        """End the whole process group: SIGTERM, then SIGKILL once its output has ended, or after `GRACE_S`.

        The program is reaped only afterwards, so that no other group can get its number before the SIGKILL.
        """
        self._signal(signal.SIGTERM)
        with anyio.move_on_after(GRACE_S):
            await _until(self._is_silent)
        self._signal(signal.SIGKILL)
        with anyio.move_on_after(KILL_S):
            await _until(lambda: self._process.poll() is not None)
        self._output.close()
        self._remarks.close()

    def _is_silent(self) -> bool:
        """Drop all output; return whether the program has exited and nothing has its output open."""
        self._remarks.is_drained()
        return self._output.is_drained() and self.has_exited()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):  # macOS: only a zombie is left
            os.killpg(self._process.pid, number)


@asynccontextmanager
async def running(
    command: Sequence[str], environment: Mapping[str, str], stdin: int = subprocess.DEVNULL
) -> AsyncIterator[Program]:
    """Run a program within the block, and end it. Raises: TransportError if it cannot be started."""
    given = "set" if "LC_CTYPE" in environment else "unset"
    launcher = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(os.getpid()), given] if _CAN_LAUNCH else []
    try:
        process = subprocess.Popen(  # noqa: ASYNC220, S603 - returns at once; the operator configured the command
            [*launcher, *command],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=dict(environment),
            start_new_session=True,
        )
    except OSError as error:
        message = f"{command[0]} cannot be started: {error.strerror}"
        raise TransportError(message, reason="start") from error
    program = Program(process)
    try:
        yield program
    finally:
        with anyio.CancelScope(shield=True):
            await program.end()


async def run_fed(
    command: Sequence[str], environment: Mapping[str, str], content: bytes, timeout_s: float
) -> None:
    """Run a program to its end with this input; end its group after `timeout_s`.

    Raises: TransportError if it cannot be started, takes longer, or does not exit with 0.
    """
    try:
        with anyio.fail_after(timeout_s):
            async with running(command, environment, subprocess.PIPE) as program:
                await program.finish(content)
    except TimeoutError as error:
        raise TransportError(f"it did not end within {timeout_s:g} s", reason="timeout") from error


class _Pipe:
    """The reading end of a pipe, and its incomplete last line."""

    def __init__(self, file: IO[bytes] | None) -> None:
        assert file is not None  # noqa: S101 - it is a pipe
        self.unfinished = bytearray()
        self.lines: deque[bytes] = deque()
        self._file = file
        self._number = file.fileno()
        os.set_blocking(self._number, False)

    async def read(self) -> bytes:
        """Wait for bytes; b"" is the end. Yields first, so that other tasks run during a flood."""
        await anyio.lowlevel.checkpoint()
        while not self._file.closed:  # a closed file's number may belong to another file
            try:
                return os.read(self._number, CHUNK_BYTES)
            except BlockingIOError:
                await anyio.wait_readable(self._number)
        return b""

    def whole_lines(self, chunk: bytes) -> bytes:
        """Add a chunk; return the complete lines so far."""
        end = chunk.rfind(b"\n") + 1
        if not end:
            self.unfinished += chunk
            return b""
        lines = bytes(self.unfinished) + chunk[:end]
        self.unfinished = bytearray(chunk[end:])
        return lines

    def is_drained(self) -> bool:
        """Drop the waiting output; return whether the pipe has ended."""
        with suppress(BlockingIOError):
            for _ in range(DRAINED_CHUNKS):
                if not os.read(self._number, CHUNK_BYTES):
                    return True
        return False

    def close(self) -> None:
        self._file.close()


async def _until(condition: Callable[[], bool]) -> None:
    """Poll `condition`: no event reports what the other processes of the group do."""
    while not condition():  # noqa: ASYNC110
        await anyio.sleep(LOOK_S)


def _exit_of(pid: int) -> os.waitid_result | None:
    """Return how a child has exited, None if the child still runs. The child stays a zombie."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
