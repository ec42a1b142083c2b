"""The registry of a service: the counters and histograms of /metrics, /api/stats and /monitor.

Names and units follow Prometheus' conventions. Labels have values of the configuration or of a closed set,
never of a client or a match. What is a state and no count is read from the records (`present.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

MAX_VALUES = 100
MAX_VALUE_CHARS = 64
OTHER = "other"

COMMIT_S = tuple(
    number / 1e4 for number in (5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2500, 10_000)
)
LATENCY_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
ANSWER_S = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0, 60.0)
"""The upper ends of buckets, in seconds."""


class Count(Counter):
    """A counter that can be read."""

    @property
    def number(self) -> int:
        """What was counted so far."""
        return int(self._value.get())  # `collect` takes twenty times as long


class Level(Gauge):
    """A gauge that can be read."""

    @property
    def number(self) -> int:
        """The present number."""
        (family,) = self.collect()
        return int(family.samples[0].value)


class Timing(Histogram):
    """A histogram of durations that can be read."""

    @property
    def upper_ends(self) -> tuple[float, ...]:
        """The upper ends of its buckets in seconds, the last infinite."""
        return tuple(self._upper_bounds)

    def counted(self) -> list[int]:
        """Return how many durations were at most as long as each upper end."""
        return [*accumulate(int(bucket.get()) for bucket in self._buckets)]


class Counts(Mapping[str, int]):
    """The counters of a metric as numbers by its last label; those above zero.

    What was not counted is 0. The values of its other labels are `fixed`, or given each time. The last
    label may have any text: of more than a hundred values, further ones count as `OTHER`.
    """

    def __init__(self, metric: Count, *fixed: str) -> None:
        self._metric = metric
        self._fixed = fixed
        self._values: set[str] = set()
        self._bound: dict[tuple[str, ...], Count] = {}

    def add(self, *values: str, number: int = 1) -> None:
        """Count for these values of the labels that are not fixed."""
        child = self._bound.get(values) or self._bind(*values)
        child.inc(number)

    def __getitem__(self, last: str) -> int:
        return self._numbers().get(last, 0)

    def __contains__(self, last: object) -> bool:
        return last in self._numbers()

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers())

    def __len__(self) -> int:
        return len(self._numbers())

    def _bind(self, *values: str) -> Count:
        *others, last = values
        if last not in self._values and (len(last) > MAX_VALUE_CHARS or len(self._values) >= MAX_VALUES):
            last = OTHER
        self._values.add(last)
        key = *others, last
        if key not in self._bound:
            self._bound[key] = self._metric.labels(*self._fixed, *others, plain(last))
        return self._bound[key]

    def _numbers(self) -> dict[str, int]:
        numbers: dict[str, int] = {}
        for (*_, last), child in self._bound.items():
            if number := child.number:
                numbers[last] = numbers.get(last, 0) + number
        return numbers


def plain(text: str) -> str:
    """Return a text that has an encoding: half a character, as in a plug-in's text, as an escape."""
    return text.encode(errors="backslashreplace").decode()


class OfSources:
    """What sources do."""

    def __init__(self, registry: CollectorRegistry) -> None:
        count = partial(Count, labelnames=("source",), registry=registry)
        self.attempts = count("oddsboard_source_attempts", "Polls or connections.")
        self.payloads = count("oddsboard_source_payloads", "Answers or messages with content.")
        self.confirmations = count(
            "oddsboard_source_confirmations", "Answers that repeat what is on the board."
        )
        self.received = count("oddsboard_source_received_bytes", "Bytes of answers and messages.")
        self.slow = count("oddsboard_source_slow_messages", "Messages merged by a stream's slow reading.")
        self.failures = count(
            "oddsboard_source_failures", "Failed attempts.", labelnames=("source", "reason")
        )


class OfBookmakers:
    """What becomes of bookmakers' lists."""

    def __init__(self, registry: CollectorRegistry) -> None:
        count = partial(Count, registry=registry)
        self.batches = count("oddsboard_bookmaker_batches", "Lists and changes read.", ("bookmaker",))
        self.changes = count("oddsboard_bookmaker_changes", "Entries changed or removed.", ("bookmaker",))
        self.rejected = count(
            "oddsboard_rejected_matches", "Matches rejected, in each list anew.", ("bookmaker", "reason")
        )
        self.source_to_commit = Timing(
            "oddsboard_source_to_commit_seconds",
            "From the receipt of a payload to its commit.",
            ("bookmaker",),
            buckets=LATENCY_S,
            registry=registry,
        )


