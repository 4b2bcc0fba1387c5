"""Runs single instructions on this CPU, from one full state of registers to the next."""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.analysis.listings import assemble

GENERAL = (
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
)  # fmt: skip
FLAGS = {"cf": 0, "pf": 2, "af": 4, "zf": 6, "sf": 7, "of": 11}
PAGE = 4096
# Places in the state page: 16 general registers, 8 mask registers, flags, the caller's rsp, 32 vector registers.
_MASKS, _FLAGS, _CALLER, _VECTORS = 128, 192, 200, 256
_SIZE = _VECTORS + 32 * 64
_NAMES = {"avx512vbmi": "avx512vbmi", "avx512bitalg": "avx512_bitalg", "avx512vpopcntdq": "avx512_vpopcntdq"}
_NAMES |= {"x86-64": "lm", "lzcnt": "abm", "sse3": "pni", "sse4.1": "sse4_1", "sse4.2": "sse4_2"}


@dataclass
class Registers:
    """One state of the machine: 64 bits each, eight lanes a vector."""

    general: list[int]
    masks: list[int]
    flags: int
    vectors: list[tuple[int, ...]]


@cache
def lacking(features: frozenset[str]) -> frozenset[str]:
    """Which of these features, as `analysis.decode` names them, this CPU lacks."""
    flags: set[str] = set()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            flags = set(line.split())
            break
    return frozenset(feature for feature in features if _NAMES.get(feature, feature) not in flags)


class Cpu:
    """A code page, a page of state, a page of memory for operands and one of stack."""

    def __init__(self) -> None:
        if platform.machine() != "x86_64" or platform.system() != "Linux":
            pytest.skip("not run: needs x86-64 Linux")
        if missing := lacking(frozenset({"avx512f", "avx512bw"})):
            pytest.skip(f"not run: this CPU lacks {', '.join(sorted(missing))}")
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.mmap.restype = ctypes.c_void_p
        self._libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        self._libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        address = self._libc.mmap(None, 4 * PAGE, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        assert address
        self.code, self.state, self.buffer, self.stack = (address + PAGE * place for place in range(4))
        self.size = 2 * PAGE  # of the buffer and the stack behind it
        self._before, self._after = assemble(self._enter()), assemble(self._leave())

    def load(self, instruction: bytes) -> None:
        """Makes this the instruction that runs."""
        block = self._before + instruction + self._after
        self._libc.mprotect(self.code, PAGE, mmap.PROT_READ | mmap.PROT_WRITE)
        ctypes.memmove(self.code, block, len(block))
        self._libc.mprotect(self.code, PAGE, mmap.PROT_READ | mmap.PROT_EXEC)

    def run(self, given: Registers, memory: bytes) -> tuple[Registers, bytes]:
        """The state, and the buffer with the stack behind it, after the instruction."""
        lanes = [lane for vector in given.vectors for lane in vector]
        head = struct.pack("<26Q", *given.general, *given.masks, given.flags, 0)
        block = head.ljust(_VECTORS, b"\0") + struct.pack("<256Q", *lanes)
        ctypes.memmove(self.state, block, _SIZE)
        ctypes.memmove(self.buffer, memory, self.size)
        ctypes.CFUNCTYPE(None)(self.code)()
        found = ctypes.string_at(self.state, _SIZE)
        words = struct.unpack_from("<25Q", found)
        lanes = list(struct.unpack_from("<256Q", found, _VECTORS))
        vectors = [tuple(lanes[start : start + 8]) for start in range(0, 256, 8)]
        after = Registers(list(words[:16]), list(words[16:24]), words[24], vectors)
        return after, ctypes.string_at(self.buffer, self.size)

    def _enter(self) -> str:
        lines = ["push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15", f"movabs rax,{self.state}"]
        lines += [f"mov [rax+{_CALLER}],rsp", f"push [rax+{_FLAGS}]", "popfq"]
        lines += [f"vmovdqu64 zmm{number},[rax+{_VECTORS + 64 * number}]" for number in range(32)]
        lines += [f"kmovq k{number},[rax+{_MASKS + 8 * number}]" for number in range(8)]
        lines += [f"mov {name},[rax+{8 * place}]" for place, name in enumerate(GENERAL) if name != "rax"]
        return ";".join([*lines, "mov rax,[rax]"])

    def _leave(self) -> str:
        lines = [f"movabs [{self.state}],rax", f"movabs rax,{self.state}"]
        lines += [f"mov [rax+{8 * place}],{name}" for place, name in enumerate(GENERAL) if name != "rax"]
        lines += [f"mov rsp,[rax+{_CALLER}]", "pushfq", f"pop [rax+{_FLAGS}]", "cld"]
        lines += [f"vmovdqu64 [rax+{_VECTORS + 64 * number}],zmm{number}" for number in range(32)]
        lines += [f"kmovq [rax+{_MASKS + 8 * number}],k{number}" for number in range(8)]
        return ";".join([*lines, "vzeroupper", "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx", "ret"])
