"""How RFC 9110 reads Accept-Encoding and If-None-Match, written without regular expressions."""

from __future__ import annotations

from web.protocol.negotiation import Coding


def coding_by_rfc(weights: dict[str, float]) -> Coding | None:
    """Return the coding that these weights of Accept-Encoding ask for."""
    for_others = weights.get("*")
    gzip = weights.get("gzip", for_others)
    identity = weights.get("identity", for_others)
    if gzip is not None and gzip > 0 and (identity is None or gzip >= identity):
        return Coding.GZIP
    return Coding.IDENTITY if identity is None or identity > 0 else None


def matches_by_rfc(header: str, etag: str) -> bool:
    """Return whether If-None-Match names `etag`, by a hand-written parser."""
    if header.strip(" \t") == "*":
        return True
    rest, tags = header.lstrip(" \t"), set[str]()
    while rest:
        if rest[0] != ",":
            opaque, closing, rest = _tag(rest)
            if not closing or any(not _is_etag_character(character) for character in opaque):
                return False
            tags.add(f'"{opaque}"')
            rest = rest.lstrip(" \t")
        if rest and rest[0] != ",":
            return False
        rest = rest[1:].lstrip(" \t")
    return etag in tags


def _tag(text: str) -> tuple[str, str, str]:
    text = text.removeprefix("W/")
    return text[1:].partition('"') if text.startswith('"') else ("", "", text)


def _is_etag_character(character: str) -> bool:
    return character == "!" or "#" <= character <= "~" or "\x80" <= character <= "\xff"
