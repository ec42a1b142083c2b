"""The actor of a program with real processes: its prices, its restarts, and its log and errors."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from actors.core.messages import Extract, ListId, Scope
from actors.pipeline.program.remarks import Withdrawals
from actors.source_api.program import ListChange
from tests.support.systems.program_stage import MINE, staged
from tests.support.systems.supervision import bookmaker_record

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

FOR_EVER = "\ntime.sleep(1000)\n"


async def test_prices_stay_after_the_exit_and_a_new_process_speaks_anew(tmp_path: Path) -> None:
    """The exit is a failure of each list, and after a restart the list is that of the new process."""
    text = f"""
marker = {str(tmp_path / "begun")!r}
if os.path.exists(marker):
    listed(item("2"))
    time.sleep(1000)
open(marker, "w").close()
listed(item("1"))
print("E! no more", file=sys.stderr, flush=True)
sys.exit(3)
"""
    async with staged(tmp_path, text) as stage:
        await stage.until(lambda: stage.status.failures_total == 1)
        after = stage.shown()
        error = stage.status.last_error
        await stage.until(lambda: stage.shown() == {"2": 2.1})

    assert ({"1": 2.1}, ["epl"]) == (after, stage.failed[:1])
    assert "it ended with code 3: E! no more" == error


async def test_standard_error_is_logged_by_level_without_secrets(tmp_path: Path) -> None:
    """Telegraf's prefixes give the level; at most 60 lines a minute are logged; long lines are cut."""
    text = """
for line in ("E! bad", "W! odd", "D! detail", "I! fine", "plain hidden-key", "x" * 10_000):
    print(line, file=sys.stderr)
for number in range(1000):
    print(number, file=sys.stderr)
sys.stderr.flush()
listed(item())
"""
    with capture_logs() as logs:
        async with staged(tmp_path, text + FOR_EVER, secrets={"KEY": "hidden-key"}) as stage:
            await stage.until(lambda: bool(stage.shown()))
            await stage.until(lambda: sum(log["event"] == "program.remarked" for log in logs) == 60)
            await anyio.lowlevel.checkpoint()
    said = [(log["log_level"], log["text"]) for log in logs if log["event"] == "program.remarked"]

    assert [("error", "bad"), ("warning", "odd"), ("debug", "detail"), ("info", "fine")] == said[:4]
    assert [("info", "plain ***"), ("info", "x" * 300)] == said[4:6]
    assert 60 == len(said)


async def test_why_a_list_is_withdrawn_is_the_error_of_its_source(tmp_path: Path) -> None:
    """The reason is also logged, without secrets, and stays until that list is back, not another list."""
    back = tmp_path / "back"
    text = f"""
listed(item("1"))
say("withdraw", reason="login hidden-key lost")
listed(item("2"), name="other")
while not os.path.exists({str(back)!r}):
    time.sleep(0.01)
listed(item("1"))
"""
    with capture_logs() as logs:
        async with staged(tmp_path, text + FOR_EVER, secrets={"KEY": "hidden-key"}) as stage:
            await stage.until(lambda: stage.shown() == {"2": 2.1} and stage.status.last_error is not None)
            error, record = stage.status.last_error, bookmaker_record(MINE)
            record.source = stage.status
            told = record.last_error()
            back.touch()
            await stage.until(lambda: stage.shown() == {"1": 2.1, "2": 2.1})
            await stage.until(lambda: stage.status.last_error is None)

    said = [(log["log_level"], log["text"]) for log in logs if log["event"] == "program.remarked"]
    assert ["list epl is withdrawn: login *** lost"] * 2 == [error, told]
    assert [("warning", error)] == said


def test_a_withdrawal_that_is_repeated_is_told_once() -> None:
    """The withdrawal is reported again after the list was back, or for another reason."""
    withdrawals = Withdrawals()
    gone = ListChange(Scope("epl"), ListId(""), Extract(()), 0.0, withdrawn=True, why="old")
    changes = [gone, gone, replace(gone, why=""), replace(gone, withdrawn=False, complete=True), gone]
    told = [[*withdrawals.told([change])] for change in changes]

    first, other = "list epl is withdrawn: old", "list epl is withdrawn, without a reason"
    assert [[first], [], [other], [], [first]] == told


async def test_a_lost_list_is_sent_again(tmp_path: Path) -> None:
    """When the board has lost a list, it gets all lists in their present state."""
    async with staged(tmp_path, 'listed(item("1"))\nsay("upsert", **item("2"))' + FOR_EVER) as stage:
        await stage.until(lambda: len(stage.shown()) == 2)
        stage.withdraw()
        gone = stage.shown()
        stage.context.refresh.set()
        await stage.until(lambda: len(stage.shown()) == 2)

    assert {} == gone
