"""CRC-32 of a whole from the CRC-32s of its parts, without reading them again.

Pure. Appending bytes multiplies the CRC so far by a factor that depends on their number only, and adds
their own CRC: polynomials over two elements, modulo that of CRC-32, the highest bit being the lowest
power. `zlib.crc32` is linear in the CRC that it starts from, so it yields the factor as well.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from msgspec import Struct

_POLYNOMIAL = 0xEDB88320
_ONE = 1 << 31
_NIBBLES = range(0, 32, 4)


class Checksum(Struct, frozen=True, gc=False):
    """The CRC-32 of some bytes, their length, and the factor for appending them times 0 to 15."""

    crc: int
    length: int
    multiples: tuple[int, ...]

    @classmethod
    def of(cls, data: bytes) -> Checksum:
        """Return the checksum of `data`."""
        crc = zlib.crc32(data)
        return cls(crc, len(data), _multiples(crc ^ zlib.crc32(data, _ONE)))

    @classmethod
    def joined(cls, parts: Iterable[Checksum], separator: Checksum) -> Checksum:
        """Return the checksum of one or more parts with a separator between them."""
        first, *rest = parts
        crc, length, factor = first.crc, first.length, first.times(_ONE)
        for part in rest:
            crc = part.after(separator.after(crc))
            length += separator.length + part.length
            factor = part.times(separator.times(factor))
        return cls(crc, length, _multiples(factor))

    def after(self, crc: int) -> int:
        """Return the CRC-32 of bytes whose own is `crc`, followed by these."""
        return self.times(crc) ^ self.crc

    def times(self, polynomial: int) -> int:
        """Return `polynomial` times the factor, computed four bits at a time."""
        multiples, product = self.multiples, 0
        for at in _NIBBLES:
            product = product >> 4 ^ _CARRIED[product & 15] ^ multiples[polynomial >> at & 15]
        return product


def _times_x(polynomial: int) -> int:
    return polynomial >> 1 ^ _POLYNOMIAL if polynomial & 1 else polynomial >> 1


def _multiples(factor: int) -> tuple[int, ...]:
    """Return `factor` times each polynomial of four bits."""
    result = [0]
    two = _times_x(factor)
    three = _times_x(two)
    for bit in (_times_x(three), three, two, factor):
        result += [bit ^ one for one in result]
    return tuple(result)


_CARRIED = tuple(_times_x(_times_x(_times_x(_times_x(low)))) for low in range(16))
"""What the four bits that leave a polynomial at its end become when it is multiplied by x four times."""
