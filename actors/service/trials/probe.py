"""Asks the venue of a source once, and reports step by step whether its answers have the expected shape.

It uses the plan, transport, decoder and checks of the service, so that it cannot differ from the service.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from itertools import chain
from math import inf

import anyio
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields, replace

from actors.core.clock import Clock, SystemClock
from actors.core.cooperative import run_sliced
from actors.core.errors import ConfigError, PayloadError, SourceError, TransportError
from actors.core.messages import BookmakerId, Document, Match, Scope, SourceName
from actors.pipeline.fanout import document_of, extractor, list_id_of, read_delivery
from actors.pipeline.polled_source import connection, dated, explain, payload_of
from actors.recordings.reader import options_of
from actors.service.registry import kind_named
from actors.service.settings import Settings
from actors.service.trials.listing import counted, match_line
from actors.source_api.kinds import Kind, PolledKind, TickingKind, bounds_of
from actors.source_api.options import PolledOptions, secret_names
from actors.source_api.parsing import Parts
from actors.source_api.plan import Target
from actors.source_api.program import ProgramKind
from actors.transports.polling import Fetched, Transport, Validators

MAX_REQUESTS = 60
MAX_WAIT_S = 5.0  # seconds between two requests
MAX_SHOWN = 3  # reported matches, with all their markets
MAX_CHARS = 300
MAX_URL_CHARS = 110

Report = Callable[[str], None]
Connect = Callable[[], AbstractAsyncContextManager[Transport]]


class Probed(Struct, frozen=True):
    """A source to be probed: its name, its kind with options, and the keys of its bookmakers."""

    name: SourceName
    kind: PolledKind
    options: PolledOptions
    keys: Mapping[BookmakerId, str]


def source_to_probe(settings: Settings, kind_name: str, url: str | None = None) -> Probed:
    """Return the source of that kind in a configuration; `url` replaces each of its addresses.

    Raises: ConfigError if the kind cannot be probed, or the configuration has no such source.
    """
    if why := _why_not(kind_named(kind_name)):
        raise ConfigError(f"{kind_name} is not probed: {why}")
    for name, source in settings.sources.items():
        kind, options = source.kind, source.options
        if kind.name == kind_name and isinstance(kind, PolledKind):
            if url is not None:
                addresses = [field.name for field in fields(kind.options) if _is_address(field.name)]
                written = {name: value for name, value in source.written.items() if name != "path"}
                options = options_of(kind, {**written, **dict.fromkeys(addresses, url)})
            keys = {named: entry.key for named, entry in settings.bookmakers_of(name).items()}
            assert isinstance(options, PolledOptions)  # noqa: S101 - a polled kind has polled options
            return Probed(name, kind, options, keys)
    raise ConfigError(
        f"the configuration has no source of kind {kind_name!r}: name one that has, with --config"
    )


class Probe:
    """Asks a source's venue until a match could be shown; passes lines to `report`.

    `is_good`: all answers were readable, and a match would be shown.
    """

    def __init__(
        self, source: Probed, report: Report, clock: Clock | None = None, connect: Connect | None = None
    ) -> None:
        self.is_good = False
        self._source = source
        self._report = report
        self._clock = clock or SystemClock()
        self._connect = connect or partial(connection, source.kind, source.options, self._clock)
        self._plan = source.kind.plan(source.options, tuple(source.keys.values()))
        self._asked: set[tuple[str, bytes]] = set()
        self._unread = self._shown = 0
        self._seen: dict[type[Struct], set[str]] = {}
        self._prices: dict[tuple[BookmakerId, str], tuple[float, ...]] = {}
        self._priced: dict[Scope, None] = {}  # scopes with prices, in order

    async def run(self) -> None:
        """Ask until a match would be shown, no target is left, or an answer is wrong."""
        async with self._connect() as transport:
            while not self._shown and (target := self._next()) is not None:
                if not await self._step(transport, target):
                    return
            if self._shown and self._source.kind.watched_s and not await self._watch(transport):
                return
        for name, value in self._plan.facts().items():
            self._report(f"{name}: {value}")
        self.is_good = bool(self._shown) and not self._unread
        if unseen := ", ".join(sorted(self._unseen())):
            self._report(f"in no answer, though it may be left out: {unseen}")
        self._report(f"{self._source.kind.name}: {self._verdict()}")

    async def _step(self, transport: Transport, target: Target) -> bool:
        """Ask, and report the answer; return whether it is readable."""
        try:
            lines = await self._ask(transport, target)
        except SourceError as error:
            known = str(error)
            explain(error, self._source.kind, self._source.options)
            self._plan.on_failed(target, error, self._clock.now())
            self._say(target, _in_words(error) if str(error) == known else f"refused: {error}")
            return False
        self._say(target, *lines)
        return True

    async def _watch(self, transport: Transport) -> bool:
        """Ask again for scopes with prices after a while, and report how many prices have moved."""
        before, again = dict(self._prices), [*self._priced]
        watched_s = self._source.kind.watched_s
        await anyio.sleep(watched_s)
        for scope in again:
            targets = [each for each in self._plan.targets() if each.scope == scope]
            if targets and not await self._step(transport, targets[0]):
                return False
        kept = before.keys() & self._prices.keys()
        moved = sum(before[name] != self._prices[name] for name in kept)
        self._report(f"prices that have moved after {watched_s:g} s: {moved} of {len(kept)}")
        return True

    def _next(self) -> Target | None:
        """Return the next target: a target of prices as soon as there is one."""
        targets = (*self._plan.checks(), *self._plan.targets())
        new = [each for each in targets if (each.url, each.body) not in self._asked]
        if not new or len(self._asked) == MAX_REQUESTS:
            return None
        return min(new, key=lambda each: each.is_catalogue)

    async def _ask(self, transport: Transport, target: Target) -> list[str]:
        """Ask, and describe the answer in lines. Raises: SourceError if it is unreadable."""
        source, plan = self._source, self._plan
        self._asked.add((target.url, target.body))
        most_s = inf if source.kind.is_free_to_ask else MAX_WAIT_S  # a free kind's rate is set by its key
        await anyio.sleep(min(plan.wait_s(target, self._clock.now()), most_s))
        plan.on_asked(target, self._clock.now())
        answer, now = await transport.fetch(target.url, Validators(), target.body), self._clock.now()
        if not target.is_catalogue:
            answer = dated(
                answer, source.options, source.options.staleness_at(plan.interval_s(target, now))
            )
        if not isinstance(answer, Fetched):
            raise PayloadError("status was 304, though nothing was known")
        plan.on_answered(target, answer.headers, now)
        payload = payload_of(source.name, target, answer, now)
        content = await run_sliced(source.kind.decode(payload, source.options))
        plan.on_learnt(target, content, now)
        lines = [f"{len(answer.body)} bytes"]
        if source.kind.parts is not None:
            lines = [self._noted(source.kind.parts(content))]
        documents = [] if target.is_catalogue else [document_of(payload, content)]
        for made in plan.take_lists():
            listed = replace(payload, scope=made.scope, list_id=list_id_of(made.body), body=made.body)
            listed_content = await run_sliced(source.kind.decode(listed, source.options))
            documents.append(document_of(replace(listed, stale_after_s=made.holds_s), listed_content))
        offers = [await self._offers(documents, name, key) for name, key in source.keys.items()]
        if any(offers):
            self._priced.setdefault(target.scope)
        return [*lines, *chain.from_iterable(offers)]

    def _noted(self, parts: Parts) -> str:
        """Note the fields of the elements; return in words how many elements are readable."""
        for part in parts.read:
            self._note(part)
        self._unread += parts.unread.count
        if parts.unread.count:
            why = f"{parts.unread.count} cannot be read, the first because: {parts.unread.why}"
            return f"{parts.name} {len(parts.read)}, {why}"
        return f"{parts.name} {len(parts.read)}"

    def _note(self, value: object) -> None:
        if isinstance(value, Struct):
            seen = self._seen.setdefault(type(value), set())
            for field in fields(value):
                if (inner := getattr(value, field.name)) != field.default:
                    seen.add(field.encode_name)
                    self._note(inner)
        elif isinstance(value, tuple):
            for inner in value:
                self._note(inner)

    def _unseen(self) -> Iterator[str]:
        for part, seen in self._seen.items():
            for field in fields(part):
                if field.default is not NODEFAULT and field.encode_name not in seen:
                    yield f"{part.__name__}.{field.encode_name}"

    async def _offers(self, documents: list[Document], name: BookmakerId, key: str) -> list[str]:
        """Return lines on a bookmaker's matches that would be shown. Raises: PayloadError."""
        kind, options = self._source.kind, self._source.options
        bounds = bounds_of(kind, key, options)
        matches: list[Match] = []
        notes: list[str] = []
        reasons = Counter[str]()
        for document in documents:
            read = await run_sliced(read_delivery(name, document, extractor(kind, key, options), bounds))
            matches += read.batch.matches
            reasons.update(removal.reason for removal in read.batch.removals)
            notes += read.notes
        if not documents:
            return []
        self._shown += len(matches)
        self._prices.update({(name, match.source_match_id): match.prices for match in matches})
        not_shown = ", ".join(f"{reason} {count}" for reason, count in reasons.items())
        first = [*dict.fromkeys(match.event_id for match in matches)][:MAX_SHOWN]
        line = f"{name} would be shown, {counted(matches)}"
        return [
            f"{line}; not shown: {not_shown}" if not_shown else line,
            *(f"  {note}" for note in notes[:MAX_SHOWN]),
            *(f"  {match_line(match)}" for match in matches if match.event_id in first),
        ]

    def _say(self, target: Target, what: str, *more: str) -> None:
        """Report a step: a line, and indented lines."""
        method, url = "POST" if target.body else "GET", target.url
        if self._source.options.reads_file:
            method = "file"
        asked = f"{method} {url[:MAX_URL_CHARS]}..." if len(url) > MAX_URL_CHARS else f"{method} {url}"
        self._report(f"{len(self._asked)}. {target.scope}: {what[:MAX_CHARS]} ({asked})")
        for line in more:
            self._report(f"   {line}")

    def _verdict(self) -> str:
        if not self._shown:
            return "no match would be shown: nothing is on offer now, or its answers have changed"
        if self._unread:
            return f"{self._unread} parts of its answers do not have the expected shape; they are not shown"
        return "its answers have the expected shape"


