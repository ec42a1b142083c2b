"""The operator's questions and decisions: surveys, absent names, suggestions, and the linker's turn."""

from __future__ import annotations

import anyio
import pytest
from anyio.lowlevel import checkpoint
from msgspec.structs import replace

from actors.core.cooperative import SLICE, run_now
from actors.core.messages import Scope, SourceMatchId, SourceName
from actors.matches.entries import event_of
from actors.matching.event import Event, EventKey
from actors.matching.overrides import Listing, Overrides, Pair, TeamAlias
from actors.matching.rules import Objection, Rule
from actors.review.doubts import incomplete, mixed, outlived
from actors.review.explanation import explain, in_order, nearest
from actors.review.links_file import parse
from actors.review.review import Review
from actors.review.suggestions import (
    Suggestion,
    suggestions,
    text_for,
    text_of_decision,
    text_of_pair,
)
from actors.review.survey import Counts, Survey, absent, counts
from tests.support.builders.fixtures import ALDER, BIRCH, ROSTER, LinkedBoard
from tests.support.builders.messages import batch, match

pytestmark = pytest.mark.anyio

NOON = 1_800_000_000
DERBY, SHORT = "Derby County", "Qpr"


def event(source: str, home: str, away: str, start: int = NOON, league: str = "Championship") -> Event:
    """Return an event named by its source and teams."""
    match_id = SourceMatchId(f"{home}-{away}".replace(" ", ""))
    return Event(EventKey(SourceName(source), match_id), home, away, league, Scope("E1"), start)


def suggested(*events: Event, overrides: Overrides = Overrides()) -> list[Suggestion]:  # noqa: B008
    """Return the suggestions about these events."""
    linker = Review(overrides).new_matcher()
    run_now(linker.update(events))
    by_key = {candidate.key: candidate for candidate in events}
    found = in_order(run_now(nearest(linker, linker.keys())))
    return run_now(suggestions(found, by_key.get, overrides))


def linked_board() -> LinkedBoard:
    """Return a board with one linked fixture, and one fixture of a single event."""
    board = LinkedBoard()
    board.apply(
        batch([match("a"), match("c", home="Else")], bookmaker=ALDER), batch([match("b")], bookmaker=BIRCH)
    )
    board.link()
    return board


def test_a_suggested_text_links_what_it_is_about() -> None:
    """When the text is pasted into the file, the two events become one match."""
    a = event("one", DERBY, "Kingston Town")
    b = event("two", "Derby", "Hull", NOON + 4 * 3600)
    (suggestion,) = suggested(a, b)

    linker = Review(parse(suggestion.text)).new_matcher()
    changes = run_now(linker.update([a, b]))

    assert [{a.key, b.key}] == [{member.key for member in group} for group in changes.groups]


def test_suggested_texts_can_be_added_all_at_once() -> None:
    """A name is in one table of the file only: if a table has it already, the text is a comment."""
    some = [
        event("one", DERBY, "Kingston Town"),
        event("two", "Derby", "Hull", NOON + 4 * 3600),
        event("three", "Derby", "Kingston", NOON + 9 * 3600),
    ]
    found = [replace(suggested(*some[:2])[0].abstention, reason=Objection.NAME)]
    found += [replace(found[0], b=some[2].key)]
    by_key = {candidate.key: candidate for candidate in some}
    first, second = run_now(suggestions(found, by_key.get))
    overrides = Overrides((TeamAlias(("Kingston Town", "Tigers"), None),))
    (third,) = run_now(suggestions(found[:1], by_key.get, overrides))

    assert [["Hull", "Kingston Town"]] == [sorted(team.names) for team in parse(first.text).teams]
    assert Overrides() == parse(second.text) == parse(third.text)
    assert '# if they are one team: add "Hull" to the [[team]] that has "Kingston Town"\n' == third.text
    assert parse(first.text + second.text).teams


def test_suggestions_are_made_in_slices() -> None:
    """However many pairs are not linked, each step works on few of them, and few texts are made."""
    some = [event("one", DERBY, "Kingston Town"), event("two", "Derby", "Hull", NOON + 4 * 3600)]
    by_key, asked, most = {candidate.key: candidate for candidate in some}, 0, 0
    (pair,) = [suggestion.abstention for suggestion in suggested(*some)]

    def event_of_key(key: EventKey) -> Event | None:
        nonlocal asked
        asked += 1
        return by_key.get(key)

    steps = suggestions([pair] * 1000, event_of_key, most=1)
    while True:
        asked = 0
        try:
            next(steps)
        except StopIteration as done:
            found = done.value
            break
        most = max(most, asked)

    assert (2 * SLICE, 1) == (most, len(found))


