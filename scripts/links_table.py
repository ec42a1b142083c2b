"""Recall and wrong links on the labelled pairs, as recorded and made harder."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from random import Random

from actors.matching.event import EventKey
from actors.review.explanation import explain
from tests.support.adversary import case_of, judged
from tests.support.judged_lookalikes import verdict
from tests.support.labelled import HARDER, WEEKS, Measured, measured, spellings, week
from tests.support.recordings import FOLDER, are_there
from tests.support.surebet_lives import lives

LABELS: dict[str, dict[str, bool]] = {
    "": {},
    ", plain labels on one side": {"is_plain": True},
    ", no labels": {"is_labelled": False},
}
TABLES = {"spellings": "spellings of the world", "more_spellings": "more spellings"}


def main() -> None:
    """Print a row for each kind of week, the wrong links, and how many links each rule made."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--weeks", type=int, default=3, help="random weeks of each kind (default 3)")
    parser.add_argument("--missed", type=int, default=0, help="how many missed links to print of each kind")
    parser.add_argument(
        "--pairs", type=int, default=100_000, help="pairs of an adversary (default 100,000)"
    )
    parser.add_argument("--lives", type=int, default=1000, help="lives of surebets (default 1,000)")
    arguments = parser.parse_args()
    if not are_there():
        parser.error(f"no recordings in {FOLDER}, set ODDSBOARD_RECORDINGS to their folder")
    kinds = {"cold": [measured(week(name)) for name in WEEKS]}
    print("| lists | links | recall | wrong | precision |\n|---|--:|--:|--:|--:|")
    for kind, found in kinds.items():
        _print_row(kind, found, arguments.missed)
    for kind, harder in HARDER.items():
        seeds = [(name, Random(f"{name} {seed}")) for name in WEEKS for seed in range(arguments.weeks)]
        _print_row(kind, [measured(harder(week(name), random)) for name, random in seeds], arguments.missed)
    for table, title in TABLES.items():
        for labels, options in LABELS.items():
            spelled = measured(spellings(Random(table), table, **options))
            _print_row(f"{title}{labels}", [spelled], arguments.missed)
    _print_adversary(arguments.pairs)
    _print_lookalikes(arguments.pairs)
    _print_lives(arguments.lives)
    rules = Counter(
        member.rule for result in kinds["cold"] for group in result.groups for member in group[1:]
    )
    print(
        "\nlinks of the cold lists by rule:", ", ".join(f"{rule} {count}" for rule, count in rules.items())
    )


def _print_row(kind: str, found: list[Measured], missed: int) -> None:
    linked, wrong = sum(len(result.found) for result in found), sum(len(result.wrong) for result in found)
    recall = sum(result.right for result in found) / sum(len(result.labelled.pairs) for result in found)
    print(f"| {kind} | {linked} | {recall:.4f} | {wrong} | {1 - wrong / max(1, linked):.5f} |", flush=True)
    for result in found:
        for pair in result.wrong:
            _print_pair("wrong", result, pair)
    left = [(pair, result) for result in found for pair in sorted(result.labelled.pairs - result.found)]
    for pair, where in left[:missed]:
        _print_pair("missed", where, pair)


def _print_adversary(count: int) -> None:
    """Print a row for pairs of matches that look alike, and each such pair that was linked."""
    random = Random("0")
    found = [judged(case_of(random)) for _ in range(count)]
    partners = [case.is_found for case in found if case.is_found is not None]
    wrong = [case for case in found if case.is_wrong]
    linked, sure = sum(partners) + len(wrong), sum(case.is_sure for case in wrong)
    recall, precision = sum(partners) / max(1, len(partners)), 1 - len(wrong) / max(1, linked)
    kind = f"{count:,} adversarial pairs, {sure} of them sure"
    print(f"| {kind} | {linked} | {recall:.4f} | {len(wrong)} | {precision:.5f} |")
    for case in wrong:
        print(f"  wrong: {case}")


def _print_lookalikes(count: int) -> None:
    """Print the results for pairs made independently of the linker, and each wrong pair."""
    found = verdict("0", count)
    linked = ", ".join(f"{kind} {found.linked[kind]} of {pairs}" for kind, pairs in found.pairs.items())
    wrong = f"{len(found.wrong)} sure, by the rule `same`, or with a mark"
    print(f"\n{count:,} lookalikes: {wrong}; likely {linked}")
    for pair in found.wrong:
        print(f"  wrong: {pair}")


def _print_lives(count: int) -> None:
    """Print how many surebets of random lives could lose, and how many true surebets are withheld."""
    told = lives("0", count)
    share = told.withheld.total() / max(1, told.true)
    why = ", ".join(f"{reason} {withheld}" for reason, withheld in told.withheld.items())
    print(
        f"\nsurebets of {count:,} lives: {len(told.losing)} of {told.shown} could lose; "
        f"{share:.3f} of {told.true} true ones withheld ({why})"
    )
    for losing in told.losing:
        print(f"  {losing}")


def _print_pair(what: str, found: Measured, pair: tuple[EventKey, EventKey]) -> None:
    events = {event.key: event for event in found.labelled.events}
    for key in pair:
        event = events[key]
        print(f"  {what}: {event.source} {event.home} v {event.away}, {event.league}, {event.start_time}")
    explained = explain(found.linker, *pair)
    if explained is not None:
        print(f"    {explained.rule or explained.reason}: {explained.evidence}")


if __name__ == "__main__":
    main()
