"""The links of the matcher, the rule of each link, and the reason why other events are not linked."""

from __future__ import annotations

from math import inf

import pytest

from actors.core.cooperative import run_now
from actors.matching.comparison import Comparator
from actors.matching.event import Event, EventKey
from actors.matching.evidence import How, LeagueEvidence
from actors.matching.matcher import Matcher
from actors.matching.overrides import Overrides, Pair, TeamAlias
from actors.matching.rules import FAR, OFF, Objection, Rule
from actors.review.explanation import explain, in_order, nearest
from tests.support.builders.events import SATURDAY, event, groups, keys, linker

HOUR = 3600


def test_a_member_has_its_rule_and_evidence() -> None:
    """The evidence compares a member with the first or a nearer one: the other kick-off less its own."""
    (group,) = groups(event("a"), event("b", "Arsenal FC", "Everton FC", "EPL", start=SATURDAY + 60))

    first, second = group
    assert (Rule.FIRST, None, None) == (first.rule, first.to, first.evidence)
    assert (Rule.SAME, first.key) == (second.rule, second.to)
    assert second.evidence is not None
    assert (-60, 0.0) == (second.evidence.kickoff_delta_s, second.evidence.price_gap)


@pytest.mark.parametrize(
    ("other", "limit"),
    [
        (event("b"), inf),
        (event("b", league=None), FAR),
        (event("b", start=SATURDAY + HOUR), FAR),
        (event("b", "Arsenl", league=None), OFF),
        (event("b", "Arsenl", start=SATURDAY + HOUR), OFF),
    ],
)
def test_a_member_has_the_limit_of_prices_of_its_link(other: Event, limit: float) -> None:
    """The condition that holds gives the limit; a link has no limit if prices do not matter."""
    ((first, second),) = groups(event("a"), other)

    assert (inf, limit) == (first.max_price_gap, second.max_price_gap)


def test_a_link_by_hand_bears_any_prices() -> None:
    """The link has no limit of prices, although a rule holds as well."""
    a, b = event("a", league=None), event("b", league=None)
    ((_, member),) = groups(a, b, overrides=Overrides(must=(Pair(a.key, b.key),)))

    assert (Rule.MUST, inf) == (member.rule, member.max_price_gap)


def test_what_goes_leaves_its_group() -> None:
    """The other two members of a group stay linked; the other member of a pair is alone."""
    events = [event(source) for source in "abc"]
    here = linker(*events)

    less = run_now(here.update((), (events[0].key,)))
    none = run_now(here.update((), (events[1].key,)))

    assert [(events[1].key, events[2].key)] == [keys(group) for group in less.groups]
    assert ((events[0].key,), ()) == (less.alone, none.groups)
    assert (events[1].key, events[2].key) == none.alone


def test_prices_that_disagree_unlink() -> None:
    """An event that comes again with other prices is compared again."""
    a, b = event("a", league=None), event("b", league=None)
    here = linker(a, b)

    changes = run_now(here.update([event("b", league=None, chances=(0.1, 0.2, 0.7))]))

    assert {a.key, b.key} == {*changes.alone}
    assert Objection.PRICES is _reason(here, a.key, b.key)


def test_an_event_that_did_not_change_changes_nothing() -> None:
    """The event comes again without any difference."""
    here = linker(event("a"), event("b"))

    changes = run_now(here.update([event("b")]))

    assert ((), ()) == (changes.groups, changes.alone)


def test_the_same_match_twice_in_one_source_is_linked_once() -> None:
    """The event whose kick-off agrees is linked; the other event stays alone."""
    on_time, moved = event("b", match_id="2"), event("b", match_id="1", start=SATURDAY + 24 * HOUR)

    (group,) = groups(event("a"), on_time, moved)

    assert (event("a").key, on_time.key) == keys(group)


