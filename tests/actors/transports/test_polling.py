"""Polling over a real socket: complete answers, 304, and the time of the next poll."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from actors.core.clock import SystemClock
from actors.core.errors import TransportError
from actors.transports.http import http_date, retry_after_s
from actors.transports.polling import Fetched, NotModified, PollingTransport, Validators
from tests.support.peers.fetching import LIMITS, fetch, refusal, trouble
from tests.support.peers.http import HttpPeer, respond
from tests.support.time.virtual import ManualClock

pytestmark = pytest.mark.anyio

BODY = b"Div,Date,HomeTeam,AwayTeam\r\n"
MODIFIED = "Fri, 20 Mar 2026 13:16:58 GMT"
MODIFIED_AT = 1_774_012_618.0
WALL = 1_774_100_000.0


async def test_answer_has_body_validators_and_time(peer: HttpPeer) -> None:
    """A 200 has the content, the validators of the next request, and Last-Modified as Unix seconds."""
    peer.answers["/f.csv"] = respond(BODY, headers={"ETag": '"one"', "Last-Modified": MODIFIED})

    assert await fetch(peer.url("/f.csv"), Validators(), clock=ManualClock(wall=WALL)) == Fetched(
        BODY,
        len(BODY),
        Validators('"one"', MODIFIED),
        MODIFIED_AT,
        asked_mono=0.0,
        answered_at=WALL,
        headers={"etag": '"one"', "last-modified": MODIFIED},
    )


@pytest.mark.parametrize(
    ("headers", "age_s", "answered_at"),
    [
        *(({"Date": date}, 0.0, WALL) for date in ("", "garbage")),
        ({}, 0.0, WALL),
        ({"Date": MODIFIED}, 0.0, MODIFIED_AT),
        ({"Age": "20"}, 20.0, WALL),
        *(
            ({"Age": age, "Date": MODIFIED}, age_s, MODIFIED_AT + age_s)
            for age, age_s in (
                *(("0", 0.0), ("895", 895.0), ("0120", 120.0), ("9" * 9, 999_999_999.0)),
                *((odd, 0.0) for odd in ("9" * 10, "", "-5", "1.5", "1e3", "\xb2", "1, 2")),
            )
        ),
    ],
)
async def test_age_and_date_tell_the_time_of_the_source(
    peer: HttpPeer, headers: dict[str, str], age_s: float, answered_at: float
) -> None:
    """A cache held the answer for its Age; an answer without a Date is new (RFC 9110, 6.6.1)."""
    peer.answers["/f.csv"] = respond(BODY, headers=headers)
    answer = await fetch(peer.url("/f.csv"), clock=ManualClock(wall=WALL))
    peer.answers["/f.csv"] = respond(status=304, headers=headers)
    same = await fetch(peer.url("/f.csv"), Validators('"one"', None))

    assert isinstance(answer, Fetched)
    assert (age_s, age_s, answered_at) == (answer.age_s, same.age_s, answer.answered_at)


async def test_request_is_unconditional_and_anonymous(peer: HttpPeer) -> None:
    """The request has only the headers that a download needs, and returns no cookie."""
    peer.answers["/f.csv"] = respond(BODY, headers={"Set-Cookie": "visitor=1; Path=/"})
    async with PollingTransport(LIMITS, SystemClock()) as transport:
        answer, _ = [await transport.fetch(peer.url("/f.csv"), Validators()) for _ in range(2)]
    _, asked = peer.asked

    assert isinstance(answer, Fetched)
    assert (answer.validators, answer.last_modified_at) == (Validators(), None)
    assert set(asked.headers) == {"host", "accept", "accept-encoding", "connection", "user-agent"}
    assert (asked.headers["user-agent"], asked.headers["accept-encoding"]) == ("oddsboard", "gzip, deflate")


async def test_a_body_is_posted_as_json_and_the_user_agent_is_that_of_the_configuration(
    peer: HttpPeer,
) -> None:
    """Some venues take the parameters in a body, and want to know which program asks."""
    peer.answers["/books"] = respond(BODY)
    async with PollingTransport(LIMITS, SystemClock(), user_agent="oddsboard (me@a.example)") as transport:
        answer = await transport.fetch(peer.url("/books"), Validators(), b'[{"token_id":"7"}]')
    (asked,) = peer.asked

    assert isinstance(answer, Fetched)
    assert ("POST", b'[{"token_id":"7"}]') == (asked.method, asked.body)
    assert "application/json" == asked.headers["content-type"]
    assert "oddsboard (me@a.example)" == asked.headers["user-agent"]


@pytest.mark.parametrize(
    ("validators", "sent"),
    [
        (Validators('"one"', MODIFIED), {"if-none-match": '"one"', "if-modified-since": MODIFIED}),
        (Validators('W/"one"', None), {"if-none-match": 'W/"one"'}),
        (Validators(None, MODIFIED), {"if-modified-since": MODIFIED}),
    ],
)
async def test_validators_are_sent_unchanged(
    peer: HttpPeer, validators: Validators, sent: dict[str, str]
) -> None:
    """The server's validators are sent back byte for byte, and its 304 means that nothing changed."""
    peer.answers["/f.csv"] = respond(status=304)
    answer = await fetch(peer.url("/f.csv"), validators)
    (asked,) = peer.asked

    assert answer == NotModified(0.0)
    assert {name: asked.headers[name] for name in asked.headers if name.startswith("if-")} == sent


