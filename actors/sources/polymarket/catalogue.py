"""Reads the catalogue: the football leagues, and pages of a league's markets. Pure."""

from __future__ import annotations

import re
from collections import Counter

from msgspec import Struct

from actors.core.errors import PayloadError
from actors.source_api.parsing import Unread, read_each
from actors.sources.polymarket.listing import League
from actors.sources.polymarket.wire import MARKET, SPORT, Market, Sport, elements, page, text_of

FOOTBALL = "100350"  # the tag of all football
COMMON = frozenset({"1", "100639", FOOTBALL})  # tags of sports, games and football, not of a league
HOME_FIRST = "home"
_KEY = re.compile("[a-z0-9]{2,16}").fullmatch
_TAG = re.compile("[0-9]{1,12}").fullmatch
_YEAR = re.compile(r" (19|20)[0-9]{2}$")


class Sports(Struct, frozen=True):
    """The football leagues by key; `untagged` are the keys of leagues without a tag of their own."""

    leagues: tuple[League, ...]
    untagged: tuple[str, ...] = ()
    unread: Unread = Unread()


class MarketsPage(Struct, frozen=True):
    """The markets of a page, and the cursor of the next page; "" if this page is the last."""

    markets: tuple[Market, ...]
    cursor: str
    unread: Unread = Unread()


def read_sports(body: bytes) -> Sports:
    """Read the list of leagues. Raises: PayloadError if it is no such list, or lacks football."""
    rows, unread = read_each(SPORT, elements(body, "leagues"))
    shared = Counter(tag for row in rows for tag in set(_tags(row)))
    football = {row.sport: row for row in rows if FOOTBALL in _tags(row) and _KEY(row.sport)}
    leagues, untagged = [], []
    for key, row in football.items():
        if tag := _own_tag(row, shared):
            name = _YEAR.sub("", row.name or "") or key
            leagues.append(League(key, name, tag, row.ordering == HOME_FIRST))
        else:
            untagged.append(key)
    if not leagues:
        found = f"{len(rows)} leagues, {unread.count} that cannot be read {unread.why}".rstrip()
        message = f"the list of leagues has none with the tag {FOOTBALL}, football ({found})"
        raise PayloadError(message, "no_football")
    return Sports(tuple(leagues), tuple(untagged), unread)


def read_markets(body: bytes) -> MarketsPage:
    """Read a page of markets; unreadable markets are left out. Raises: PayloadError if it is no page."""
    raws, cursor = page(body)
    markets, unread = read_each(MARKET, raws)
    return MarketsPage(markets, cursor, unread)


def _tags(row: Sport) -> list[str]:
    return [tag for part in row.tags.split(",") if _TAG(tag := part.strip())]


def _own_tag(row: Sport, shared: Counter[str]) -> str:
    """Return a tag that no other league has, if possible the primary one; "" without such a tag."""
    own = [tag for tag in _tags(row) if shared[tag] == 1 and tag not in COMMON]
    return next((tag for tag in (text_of(row.primary_tag_id), *own) if tag in own), "")
