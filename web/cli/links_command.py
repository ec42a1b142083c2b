"""`oddsboard links`: asks a running service why events are linked or not, and prints its answers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from actors.matching.evidence import Evidence, NameEvidence
from web.cli.asking import NO_LINKER, add_url, answer, part_of_path
from web.encoding.link_schemas import (
    LinkEvent,
    LinksExplained,
    LinkSuggestion,
    LinkSuggestions,
    PairExplained,
    SpellingSuggestion,
)
from web.encoding.probe_schemas import FixturesReport

_COUNTRY = {1: "the same country", 0: "country unknown", -1: "another country"}


class _Monitor(msgspec.Struct):
    fixtures: FixturesReport


def add_options(links: argparse.ArgumentParser) -> None:
    """Add the commands below `links`; each sets `lines` to the function that makes its output."""
    commands = links.add_subparsers(dest="links_command", required=True)
    for name, lines, summary in (
        ("explain", explain_lines, "print the evidence for and against, rule by rule"),
        ("suggest", suggest_lines, "print events that are not linked, and text for the file of links"),
        ("stats", stats_lines, "print how many fixtures, links and abstentions there are"),
    ):
        added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(lines=lines)
        add_url(added)
        if name == "explain":
            text = "the id of a fixture or of an entry, or SOURCE:ID of an event"
            added.add_argument("id", metavar="ID", help=text)
            added.add_argument("other", metavar="ID", nargs="?", help="another id to compare it with")
        if name == "suggest":
            text = "suggestions at most; default: %(default)s"
            added.add_argument("--limit", type=_limit, default=20, metavar="N", help=text)


def _limit(text: str) -> int:
    if not re.fullmatch("[0-9]{1,4}", text):
        raise argparse.ArgumentTypeError(f"was {text[:64]!r}, must be 0 to 9999")
    return int(text)


def explain_lines(given: argparse.Namespace) -> Iterator[str]:
    """Yield the evidence about one id, or for a pair of ids. Raises: ServiceUnreachableError."""
    ids = "/".join(part_of_path(given_id) for given_id in (given.id, given.other) if given_id is not None)
    found = answer(given, f"/monitor/links/{ids}", LinksExplained)
    if not found.linking:
        yield NO_LINKER
    elif not found.pairs:
        is_pair = given.other is not None
        unseen = "both are one event, or the linker has not seen them yet"
        yield unseen if is_pair else "nothing is linked with it, and nothing resembles it"
    for pair in found.pairs:
        yield from _pair_lines(pair)
        yield ""


def suggest_lines(given: argparse.Namespace) -> Iterator[str]:
    """Yield abstentions as TOML with comments, the most useful first. Raises: ServiceUnreachableError."""
    found = answer(given, f"/monitor/abstentions/{given.limit}", LinkSuggestions)
    if not found.linking:
        yield f"# {NO_LINKER}"
    elif not any((found.abstentions, found.absent, found.doubtful, found.suggestions, found.spellings)):
        yield "# everything that resembles something else is linked with it"
    for reason, count in found.abstentions.items():
        yield f"# {count} not linked because of: {reason}"
    for line in found.absent:
        yield f"# in the file of links: {line}"
    for line in found.doubtful:
        yield f"# doubtful in the file of links: {line}"
    for suggestion in found.suggestions:
        yield ""
        yield from _suggestion_lines(suggestion)
    for spelling in found.spellings:
        yield ""
        yield from _spelling_lines(spelling)


def stats_lines(given: argparse.Namespace) -> Iterator[str]:
    """Yield the linker's counts, from a survey and from `/monitor`. Raises: ServiceUnreachableError."""
    found = answer(given, "/monitor/abstentions/0", LinkSuggestions)
    counts = answer(given, "/monitor", _Monitor).fixtures
    for name in ("fixtures", "linked", "surebets"):
        yield f"{name:<40}{getattr(counts, name):>9}"
    for title, some in (("linked by", counts.links), ("not linked because of", found.abstentions)):
        for name, count in some.items():
            yield f"{f'{title}: {name}':<40}{count:>9}"
    if not found.linking:
        yield NO_LINKER
    for line in found.absent:
        yield f"in the file of links: {line}"
    for line in found.doubtful:
        yield f"doubtful in the file of links: {line}"


def _pair_lines(pair: PairExplained) -> Iterator[str]:
    yield from map(_event_line, (pair.a, pair.b))
    if pair.linked:
        yield f"  linked: {pair.rule or 'by other members of the fixture'}"
    else:
        yield f"  not linked: {pair.reason or 'it is not known why'}"
    for line in _evidence_lines(pair.evidence, pair.a, pair.b):
        yield f"  {line}"
    lacks: dict[str, dict[str, None]] = {}  # a rule has an entry for each way in which it can hold
    for check in pair.rules:
        lacks.setdefault(check.rule, {})[check.lacks] = None
    for rule, some in lacks.items():
        lacking = ", or ".join(some)
        yield f"    {rule:<32}{'holds' if '' in some else f'lacks: {lacking}'}"
    if pair.text:
        yield "  for the file of links, if that is wrong, or to complete what it says:"
        yield from (f"    {line}" for line in pair.text.splitlines())


def _suggestion_lines(suggestion: LinkSuggestion) -> Iterator[str]:
    gain = "" if suggestion.gain == 1 else f", as {suggestion.gain - 1} more"
    yield f"# not linked because of: {suggestion.reason}{gain}"
    for line in (
        *map(_event_line, (suggestion.a, suggestion.b)),
        *_evidence_lines(suggestion.evidence, suggestion.a, suggestion.b),
    ):
        yield f"#   {line}"
    if suggestion.text:
        yield from suggestion.text.splitlines()


def _spelling_lines(spelling: SpellingSuggestion) -> Iterator[str]:
    since, gap = datetime.fromtimestamp(spelling.since, UTC), spelling.price_gap
    gain = "" if spelling.gain == 1 else f", as {spelling.gain - 1} more"
    yield f"# linked by {spelling.rule}, likely only{gain}; since {since:%Y-%m-%d %H:%M} UTC prices agree"
    yield from (
        f"#   {line}" for line in (*map(_event_line, (spelling.a, spelling.b)), f"prices: {gap:.3f}")
    )
    yield from spelling.text.splitlines()


def _event_line(event: LinkEvent) -> str:
    start = event.start_time
    at = "kick-off unknown" if start is None else f"{datetime.fromtimestamp(start, UTC):%Y-%m-%d %H:%M} UTC"
    key = f"{event.source}:{event.source_match_id}"
    return f"{key}  {event.home} v {event.away}, {event.league or event.scope}, {at}, {event.fixture}"


def _evidence_lines(evidence: Evidence, a: LinkEvent, b: LinkEvent) -> Iterator[str]:
    yield f"home: {_names(evidence.home, a.home, b.home)}"
    yield f"away: {_names(evidence.away, a.away, b.away)}"
    delta = evidence.kickoff_delta_s
    yield f"kick-off: {'unknown' if delta is None else f'{delta:+d} s'}"
    yield f"league: {evidence.league}, {_COUNTRY.get(evidence.country, '')}"
    gap = evidence.price_gap
    yield f"prices: {'not known for both' if gap is None else f'{gap:.3f} apart'}"


def _names(found: NameEvidence, a: str, b: str) -> str:
    return f"{a} / {b}: {found.likeness.name.lower()} ({found.how}, {found.similarity:.2f})"
