"""CRC-32 of a whole from the CRC-32s of its parts, without reading them again.

Pure. A checksum goes with what it takes to append something of its length: x to the power of eight
times the length, modulo the polynomial of CRC-32, bits reflected. Appending multiplies two such
polynomials, so its cost does not depend on how long the parts are. Method: crc32_combine of zlib 1.2.12.
"""

from __future__ import annotations

import zlib
from functools import lru_cache

from msgspec import Struct

_POLYNOMIAL = 0xEDB88320
_ONE = 1 << 31  # x to the power of 0: the highest bit is the lowest power


class Checksum(Struct, frozen=True):
    """The CRC-32 of some bytes, their length, and the factor that appending them multiplies by."""

    crc: int
    length: int
    factor: int

    @classmethod
    def of(cls, data: bytes) -> Checksum:
        """Read `data` and give its checksum."""
        return cls.known(zlib.crc32(data), len(data))

    @classmethod
    def known(cls, crc: int, length: int) -> Checksum:
        """Give the checksum of bytes whose CRC-32 and length are known."""
        return cls(crc, length, _factor(length))

    def after(self, crc: int) -> int:
        """Give the CRC-32 of bytes whose own is `crc`, followed by these."""
        return _product(self.factor, crc) ^ self.crc


def _product(a: int, b: int) -> int:
    """Multiply two polynomials modulo that of CRC-32."""
    product = 0
    bit = _ONE
    while a:
        if a & bit:
            product ^= b
            a ^= bit
        bit >>= 1
        b = b >> 1 ^ _POLYNOMIAL if b & 1 else b >> 1
    return product


@lru_cache(maxsize=4096)
def _factor(length: int) -> int:
    """Give x to the power of 8 times `length`, by squaring."""
    power, factor = 1 << 23, _ONE  # x to the power of 8
    while length:
        if length & 1:
            factor = _product(power, factor)
        power = _product(power, power)
        length >>= 1
    return factor
