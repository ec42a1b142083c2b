"""Invented queries and headers on a real socket, compared with oracles (faults.md, E4, F4)."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from itertools import product

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.builders.messages import match
from tests.support.oracles.negotiation import coding_by_rfc, matches_by_rfc
from tests.support.oracles.queries import status_of
from tests.support.peers.raw_client import ask_in_a_row
from tests.support.systems.site import EPOCH, NAMES, Answered, Site, open_site, parsed
from web.protocol.contract import IF_NONE_MATCH
from web.protocol.problems import CODES, Problem, ProblemDocument
from web.protocol.query import CONFLATE, SINCE, WAIT, Parameter, Query
from web.protocol.responses import COMMON

pytestmark = pytest.mark.anyio

VERSION = f"5001-{EPOCH}"
TOGETHER = 20
"""Requests in a row on one connection."""

FEW = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
MANY = settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])

WORDS = (
    *("bookmaker", "bookmaker=", "=", "&", "alder", "birch", "cedar"),
    *("%61lder", "+", ";", "%00", "%zz", "?"),
    *("%", "%ff", "%c0%af", "%e2%80%ae", "x", "since=1", "Bookmaker", "bookmaker%3dalder", "b%6fokmaker"),
    *("/", "..", "[]", "%26", "%2525", "&bookmaker=alder", "%%", "%c0%af=1", "%ed%a0%80", "%ff%fe=%80"),
    *("\\x00=1", "a[b]=c", ";;;", "bookmaker%00=x", "book%zzmaker=1", "x" * 1900, "&" * 15, "=" * 1900),
    *("a=1&" * 15, "%F0%9F%97%9C", "../../etc/passwd", "<script>", "'--", "${jndi:ldap://x}", "{{7*7}}"),
    *("a=b=c=d", "cedar%00", "cedar%0d%0aX-Evil:%201", "%5B%5D", "%E2%80%AEcedar", "cedar;cedar"),
    *("cedar%26", "%2563edar", "limit=1&offset=3", "CEDAR", "cedar%20", "cedar,alder", "*", "null"),
)
TARGETS = (
    *("?x", "*", "api/odds", "http://[evil/api/odds", "http://evil:99999999/", "://", "/%ff"),
    *("/%00", "/%zz"),
    *("/" * 3000, "/" + "%2e%2e%2f" * 300, "/api/odds%0d%0aX-Evil:%201", "/\\..\\api", "/x#", "@", "&"),
    *("://", "http://", "http:", "//", "//[", "/;", "/api/odds\\"),
    *("%", "/api/odds%3Fbookmaker=x", "~", "#"),
)
HOSTS = (
    *("", "..", ".", "a..b", "[::1", "[", "]", "x:99999999", "x:y", "a b", "<script>", "\xff\xfe", "@"),
    *(".".join(["x" * 63] * 8), "x" * 64 + ".org", "xn--a", "xn--\xff", "%00", "a\tb", "user@host", "\\"),
)
LONG = (", " * 4000 + "x", '"' * 8000, "*" * 8000, ";q=" * 2600, "\xff" * 8000)
_words = st.sampled_from([word for word in WORDS if len(word) < 100])
_visible = st.text(
    st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters="#"), max_size=40
)
_queries = st.lists(st.one_of(_words, _visible), max_size=8).map("".join)
_tags = st.sampled_from(
    [
        *(f'"{VERSION}"', f'W/"{VERSION}"', f'"{VERSION}-gzip"', '"5000"', '""', "*", ",", ", ", " ", "\t"),
        *('"', "W/", VERSION, '"a,b"', '"\xe9"', "w/", "'"),
    ]
)
_field = st.characters(
    min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f", exclude_categories=["Cc"]
)
_if_none_match = st.one_of(st.lists(_tags, max_size=8).map("".join), st.text(_field, max_size=40))
_weights = st.dictionaries(
    st.sampled_from(["gzip", "identity", "*", "br", "deflate"]),
    st.sampled_from(["0", "0.000", "0.001", "0.5", "1", "1.000"]),
)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Return a site with a match, at which all bookmakers serve."""
    async with open_site() as opened:
        for bookmaker in NAMES:
            opened.publish(bookmaker)
        opened.publish("alder", match())
        yield opened


