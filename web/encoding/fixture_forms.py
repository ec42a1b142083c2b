"""Forms of fixtures besides the usual form: with the fair odds of a single bookmaker. Pure."""

from __future__ import annotations

from hashlib import blake2b

import msgspec
from msgspec import UNSET, Struct

from actors.core.messages import BookmakerId, Prices
from actors.matches.entries import sure_legs
from actors.matches.model import Fixture, FixtureSettings
from actors.matching.event import Chances
from web.encoding.fixture_schemas import FairReason, Reference, fair_odds

_encode = msgspec.json.Encoder().encode


class Form(Struct, frozen=True):
    """How fixtures are shown: with the fair odds of the bookmaker `reference`, or without."""

    reference: BookmakerId | None = None

    @property
    def mark(self) -> str:
        """What tags of this form have besides the version: nothing in the usual form."""
        return "" if self == USUAL else f"-{blake2b(_encode(self), digest_size=8).hexdigest()}"


USUAL = Form()


def with_reference(
    json: bytes, fixture: Fixture, name: BookmakerId, chances: Chances | None, terms: FixtureSettings
) -> bytes:
    """Return the JSON of a fixture with a bookmaker's fair odds; `chances` None: it does not list it."""
    if chances is None:
        return _with(json, Reference(None, FairReason.NOT_LISTED))
    if terms.roster[name].prices is not Prices.LIVE:
        return _with(json, Reference(None, FairReason.NOT_LIVE))
    if not any(sure_legs(fixture, terms.roster)[name]):
        return _with(json, Reference(None, FairReason.LIKELY_LINK))
    return _with(json, Reference(fair_odds(terms.method, chances), UNSET))


def _with(json: bytes, more: Struct) -> bytes:
    """Return the JSON of an object with more members at its end."""
    return b"%b,%b" % (json[:-1], _encode(more)[1:])
