"""A zstd file block by block, as far as it goes: what a crash or a flipped bit leaves is still read.

Pure, below the recordings. A decoder that is fed more than one block at a time gives nothing of it if
the last one is damaged, so the file is cut where its blocks end (RFC 8878, section 3.1.1). A block
holds at most 128 KiB, so that memory is bounded whatever a file claims.
"""

from __future__ import annotations

from collections.abc import Generator
from enum import StrEnum
from typing import BinaryIO

import zstandard

_MAX_FRAME_HEADER_BYTES = 18
_MAX_WINDOW_BYTES = 2**23
_BLOCK_HEADER_BYTES = 3
_CHECKSUM_BYTES = 4
_REPEATED = 1  # the type of a block that is one byte, many times


class Ending(StrEnum):
    """How a file ended."""

    CLOSED = "closed"  # in order, by whoever wrote it
    CUT = "cut"  # whoever wrote it was killed, or writes still
    DAMAGED = "damaged"  # what stands there is not what was written


def blocks(file: BinaryIO) -> Generator[bytes, None, Ending]:
    """Return the content of each whole block of a seekable file, and at the end how it ended."""
    front = file.read(_MAX_FRAME_HEADER_BYTES)
    decoder = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES).decompressobj()
    try:
        size = zstandard.frame_header_size(front)
        has_checksum = zstandard.get_frame_parameters(front).has_checksum
        file.seek(size)
        decoder.decompress(front[:size])
        while len(head := file.read(_BLOCK_HEADER_BYTES)) == _BLOCK_HEADER_BYTES:
            mark = int.from_bytes(head, "little")
            size = 1 if mark >> 1 & 3 == _REPEATED else mark >> 3
            block = file.read(size)
            if len(block) < size:
                break
            if mark & 1:  # the last one
                yield decoder.decompress(head + block + file.read(_CHECKSUM_BYTES if has_checksum else 0))
                return Ending.CLOSED if decoder.eof and not file.read(1) else Ending.DAMAGED
            yield decoder.decompress(head + block)
    except zstandard.ZstdError:
        return Ending.DAMAGED
    return Ending.CUT
