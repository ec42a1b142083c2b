"""Makes ids of matches, for sources without ids, from the values that identify a match. Pure."""

from __future__ import annotations

import re
from hashlib import blake2b

from actors.core.messages import SourceMatchId

MAX_ID_CHARS = 128
_UNSAFE = re.compile(rb"[^A-Za-z0-9]")


def match_id_of(*parts: str) -> SourceMatchId:
    """Return an id unique to its parts: letters and digits stay, a blank is '.', all else '~XX' (UTF-8)."""
    text = "-".join(map(_escaped, parts))
    if len(text) > MAX_ID_CHARS:
        digest = blake2b(text.encode(), digest_size=12).hexdigest()
        text = f"{text[: MAX_ID_CHARS - len(digest) - 2]}~~{digest}"  # full ids never contain "~~"
    return SourceMatchId(text)


def _escaped(part: str) -> str:
    if part.isascii() and part.replace(" ", "").isalnum():
        return part.replace(" ", ".")
    return _UNSAFE.sub(
        lambda found: b"." if found[0] == b" " else b"~%02X" % ord(found[0]), part.encode()
    ).decode()
