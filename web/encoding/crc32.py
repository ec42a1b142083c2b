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


class Checksum(Struct, frozen=True, gc=False):
    """The CRC-32 of some bytes, their length, and the 16 multiples of the factor for appending them."""

    crc: int
    length: int
    multiples: tuple[int, ...]

    @classmethod
    def of(cls, data: bytes) -> Checksum:
        """Read `data` and give its checksum."""
        return cls.known(zlib.crc32(data), len(data))

    @classmethod
    def known(cls, crc: int, length: int) -> Checksum:
        """Return the checksum of bytes whose CRC-32 and length are known."""
        return cls(crc, length, _multiples(_factor(length)))

    def after(self, crc: int) -> int:
        """Return the CRC-32 of bytes whose own is `crc`, followed by these: a product, four bits a step."""
        multiples, product = self.multiples, 0
        for at in _NIBBLES:
            product = product >> 4 ^ _CARRIED[product & 15] ^ multiples[crc >> at & 15]
        return product ^ self.crc


def _times_x(polynomial: int) -> int:
    return polynomial >> 1 ^ _POLYNOMIAL if polynomial & 1 else polynomial >> 1


def _multiples(factor: int) -> tuple[int, ...]:
    """Return `factor` times each polynomial of four bits, the highest bit being the lowest power."""
    two = _times_x(factor)
    three = _times_x(two)
    four = _times_x(three)
    bits = (four, three, two, factor)
    result = [0]
    for bit in bits:
        result += [bit ^ one for one in result]
    return tuple(result)


def _product(a: int, b: int) -> int:
    """Multiply two polynomials modulo that of CRC-32."""
    product = 0
    bit = _ONE
    while a:
        if a & bit:
            product ^= b
            a ^= bit
        bit >>= 1
        b = _times_x(b)
    return product


@lru_cache(maxsize=64)
def _squared(times: int) -> int:
    """Return x to the power of 8, squared that many times."""
    if not times:
        return 1 << 23
    return _product(_squared(times - 1), _squared(times - 1))


@lru_cache(maxsize=256)
def _factor(length: int) -> int:
    """Return x to the power of 8 times `length`."""
    factor = _ONE
    for times in range(length.bit_length()):
        if length >> times & 1:
            factor = _product(factor, _squared(times))
    return factor


_NIBBLES = range(0, 32, 4)
_CARRIED = tuple(_times_x(_times_x(_times_x(_times_x(low)))) for low in range(16))
"""What the four bits that leave a polynomial at its end become when it is multiplied by x four times."""