def test_no_text_makes_one_match_of_the_womens_and_the_mens() -> None:
    """The pair is reported, but the operator must write a text for it by hand."""
    a = event("one", "Arsenal Women", "Everton Women", league="England - Championship")
    b = event("two", "Arsenal", "Everton", league="England - Championship")
    found = [
        suggestion for suggestion in suggested(a, b) if suggestion.abstention.reason == Objection.CLASS
    ]

    assert [""] == [suggestion.text for suggestion in found]


@pytest.mark.parametrize("reason", [Objection.NAME, Objection.LEAGUE])
def test_one_text_is_suggested_whichever_event_comes_first(reason: Objection) -> None:
    """Equal texts are suggested once, with the gain of both; the file would refuse a repeated spelling."""
    a = event("one", "Qarvik", "Everton", league="Superliga")
    b = event("two", "Zumala Tor", "Everton", league="Liga")
    (suggestion,) = suggested(a, b)
    a, b = replace(a, away="Zorbo"), replace(b, away="Alpha")  # these names differ as much as the homes
    evidence = replace(suggestion.abstention.evidence, away=suggestion.abstention.evidence.home)
    found = replace(suggestion.abstention, reason=reason, evidence=evidence)

    assert text_for(found, a, b) == text_for(found, b, a)
    assert Overrides() != parse(text_for(found, a, b))


def test_a_doubt_of_the_table_of_clubs_is_suggested() -> None:
    """Two clubs of the table do not play one opponent at one minute, so a row may be wrong."""
    a = event("one", "Vitoria SC", "Sporting Braga", league="Portugal - Primeira Liga")
    b = event("two", "Vitoria FC", "Sporting Braga", league="Portugal - Primeira Liga")
    (suggestion,) = suggested(a, b)

    assert (Objection.NAME, "[[team]]") == (
        suggestion.abstention.reason,
        suggestion.text.partition("\n")[0],
    )
    assert [] == suggested(a, replace(b, start_time=NOON + 600))
    linker = Review(parse(suggestion.text)).new_matcher()
    assert run_now(linker.update([a, b])).groups


def test_no_league_is_suggested_by_a_label_of_several_countries() -> None:
    """Such a text would make all matches in a source's "Premier League" Egyptian."""
    a = event("one", "Zamalek", "Everton", league="Premier League")
    b = event("two", "Zamalek", "Al Ahly", league="Egypt - Premier League")
    c = replace(b, away="Everton", league="England - Premier League")
    (found,) = suggested(event("one", "Leeds", "Hull"), event("two", "Hull", "Leeds"))
    abstention = replace(found.abstention, reason=Objection.LEAGUE)

    assert "[[must]]" in text_for(abstention, a, b)
    assert "[[league]]" in text_for(abstention, c, b)


def test_no_text_makes_leagues_of_two_countries_one() -> None:
    """Such a text would link all matches of equal names, at any prices, so it is only a comment."""
    a = event("one", "AEK", "Aris", league="Greece - Super League")
    b = event("two", "AEK", "Aris", league="Cyprus - First Division")
    swapped = event("one", "Leeds", "Hull"), event("two", "Hull", "Leeds")
    first, *others = suggested(a, b, *swapped)

    assert Objection.LEAGUE is first.abstention.reason
    assert Overrides() == parse(first.text)
    assert f"oddsboard links explain {a.key} {b.key}" in first.text
    assert [Objection.SWAPPED] == [other.abstention.reason for other in others]


def test_suggested_leagues_together_are_of_one_country() -> None:
    """Two texts that join one label with leagues of two countries would make these leagues one."""
    cup = event("one", "Zamalek", "Everton", league="Copa Libertadores")
    there = [
        event("two", "Zamalek", "Everton", league=f"{name} - Superliga") for name in ("Serbia", "Albania")
    ]
    there[1] = replace(there[1], key=replace(there[1].key, source=SourceName("three")))
    (found,) = suggested(event("one", "Leeds", "Hull"), event("two", "Hull", "Leeds"))
    pairs = [replace(found.abstention, reason=Objection.LEAGUE, a=cup.key, b=other.key) for other in there]
    by_key = {each.key: each for each in (cup, *there)}
    first, second = run_now(suggestions(pairs, by_key.get))
    by_hand = Overrides(leagues=(("one:Copa Libertadores", "four:Denmark - Superliga"),))
    (third,) = run_now(suggestions(pairs[:1], by_key.get, by_hand))

    assert 1 == len(parse(first.text).leagues)
    assert Overrides() == parse(second.text) == parse(third.text)
    assert "with other tables, leagues of albania and serbia are one" in second.text


