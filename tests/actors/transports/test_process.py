"""A program's process: its input, its time, its end, and the meaning of its output after the end."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from actors.core.errors import TransportError
from actors.transports.process import run_fed, running
from tests.support.time.waiting import DEADLINE_S

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]


async def test_what_is_read_when_the_process_was_ended_is_nothing() -> None:
    """By then the number of the closed pipe may be the number of another file."""
    said: list[str | None] = []

    async with running(["true"], {}) as program:
        with anyio.fail_after(DEADLINE_S):
            while not program.has_exited():  # noqa: ASYNC110 - no event announces it
                await anyio.sleep(0.01)
    said.append(await program.remark())

    assert [None] == said


PATH = {"PATH": os.defpath}


async def test_a_program_gets_its_input_and_its_environment_alone(tmp_path: Path) -> None:
    """Input larger than a pipe arrives whole; output and remarks are dropped; exit 0 is a success."""
    content, there = b"x" * 300_000, tmp_path / "there"

    await run_fed(
        ["/bin/sh", "-c", f"cat > {there}; env > {there}.env; yes | head -c 300000 | tee /dev/stderr"],
        PATH,
        content,
        60,
    )

    assert content == there.read_bytes()
    assert {"PATH"} == {line.split("=")[0] for line in (tmp_path / "there.env").read_text().split()} - {
        *("PWD", "SHLVL", "_", "OLDPWD"),  # variables of the shell itself
    }


async def test_a_program_may_leave_its_input_unread() -> None:
    """Exit 0 is a success, whatever was read; other codes are errors, with the last remark on an error."""
    await run_fed(["true"], PATH, b"x" * 300_000, 60)

    with pytest.raises(TransportError, match="it ended with code 3: E! no such room"):
        await run_fed(["/bin/sh", "-c", "echo 'E! no such room' >&2; exit 3"], PATH, b"x", 60)
    with pytest.raises(TransportError, match=r"it ended with code 3$"):
        await run_fed(["/bin/sh", "-c", "echo 'W! a slow day' >&2; exit 3"], PATH, b"x", 60)


async def test_the_time_of_a_program_is_limited() -> None:
    """A program that hangs causes an error."""
    with pytest.raises(TransportError, match="did not end"):
        await run_fed(["sleep", "600"], PATH, b"x", 0.5)


async def test_a_program_is_ended_with_its_children(tmp_path: Path) -> None:
    """When the wait for the program is over, no process of its group runs any more."""
    child = tmp_path / "child"
    command = ["/bin/sh", "-c", f"sleep 600 & echo $! > {child}.new; mv {child}.new {child}; wait"]

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run_fed, command, PATH, b"x", 600)
        with anyio.fail_after(DEADLINE_S):
            while not child.exists():  # noqa: ASYNC110 - no event announces it
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()

    assert not _runs(int(child.read_text()))


def _runs(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text("ascii").rpartition(")")[2].split()[0] not in "ZX"
