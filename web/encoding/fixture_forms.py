"""Forms of fixtures: with a bookmaker's fair odds, with doubted surebets. Pure."""

from __future__ import annotations

from hashlib import blake2b

import msgspec
from msgspec import UNSET, Struct

from actors.core.messages import BookmakerId, Prices
from actors.matches.entries import sure_legs
from actors.matches.model import Fixture, FixtureSettings, FixtureState
from actors.matches.surebets import Doubt, Surebet
from actors.matching.event import Chances
from web.encoding.fixture_schemas import FairReason, Reference, fair_odds

_encode = msgspec.json.Encoder().encode


class Form(Struct, frozen=True):
    """How fixtures are shown: with the fair odds of the bookmaker `reference`, or without.

    With `doubted`, surebets that are not believed are shown with their doubts.
    """

    reference: BookmakerId | None = None
    doubted: bool = False

    @property
    def mark(self) -> str:
        """What tags of this form have besides the version: nothing in the usual form."""
        return "" if self == USUAL else f"-{blake2b(_encode(self), digest_size=8).hexdigest()}"


USUAL = Form()


class Shown(Struct, frozen=True, gc=False):
    """A fixture in a form: its surebet, which is not believed if there are `doubts`."""

    fixture: Fixture
    surebet: Surebet | None
    doubts: tuple[Doubt, ...] = ()


def shown(fixture: Fixture, form: Form, state: FixtureState) -> Shown:
    """Return a fixture as that form has it."""
    if fixture.surebet is not None or not form.doubted:
        return Shown(fixture, fixture.surebet)
    candidate = state.candidates.by_fixture.get(fixture.id)
    seen = None if candidate is None else candidate.seen
    found = None if seen is None else seen.found(state.terms.surebets)
    if seen is None or found is None or not found.doubts:
        return Shown(fixture, None)
    return Shown(fixture, seen.published(found, seen.at.wall), found.doubts)


def with_reference(
    json: bytes, fixture: Fixture, name: BookmakerId, chances: Chances | None, terms: FixtureSettings
) -> bytes:
    """Return the JSON of a fixture with a bookmaker's fair odds; `chances` None: it does not list it."""
    if chances is None:
        return with_more(json, Reference(None, FairReason.NOT_LISTED))
    if terms.roster[name].prices is not Prices.LIVE:
        return with_more(json, Reference(None, FairReason.NOT_LIVE))
    if not any(sure_legs(fixture, terms.roster)[name]):
        return with_more(json, Reference(None, FairReason.LIKELY_LINK))
    return with_more(json, Reference(fair_odds(terms.method, chances), UNSET))


def with_more(json: bytes, more: Struct) -> bytes:
    """Return the JSON of an object with more members at its end."""
    return b"%b,%b" % (json[:-1], _encode(more)[1:])