def test_a_pair_is_suggested_with_its_names_and_days() -> None:
    """A value on which both sources agree is there once; without a kick-off the pair is by id."""
    a = event("one", "Leeds", "Hull", NOON)
    b = event("two", "Leeds", "Hull City", NOON + 2 * 86_400)

    assert (
        "[[must]]\n"
        'events = ["one:Leeds-Hull", "two:Leeds-HullCity"]\n'
        'home = "Leeds"\n'
        'away = ["Hull", "Hull City"]\n'
        "day = [2027-01-15, 2027-01-17]\n"
        'reason = "seen"\n'
    ) == text_of_pair("must", b, a, "seen")
    assert None is parse(text_of_pair("must", a, replace(b, start_time=None), "seen")).must[0].listed
    listed = parse(text_of_pair("must_not", a, b, "seen")).must_not[0].listed
    assert [True, True] == [
        found.is_near(found_of.start_time) for found, found_of in zip(listed or (), (a, b), strict=True)
    ]


@pytest.mark.parametrize(
    ("rule", "reason", "table"),
    [
        (Rule.SAME, None, "[[must_not]]"),
        (Rule.MUST, None, "[[must]]"),
        (None, Objection.PRICES, "[[must]]"),
        (None, Objection.CLASS, ""),
        (None, Objection.MUST_NOT, ""),
        (None, Objection.SWAPPED, ""),
    ],
)
def test_an_explanation_has_the_decision_against_it(
    rule: Rule | None, reason: Objection | None, table: str
) -> None:
    """Against a link by hand, the text shows that link, with names and day; some pairs get no text."""
    a, b = event("one", "Leeds", "Hull"), event("two", "Leeds", "Hull")
    matcher = Review().new_matcher()
    run_now(matcher.update([a, b]))
    found = explain(matcher, a.key, b.key)
    assert found is not None
    found = replace(found, rule=rule, reason=reason, is_linked=rule is not None)

    assert table == text_of_decision(found, a, b).partition("\n")[0]


