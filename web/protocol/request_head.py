"""The gate in front of the HTTP parser: passes only small, well-formed request heads.

Pure: bytes from a client go in, bytes for the parser come out. The gate limits a head's size before it is
parsed (h11 takes some 30 ms for 60 kB of header lines). Its grammar is stricter than the parser's, so that
the parser never answers by itself. The gate replaces a refused head by a request for a refusal: so the
answer is a normal problem document, comes in order, and ends the connection. The gate never reads a body:
it passes the request without the body, and ends the connection, so that no second request can be smuggled
in. It also reads nothing after a request that ends the connection (`Connection: close`, HTTP/1.0).

HTTP/1.1 as in RFC 9112. HTTP/2 without TLS is not supported: the gate refuses its preface, and ignores an
upgrade, as RFC 9110 (7.8) allows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct

MAX_HEAD_BYTES = 16_384
"""The most bytes of a head, about as many as Apache and nginx allow; a browser's heads are below 2 kB."""
MAX_LINES = 100
"""The most lines of a head, the request line included."""
MAX_TARGET_BYTES = 2_048
MAX_LINE_BYTES = MAX_TARGET_BYTES + 64
"""The most bytes of a request line: the target, a method and the version."""
MAX_PARAMETERS = 16
"""The most parameters of a query; more than any of our paths has."""
KEPT_HEADS, KEPT_BYTES = 1_024, 1_024
"""Accepted heads that are remembered, because polling clients repeat theirs; and the longest such head."""

PROBES = frozenset({b"/health", b"/health/live", b"/health/ready"})
"""Paths that are answered even when there are too many connections."""


class Refusal(Struct, frozen=True):
    """The reason for a refusal: status, code and sentence of the problem document.

    `headers` are added to `Connection: close`.
    """

    status: int
    code: str
    detail: str
    headers: Mapping[str, str] = {}


REFUSALS: Final = {
    refusal.code: refusal
    for refusal in (
        Refusal(400, "bad_request", "the request is not well-formed HTTP/1.1 (RFC 9112)"),
        Refusal(400, "http2_not_supported", "this port speaks HTTP/1.1 only"),
        Refusal(400, "too_many_parameters", f"the query may have at most {MAX_PARAMETERS} parameters"),
        Refusal(414, "target_too_long", f"the request target may have at most {MAX_TARGET_BYTES} bytes"),
        Refusal(
            431,
            "headers_too_large",
            f"the head of a request may have at most {MAX_HEAD_BYTES} bytes and {MAX_LINES} lines",
        ),
        Refusal(503, "overloaded", "there are too many connections; try again later", {"Retry-After": "5"}),
    )
}

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
_LINE = re.compile(rb"([A-Z]" + _TOKEN + rb"*) ([!-~]+) HTTP/1\.([01])")
_BEGINNING = re.compile(rb"[A-Z]" + _TOKEN + rb"*(?: [!-~]*(?: [!-~]*)?)?\r?")  # begin of any request line
_FIELDS = re.compile(rb"(?:\r\n" + _TOKEN + rb"+:[\t -~\x80-\xff]*+)*+")  # possessive, for linear time
_SPECIAL = re.compile(
    rb"\r\n(?=[CEHTUcehtu])(?i:(host|content-length|transfer-encoding|connection|upgrade|http2-settings"
    rb"|expect|te)):[ \t]*([^\r]*)"
)
"""Fields about the connection or about a body."""
_AUTHORITY = rb"(?:[0-9A-Za-z\-._~%!$&'()*+,;=]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?"
_HOST = re.compile(_AUTHORITY + rb"[ \t]*")
_NUMBER = re.compile(rb"[0-9]{1,19}[ \t]*")
_ABSOLUTE = re.compile(rb"https?://" + _AUTHORITY + rb"(?=[/?]|\Z)", re.IGNORECASE)
_EMPTY_LINES = re.compile(rb"(?:\r\n)*+")
_DROPPED = frozenset({b"upgrade", b"http2-settings", b"expect", b"te"})
_OF_BODY = frozenset({b"content-length", b"transfer-encoding", b"connection"})
_HARMLESS = frozenset({b"host", b"connection"})
_PREFACE = b"PRI * HTTP/2.0"
_END = b"\r\n\r\n"

_Fields = dict[bytes, list[bytes]]
"""The special fields of a head: their values by name, in lower case."""


