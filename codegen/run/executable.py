"""Bytes to a callable: code in memory that may be executed, data beside it that may be read alone, and ctypes."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any


class NotRunnable(RuntimeError):
    """Machine code for x86-64 cannot run on this machine."""


def runnable() -> bool:
    """Whether this process can run x86-64 code."""
    return platform.machine().lower() in ("x86_64", "amd64") and sys.maxsize > 1 << 32


class Executable:
    """A block of machine code in memory of its own, freed by `close`, at the end of `with`, or with the last user.

    `image` is Assembled.image; its last `data` bytes are data, which begins a page, and none of its bytes can be
    executed. So code and data keep their distance, and the data any alignment up to a page's size; without data the
    code begins a page. Nothing is writable.
    Raises NotRunnable where the processor is not x86-64, OSError where the system refuses the memory.

    >>> with Executable(bytes.fromhex("b82a000000c3")) as code:  # mov eax, 42; ret
    ...     code.function(ctypes.c_uint64)()
    42
    """

    def __init__(self, image: bytes, data: int = 0) -> None:
        if not runnable():
            raise NotRunnable(
                f"this processor ({platform.machine()}) cannot run x86-64 code: all but running works here"
            )
        text = len(image) - data
        if not 0 < text <= len(image):
            raise ValueError(f"there is no code to run: the image has {len(image)} bytes, {data} of them data")
        lead = -text % mmap.PAGESIZE if data else 0
        size = lead + len(image)
        block = _map(size)
        self._free = weakref.finalize(self, _unmap, block, size)
        self._address = block + lead
        ctypes.memmove(self._address, image, len(image))
        try:
            _protect(block, lead + text, executable=True)
            if data:
                _protect(self._address + text, data, executable=False)
        except OSError:
            self.close()
            raise

    def address(self, offset: int = 0) -> int:
        """The address of the byte at `offset`; ValueError when the memory is freed already."""
        if not self._free.alive:
            raise ValueError("the executable is closed")
        return self._address + offset

    def function(self, result: Any, arguments: Sequence[Any] = (), offset: int = 0) -> Callable[..., Any]:
        """The code at `offset` as a ctypes function in this platform's C calling convention.

        `result` and `arguments` are ctypes types, None for no result. A call releases the interpreter's lock. The
        function keeps the memory alive, but `close` frees it all the same: do not call it after that.
        """
        function = ctypes.CFUNCTYPE(result, *arguments)(self.address(offset))
        function.__dict__["executable"] = self
        return function

    def close(self) -> None:
        """Free the memory; a second time does nothing."""
        self._free()

    def __enter__(self) -> Executable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


if sys.platform == "win32":
    _COMMIT_AND_RESERVE, _RELEASE = 0x3000, 0x8000
    _READ_ONLY, _READ_WRITE, _EXECUTE_READ = 0x02, 0x04, 0x20

    def _kernel() -> ctypes.WinDLL:
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        void, size, word = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32
        kernel.VirtualAlloc.restype = void
        kernel.VirtualAlloc.argtypes = (void, size, word, word)
        kernel.VirtualProtect.argtypes = (void, size, word, ctypes.POINTER(word))
        kernel.VirtualFree.argtypes = (void, size, word)
        kernel.GetCurrentProcess.restype = void
        kernel.FlushInstructionCache.argtypes = (void, void, size)
        return kernel

    def _map(size: int) -> int:
        address = _kernel().VirtualAlloc(None, size, _COMMIT_AND_RESERVE, _READ_WRITE)
        if not address:
            raise ctypes.WinError(ctypes.get_last_error())
        return int(address)

    def _protect(address: int, size: int, *, executable: bool) -> None:
        kernel, before = _kernel(), ctypes.c_uint32()
        if not kernel.VirtualProtect(address, size, _EXECUTE_READ if executable else _READ_ONLY, ctypes.byref(before)):
            raise ctypes.WinError(ctypes.get_last_error())
        kernel.FlushInstructionCache(kernel.GetCurrentProcess(), address, size)

    def _unmap(address: int, size: int) -> None:
        _kernel().VirtualFree(address, 0, _RELEASE)

else:

    def _libc() -> ctypes.CDLL:
        libc = ctypes.CDLL(None, use_errno=True)
        void, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        libc.mmap.restype = void
        libc.mmap.argtypes = (void, size, number, number, number, ctypes.c_int64)
        libc.mprotect.argtypes = (void, size, number)
        libc.munmap.argtypes = (void, size)
        return libc

    def _map(size: int) -> int:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        address = _libc().mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        if address == ctypes.c_void_p(-1).value:
            raise _last_error()
        return int(address)

    def _protect(address: int, size: int, *, executable: bool) -> None:
        if _libc().mprotect(address, size, mmap.PROT_READ | (mmap.PROT_EXEC if executable else 0)):
            raise _last_error()

    def _unmap(address: int, size: int) -> None:
        _libc().munmap(address, size)

    def _last_error() -> OSError:
        number = ctypes.get_errno()
        return OSError(number, f"no executable memory: {os.strerror(number)}")
