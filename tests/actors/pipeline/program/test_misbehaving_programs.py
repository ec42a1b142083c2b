"""Programs that misbehave: no wrong price is shown, and `staged` checks that no process is left."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from tests.support.builders.programs import item, line, listed, upsert
from tests.support.systems.program_stage import processes_with, staged

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

FOR_EVER = "\ntime.sleep(1000)\n"
SPOKEN = (
    listed(item("1", start=None), item("2", start=None)),
    line("begin", id="2"),
    line("match", id="2", **item("3", start=None)),
    line("match", id="2", **item("4", start=None)),
    line("end", id="2", count=2),
    upsert("3", "2.20", start=None),
    line("remove", match="4"),
    line("withdraw"),
)
STATES: tuple[dict[str, float], ...] = (
    {},
    {"1": 2.1, "2": 2.1},
    {"3": 2.1, "4": 2.1},
    {"3": 2.2, "4": 2.1},
    {"3": 2.2},
    {},
)
STATE_AFTER = (0, 1, 1, 1, 1, 2, 3, 4, 5)
"""The number of the state after each number of whole lines."""


@pytest.mark.long
@pytest.mark.parametrize("count", range(len(SPOKEN)))
@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
async def test_an_exit_at_any_moment_leaves_what_was_said_whole(
    tmp_path: Path, count: int, part: float
) -> None:
    """Nothing is shown of a line or a list that was not finished."""
    last = SPOKEN[count][: int(part * (len(SPOKEN[count]) - 1))]
    said = b"".join(SPOKEN[:count]) + last
    text = f"sys.stdout.buffer.write({said!r})\nsys.stdout.flush()\nos._exit(1)"
    async with staged(tmp_path, text) as stage:
        await stage.until(lambda: stage.status.failures_total == 1)

        assert STATES[STATE_AFTER[count]] == stage.shown()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("print('{\"type\":')", "unreadable"),
        ("print('Traceback (most recent call last):')", "unreadable"),
        ("say('hello')", "protocol"),
        ("listed(*[item(str(number), 'none') for number in range(101)])", "rejected"),
        ("sys.stdout.write('x' * 100_000_000)", "too_big"),
        ("sys.stdout.flush(); os.close(1)", "closed"),
    ],
)
async def test_what_cannot_be_read_ends_the_process(tmp_path: Path, said: str, reason: str) -> None:
    """The reason is counted; lists sent before that line stay, and later lines are not taken."""
    text = f"listed(item('1'))\n{said}\ntry:\n    listed(item('2'))\nexcept OSError:\n    pass"
    async with staged(tmp_path, text + FOR_EVER) as stage:
        await stage.until(lambda: stage.status.failures_total == 1)

        assert ({"1": 2.1}, {reason: 1}) == (stage.shown(), stage.status.failed_by)


@pytest.mark.parametrize("keeps", ["None", "subprocess.DEVNULL"], ids=["output open", "output closed"])
async def test_children_of_a_program_end_with_it(tmp_path: Path, keeps: str) -> None:
    """The children end if the program exits by itself, too, and whether or not its output is open."""
    text = f"""
code = "import time; time.sleep(1000)"
subprocess.Popen([sys.executable, "-c", code, {str(tmp_path)!r}], stdout={keeps}, stderr={keeps})
listed(item())
"""
    async with staged(tmp_path, text) as stage:
        await stage.until(lambda: stage.status.failed_by["exited"] == 1)
        await stage.until(lambda: processes_with(str(tmp_path)) == [])


@pytest.mark.long
async def test_a_program_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    """The program and a child that ignores SIGTERM are killed after the time for an orderly end."""
    text = f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)"
subprocess.Popen([sys.executable, "-c", code, {str(tmp_path)!r}])
listed(item())
"""
    async with staged(tmp_path, text + FOR_EVER) as stage:
        await stage.until(lambda: bool(stage.shown()))
        assert 2 == len(processes_with(str(tmp_path)))


async def test_a_program_can_end_in_order(tmp_path: Path) -> None:
    """After SIGTERM the program has time to finish its work."""
    text = f"""
def finish(*_):
    time.sleep(0.2)
    open({str(tmp_path / "finished")!r}, "w").close()
    sys.exit()
signal.signal(signal.SIGTERM, finish)
listed(item())
"""
    async with staged(tmp_path, text + FOR_EVER) as stage:
        await stage.until(lambda: bool(stage.shown()))

    assert (tmp_path / "finished").exists()


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_a_flood_neither_grows_nor_stops_the_others(tmp_path: Path) -> None:
    """The newest state of 10**6 lines is shown; another program is read meanwhile, and nothing waits."""
    flood, calm = tmp_path / "flood", tmp_path / "calm"
    flood.mkdir()
    calm.mkdir()
    items = [item(str(number % 50), f"2.{number % 10}1", start=None) for number in range(1000)]
    lines = "".join(line("upsert", **changed).decode() for changed in items)
    text = f"listed()\nfor _ in range(1000):\n    sys.stdout.write({lines!r})\nlisted(item('last'))"
    ticking = "listed(item())\nwhile True:\n    time.sleep(0.05)\n    say('alive')"
    async with staged(flood, text + FOR_EVER) as flooding, staged(calm, ticking) as other:
        await flooding.until(lambda: flooding.status.payloads.number > 100_000)
        before = other.status.payloads.number
        await flooding.until(lambda: flooding.shown() == {"last": 2.1})

        assert other.status.payloads.number > before + 10
        assert (0, 0) == (flooding.status.failures_total, other.status.failures_total)


async def test_lines_written_just_before_the_exit_are_taken(tmp_path: Path) -> None:
    """The number of the lines does not matter: a removal may be among them."""
    text = """
listed(*[item(str(number)) for number in range(1000)])
for number in range(1000):
    print(json.dumps({"type": "remove", "list": "epl", "match": str(number)}))
sys.stdout.flush()
os._exit(0)
"""
    async with staged(tmp_path, text) as stage:
        await stage.until(lambda: stage.status.failures_total == 1)

        assert {} == stage.shown()
        await anyio.lowlevel.checkpoint()
