"""The answers to readers of lists, each checked: versions never fall, and a tag has one body."""

from __future__ import annotations

from hashlib import sha256

import msgspec


class History:
    """The reads of any number of readers: their number, and how many of them broke a rule."""

    def __init__(self) -> None:
        self.reads = 0
        self.decreases = 0
        self.two_bodies = 0
        self.torn = 0
        self.versions: set[int] = set()
        self._newest: dict[tuple[int, str], int] = {}
        self._bodies: dict[tuple[str, str], bytes] = {}

    def note(self, reader: int, url: str, etag: str, body: bytes) -> None:
        """Note one answer with status 200 to a reader, its body without compression."""
        self.reads += 1
        digest = sha256(body).digest()
        known = self._bodies.setdefault((url, etag), digest)
        if known is digest:  # only a new body is parsed
            listed = msgspec.json.decode(body)
            version = listed["version"]
            self.versions.add(version)
            self.torn += listed["matches_count"] != len(listed["matches"])
            self.torn += not etag.startswith(f'"{version}-')
        self.two_bodies += known != digest
        version = int(etag[1 : etag.index("-")])
        self.decreases += version < self._newest.get((reader, url), 0)
        self._newest[reader, url] = version

    def __str__(self) -> str:
        return (
            f"{self.reads:,} reads of {len(self.versions):,} versions: {self.decreases} fell,"
            f" {self.two_bodies} tags with two bodies, {self.torn} torn"
        )

    def wrong(self) -> int:
        """Return the number of rules that were broken."""
        return self.decreases + self.two_bodies + self.torn
