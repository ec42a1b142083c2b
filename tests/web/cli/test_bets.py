"""Files of bets: what the command reads, and how it reports bad lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis.strategies import binary, lists, sampled_from, text

from actors.core.messages import BookmakerId
from actors.lines.clv import Bet
from actors.markets.market import ONE_X_TWO, parsed
from web.cli.bets import Bets, UnusableError, read_bets

HEAD = "time,match,market,outcome,odds,bookmaker\n"
GOOD = "2026-12-05T13:00:00+01:00,Home - Away,,1,2.10,Alder\n"
BET = Bet(2, 1_796_472_000_000, "Home", "Away", ONE_X_TWO, "1", 2.1, bookmaker=BookmakerId("alder"))


def _bets(text: str | bytes) -> list[Bet | str]:
    return [row.bet for row in read_bets(text.encode() if isinstance(text, str) else text).rows]


def _one(**cells: str) -> Bet | str:
    """Return the bet, or the error, of a row with these cells."""
    row = {"time": "1796472000", "match": "Home - Away", "outcome": "1", "odds": "2.1"} | cells
    (found,) = _bets(",".join(row) + "\n" + ",".join(f'"{cell}"' for cell in row.values()))
    return found


def _said(**cells: str) -> str:
    found = _one(**cells)
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize(
    "text",
    [
        HEAD + GOOD,
        "\ufeff" + HEAD + GOOD,
        (HEAD + GOOD).replace("\n", "\r\n"),
        (HEAD + GOOD).replace(",", "\t"),
        (HEAD + GOOD).replace(",", ";").replace("2.10", "2,10"),
        HEAD.upper() + GOOD,
        "time,home,away,outcome,odds,bookmaker,kick_off\n1796472000,Home,Away,1,2.1,alder,\n",
        'note,"time",match,outcome,odds,bookmaker\n"a ""b"",\nc",1796472000,Home v Away,1,2.1,alder',
    ],
)
def test_usual_files_are_read(text: str) -> None:
    """Files may have a byte order mark, other separators, a decimal comma, quotes and Windows line ends."""
    assert [BET] == _bets(text)


def test_other_columns_are_kept() -> None:
    """The cells of other columns are kept unchanged, in their places."""
    found = read_bets(b"stake,time,match,outcome,odds,\xc3\xa4\n 5,1796472000,Home - Away,1,2.1, x \n")

    assert ("stake", "time", "match", "outcome", "odds", "ä") == found.columns
    assert (" 5", "1796472000", "Home - Away", "1", "2.1", " x ") == found.rows[0].cells


def test_markets_and_outcomes_are_those_of_the_board() -> None:
    """Capital and small letters are equal in names of markets and outcomes."""
    found = _one(market="Over_Under:2.5", outcome="OVER")

    assert isinstance(found, Bet)
    assert (parsed("over_under:2.5"), "over") == (found.market, found.outcome)


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        ("time", "yesterday", "time: was 'yesterday', must be a time of RFC 3339 with its offset"),
        ("time", "2026-12-05T15:00:00", "must be a time of RFC 3339 with its offset"),
        ("time", "2026-13-45T15:00:00Z", "must be a time of RFC 3339"),
        ("time", "1796472000000", "or Unix seconds"),
        ("kick_off", "soon", "kick_off: was 'soon'"),
        ("match", "Home", "match: was 'Home', must be two teams such as Home - Away"),
        ("match", "A - B - C", "match: was 'A - B - C', must be two teams"),
        ("match", " - Away", "match: was '- Away'"),
        ("match", "? - Away", "match: was '?', must be a name"),
        ("outcome", "draw", "outcome: was 'draw', must be of 1x2: 1, X, 2"),
        ("market", "goals", "market: was 'goals', must be 1x2, over_under:LINE"),
        ("market", "over_under", "market: over_under needs a line"),
        ("market", "over_under:2.6", "must be a multiple of 0.25"),
        ("odds", "-110", "odds: was '-110', must be decimal odds above 1, at most 10000"),
        ("odds", "1", "odds: was '1'"),
        ("odds", "11/10", "odds: was '11/10'"),
        ("odds", "1,500", "odds: was '1,500'"),
        ("odds", "nan", "odds: was 'nan'"),
        ("odds", "1e3", "odds: was '1e3'"),
        ("odds", "\u0662.\u0661", "odds: was"),
        ("odds", "", "odds: was ''"),
        ("bookmaker", "Bet & Co", "bookmaker: was 'Bet & Co', must be the id of a bookmaker"),
        ("league", "x" * 200, "league: was"),
    ],
)
def test_a_row_that_cannot_be_read_says_why(column: str, cell: str, said: str) -> None:
    """The error names the column, the value that was found, and the allowed values."""
    assert said in _said(**{column: cell})


def test_other_rows_go_on_after_a_bad_one() -> None:
    """Rows have the numbers that a spreadsheet gives them, and blank rows count as well."""
    text = HEAD + GOOD + "a,b\n" + "\n" + GOOD
    found = read_bets(text.encode())

    assert [2, 3, 5] == [row.number for row in found.rows]
    assert "has 2 cells, must have 6 as the head" == found.rows[1].bet
    assert ("a", "b", "", "", "", "") == found.rows[1].cells
    assert [False, True, False] == [isinstance(row.bet, str) for row in found.rows]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"1796472000,Ho\0me - Away,,1,2.1,alder\n", "has a NUL character"),
        (b"1796472000,Ho\xe9me - Away,,1,2.1,alder\n", "is not UTF-8"),
        (b"1796472000,\xed\xa0\x80 - Away,,1,2.1,alder\n", "is not UTF-8"),
        (b'1796472000,"Home"x - Away,,1,2.1,alder\n', "is no CSV"),
        (b"x" * 10_000_000 + b"\n", "more than 100,000 characters"),
        (b"," * 10_000_000 + b"\n", "more than 100,000 characters"),
        (b'"' + b"x" * 10_000_000 + b"\n", "more than 100,000 characters"),
    ],
)
def test_hostile_lines_are_errors_of_their_own(line: bytes, said: str) -> None:
    """The lines after a bad line are read, and the kept cells of a bad line can be written to a file."""
    found = read_bets(HEAD.encode() + line + GOOD.encode())

    assert said in str(found.rows[0].bet)
    assert isinstance(found.rows[-1].bet, Bet)
    for row in found.rows:
        ",".join(row.cells).encode()


def test_a_quote_that_is_never_closed_is_an_error() -> None:
    """The rest of the file belongs to the open quote, and is lost with it."""
    found = _bets(HEAD + GOOD + '"' + GOOD)

    assert isinstance(found[0], Bet)
    assert "is no CSV: unexpected end of data" == found[1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \r\n\r\n", "is empty"),
        (HEAD.encode("utf-16"), "is UTF-16, must be UTF-8"),
        (b"\0" * 100, "must also have"),
        (b"date,match,outcome,odds\n", "must also have: time"),
        (b"time,home,outcome,odds\n", "must also have: match (or home and away)"),
        (b"time,match,home,away,outcome,odds\n", "match and home or away"),
        (b"time,match,outcome,odds,Odds\n", "has the column odds 2 times"),
        (b"time,match,outcome,odds,clv\n", "has a column 'clv', as this command adds"),
        (b"x" * 200_000, "the head: is no CSV"),
        (b'"time,match\n', "the head: is no CSV"),
    ],
)
def test_a_file_without_a_head_is_refused(content: bytes, said: str) -> None:
    """The error says what was found, and what is allowed."""
    with pytest.raises(UnusableError) as raised:
        read_bets(content)

    assert said in str(raised.value)


def test_a_head_alone_has_no_bets() -> None:
    """A file that has only a head is no error."""
    assert Bets(",", tuple(HEAD.strip().split(",")), ()) == read_bets(HEAD.encode())


def test_a_head_of_other_bytes_can_be_written() -> None:
    """Bytes that are not UTF-8 are replaced in the head, as they are in cells."""
    found = read_bets(b"time,match,outcome,odds,\xe4\0\n")

    assert "\ufffd\ufffd" == found.columns[-1]


@given(binary(max_size=200), lists(sampled_from(["time", "match", "odds", "outcome", "1", '"', ",", "\n"])))
def test_any_bytes_are_bets_errors_or_no_file(content: bytes, parts: list[str]) -> None:
    """No other error is raised, and all kept cells can be written."""
    for file in (content, HEAD.encode() + content, "".join(parts).encode() + content):
        try:
            found = read_bets(file)
        except UnusableError:
            continue
        for cells in (found.columns, *(row.cells for row in found.rows)):
            assert len(found.columns) == len(cells)
            ",".join(cells).encode()


@given(
    text(max_size=40), sampled_from(["time", "match", "market", "outcome", "odds", "bookmaker", "league"])
)
def test_any_cell_is_read_or_said_to_be_wrong(cell: str, column: str) -> None:
    """The error begins with the name of the column."""
    found = _one(**{column: cell.replace('"', "").replace("\0", "")})

    assert isinstance(found, Bet) or found.startswith(f"{column}: ")
