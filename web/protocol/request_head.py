"""The gate in front of the HTTP parser: passes small, well-formed request heads, and nothing else.

Pure: bytes from a client go in, bytes for the parser come out. It bounds a head before anything parses it
(h11 parses 60 kB of header lines in some 30 ms), and its grammar is stricter than the parser's, so that
the parser never answers by itself. A head that is refused is replaced by a request for a refusal: so the
answer is a problem document like any other, comes after those of requests before it, and ends the
connection. Bodies are never read: a request that announces one is answered without it, and its
connection ends, which leaves nothing to smuggle a second request in.

HTTP/1.1 as in RFC 9112. No HTTP/2 in cleartext: its preface is refused, and an upgrade is ignored, as
RFC 9110 (7.8) allows.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

MAX_HEAD_BYTES = 16_384
"""Bytes of a head, as Apache and nginx allow in all; a browser's are below 2 kB."""
MAX_LINES = 100
"""Lines of a head, the request line included."""
MAX_TARGET_BYTES = 2_048
MAX_METHOD_AND_VERSION_BYTES = 64
"""What else a request line holds."""
MAX_PARAMETERS = 16
"""Parameters of a query; no path of ours takes more than three."""


class Refusal(Struct, frozen=True):
    """Why a head is refused: the status and the code of its problem, and a sentence for people."""

    status: int
    code: str
    detail: str


REFUSALS: Final = {
    one.code: one
    for one in (
        Refusal(400, "bad_request", "the request is not well-formed HTTP/1.1 (RFC 9112)"),
        Refusal(400, "http2_not_supported", "this port speaks HTTP/1.1 only"),
        Refusal(400, "too_many_parameters", f"the query may have at most {MAX_PARAMETERS} parameters"),
        Refusal(414, "target_too_long", f"the request target may have at most {MAX_TARGET_BYTES} bytes"),
        Refusal(
            431,
            "headers_too_large",
            f"the head of a request may have at most {MAX_HEAD_BYTES} bytes and {MAX_LINES} lines",
        ),
    )
}

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_LINE = re.compile(rb"([A-Z][!#$%&'*+\-.^_`|~0-9A-Za-z]*) ([!-~]+) HTTP/1\.([01])")
_FIELDS = re.compile(rb"(?:\r\n" + _TOKEN + rb":[\t -~\x80-\xff]*+)*+")  # possessive: in linear time
_SPECIAL = re.compile(
    rb"\r\n(host|content-length|transfer-encoding|connection|upgrade|http2-settings|expect|te)"
    rb":[ \t]*([^\r]*)",
    re.IGNORECASE,
)
"""Fields that say something of the connection or of a body."""
_HOST = re.compile(rb"[0-9A-Za-z\-._~%!$&'()*+,;=:\[\]]+[ \t]*")
_NUMBER = re.compile(rb"[0-9]{1,19}[ \t]*")
_ABSOLUTE = re.compile(rb"https?://[^/?#]+", re.IGNORECASE)
_DROPPED = frozenset({b"upgrade", b"http2-settings", b"expect", b"te"})
_OF_BODY = frozenset({b"content-length", b"transfer-encoding", b"connection"})
_PREFACE = b"PRI * HTTP/2.0\r\n\r\n"
_END = b"\r\n\r\n"
_SLASH: Final = ord("/")

_Fields = dict[bytes, list[bytes]]
"""The special fields of a head: their values by name, in lower case."""