def test_two_candidates_are_none() -> None:
    """Two events of one source resemble the same event, and nothing shows which one is the match."""
    candidate, other = event("b", "Qwertyville"), event("b", "Qwertyvilla", match_id="2")
    here = linker(event("a", "Qwertyvill"), candidate, other)

    assert () == groups(event("a", "Qwertyvill"), candidate, other)
    assert Objection.TWO_CANDIDATES is _reason(here, event("a").key, candidate.key)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (event("b", "Arsenal W", "Everton W"), Objection.CLASS),
        (event("b", league="EFL Cup", start=SATURDAY + HOUR), Objection.LEAGUE),
        (event("b", league=None, chances=(0.1, 0.2, 0.7)), Objection.PRICES),
        (event("b", league=None, start=SATURDAY + 20 * HOUR), Objection.KICK_OFF),
        (event("b", away="Qwerty", league=None), Objection.NAME),
        (event("b", "Everton", "Arsenal", chances=(0.3, 0.3, 0.4)), Objection.SWAPPED),
    ],
)
def test_each_abstention_has_its_reason(other: Event, reason: Objection) -> None:
    """An event without a link has the reason of its nearest candidate."""
    here = linker(event("a", league="Premier League"), other)

    (found,) = in_order(run_now(nearest(here, here.keys())))

    assert (reason, {event("a").key, other.key}) == (found.reason, {found.a, found.b})


def test_an_explanation_says_what_each_rule_lacks() -> None:
    """The explanation is in the order of the rules."""
    here = linker(event("a"), event("b", start=SATURDAY + 2 * HOUR))

    explained = explain(here, event("a").key, event("b").key)

    assert explained is not None

    assert (Rule.MOVED, True) == (explained.rule, explained.is_linked)
    assert [(Rule.SAME, "kick-off"), (Rule.SAME_NAMES, "kick-off")] == list(explained.lacks[:2])
    assert (Rule.MOVED, "") in explained.lacks
    assert explain(here, event("a").key, event("c").key) is None


@pytest.mark.parametrize(
    ("home", "away", "league", "is_mark"),
    [
        ("Qwertz FC", "Asdf FC", "Brazil Serie D", False),
        ("Qwertz DF", "Asdf Rio", "Brazil Serie D", False),
        ("Qwertz DF", "Asdf FC DF", "Brazil Serie D", True),
        ("Qwertz (Uru)", "Asdf (Uru)", "Copa Yxcv", True),
        ("Qwertz (Ab)", "Asdf (Cd)", "Copa Yxcv", True),
        ("Qwertz Xyz", "Asdf Xyz", "Brazil Serie D", True),
    ],
)
def test_what_both_teams_have_and_none_of_the_other_may_be_a_mark(
    home: str, away: str, league: str, *, is_mark: bool
) -> None:
    """Codes of states and countries may be marks too; only a form that every list may omit is no mark."""
    a, b = event("a", home, away, league), event("b", "Qwertz", "Asdf", league)

    assert is_mark == (_reason(linker(a, b), a.key, b.key) is Objection.CLASS)


@pytest.mark.parametrize(
    ("label", "home", "away"),
    [
        ("Esoccer GT Leagues - 12 mins play", "Arsenal Kodak", "Everton Bulldog"),
        ("Futsal Liga", "Arsenal", "Everton"),
        ("Battle", "Arsenal (Kodak)", "Everton (Bob)"),
        ("Battle", "Arsenal (Kodak_05)", "Everton (Big Bob)"),
    ],
)
def test_simulated_matches_and_those_in_a_hall_do_not_move(label: str, home: str, away: str) -> None:
    """The same two teams may play again within the hour, at the same prices."""
    a = event("a", home, away, label)
    late, near = (event("b", home, away, label, start=SATURDAY + minutes * 60) for minutes in (12, 4))

    assert () == groups(a, late)
    assert 1 == len(groups(a, near))


@pytest.mark.parametrize("mark", ["", " (W)", " (Women)", " (U19)", " (MG)"])
def test_marks_of_class_in_brackets_are_no_players(mark: str) -> None:
    """A match of teams with such a mark may move as other matches do."""
    a, b = (
        event(source, f"Arsenal{mark}", f"Everton{mark}", start=start)
        for source, start in (("a", SATURDAY), ("b", SATURDAY + HOUR))
    )

    assert 1 == len(groups(a, b))


