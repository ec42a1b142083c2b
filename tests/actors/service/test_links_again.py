"""The file of links by hand, read again while the service runs."""

from __future__ import annotations

from pathlib import Path
from random import Random

import anyio
from anyio.lowlevel import checkpoint
from structlog.testing import capture_logs

from actors.board.board import BoardRules
from actors.core.clock import SystemClock
from actors.matching.matcher import Matcher
from actors.matching.overrides import Overrides
from actors.service.settings import LinksSettings, ServerSettings, Settings
from actors.service.system import System

GOOD = '[[team]]\nname = "a"\nalso = ["b"]\n'


class Made(list[Overrides]):
    """What linkers were made by, in order."""

    def __init__(self, file: Path) -> None:
        settings = Settings(ServerSettings(), BoardRules(), {}, {}, links=LinksSettings(str(file)))
        self.system = System(settings, SystemClock(), Random(1), linker=self._linker)

    def _linker(self) -> Matcher:
        self.append(self.system.review.overrides)
        return self.system.review.new_matcher()


def test_events_are_linked_by_the_last_file_that_is_good(tmp_path: Path) -> None:
    """A bad one is one line in the log, and no events are linked again."""
    file = tmp_path / "links.toml"

    async def run() -> Made:
        made = Made(file)
        async with anyio.create_task_group() as tasks:
            await tasks.start(made.system.supervisor.run)
            for text in (GOOD, "[[team]]", "\x00", "x = 1\n" * 2, "must = " + "9" * 5000):
                file.write_text(text, "utf-8")
                await made.system.read_links_again()
                for _ in range(20):
                    await checkpoint()
            file.unlink()
            await made.system.read_links_again()
            await made.system.supervisor.stop()
        return made

    with capture_logs() as logs:
        made = anyio.run(run)

    assert ["links.replaced"] + ["links.rejected"] * 5 == [
        line["event"] for line in logs if line["event"].startswith("links.")
    ]
    assert [0, 1] == [len(overrides.teams) for overrides in made]
    assert made[-1] is made.system.review.overrides