class HeadGate:
    """The gate of a connection; it passes at most `max_requests`.

    `refusals` is the secret path of refusals. All gates share `known`, the heads accepted before.
    """

    def __init__(self, refusals: bytes, max_requests: int, known: set[bytes]) -> None:
        self._refusals = refusals
        self._left = max_requests
        self._known = known
        self._pending = b""
        self.is_overloaded = False
        """Whether there are too many connections; then only probes pass."""

    def feed(self, data: bytes) -> bytes:
        """Take bytes from a client, and return bytes for the parser, often none."""
        if data in self._known and not (self._pending or self.is_overloaded) and self._left > 1:
            self._left -= 1
            return data
        if not self._left:
            return b""
        pending = self._pending + data
        heads: list[bytes] = []
        while pending and self._left:
            if pending[0] == _END[0]:  # RFC 9112, 2.2: empty lines before a request are ignored
                pending = _EMPTY_LINES.sub(b"", pending, 1)
                if not pending:
                    break
            end = pending.find(_END, 0, MAX_HEAD_BYTES) + len(_END)
            if end < len(_END):
                if code := _fault_so_far(pending):
                    heads.append(self._refuse(code, pending))
                break
            heads.append(self._passed(pending[:end]))
            pending = pending[end:]
        self._pending = pending if self._left else b""
        return b"".join(heads)

    @property
    def is_closing(self) -> bool:
        """Whether nothing more passes: the connection ends with the last request that was passed."""
        return self._left == 0

    def close(self) -> None:
        """Pass nothing more."""
        self._left = 0

    def _passed(self, head: bytes) -> bytes:
        """Return a complete head in the form for the parser, or the request for its refusal."""
        passed, code, is_last = _checked_head(head)
        if not code and self.is_overloaded and passed.split(b" ", 2)[1].partition(b"?")[0] not in PROBES:
            code = "overloaded"
        if code:
            return self._refuse(code, head)
        if is_last or self._left == 1:
            self.close()
            return passed if is_last else _without(passed, {b"connection"}, b"\r\nConnection: close")
        self._left -= 1
        if passed == head and len(head) <= KEPT_BYTES:
            if len(self._known) >= KEPT_HEADS:
                self._known.clear()
            self._known.add(head)
        return passed

    def _refuse(self, code: str, head: bytes) -> bytes:
        """Return the request for a refusal, in place of `head`, as the connection's last request."""
        self.close()
        method = b"HEAD" if head.startswith(b"HEAD ") else b"GET"
        target = self._refusals + code.encode()
        return b"%b %b HTTP/1.1\r\nHost: oddsboard\r\nConnection: close\r\n\r\n" % (method, target)


def _fault_so_far(pending: bytes) -> str:
    """Return the code of the fault in an incomplete head, "" if the head may still become valid."""
    line, is_whole, _ = pending.partition(b"\r\n")
    if pending == b"\r":  # perhaps the begin of an empty line
        return ""
    if code := _fault_of_line(line, bool(is_whole)):
        return code
    is_too_large = len(pending) >= MAX_HEAD_BYTES or pending.count(b"\n") > MAX_LINES
    return "headers_too_large" if is_too_large else ""


def _fault_of_line(line: bytes, is_whole: bool) -> str:  # noqa: FBT001 - private
    """Return the code of the fault in a request line or its beginning, "" without a fault.

    The code does not depend on how the client's bytes are cut.
    """
    if _BEGINNING.fullmatch(line, 0, MAX_LINE_BYTES) is None:
        return "bad_request"
    if len(line) > MAX_LINE_BYTES:
        return "target_too_long"
    if not is_whole:
        return ""
    if (found := _LINE.fullmatch(line)) is None:
        return "http2_not_supported" if line == _PREFACE else "bad_request"
    if len(found[2]) > MAX_TARGET_BYTES:
        return "target_too_long"
    return "too_many_parameters" if found[2].count(b"&") >= MAX_PARAMETERS else ""


def _checked_head(head: bytes) -> tuple[bytes, str, bool]:
    """Return a complete head for the parser, a code if it is refused, and whether it is the last."""
    line = head.partition(b"\r\n")[0]
    if code := _fault_of_line(line, is_whole=True):
        return b"", code, True
    if head.count(b"\n") > MAX_LINES + 1:  # + 1 for the empty line at the end
        return b"", "headers_too_large", True
    fields: _Fields = {}
    for name, value in _SPECIAL.findall(head, len(line)):
        fields.setdefault(name.lower(), []).append(value)
    if not _is_well_formed(head, line, fields):
        return b"", "bad_request", True
    target = line.split(b" ")[1]
    if (authority := _ABSOLUTE.match(target)) is not None:  # RFC 9112, 3.2.2: servers must accept it
        path = target[authority.end() :]
        head = head.replace(target, path if path[:1] == b"/" else b"/" + path, 1)
    elif line.startswith(b"OPTIONS * "):  # RFC 9110, 9.3.7: all paths have the same methods
        head = head.replace(b"*", b"/", 1)
    has_body = b"transfer-encoding" in fields or int(fields.get(b"content-length", [b"0"])[0]) > 0
    if has_body or _is_last(line, fields):
        return _without(head, _DROPPED | _OF_BODY, b"\r\nConnection: close"), "", True
    if fields.keys() <= _HARMLESS:  # nearly all requests
        return head, "", False
    return _without(head, _DROPPED), "", False


def _is_last(line: bytes, fields: _Fields) -> bool:
    """Return whether the client wants no further answer; to the parser, bytes after it are an error."""
    options = b",".join(fields.get(b"connection", ())).lower().split(b",")
    return line.endswith(b"0") or b"close" in map(bytes.strip, options)


def _is_well_formed(head: bytes, line: bytes, fields: _Fields) -> bool:
    hosts, lengths = fields.get(b"host", []), fields.get(b"content-length", [])
    return (
        _FIELDS.fullmatch(head, len(line), len(head) - len(_END)) is not None
        and len(hosts) in ({1} if line.endswith(b"1") else {0, 1})
        and all(map(_HOST.fullmatch, hosts))
        and len(lengths) <= 1
        and all(map(_NUMBER.fullmatch, lengths))
        and not (lengths and b"transfer-encoding" in fields)
    )


def _without(head: bytes, dropped: Collection[bytes], added: bytes = b"") -> bytes:
    """Return a head without the special fields in `dropped`, with the lines `added`."""
    kept = _SPECIAL.sub(lambda line: b"" if line[1].lower() in dropped else line[0], head[: -len(_END)])
    return b"%b%b%b" % (kept, added, _END)