class OfBoard:
    """What the aggregator does."""

    def __init__(self, registry: CollectorRegistry) -> None:
        count = partial(Count, registry=registry)
        self.outcomes = count("oddsboard_batches", "Batches by outcome.", ("bookmaker", "outcome"))
        self.dropped = count("oddsboard_batches_dropped", "Batches that crashed the aggregator.")
        self.changes = count("oddsboard_entry_changes", "Entries by what became of them.", ("change",))
        self.commit = Timing(
            "oddsboard_commit_duration_seconds",
            "Duration of a commit, of lists and fixtures.",
            buckets=COMMIT_S,
            registry=registry,
        )


class OfFixtures:
    """How many there are, when they were counted last."""

    def __init__(self, registry: CollectorRegistry) -> None:
        gauge = partial(Gauge, registry=registry)
        self.fixtures = gauge("oddsboard_fixtures", "Fixtures.")
        self.linked = gauge("oddsboard_linked_fixtures", "Fixtures with events of two sources or more.")
        self.links = gauge("oddsboard_links", "Links by rule.", ("rule",))
        self.pending = gauge("oddsboard_link_events_pending", "Events that are still to be linked.")
        self.surebets = gauge("oddsboard_surebets", "Fixtures with a surebet.")


class OfHttp:
    """What clients are answered. A route is the template of a path, never the client's spelling."""

    def __init__(self, registry: CollectorRegistry) -> None:
        count = partial(Count, registry=registry)
        self.requests = count("oddsboard_http_requests", "Answers.", ("route", "method", "status"))
        self.body = count("oddsboard_http_response_body_bytes", "Bytes of bodies of answers.")
        self.throttled = count("oddsboard_http_throttled", "Requests refused: their client asks too often.")
        self.turned_away = count("oddsboard_http_turned_away", "New clients refused: others wait too long.")
        self.errors = count("oddsboard_http_client_errors", "Errors that clients caused.", ("kind",))
        self.clients = Level(
            "oddsboard_http_known_clients", "Clients whose requests are remembered.", registry=registry
        )
        self.duration = Timing(
            "oddsboard_http_request_duration_seconds",
            "From the begin of a request until its answer is ready to be sent; not of the stream.",
            ("route",),
            buckets=ANSWER_S,
            registry=registry,
        )


class OfStreams:
    """The clients that follow the stream, or wait for changes."""

    def __init__(self, registry: CollectorRegistry) -> None:
        count = partial(Count, registry=registry)
        self.clients = Level("oddsboard_stream_clients", "Clients that follow or wait.", registry=registry)
        self.resets = count("oddsboard_stream_resets", "Streams that began anew.", ("reason",))
        self.refused = count("oddsboard_stream_refused", "Clients that were not taken.", ("reason",))
        self.conflated = count("oddsboard_stream_conflated", "Messages of several versions at once.")
        self.commit_to_wire = Timing(
            "oddsboard_commit_to_wire_seconds",
            "From a commit until the system has its message, of clients that waited for it.",
            buckets=ANSWER_S,
            registry=registry,
        )


class OfProcess:
    """The event loop and the log."""

    def __init__(self, registry: CollectorRegistry) -> None:
        count = partial(Count, registry=registry)
        self.lag = Timing(
            "oddsboard_loop_lag_seconds",
            "How late the event loop does what is due, ten times a second.",
            buckets=LATENCY_S,
            registry=registry,
        )
        self.stalls = count("oddsboard_loop_stalls", "Times that it was blocked for most of a second.")
        self.lost_lines = count("oddsboard_log_lost_lines", "Lines that are not in the log.", ("cause",))


class Metrics:
    """All of them, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.sources = OfSources(self.registry)
        self.bookmakers = OfBookmakers(self.registry)
        self.board = OfBoard(self.registry)
        self.fixtures = OfFixtures(self.registry)
        self.http = OfHttp(self.registry)
        self.streams = OfStreams(self.registry)
        self.process = OfProcess(self.registry)
