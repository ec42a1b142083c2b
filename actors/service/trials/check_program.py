"""Runs a program without a board, and reports which of its matches would be shown, or why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import anyio

from actors.core.clock import SystemClock
from actors.core.cooperative import run_sliced
from actors.core.errors import ConfigError, SourceError, TransportError
from actors.core.messages import Scope
from actors.pipeline.program.feed import ProgramFeed
from actors.pipeline.program.remarks import Withdrawals
from actors.service.trials.listing import counted, match_line
from actors.source_api.program import ProgramOptions, environment_of
from actors.sources.program.lists import Lists
from actors.sources.program.markets import Rejected
from actors.sources.program.options import check
from actors.transports.process import Program, running

MAX_SHOWN = 20  # most reported matches of a list, and most reported rejected matches
MAX_CHARS = 300
LOOK_S = 0.5  # seconds between two checks whether the program has exited

Report = Callable[[str], None]


class ProgramCheck:
    """Runs a program for `for_s` seconds at most; passes lines to `report`.

    `is_good`: a match would be shown, and the program would not be ended. Raises: ConfigError for options
    that cannot work.
    """

    def __init__(self, options: ProgramOptions, for_s: float, report: Report) -> None:
        try:
            check(options, ())
        except ValueError as error:
            raise ConfigError(str(error)) from error
        self.is_good = False
        self._options = options
        self._for_s = for_s
        self._report = report
        self._lists = Lists(options, self._note)
        self._rejected = self._rejected_markets = self._lines = 0

    async def run(self) -> None:
        """Run the program; report its lists meanwhile, and at the end the matches that would be shown."""
        failure: SourceError | None = None
        command, environment = self._options.command, environment_of(self._options)
        async with running(command, environment) as program, anyio.create_task_group() as tasks:
            tasks.start_soon(self._report_remarks, program)
            with anyio.move_on_after(self._for_s):
                failure = await self._failure(program)
            tasks.cancel_scope.cancel()
        if failure is not None:
            self._report(f"ended, and would be started again: {failure}"[:MAX_CHARS])
        for line in self._summary():
            self._report(line)
        shows_any = any(image.extract.matches for image in self._lists.images())
        self.is_good = failure is None and shows_any

    async def _failure(self, program: Program) -> SourceError:
        """Read lines until the service would end the program; return why."""
        clock, silence_s, withdrawals = SystemClock(), self._options.longest_silence_s, Withdrawals()
        feed = ProgramFeed(self._lists, (), self._options.staleness_s)
        spoken_mono = clock.now().mono
        while True:
            lines = b""
            with anyio.move_on_after(min(silence_s, LOOK_S)):
                try:
                    lines = await program.receive()
                except TransportError as error:
                    return error
            now = clock.now()
            if lines:
                spoken_mono = now.mono
                taken = await run_sliced(feed.lines(lines, now))
                self._lines += lines.count(b"\n", 0, taken.used_bytes)
                for text in withdrawals.told(taken.changes):
                    self._report(text[:MAX_CHARS])
                if taken.error is not None:
                    return taken.error
            elif program.has_exited():  # its own children still have its output open
                return program.ending()
            elif now.mono - spoken_mono >= silence_s:
                return TransportError(f"no line for {silence_s:g} s", reason="silence")

    async def _report_remarks(self, program: Program) -> None:
        while (remark := await program.remark()) is not None:
            self._report(f"says: {remark}"[:MAX_CHARS])

    def _note(self, scope: Scope, rejected: Rejected) -> None:
        self._rejected += not rejected.is_market
        self._rejected_markets += rejected.is_market
        if self._rejected + self._rejected_markets <= MAX_SHOWN:
            match = rejected.match_id or "without an id"
            self._report(f"rejected: {scope} {match} ({rejected.reason}): {rejected.why}"[:MAX_CHARS])

    def _summary(self) -> Iterator[str]:
        images = self._lists.images()
        of_markets = f", rejected markets {self._rejected_markets}" if self._rejected_markets else ""
        yield f"lines {self._lines}, lists {len(images)}, rejected matches {self._rejected}{of_markets}"
        if passed_over := self._lists.passed_over:
            counts = ", ".join(f"{kind} {count}" for kind, count in sorted(passed_over.items()))
            yield f"markets that the table does not ask for (markets = [...]): {counts}"
        for image in images:
            matches = image.extract.matches
            yield f"list {image.scope} would be shown, {counted(matches)}"
            yield from (f"  {match_line(match)}" for match in matches[:MAX_SHOWN])
            if len(matches) > MAX_SHOWN:
                yield f"  and {len(matches) - MAX_SHOWN} more"
        for scope in self._lists.unfinished():
            yield f"list {scope} has begun and not ended: nothing of it would be shown"
