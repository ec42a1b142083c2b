"""Access to the paths for operators: open to everybody, or only with the token of `[operators]`.

Pure. A program sends the token as `Authorization: Bearer TOKEN` (RFC 6750). A browser sends it as a
password with any user name (Basic, RFC 7617).
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from hmac import compare_digest

from msgspec import Struct

from web.protocol.problems import Problem
from web.protocol.responses import Asked, Handler, Prepared

REALM = "oddsboard operators"
CHALLENGE = f'Bearer realm="{REALM}", Basic realm="{REALM}", charset="UTF-8"'


class Access(Struct, frozen=True):
    """The token for the paths for operators; with None everybody may read them."""

    token: str | None = None

    def allows(self, request: Asked) -> bool:
        """Return whether a request may read the paths for operators."""
        return self.token is None or _is(self.token, request.headers.get(b"authorization", b""))

    def closed(self, handlers: Mapping[str, Handler]) -> dict[str, Handler]:
        """Return handlers that answer requests without the token with 401."""
        if self.token is None:
            return {**handlers}
        return {path: self._closed(handler) for path, handler in handlers.items()}

    def _closed(self, handler: Handler) -> Handler:
        async def answer(request: Asked) -> Prepared:
            if not self.allows(request):
                detail = (
                    "this path is for operators; send the token of [operators] as"
                    " `Authorization: Bearer TOKEN`, or as the password of any user"
                )
                raise Problem(401, "unauthorized", detail, {"WWW-Authenticate": CHALLENGE})
            return await handler(request)

        return answer


def _is(token: str, field: bytes) -> bool:
    """Return whether an Authorization field has the token, in a time that does not depend on the token."""
    scheme, _, given = field.strip().partition(b" ")
    given = given.strip()
    if scheme.lower() == b"basic":
        try:
            given = b64decode(given, validate=True).partition(b":")[2]
        except Error:
            return False
    elif scheme.lower() != b"bearer":
        return False
    return compare_digest(given, token.encode())
