"""The Betfair Exchange's stream: best prices available to back, pushed message by message.

Pure: puts together options, protocol (`_session`, `_market`, `_wire`) and errands (`_rest`). Format:
Betfair's "Exchange Stream API".
"""

from __future__ import annotations

from actors.source_api.stream import StreamKind
from actors.sources.betfair.market import Terms
from actors.sources.betfair.options import BetfairStreamOptions, check, check_key
from actors.sources.betfair.rest import keep_alive, login, names_of, nearest, read_names, read_token
from actors.sources.betfair.session import BetfairSession, Subscription


def session(options: BetfairStreamOptions, *, is_historic: bool = False) -> BetfairSession:
    """Return the protocol of one subscription, or of a recording without one."""
    is_virtual = options.virtual_bets
    subscription = Subscription(options.app_key, options.heartbeat_ms, options.conflate_ms, is_virtual)
    terms = Terms(options.min_size, options.price == "last_traded", is_virtual)
    return BetfairSession(subscription, terms, is_historic=is_historic)


def historic(options: BetfairStreamOptions) -> BetfairSession:
    """Return the protocol of a historic file: messages without a connection, one a line."""
    return session(options, is_historic=True)


KIND = StreamKind(
    name="betfair_stream",
    options=BetfairStreamOptions,
    check_key=check_key,
    check=check,
    session=session,
    historic=historic,
    login=login,
    keep_alive=keep_alive,
    read_token=read_token,
    names_of=names_of,
    nearest=nearest,
    read_names=read_names,
)