def _is_address(option: str) -> bool:
    return option == "url" or option.endswith("_url")


def _why_not(kind: Kind) -> str:
    """Return why a kind cannot be probed: no venue, or harm by asking; "" if it can be probed."""
    match kind:
        case PolledKind():
            needed = "" if kind.is_free_to_ask else ", ".join(sorted(secret_names(kind.options)))
            spent = "an answer may cost credits; run it, /monitor says what comes"
            return f"it needs {needed}, and {spent}" if needed else ""
        case ProgramKind():
            return "check-program runs a program and says what would be shown of it"
        case TickingKind():
            return "it asks nobody, its prices are computed or recorded"
        case _:
            return "its stream needs a session of your account; run it, /monitor says what comes"


def _in_words(error: SourceError) -> str:
    """Return the error, and its possible meaning."""
    match error:
        case TransportError(reason="file" | "unsettled" | "aged"):
            return str(error)
        case TransportError(status=None):
            return f"no answer: {error}; is there a network, and is the site not blocked in it?"
        case TransportError(status=429):
            return f"too many requests: {error}; try again later"
        case TransportError(status=401 | 403):
            return f"refused: {error}; some networks and countries block the site"
        case TransportError():
            return f"another answer than expected: {error}; the venue has moved, or is down"
        case _:
            return f"not the expected shape: {error}; has the venue changed, or does another site answer?"