def test_decisions_that_may_have_outlived_their_match_are_told() -> None:
    """Decisions by id alone are reported, and links whose events are days or a class apart now."""
    a, b = event("one", "Leeds", "Hull"), event("two", "Leeds", "Hull", NOON + 38 * 86_400)
    c, d = event("three", "Qwertz", "Asdf"), event("four", "Yxcv", "Jklm")
    listed = tuple(Listing(some.home, some.away, NOON // 86_400 * 86_400) for some in (c, d))
    by_names = Pair(c.key, d.key, "r", (listed[0], listed[1]))
    overrides = Overrides(must=(by_names, Pair(a.key, b.key)), must_not=(Pair(a.key, d.key),))
    matcher = Review(overrides).new_matcher()
    run_now(matcher.update([a, b, c, d]))

    (outlived_by,) = outlived(overrides, matcher)
    assert f"[[must]] 2: {a.key} and {b.key}: the kick-offs are 38 days apart" in outlived_by
    must, must_not = incomplete(overrides)
    assert f"add home, away and day, as `oddsboard links explain {a.key} {b.key}`" in must
    assert must_not.startswith("[[must_not]] 1 holds by id alone")


@pytest.mark.parametrize(
    ("leagues", "count"),
    [
        ((("ba:Greece - Super League", "bb:Cyprus - First Division"),), 1),
        ((("x", "Greece - Super League"), ("y", "Cyprus - First Division"), ("x", "y")), 1),
        ((("ba:Greece - Super League", "bb:Super League", "greek league 1"),), 0),
        ((("italy_feed:Premier League", "bb:England - Premier League"),), 0),
    ],
)
def test_leagues_of_two_countries_are_told(leagues: tuple[tuple[str, ...], ...], count: int) -> None:
    """The operator may overrule the table, and is warned; tables with a label in common are one table."""
    assert count == len([*mixed(Overrides(leagues=leagues))])


def test_what_is_swapped_has_no_text_and_comes_last() -> None:
    """Two events with home and away exchanged are never linked."""
    found = suggested(
        event("one", "Leeds", "Hull"),
        event("two", "Hull", "Leeds"),
        event("one", DERBY, "Kingston Town"),
        event("two", "Derby", "Qpr", NOON + 4 * 3600),
    )

    assert [False, True] == [suggestion.abstention.reason is Objection.SWAPPED for suggestion in found]
    assert [True, False] == [bool(suggestion.text) for suggestion in found]


def test_what_must_not_be_linked_is_not_suggested() -> None:
    """The operator has already decided about the pair."""
    a, b = event("one", "Leeds", "Hull"), event("two", "Leeds", "Hull")

    assert [] == suggested(a, b, overrides=Overrides(must_not=(Pair(a.key, b.key, "the reserves"),)))


def test_what_is_not_on_the_board_is_noted() -> None:
    """Teams, leagues and events are noted, each with its table and number."""
    here, away = ("two", "a"), ("two", "z")
    keys = [EventKey(SourceName(source), SourceMatchId(name)) for source, name in (here, away)]
    overrides = Overrides(
        (TeamAlias(("Home", "Nobody")),), (("two:League", "one:Nowhere"),), (Pair(keys[0], keys[1]),)
    )

    assert (
        "[[team]] 1: no team on the board is called 'Nobody'",
        "[[league]] 1: no league on the board is called 'one:Nowhere'",
        "[[must]] 1: two:z is not on the board",
    ) == run_now(absent(overrides, linked_board().state))


def test_a_link_is_counted_whichever_event_came_first() -> None:
    """The rule is the rule of the link, although the event that has it began the fixture."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER))
    board.link()
    board.apply(batch([match("b")], bookmaker=BIRCH))
    board.link()

    assert {Rule.SAME_NAMES: 1} == run_now(counts(board.state)).links


def test_fixtures_and_links_are_counted_by_rule() -> None:
    """Fixtures of one event are counted as well."""
    assert Counts(2, 1, 0, {Rule.SAME_NAMES: 1}) == run_now(counts(linked_board().state))


async def test_a_survey_is_of_the_linker_that_is_there() -> None:
    """Without a linker there is no survey; a survey made with another file of links is dropped."""
    board, review = linked_board(), Review()
    without = await review.all(board.snapshot)
    review.matcher = review.new_matcher()
    run_now(review.matcher.update([event("one", "Leeds", "Hull"), event("two", "Hull", "Leeds")]))

    found = await review.all(board.snapshot)
    again = await review.all(board.snapshot)
    review.replace(Overrides())

    assert without is None
    assert found is not None
    assert (board.snapshot.version, {Objection.SWAPPED: 1}) == (found.version, found.reasons)
    assert found is again
    assert [None, None] == [survey for survey in (review.survey, review.matcher) if survey is None]


async def test_a_survey_holds_for_ten_times_as_long_as_it_took() -> None:
    """A large board changes during a survey, so otherwise each question would need a new survey."""
    board, now = linked_board(), iter([0.0, 5.0, 54.0, 56.0, 57.0])
    review = Review(now=lambda: next(now))
    review.matcher = review.new_matcher()
    first = await review.all(board.snapshot)
    board.apply(batch([match("d", home="New")], bookmaker=ALDER))
    within, after = await review.all(board.snapshot), await review.all(board.snapshot)

    assert first is within
    assert after is not None
    assert board.snapshot.version == after.version


async def test_a_survey_waits_until_a_new_matcher_has_all_events() -> None:
    """A survey requested while events are linked anew does not count only the events linked so far."""
    board, review = linked_board(), Review()
    linker = review.matcher = review.new_matcher()
    found: list[Survey | None] = []

    async def ask() -> None:
        found.append(await review.all(board.snapshot))

    async with anyio.create_task_group() as tasks, review.turn:
        run_now(linker.update([event("one", "Leeds", "Hull"), event("two", "Hull", "Leeds")]))
        tasks.start_soon(ask)
        for _ in range(5):
            await checkpoint()
        run_now(linker.update([event("one", DERBY, SHORT), event("two", SHORT, DERBY)]))

    assert [{Objection.SWAPPED: 2}] == [survey.reasons for survey in found if survey is not None]


async def test_an_event_that_the_linker_does_not_know_is_not_explained() -> None:
    """The event may have come to the board just now."""
    review, known = Review(), event("one", "Leeds", "Hull")
    review.matcher = review.new_matcher()
    run_now(review.matcher.update([known]))

    assert None is await review.explain(LinkedBoard().state, known.key, event("two", "Leeds", "Hull").key)


async def test_explanation_speaks_of_the_prices_on_the_board() -> None:
    """This holds although the matcher still has the prices with which an event came."""
    board, review = LinkedBoard(), Review()
    board.apply(
        batch([match("a")], bookmaker=ALDER), batch([match("b", prices=(30.0, 9.0, 1.05))], bookmaker=BIRCH)
    )
    review.matcher = review.new_matcher()
    keys = [member.key for fixture in board.state for member in fixture.members]
    found = [fixture for key in keys if (fixture := board.state.of_event(key)) is not None]
    events = [event_of(fixture, key, ROSTER) for fixture, key in zip(found, keys, strict=True)]
    run_now(review.matcher.update(events))
    apart = await review.explain(board.state, keys[0], keys[1])
    board.apply(batch([match("b")], bookmaker=BIRCH))
    together = await review.explain(board.state, keys[0], keys[1])

    assert apart is not None
    assert together is not None
    assert 0.4 < (apart.evidence.price_gap or 0)
    assert 0 == together.evidence.price_gap
