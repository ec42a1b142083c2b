"""The service reads the file of manual links again while it runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random

import anyio
import pytest
from anyio.lowlevel import checkpoint
from structlog.testing import capture_logs

from actors.board.validity import BoardRules
from actors.core.clock import SystemClock
from actors.matching.matcher import Matcher
from actors.matching.overrides import Overrides
from actors.review.links_file import read
from actors.review.reload import EMPTY, REFUSED
from actors.service.settings import LinksSettings, ServerSettings, Settings
from actors.service.system import System

GOOD = '[[team]]\nname = "a"\nalso = ["b"]\n'
OTHER = '[[team]]\nname = "c"\nalso = ["d"]\n'
MUST = '[[must]]\nevents = ["a:1", "b:2"]\nreason = "r"\n'
LISTED = 'home = "Leeds"\naway = "Hull"\nday = 2026-08-15\n'


class Made(list[Overrides]):
    """The overrides from which linkers were made, in order."""

    def __init__(self, file: Path) -> None:
        settings = Settings(ServerSettings(), BoardRules(), {}, {}, links=LinksSettings(str(file)))
        self.system = System(settings, SystemClock(), Random(1), linker=self._linker)

    def _linker(self) -> Matcher:
        self.append(self.system.review.overrides)
        return self.system.review.new_matcher()


def test_events_are_linked_by_the_last_file_that_is_good(tmp_path: Path) -> None:
    """A bad file is one line in the log, and does not link the events again."""
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

    assert ["links.empty", "links.replaced"] + ["links.rejected"] * 5 == [
        line["event"] for line in logs if line["event"].startswith("links.")
    ]
    assert [0, 1] == [len(overrides.teams) for overrides in made]
    assert made[-1] is made.system.review.overrides


def _read_again(file: Path, *texts: str) -> tuple[list[str], list[str | None]]:
    """Start with the first text, then read the other texts in turn; return the log and all warnings."""
    write = partial(file.write_text, encoding="utf-8")
    write(texts[0])
    links = LinksSettings(str(file))
    settings = Settings(ServerSettings(), BoardRules(), {}, {}, links=links, overrides=read(file))
    warnings: list[str | None] = []

    async def run() -> None:
        system = System(settings, SystemClock(), Random(1))
        warnings.append(system.status.links.file_warning)
        for text in texts[1:]:
            write(text)
            await system.read_links_again()
            warnings.append(system.status.links.file_warning)

    with capture_logs() as logs:
        anyio.run(run)
    return [line["event"].removeprefix("links.") for line in logs], warnings


@pytest.mark.parametrize("text", ["", "# all gone", OTHER, MUST, OTHER + MUST])
def test_a_file_without_any_decision_that_held_is_refused(tmp_path: Path, text: str) -> None:
    """Such a file may be half-written, or another file; `/health` warns until a good file is read."""
    file = tmp_path / "links.toml"

    assert (["rejected", "replaced"], [None, REFUSED, None]) == _read_again(file, GOOD, text, GOOD + MUST)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (GOOD + MUST, MUST),
        (GOOD, GOOD.replace('"b"', '"b", "c"')),
        (MUST, MUST + LISTED),
        (MUST, MUST.replace("must", "must_not")),
        (MUST + LISTED, (MUST + LISTED).replace("a:1", "a:2")),
        (GOOD, "none = true"),
        ("none = true", GOOD),
        ("none = true", "none = true"),
    ],
)
def test_a_file_that_keeps_or_corrects_a_decision_is_taken(tmp_path: Path, before: str, after: str) -> None:
    """A file that says `none = true` is accepted as well."""
    assert (["replaced"], [None, None]) == _read_again(tmp_path / "links.toml", before, after)


def test_an_empty_file_at_the_start_is_taken_with_a_warning(tmp_path: Path) -> None:
    """No earlier decisions are there to keep; the warning ends with a file that has decisions."""
    found = _read_again(tmp_path / "links.toml", "", "", GOOD)

    assert (["empty", "replaced", "replaced"], [EMPTY, EMPTY, None]) == found