def test_label_that_means_another_league_says_nothing_of_other_sources() -> None:
    """The table has "Premier League" for England; one source means Russia by it, the others do not."""
    leagues = (("c:Premier League", "b:Russia Premier League"),)
    comparator = Comparator(Overrides(leagues=leagues))
    england, other, russia, also = (
        comparator.league(event(source, league=label))
        for source, label in (
            ("a", "Premier League"),
            ("c", "Premier League"),
            ("b", "Russia Premier League"),
            ("d", "Russian Premier League"),
        )
    )

    assert "eng.1" == england.key
    assert other.key == russia.key == also.key != england.key


@pytest.mark.parametrize(
    ("away", "start", "reason"),
    [
        ("Everton", SATURDAY + 144 * HOUR, Objection.KICK_OFF),
        ("Everton", None, Objection.KICK_OFF),
        ("Leeds", SATURDAY + 144 * HOUR, Objection.NAME),
    ],
)
def test_equal_names_are_not_the_reason(away: str, start: int | None, reason: Objection) -> None:
    """If the same teams have matches on two days, or on an unknown day, the kick-off is the reason."""
    a, b = event("a"), event("b", away=away, start=start)

    assert reason is _reason(linker(a, b), a.key, b.key)


def test_aliases_of_teams_and_leagues() -> None:
    """The operator's aliases join names and labels that nothing else joins."""
    a = event("a", "Qwertz", "Asdf", "One", start=SATURDAY)
    b = event("b", "Yxcv", "Asdf", "Two", start=SATURDAY + 2 * HOUR, chances=None)
    teams = (TeamAlias(("Qwertz", "Yxcv")),)
    leagues = (("a:One", "Two"),)

    assert () == groups(a, b, overrides=Overrides(teams=teams))
    assert () == groups(a, b, overrides=Overrides(leagues=leagues))
    ((_, member),) = groups(a, b, overrides=Overrides(teams, leagues))
    assert member.evidence is not None
    assert (Rule.MOVED, How.GIVEN) == (member.rule, member.evidence.home.how)


@pytest.mark.parametrize(
    ("leagues", "label", "other"),
    [
        ((("a:One", "c:Three"), ("b:Two", "c:Three")), "One", "Two"),
        ((("b:Two", "c:Three"), ("a:One", "c:Three")), "One", "Two"),
        ((("c:Three", "b:Scotland Championship"),), "Scottish Championship", "Scotland Championship"),
        ((("b:Two", "c:Scottish Championship"),), "Scottish Championship", "Two"),
    ],
    ids=["in common", "in another order", "known of both", "known of another label"],
)
def test_labels_of_one_competition_by_several_tables(
    leagues: tuple[tuple[str, ...], ...], label: str, other: str
) -> None:
    """Tables with a label in common are one competition, and facts that were known before still hold."""
    a = event("a", "Aberdeen", "Falkirk", label)
    b = event("b", "Aberdeen", "Falkirk", other)
    ((_, member),) = groups(a, b, overrides=Overrides(leagues=leagues))

    assert member.evidence is not None
    assert LeagueEvidence.SAME is member.evidence.league


@pytest.mark.parametrize(
    ("home", "away"),
    [("Everton", "Arsenal"), ("Everton FC", "Arsenal FC"), ("Evertn", "Arsenal")],
)
def test_home_and_away_swapped_are_never_one_by_hand(home: str, away: str) -> None:
    """Otherwise one team's prices would be taken for the other's; no third event links the two either."""
    a, b, c = event("a"), event("b", home, away), event("c", "Qwertz", "Asdf")
    direct = Overrides(must=(Pair(a.key, b.key),))
    through = Overrides(must=(Pair(a.key, c.key), Pair(b.key, c.key), Pair(a.key, b.key)))

    here = linker(a, b, overrides=direct)

    assert Objection.SWAPPED is _reason(here, a.key, b.key)
    assert () == groups(a, b, overrides=direct)
    assert [(a.key, c.key)] == [keys(group) for group in groups(a, b, c, overrides=through)]


