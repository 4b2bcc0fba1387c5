"""Runs single instructions on a machine, from one full state of registers to the next: on this CPU, or in Bochs.

Both execute the same code: it fills the registers from a work area, jumps to the instruction, and stores them there
again. The memory that the instruction works on, with a stack, is part of the work area.
"""

import ctypes
import mmap
import platform
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import pytest

from setwise.analysis.code.decode import Decoded
from setwise.analysis.run.emulation import correct, fault_of
from setwise.codegen.run import cpu
from setwise.codegen.run.bochs import PROCESSORS, boot, installed
from setwise.codegen.run.boot import Image
from tests.analysis.listings import assemble
from tests.conftest import in_ci, require_tool

GENERAL = (
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
)  # fmt: skip
FLAGS = {"cf": 0, "pf": 2, "af": 4, "zf": 6, "sf": 7, "of": 11}
# Places in the work area: 16 general registers, 8 mask registers, flags, the caller's rsp, where to jump, 32 vector
# registers; memory up to its end.
_MASKS, _FLAGS, _CALLER, _TARGET, _VECTORS, _MEMORY = 128, 192, 200, 208, 256, 2304
_NAMES = {"avx512vbmi": "avx512vbmi", "avx512bitalg": "avx512_bitalg", "avx512vpopcntdq": "avx512_vpopcntdq"}
_NAMES |= {
    "avx512vbmi2": "avx512_vbmi2",
    "x86-64": "lm",
    "lzcnt": "abm",
    "sse3": "pni",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
}
_JUMP = 5  # bytes


@dataclass(frozen=True)
class Saved:
    """What a processor with AVX-512, with AVX or with neither has: vector registers, their lanes, mask registers."""

    vectors: int
    lanes: int
    masks: int


def saved(features: frozenset[str]) -> Saved:
    """What a processor with these features has."""
    if {"avx512f", "avx512bw"} <= features:
        return Saved(32, 8, 8)
    return Saved(16, 4 if "avx" in features else 2, 0)


@dataclass
class Registers:
    """One state of the machine: 64 bits each, eight lanes a vector."""

    general: list[int]
    masks: list[int]
    flags: int
    vectors: list[tuple[int, ...]]


@dataclass
class Trial:
    """An instruction, the state that it begins with, and the memory."""

    raw: bytes
    given: Registers
    memory: bytes


@dataclass
class After:
    """The state and the memory behind an instruction, or how it faulted; what a machine lacks is as it was given."""

    registers: Registers
    memory: bytes
    fault: str = ""


class Machine(Protocol):
    """What single instructions can be run on; `memory` is the address at which they find theirs."""

    name: str
    memory: int
    saved: Saved

    def excuse(self, instruction: Decoded) -> str:
        """Why an instruction is not to be run there; empty where it is."""

    def run(self, trials: Sequence[Trial]) -> list[After]:
        """What each of these leaves."""


@cache
def _flags() -> frozenset[str]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return frozenset(next((line.split() for line in lines if line.startswith("flags")), ()))


class Cpu:
    """This CPU; `this_cpu` gives the one that there is."""

    name = "this CPU"
    _CODE, _WORK, _END = 0x6000_0000, 0x6010_0000, 0x6011_0000  # where no program is, and 32 bits reach

    def __init__(self) -> None:
        if platform.machine() != "x86_64" or platform.system() != "Linux":
            pytest.skip("not run: needs x86-64 Linux")
        self.memory, self.saved = self._WORK + _MEMORY, saved(cpu.features())
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.mmap.restype = ctypes.c_void_p
        self._libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        self._libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        flags, no_replace = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 0x10_0000
        rights = mmap.PROT_READ | mmap.PROT_WRITE
        found = self._libc.mmap(self._CODE, self._END - self._CODE, rights, flags | no_replace, -1, 0)
        assert found == self._CODE, "the addresses are taken"

    def lacking(self, features: frozenset[str]) -> frozenset[str]:
        """Which of these features, as `setwise.analysis.code.decode` names them, are not there."""
        return frozenset(feature for feature in features if _NAMES.get(feature, feature) not in _flags())

    def excuse(self, instruction: Decoded) -> str:
        lacks = self.lacking(instruction.features)
        return f"this CPU lacks {', '.join(sorted(lacks))}" if lacks else ""

    def run(self, trials: Sequence[Trial]) -> list[After]:
        code, places = _code(self._WORK, self.saved, (trial.raw for trial in trials))
        size = self._WORK - self._CODE
        assert len(code) <= size
        self._libc.mprotect(self._CODE, size, mmap.PROT_READ | mmap.PROT_WRITE)
        ctypes.memmove(self._CODE, code, len(code))
        self._libc.mprotect(self._CODE, size, mmap.PROT_READ | mmap.PROT_EXEC)
        call = ctypes.CFUNCTYPE(None)(self._CODE)
        made = []
        for trial in trials:
            work = _packed(trial, self._CODE + places[trial.raw])
            ctypes.memmove(self._WORK, work, len(work))
            call()
            made.append(_after(ctypes.string_at(self._WORK, len(work))))
        return made


