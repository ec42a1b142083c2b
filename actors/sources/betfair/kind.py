"""The kind of the Betfair Exchange's stream: best prices to back, pushed as messages. Pure."""

from __future__ import annotations

from actors.core.messages import OF_EXCHANGE
from actors.source_api.stream import StreamKind
from actors.sources.betfair.options import BetfairStreamOptions, check, check_key
from actors.sources.betfair.rest import keep_alive, login, names_of, nearest, read_names, read_token
from actors.sources.betfair.session import BetfairSession


def historic(options: BetfairStreamOptions) -> BetfairSession:
    """Return the protocol of a historic file: a message a line, without a connection."""
    return BetfairSession(options, is_historic=True)


KIND = StreamKind(
    name="betfair_stream",
    options=BetfairStreamOptions,
    check_key=check_key,
    check=check,
    session=BetfairSession,
    historic=historic,
    login=login,
    keep_alive=keep_alive,
    read_token=read_token,
    names_of=names_of,
    nearest=nearest,
    read_names=read_names,
    offer_of=lambda _key, _options: OF_EXCHANGE,
)