class HeadGate:
    """The gate of one connection. `refusals` is the path of refusals, which clients do not know."""

    def __init__(self, refusals: bytes) -> None:
        self._refusals = refusals
        self._pending = b""
        self._passed = b""
        self.is_closing = False
        """Whether the connection ends with the last request that was passed: nothing more is read."""

    def feed(self, data: bytes) -> bytes:
        """Take what a client sent and return what the parser may see of it, often nothing yet."""
        if self.is_closing:
            return b""
        if not self._pending and data == self._passed:  # what a client that polls repeats
            return data
        is_whole = not self._pending
        self._pending += data
        heads: list[bytes] = []
        while (head := self._next_head()) is not None:
            heads.append(head)
        passed = b"".join(heads)
        if is_whole and passed == data:
            self._passed = data
        return passed

    def _next_head(self) -> bytes | None:
        """Cut the next whole head off what is pending, and return it as it may pass."""
        pending = self._pending
        if pending[:2] == b"\r\n":  # RFC 9112, 2.2: an empty line before a request is ignored
            pending = pending.lstrip(b"\r\n")
        end = pending.find(_END, 0, MAX_HEAD_BYTES)
        if end < 0:
            self._pending = pending
            return self._unfinished(pending)
        self._pending = pending[end + len(_END) :]
        return self._judged(pending[:end])

    def _unfinished(self, pending: bytes) -> bytes | None:
        """Refuse what is too long already, or can be no request of ours however it goes on."""
        if pending[: len(_PREFACE)] == _PREFACE:
            return self._refuse("http2_not_supported")
        if len(pending.partition(b"\r")[0]) > MAX_TARGET_BYTES + MAX_METHOD_AND_VERSION_BYTES:
            return self._refuse("target_too_long")
        if pending.count(b"\n") > MAX_LINES:
            return self._refuse("headers_too_large")
        if len(pending) >= MAX_HEAD_BYTES:
            return self._refuse("headers_too_large")
        return None

    def _judged(self, head: bytes) -> bytes:
        if (line := _LINE.match(head)) is None:
            is_preface = head == _PREFACE[: -len(_END)]
            return self._refuse("http2_not_supported" if is_preface else "bad_request")
        fields: _Fields = {}
        for name, value in _SPECIAL.findall(head, line.end()):
            fields.setdefault(name.lower(), []).append(value)
        if code := _excess(head, line) or _fault(head, line, fields):
            return self._refuse(code, line[1])
        if len(fields) == 1 and line[2][0] == _SLASH:  # a host and nothing else: nearly all
            return head + _END
        return self._trimmed(head, line, fields)

    def _trimmed(self, head: bytes, line: re.Match[bytes], fields: _Fields) -> bytes:
        """Return a head without what it says of a body, of an upgrade, and of its authority."""
        dropped, extra = _DROPPED, b""
        if b"transfer-encoding" in fields or int(fields.get(b"content-length", [b"0"])[0]) > 0:
            self.is_closing, self._pending = True, b""
            dropped, extra = _DROPPED | _OF_BODY, b"\r\nConnection: close"
        rest = _SPECIAL.sub(lambda one: b"" if one[1].lower() in dropped else one[0], head[line.end() :])
        method, target, minor = line.groups()
        if (authority := _ABSOLUTE.match(target)) is not None:  # RFC 9112, 3.2.2: it must be accepted
            target = target[authority.end() :]
            target = target if target[:1] == b"/" else b"/" + target
        return b"%b %b HTTP/1.%b%b%b%b" % (method, target, minor, rest, extra, _END)

    def _refuse(self, code: str, method: bytes = b"GET") -> bytes:
        """Return the request for a refusal that takes the place of the head; it is the last one."""
        self.is_closing, self._pending = True, b""
        method = b"HEAD" if method == b"HEAD" else b"GET"
        target = self._refusals + code.encode()
        return b"%b %b HTTP/1.1\r\nHost: oddsboard\r\nConnection: close\r\n\r\n" % (method, target)


def _excess(head: bytes, line: re.Match[bytes]) -> str | None:
    """Return the code of the bound that a head exceeds, None if it is small enough."""
    if len(line[2]) > MAX_TARGET_BYTES:
        return "target_too_long"
    if head.count(b"\r") >= MAX_LINES:
        return "headers_too_large"
    return "too_many_parameters" if line[2].count(b"&") >= MAX_PARAMETERS else None


def _fault(head: bytes, line: re.Match[bytes], fields: _Fields) -> str | None:
    """Return the code for a head that is not well-formed, None if it is."""
    hosts, lengths = fields.get(b"host", []), fields.get(b"content-length", [])
    is_well_formed = (
        _FIELDS.fullmatch(head, line.end()) is not None
        and len(hosts) in ({1} if line[3] == b"1" else {0, 1})
        and all(map(_HOST.fullmatch, hosts))
        and len(lengths) <= 1
        and all(map(_NUMBER.fullmatch, lengths))
        and not (lengths and b"transfer-encoding" in fields)
    )
    return None if is_well_formed else "bad_request"