@cache
def this_cpu() -> Cpu:
    """This CPU; a test that asks is not run where it is no x86-64 under Linux."""
    return Cpu()


class Bochs:
    """An Ice Lake in Bochs, which executes all that has semantics here; what faults there ends with the fault.

    Its own known faults are corrected, or seen as they are.
    """

    name = "Bochs"

    def __init__(self, *, corrected: bool = True) -> None:
        if not installed() and in_ci():
            require_tool("bochs")
        self._on, self._corrected = PROCESSORS["ice-lake"], corrected
        self.memory, self.saved = Image().writable(bytes(_MEMORY)) + _MEMORY, saved(self._on.features)

    def excuse(self, instruction: Decoded) -> str:
        if not installed():
            return "bochs missing"
        fault = fault_of(instruction)
        return f"Bochs {fault.description}" if self._corrected and fault is not None and fault.correct is None else ""

    def run(self, trials: Sequence[Trial]) -> list[After]:
        image = Image()
        size = _MEMORY + max(len(trial.memory) for trial in trials)
        work = image.writable(bytes(size))
        assert work + _MEMORY == self.memory
        words = size // 8
        copied = f"""
            push rdi; mov rsi,rdi; mov edi,{work}; mov ecx,{words}; rep movsq; call enter
            pop rdi; mov esi,{work}; mov ecx,{words}; rep movsq; ret; enter:"""
        seen = [correct(trial.raw)[0] if self._corrected else trial.raw for trial in trials]
        code, places = _code(work, self.saved, seen, copied)
        start = image.code(code)
        records = [image.writable(_packed(trial, start + places[raw])) for trial, raw in zip(trials, seen, strict=True)]
        for record in records:
            image.call(start, (record,))
        left = boot(image, self._on)
        assert all(call.ended for call in left.calls), "Bochs did not come to its end"
        made = [_after(left.read(record, size)) for record in records]
        for after, call in zip(made, left.calls, strict=True):
            after.fault = call.fault
        return made


def _code(work: int, has: Saved, raws: Iterable[bytes], before: str = "") -> tuple[bytes, dict[bytes, int]]:
    """Code that enters at its start, and where in it each instruction stands."""
    enter, leave = assemble(f"{before}\n{_enter(work, has)}"), assemble(_leave(work, has))
    code, places = bytearray(enter + leave), {}
    for raw in dict.fromkeys(raws):
        places[raw] = len(code)
        code += raw
        code += b"\xe9" + struct.pack("<i", len(enter) - len(code) - _JUMP)
    return bytes(code), places


def _vectors(has: Saved) -> Iterable[tuple[int, str, str]]:
    """Each vector register's place and name, and the instruction that moves it."""
    letter, move = {8: ("z", "vmovdqu64"), 4: ("y", "vmovdqu"), 2: ("x", "movdqu")}[has.lanes]
    return ((_VECTORS + 64 * number, f"{letter}mm{number}", move) for number in range(has.vectors))


def _enter(work: int, has: Saved) -> str:
    lines = ["push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15", f"movabs rax,{work}"]
    lines += [f"mov [rax+{_CALLER}],rsp", f"push [rax+{_FLAGS}]", "popfq"]
    lines += [f"{move} {name},[rax+{place}]" for place, name, move in _vectors(has)]
    lines += [f"kmovq k{number},[rax+{_MASKS + 8 * number}]" for number in range(has.masks)]
    lines += [f"mov {name},[rax+{8 * place}]" for place, name in enumerate(GENERAL) if name != "rax"]
    return ";".join([*lines, "mov rax,[rax]", f"jmp qword ptr ds:[{work + _TARGET}]"])


def _leave(work: int, has: Saved) -> str:
    lines = [f"movabs [{work}],rax", f"movabs rax,{work}"]
    lines += [f"mov [rax+{8 * place}],{name}" for place, name in enumerate(GENERAL) if name != "rax"]
    lines += [f"mov rsp,[rax+{_CALLER}]", "pushfq", f"pop [rax+{_FLAGS}]", "cld"]
    lines += [f"{move} [rax+{place}],{name}" for place, name, move in _vectors(has)]
    lines += [f"kmovq [rax+{_MASKS + 8 * number}],k{number}" for number in range(has.masks)]
    lines += ["vzeroupper"] if has.lanes > 2 else []
    return ";".join([*lines, "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx", "ret"])


def _packed(trial: Trial, target: int) -> bytes:
    given = trial.given
    lanes = [lane for vector in given.vectors for lane in vector]
    head = struct.pack("<27Q", *given.general, *given.masks, given.flags, 0, target)
    return head.ljust(_VECTORS, b"\0") + struct.pack("<256Q", *lanes) + trial.memory


def _after(found: bytes) -> After:
    words, lanes = struct.unpack_from("<25Q", found), struct.unpack_from("<256Q", found, _VECTORS)
    vectors = [lanes[start : start + 8] for start in range(0, 256, 8)]
    return After(Registers(list(words[:16]), list(words[16:24]), words[24], vectors), found[_MEMORY:])