@pytest.mark.parametrize("status", [201, 204, 206, 300, 304, 400, 404, 410, 429, 500, 502, 503, 599, 999])
async def test_other_status_is_refused(peer: HttpPeer, status: int) -> None:
    """Only a 200 has a list, whatever the body; an unexpected 304 confirms no list."""
    peer.answers["/f.csv"] = respond(b"" if status == 304 else BODY, status)
    error = await refusal(peer.url("/f.csv"))

    assert (str(error), error.retry_after_s) == (f"status was {status}, must be 200", None)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *(("0", 0.0), ("120", 120.0), (" 120 ", 120.0), ("3600", 3600.0), ("0120", 120.0)),
        *(("3601", 3600.0), ("999999999", 3600.0), ("9999999999", 3600.0), ("9" * 400, 3600.0)),
        *((formatdate(WALL + 90, usegmt=True), 90.0), (formatdate(WALL - 90, usegmt=True), 0.0)),
        (formatdate(WALL + 86_400, usegmt=True), 3600.0),
        (time.strftime("%A, %d-%b-%y %H:%M:%S GMT", time.gmtime(WALL + 90)), 90.0),
        (time.strftime("%a %b %e %H:%M:%S %Y", time.gmtime(WALL + 90)), 90.0),
        *(("", None), ("soon", None), ("-5", None), ("1.5", None), ("1e3", None), ("\xb2", None)),
        *(("12 34", None), ("\x1c120", None), (" 120\t", 120.0), ("9" * 5000, 3600.0)),
        *(("Fri, 99 Mar 2026 99:99:99 GMT", None), ("Fri, 20 Mar 999999999 13:16:58 GMT", None)),
    ],
)
def test_retry_after_is_honoured_up_to_an_hour(value: str, seconds: float | None) -> None:
    """Seconds and all forms of HTTP date (RFC 9110, 10.2.3) are read; any other value is ignored."""
    assert seconds == retry_after_s(value, WALL)


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        *((status, {}, 60.0) for status in (401, 403)),
        *((status, {"Retry-After": "5"}, 60.0) for status in (401, 403)),
        *((status, {"Retry-After": "600"}, 600.0) for status in (401, 403)),
        (503, {"Retry-After": formatdate(WALL + 90, usegmt=True)}, 90.0),
    ],
)
async def test_denied_source_is_polled_slowly(
    peer: HttpPeer, status: int, headers: dict[str, str], seconds: float
) -> None:
    """After a 401 or 403 the next request waits at least a minute, after others as the site says."""
    peer.answers["/f.csv"] = respond(status=status, headers=headers)
    error = await refusal(peer.url("/f.csv"), clock=ManualClock(wall=WALL))

    assert error.retry_after_s == seconds


@pytest.mark.parametrize("status", [200, 401, 404, 302])
async def test_error_does_not_contain_the_address(peer: HttpPeer, status: int) -> None:
    """The address, which may have a key, is in no error message (faults.md, A13)."""
    location = {"Location": "http://other.example/?key=SECRET"}
    peer.answers["/f?key=SECRET"] = respond(BODY, status, headers=location, length=99)
    error = await trouble(peer.url("/f?key=SECRET"))

    assert isinstance(error, TransportError)
    assert "SECRET" not in str(error)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_http_date_is_gmt_in_any_time_zone(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    """All three forms of RFC 9110, 5.6.7 mean GMT; a date that cannot be read counts as missing."""
    forms = (MODIFIED, "Friday, 20-Mar-26 13:16:58 GMT", "Fri Mar 20 13:16:58 2026")
    odd = (None, "", "yesterday", "0", "Fri, 20 Mar 2026", "Fri, 32 Mar 2026 13:16:58 GMT", "9" * 5000)
    with monkeypatch.context() as environment:
        environment.setenv("TZ", zone)
        time.tzset()
        read = [*map(http_date, (*forms, *odd))]
    time.tzset()

    assert read == [MODIFIED_AT] * len(forms) + [None] * len(odd)
