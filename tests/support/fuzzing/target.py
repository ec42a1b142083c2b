"""A parser with the inputs that its fuzzing begins with."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

NUMBERS = (
    *(b"NaN", b"Infinity", b"-Infinity", b"1e400", b"1e308", b"-1e308", b"5e-324", b"1.0", b"0"),
    *(b"-1", b"2,50"),
    *(b"9" * 20, b"9" * 400, b"9" * 4400, b"9007199254740993", b"18446744073709551616", b"0001", b"1e-400"),
)
TEXTS = (
    *(b"\0", b"\r", b"\n", b"\r\n", b'"', b"\\", b"\\u0000", b"\\ud800", b"\xff", b"\xef\xbb\xbf"),
    *(b"\xe2\x80\xae", b"\xe2\x80\x8d", b"\xc3\xa9", b"e\xcc\x81", b"\xed\xa0\x80"),
    *(b"\x1b[31m", b"x" * 1100),
    *(b"", b" ", b"\t", b",", b";", b":", b"=", b"[", b"]", b"{", b"}", b"null", b"true", b"{}", b"[]"),
)
TIMES = (
    *(b"2026-06-01T15:00:00Z", b"0001-01-01T00:00:00+23:59", b"9999-12-31T23:59:59-23:59", b"2026-06-01"),
    *(b"31/12/9999", b"01/01/0001", b"29/02/2025", b"1/1/26", b"24:00", b"23:59", b"00:60"),
)


class Target(Struct, frozen=True):
    """One parser: `run(input)` returns how many prices were checked.

    It raises for a fault only; errors that the parser's docstring allows are caught. `tokens` are parts
    that inputs of this kind are made of.
    """

    name: str
    run: Callable[[bytes], int]
    seeds: tuple[bytes, ...]
    tokens: tuple[bytes, ...] = ()

    @property
    def all_tokens(self) -> tuple[bytes, ...]:
        """The tokens of the target, and tokens that are hostile everywhere."""
        return tuple(dict.fromkeys((*self.tokens, *NUMBERS, *TEXTS, *TIMES)))
