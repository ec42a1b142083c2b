"""Has the disk fail: the n-th `fsync` or `rename` of this process, or SQLite's own n-th write or sync.

For processes that end soon: nothing is undone. SQLite's calls are replaced in the methods that its virtual
file system (https://sqlite.org/c3ref/io_methods.html) gives for each file.
"""

from __future__ import annotations

import _sqlite3
import errno
import os
from collections.abc import Callable
from ctypes import CDLL, CFUNCTYPE, POINTER, Structure, c_int, c_int64, c_void_p, cast
from typing import Any

SYNC, RENAME, SQLITE_WRITE, SQLITE_SYNC = "fsync", "rename", "write of SQLite", "sync of SQLite"
OWN = (SYNC, RENAME)
IOERR_WRITE, IOERR_FSYNC = 778, 1034
_NAMES = (
    *("close", "read", "write", "truncate", "sync", "size", "lock", "unlock", "is_reserved", "control"),
    *("sector", "device", "shm_map", "shm_lock", "shm_barrier", "shm_unmap", "fetch", "unfetch"),
)


class _Methods(Structure):
    _fields_ = (("version", c_int), *((name, c_void_p) for name in _NAMES))


class _Vfs(Structure):
    _fields_ = (
        *(("version", c_int), ("file_bytes", c_int), ("path_bytes", c_int)),
        *(("next", c_void_p), ("name", c_void_p), ("data", c_void_p), ("open", c_void_p)),
    )


_OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
_WRITE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_SYNC = CFUNCTYPE(c_int, c_void_p, c_int)
_kept: list[Any] = []
"""Objects that C code calls, and that Python must not free."""


def reaches_sqlite() -> bool:
    """Return whether Python's SQLite is a library whose functions can be called."""
    try:
        _default_vfs()
    except AttributeError:
        return False
    return True


def fail(what: str, nth: int, times: int, fired: Callable[[], None]) -> None:
    """Have the n-th call from now on and the next ones fail, `times` in all; `fired` is called at each."""
    left = [nth, times]

    def is_due() -> bool:
        left[0] -= 1
        if left[0] > 0 or left[0] <= -left[1]:
            return False
        fired()
        return True

    if what in OWN:
        _fail_own(what, is_due)
    else:
        _fail_sqlite(what, is_due)


def _fail_own(what: str, is_due: Callable[[], bool]) -> None:
    call = getattr(os, what)

    def failing(*arguments: Any) -> Any:
        if is_due():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return call(*arguments)

    setattr(os, what, failing)


def _fail_sqlite(what: str, is_due: Callable[[], bool]) -> None:
    vfs = _default_vfs()
    plain_open = _OPEN(vfs.open)
    copies: dict[int, _Methods] = {}

    def opened(of: int, name: int, file: int, flags: int, out: int) -> int:
        code: int = plain_open(of, name, file, flags, out)
        methods = cast(file, POINTER(c_void_p))
        if not code and methods[0]:
            if methods[0] not in copies:
                copies[methods[0]] = _failing(what, methods[0], is_due)
            methods[0] = cast(POINTER(_Methods)(copies[methods[0]]), c_void_p)
        return code

    _kept.extend((plain_open, copies, _OPEN(opened)))
    vfs.open = cast(_kept[-1], c_void_p)


def _failing(what: str, methods: int, is_due: Callable[[], bool]) -> _Methods:
    copy = _Methods.from_buffer_copy(cast(methods, POINTER(_Methods)).contents)
    if what == SQLITE_WRITE:
        plain = _WRITE(copy.write)
        made: Any = _WRITE(lambda *given: IOERR_WRITE if is_due() else plain(*given))
        copy.write = cast(made, c_void_p)
    else:
        plain = _SYNC(copy.sync)
        made = _SYNC(lambda *given: IOERR_FSYNC if is_due() else plain(*given))
        copy.sync = cast(made, c_void_p)
    _kept.extend((plain, made))
    return copy


def _default_vfs() -> Any:
    """Return SQLite's default file system. Raises: AttributeError if its functions cannot be called."""
    find = CDLL(_sqlite3.__file__).sqlite3_vfs_find
    find.restype, find.argtypes = c_void_p, (c_void_p,)
    return cast(find(None), POINTER(_Vfs)).contents