def _check_form(answer: Answered) -> None:
    """Check the rules for every answer; an error must be a problem document."""
    assert {name: answer.headers.get(name.lower()) for name in COMMON} == COMMON
    if answer.status >= 400:
        document = msgspec.json.decode(answer.body, type=ProblemDocument)
        assert answer.status == document.status == CODES[document.code]


def _coding(weights: dict[str, str]) -> tuple[str, str | None]:
    line = ", ".join(f"{name};q={weight}" for name, weight in weights.items())
    return line, coding_by_rfc({name: float(weight) for name, weight in weights.items()})


async def _queries_hold(site: Site, queries: list[str]) -> None:
    for query in queries:  # a refusal by the gate ends the connection
        answer, *_ = await ask_in_a_row(site, [(f"/api/v2/odds?{query}", "")])
        _check_form(answer)
        assert status_of(query.encode(), NAMES) == answer.status, query


async def _validators_hold(site: Site, headers: list[tuple[str, dict[str, str]]]) -> None:
    lines = [(known, *_coding(weights)) for known, weights in headers]
    sent = [f"{IF_NONE_MATCH.name}: {known}\r\nAccept-Encoding: {line}\r\n" for known, line, _ in lines]
    answers = await ask_in_a_row(site, [("/api/v2/odds?bookmaker=alder", name) for name in sent])
    assert len(answers) == len(lines) + 1
    etags = await _etags(site)
    for (known, line, coding), answer in zip(lines, answers, strict=False):
        _check_form(answer)
        expected = 406
        if coding is not None:
            expected = 304 if matches_by_rfc(known.strip(" \t"), etags[coding]) else 200
        assert expected == answer.status, (known, line)
        if answer.status != 406:
            assert etags[str(coding)] == answer.headers["etag"]


async def _etags(site: Site) -> dict[str, str]:
    path = "/api/v2/odds?bookmaker=alder"
    return {
        coding: (await site.raw("GET", path, f"Accept-Encoding: {coding}")).headers["etag"]
        for coding in ("gzip", "identity")
    }


_batches = st.lists(st.tuples(_if_none_match, _weights), min_size=1, max_size=TOGETHER)


async def test_every_word_of_a_query_is_read_as_the_oracle_reads_it(site: Site) -> None:
    """A word stands as a whole query and as a value; nothing that a client sends becomes a header."""
    for path, begin, word in product(["/api/odds", "/api/v2/odds"], ["", "bookmaker="], WORDS):
        answer = await site.raw("GET", f"{path}?{begin}{word}")

        _check_form(answer)
        assert status_of(f"{begin}{word}".encode(), NAMES) == answer.status, word
        assert answer.status == 200 or len(answer.body) < 1000
        assert "x-evil" not in answer.headers


async def test_a_strange_target_is_a_client_error(site: Site) -> None:
    """A strange request target is answered with 400, 404 or 414."""
    for target in TARGETS:
        answer = await site.raw("GET", target)

        assert answer.status in {400, 404, 414}, target
        assert "x-evil" not in answer.headers, target


async def test_a_strange_host_is_ignored_or_refused(site: Site) -> None:
    """A Host header that makes no sense never causes a server error, whichever layer answers."""
    for (path, status), host in product({"/api/odds": 200, "/nowhere": 404}.items(), HOSTS):
        sent = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        answer = parsed(await site.exchange(sent.encode("latin-1")))

        assert answer.status in {status, 400}, host
        assert "nosniff" == answer.headers["x-content-type-options"]


async def test_a_websocket_handshake_is_not_accepted(site: Site) -> None:
    """A WebSocket handshake is refused as a client error, or answered as a plain request."""
    lines = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    for path in ("/api/odds", "/nowhere", "/health"):
        plain, answer = await site.raw("GET", path), await site.raw("GET", path, *lines, key)

        assert 400 <= answer.status < 500 or (plain.status, plain.body) == (answer.status, answer.body)


