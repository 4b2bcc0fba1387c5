"""Executable memory: code pages, read-only data pages, and ctypes functions for the code."""

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
    """Code that this machine cannot run, because of its architecture or a CPU feature that it lacks."""


def runnable() -> bool:
    """Return whether this process can run x86-64 code."""
    return platform.machine().lower() in ("x86_64", "amd64") and sys.maxsize > 1 << 32


class Executable:
    """A block of machine code in executable memory, freed by `close`, at the end of `with`, or with the last reference.

    `image` is Assembled.image; its last `data` bytes are data, which begin at a page boundary and are not executable.
    Without data, the code begins at a page boundary. So the distance of code and data is kept, and data may have any
    alignment up to the page size. Nothing is writable. Raises NotRunnable if the processor is not x86-64, ValueError if
    there is no code, and OSError if the system refuses the memory.

    >>> with Executable(bytes.fromhex("b82a000000c3")) as code:  # mov eax, 42; ret
    ...     code.function(ctypes.c_uint64)()
    42
    """

    def __init__(self, image: bytes, data: int = 0) -> None:
        if not runnable():
            raise NotRunnable(
                f"this processor ({platform.machine()}) cannot run x86-64 code; everything else works here"
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

    def address(self) -> int:
        """Return the address of the first byte. Raises ValueError if the memory is freed."""
        if not self._free.alive:
            raise ValueError("the executable is closed: make a new one")
        return self._address

    def function(self, result: Any, arguments: Sequence[Any] = ()) -> Callable[..., Any]:
        """Return the code as a ctypes function in this platform's C calling convention.

        `result` and `arguments` are ctypes types; a `result` of None means void. A call releases the interpreter's
        lock. The function keeps the memory alive, but `close` frees it nevertheless; do not call the function after
        that.
        """
        function = ctypes.CFUNCTYPE(result, *arguments)(self.address())
        function.__dict__["executable"] = self
        return function

    def close(self) -> None:
        """Free the memory; a second call does nothing."""
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