def test_teams_with_names_alike_are_one_by_hand() -> None:
    """Each name resembles both names of the other event."""
    a = event("a", "Qwertyville", "Qwertyvilla")
    b = event("b", "Qwertyville", "Qwertyvilla", start=SATURDAY + 900 * HOUR)
    must = Overrides(must=(Pair(a.key, b.key),))

    assert [(a.key, b.key)] == [keys(group) for group in groups(a, b, overrides=must)]


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (("Al Ahli", "Al Ittihad", "Libya Premier League"), ("Al Ahli", "Al Ittihad", "Saudi Pro League")),
        (("Al Ahed", "Nejmeh", "Lebanon Cup"), ("Al Ahed", "Nejmeh", "Syria Cup")),
        (("Simba", "Young", "Tanzania Premier League"), ("Simba", "Young", "Uganda Premier League")),
        (("Qwertz", "Asdf", "North Korea League"), ("Qwertz", "Asdf", "South Korea League")),
        (("Ireland", "Slovakia", "Premier League"), ("Iceland", "Slovenia", "Premier League")),
        (("Niger", "Guinea", "Premier League"), ("Nigeria", "Guinea-Bissau", "Premier League")),
        (("Iran", "Austria", "Premier League"), ("Iraq", "Australia", "Premier League")),
        (("Korea Republic", "Qwertz", "Premier League"), ("Korea DPR", "Qwertz", "Premier League")),
    ],
)
def test_two_countries_are_two(first: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    """Two countries stay two as countries of leagues and as teams, however alike their names are."""
    a, b = event("a", *first), event("b", *other, chances=(0.45, 0.28, 0.27))

    assert () == groups(a, b)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("Emirates FA Cup", "England FA Cup"),
        ("NPL New South Wales", "Australia NPL NSW"),
        ("FIFA World Cup (Canada/Mexico/USA)", "FIFA World Cup 2026 USA"),
    ],
)
def test_word_in_a_label_that_is_no_country_speaks_against_nothing(first: str, other: str) -> None:
    """Several countries in one label speak against no link either."""
    assert 1 == len(groups(event("a", "Qwertz", "Asdf", first), event("b", "Qwertz", "Asdf", other)))


@pytest.mark.parametrize("league", [None, "Uruguay Primera"])
def test_teams_of_two_countries_with_one_name_are_two(league: str | None) -> None:
    """The club that another table calls Nacional as well is another club."""
    teams = (
        TeamAlias(("Nacional", "Bolsos"), "uruguay"),
        TeamAlias(("Nacional", "Tricolor Asu"), "paraguay"),
    )
    a, b = event("a", "Bolsos", "River Plate", league), event("b", "Tricolor Asu", "River Plate", None)
    same = event("c", "Nacional", "River Plate", "Uruguay Primera")

    assert () == groups(a, b, overrides=Overrides(teams=teams))
    assert [(a.key, same.key)] == [
        keys(group) for group in groups(a, same, overrides=Overrides(teams=teams))
    ]


def _reason(matcher: Matcher, a: EventKey, b: EventKey) -> Objection | None:
    explained = explain(matcher, a, b)
    return None if explained is None else explained.reason


def test_an_explanation_names_what_forbids_a_link_whatever_the_rules_say() -> None:
    """Two friendlies of one day are not linked because of their kick-offs, not because of a league."""
    first = event("a", "Ajax", "PSV", "Club Friendlies")
    here = linker(first, event("b", "Ajax", "PSV", "Friendly", start=SATURDAY + HOUR))

    explained = explain(here, first.key, event("b", "Ajax", "PSV").key)

    assert explained is not None
    assert (Objection.KICK_OFF, {"kick-off"}) == (explained.reason, {lack for _, lack in explained.lacks})