@pytest.mark.timeout(10)
async def test_8_kb_in_a_header_are_answered_at_once(site: Site) -> None:
    """Garbage in a header is ignored, in so short a time that other requests are not delayed."""
    for name, value in product(["If-None-Match", "Accept-Encoding"], LONG):
        assert 200 == (await site.raw("GET", "/api/v2/odds", f"{name}: {value}")).status


@FEW
@given(st.lists(_queries, max_size=4))
async def test_any_query_is_read_as_the_oracle_reads_it(site: Site, queries: list[str]) -> None:
    """The status is 200 or 400, as an independent reading of the same bytes says."""
    await _queries_hold(site, queries)


@FEW
@given(_batches)
async def test_any_validator_gets_what_the_rfc_says(
    site: Site, headers: list[tuple[str, dict[str, str]]]
) -> None:
    """The status is 304, 200 or 406, as the RFC says for any If-None-Match and Accept-Encoding."""
    await _validators_hold(site, headers)


@FEW
@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"GET / HTTP/1.1\r\n", b"GET /api/odds HTTP/1.1\r\nHost: x\r\n"]),
)
async def test_any_bytes_get_an_answer_of_ours(site: Site, noise: bytes, start: bytes) -> None:
    """No library answers by itself, and the server never fails."""
    received = await site.exchange(
        start + noise + b"\r\n\r\n\r\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n"
    )

    for head in re.findall(rb"HTTP/1\.1 [0-9]{3}.*?\r\n\r\n", received, re.DOTALL):
        answer = parsed(head)
        assert {name: answer.headers.get(name.lower()) for name in COMMON} == COMMON
        assert answer.status < 500 or answer.status == 503
    assert received.startswith(b"HTTP/1.1 ")


@pytest.mark.long
@pytest.mark.timeout(300)
@MANY
@given(st.lists(_queries, max_size=4))
async def test_thousands_of_queries(site: Site, queries: list[str]) -> None:
    """The test of any query, with more examples."""
    await _queries_hold(site, queries)


@pytest.mark.long
@pytest.mark.timeout(300)
@MANY
@given(_batches)
async def test_thousands_of_validators(site: Site, headers: list[tuple[str, dict[str, str]]]) -> None:
    """The test of any validator, with more examples."""
    await _validators_hold(site, headers)


@pytest.mark.parametrize("parameter", [SINCE, WAIT], ids=lambda parameter: parameter.name)
@given(st.data())
def test_a_value_is_accepted_if_and_only_if_the_published_form_has_it(
    parameter: Parameter, data: st.DataObject
) -> None:
    """The published pattern accepts the same values as the service."""
    digits = st.text("0123456789.-e+ \n\u0665abz", max_size=8)
    value = data.draw(st.one_of(digits, st.from_regex(parameter.schema["pattern"]), st.text(max_size=8)))

    assert bool(re.fullmatch(parameter.schema["pattern"][1:-1], value, re.ASCII)) == _accepts(
        parameter, value
    )


@given(st.one_of(st.integers(-10, 130_000).map(str), st.text("0123456789.-e+ ", max_size=8)))
def test_conflation_is_accepted_if_and_only_if_the_published_form_has_it(value: str) -> None:
    """A conflation is a whole number without a sign, within the published bounds."""
    least, most = CONFLATE.schema["minimum"], CONFLATE.schema["maximum"]
    is_allowed = bool(re.fullmatch("[0-9]{1,6}", value, re.ASCII)) and least <= int(value) <= most

    assert is_allowed == _accepts(CONFLATE, value)


def _accepts(parameter: Parameter, value: str) -> bool:
    escaped = "".join(f"%{byte:02x}" for byte in value.encode("utf-8", "surrogatepass"))
    query = Query(f"{parameter.name}={escaped}".encode())
    read = {"since": query.since, "wait": query.wait_s, "conflate_ms": query.conflate_s}[parameter.name]
    try:
        read()
    except Problem as problem:
        return (400, f"invalid_{parameter.name}") != (problem.status, problem.code)
    return True
