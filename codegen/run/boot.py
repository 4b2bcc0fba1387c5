"""The memory image of an emulated machine: boot code, a list of calls, and the results that the calls leave.

A boot needs neither a BIOS nor a disk. `rom` contains the reset code, which switches to 64-bit mode; everything else is
in memory from the start. Code is mapped read-only, read-only data non-executable too, and writable data and the stack
non-executable. The page of the supervisor, which makes the calls, is mapped as well, all other pages are not. A call
that faults is recorded, and the next call follows.

Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3, chapters 4 (paging), 6 (interrupts) and
10 (processor initialization).
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from setwise.codegen.assemble import assemble
from setwise.codegen.machine.code import Code, Instruction, Label, Register, general
from setwise.codegen.run.harness import move, word

Buffer = Any
"""An object with Python's buffer protocol: bytes, or an array of NumPy or ctypes."""

_SYSTEM = 0x0020_0000  # one large page of 2 MiB; the page at 0 is not mapped, so that a null pointer faults
_WHOLE, _EXACT, _GDT, _TSS, _IDT, _SUPERVISOR, _STATE = (_SYSTEM + 0x1000 * at for at in (0, 3, 6, 7, 8, 9, 10))
_FAULT_STACK = _SYSTEM + 0x1_0000
_STACK = 0x0040_0000  # one large page
_CODE, _CONSTANTS, _DATA, _END = 0x0060_0000, 0x0100_0000, 0x0400_0000, 0x1000_0000
_PAGE = 0x20_0000
_TOUCH = 0x1_0000  # Bochs allocates memory in blocks of a multiple of this, in bytes
START, SIZE = _SYSTEM, _END
"""The address of the machine's initial memory, and the memory size that the machine needs, in bytes."""

_ROM_SIZE, _ROM_START = 0x1_0000, 0xF000  # the ROM's bytes, which end at 1 MiB; the reset code's offset
_PRESENT, _WRITABLE, _LARGE, _NOT_EXECUTED = 1, 2, 0x80, 1 << 63
_VECTORS = 32
_WITH_ERROR_CODE = frozenset((8, 10, 11, 12, 13, 14, 17, 21))
_FAULTS = {0: "divide error", 3: "int3", 6: "invalid opcode", 12: "stack fault", 13: "general protection fault",
           14: "page fault", 17: "alignment check"}  # fmt: skip

# The words of an entry of the call table; the two from _PUSHED on are a copy of the interrupt frame's top.
_FUNCTION, _ARGUMENTS, _RESULT, _PROGRESS, _HANDLER, _PUSHED = 0, 1, 5, 6, 7, 8
_ENTRY_WORDS = 16
_NOT_BEGUN, _BEGUN, _RETURNED, _FAULTED = range(4)


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a call: a result, or a fault and the saved rip, or neither if the call has not ended."""

    result: int = 0
    fault: str = ""
    place: int = 0
    ended: bool = True


class Full(Exception):
    """Contents that are too large for the machine's memory."""


class Image:
    """The initial memory of a machine, and the calls that it makes."""

    def __init__(self) -> None:
        self._blocks: list[tuple[int, Buffer]] = []
        self._next = {_CODE: _CODE, _CONSTANTS: _CONSTANTS, _DATA: _DATA}
        self._calls: list[bytes] = []

    def code(self, image: Buffer) -> int:
        """Add code with its constants at a multiple of 4 KiB; return its address. Raises Full if there is no room."""
        return self._place(_CODE, image, 4096)

    def read_only(self, content: Buffer) -> int:
        """Add read-only data, and return its address. Raises Full if there is no room."""
        return self._place(_CONSTANTS, content, 64)

    def writable(self, content: Buffer) -> int:
        """Add writable data, and return its address for `Aftermath.read`. Raises Full if there is no room."""
        return self._place(_DATA, content, 64)

    def call(self, function: int, arguments: Sequence[int]) -> int:
        """Append a call of an address with up to four arguments in System V's registers. Return its number, from 0."""
        if len(arguments) > 4:
            raise ValueError(f"a call takes four arguments at most, not {len(arguments)}")
        words = (function, *arguments)
        self._calls.append(struct.pack(f"<{_ENTRY_WORDS}Q", *words, *[0] * (_ENTRY_WORDS - len(words))))
        return len(self._calls) - 1

    def memory(self) -> Iterator[tuple[int, bytes]]:
        """Yield each block of initial memory: its address, at least `START`, and its content. Other memory is zero."""
        table, end = self._table()
        yield _SYSTEM, _system(list(self._mapped()), table, end)
        yield from self._blocks
        yield table, b"".join(self._calls)

    def writable_range(self) -> tuple[int, int]:
        """Return the address and the length in bytes of the writable data and the call table behind it."""
        return _DATA, self._table()[1] - _DATA

    def aftermath(self, content: bytes) -> Aftermath:
        """Return the results of a boot that left `content` in `writable_range`. Raises ValueError if calls changed."""
        table, end = self._table()
        entries = [content[at - _DATA :][: 8 * _ENTRY_WORDS] for at in range(table, end, 8 * _ENTRY_WORDS)]
        if [entry[: 8 * _RESULT] for entry in entries] != [call[: 8 * _RESULT] for call in self._calls]:
            raise ValueError("the emulated machine's memory was not loaded correctly")
        return Aftermath(content, list(map(_ending, entries)))

    def _place(self, arena: int, content: Buffer, alignment: int) -> int:
        address = -(-self._next[arena] // alignment) * alignment
        end = address + memoryview(content).nbytes
        limit = {_CODE: _CONSTANTS, _CONSTANTS: _DATA, _DATA: _END - _PAGE}[arena]
        if end > limit:
            raise Full(f"{limit - arena:,} bytes of an emulated machine's memory are full")
        self._next[arena] = end
        self._blocks.append((address, content))
        return address

    def _table(self) -> tuple[int, int]:
        """Return the start and end addresses of the call table, which is behind the data."""
        start = -(-self._next[_DATA] // 64) * 64
        return start, start + 8 * _ENTRY_WORDS * len(self._calls)

    def _mapped(self) -> Iterator[tuple[int, int]]:
        """Yield the address of each large page of stack, code and data, and the flags of its rights."""
        yield _STACK, _WRITABLE | _NOT_EXECUTED
        rights = {_CODE: 0, _CONSTANTS: _NOT_EXECUTED, _DATA: _WRITABLE | _NOT_EXECUTED}
        for arena, right in rights.items():
            end = self._table()[1] if arena == _DATA else self._next[arena]
            for page in range(arena, end, _PAGE):
                yield page, right


@dataclass(frozen=True, slots=True)
class Aftermath:
    """The content of `Image.writable_range` after a boot, and the end of each call by number."""

    content: bytes
    calls: Sequence[Ending]

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes at an address that `Image.writable` returned."""
        return self.content[address - _DATA :][:size]


def rom(features: frozenset[str]) -> bytes:
    """Return the ROM for a processor with these features: the code from the reset vector to 64-bit mode."""
    memory = bytearray(b"\xcc" * _ROM_SIZE)
    pointers = _ROM_START - 0x20
    struct.pack_into("<HI", memory, pointers, 5 * 8 - 1, _GDT)
    struct.pack_into("<HI", memory, pointers + 0x10, 16 * _VECTORS - 1, _IDT)
    start = _switch(pointers, features)
    memory[_ROM_START : _ROM_START + len(start)] = start
    memory[0xFFF0:0xFFF5] = b"\xea" + struct.pack("<HH", _ROM_START, 0xF000)  # jmp f000:f000, below the first megabyte
    return bytes(memory)


def _switch(pointers: int, features: frozenset[str]) -> bytes:
    """Return the code that switches to 64-bit mode. In ROM lgdt's operand is at `pointers`, lidt's 16 bytes behind."""
    saved = 0xE7 if "avx512f" in features else 0x07 if "avx" in features else 0
    physical_extension, sse, xsave = 0x20, 0x600, 0x4_0000
    paging_and_protection, write_protect, extensions = 0x8000_0001, 0x1_0000, 0x32
    eax, ecx, edx = range(3)

    def load(register: int, value: int) -> bytes:
        return struct.pack("<BBI", 0x66, 0xB8 + register, value)  # mov register,value

    def control(number: int, value: int) -> bytes:
        return load(eax, value) + bytes((0x0F, 0x22, 0xC0 + 8 * number))  # mov eax,value; mov cr,eax

    code = struct.pack("<4sH", bytes.fromhex("2e0f0116"), pointers)  # lgdt cs:[pointers]
    code += struct.pack("<4sH", bytes.fromhex("2e0f011e"), pointers + 0x10)  # lidt
    code += control(4, physical_extension | sse | (xsave if saved else 0)) + control(3, _WHOLE) + load(edx, 0)
    if saved:
        code += load(ecx, 0) + load(eax, saved) + bytes.fromhex("0f01d1")  # xsetbv
    # EFER: long mode, and no-execute pages; wrmsr.
    code += load(ecx, 0xC000_0080) + load(eax, 0x900) + bytes.fromhex("0f30")
    code += control(0, paging_and_protection | write_protect | extensions)
    return code + struct.pack("<2sIH", bytes.fromhex("66ea"), _SUPERVISOR, 8)  # jmp 8:supervisor


def _system(pages: Sequence[tuple[int, int]], table: int, end: int) -> bytes:
    """Return the block at _SYSTEM: page tables, segment descriptors, task state, interrupt gates, and supervisor.

    `pages` are the results of `Image._mapped`. The call table is from `table` to `end`.
    """
    block = bytearray(_FAULT_STACK + 0x1000 - _SYSTEM)

    def put(address: int, *words: int) -> None:
        struct.pack_into(f"<{len(words)}Q", block, address - _SYSTEM, *words)

    def linked(start: int, number: int) -> list[int]:
        """Link `number` page tables from `start` on, each by its first entry to the next; return their addresses."""
        tables = [start + 0x1000 * at for at in range(number)]
        for table, following in pairwise(tables):
            put(table, following | _PRESENT | _WRITABLE)
        return tables

    *_, directory = linked(_WHOLE, 3)
    put(directory, *(page | _PRESENT | _WRITABLE | _LARGE for page in range(0, _END, _PAGE)))
    *_, directory = linked(_EXACT, 3)
    for page, rights in ((_SYSTEM, _WRITABLE), *pages):
        put(directory + 8 * (page // _PAGE), page | _PRESENT | _LARGE | rights)
    code, handlers = _supervisor(end)
    place = _SUPERVISOR - _SYSTEM
    block[place : place + len(code)] = code
    task = [0x67 | (_TSS & 0xFF_FFFF) << 16 | 0x89 << 40 | (_TSS >> 24) << 56, 0]
    put(_GDT, 0, 0x00AF_9A00_0000_FFFF, 0x00AF_9200_0000_FFFF, *task)
    # The first entry of the interrupt stack table.
    struct.pack_into("<Q", block, _TSS - _SYSTEM + 0x24, _FAULT_STACK + 0x1000)
    for vector, handler in enumerate(handlers):
        put(_IDT + 16 * vector, handler & 0xFFFF | 8 << 16 | 1 << 32 | 0x8E << 40 | (handler >> 16) << 48, 0)
    put(_STATE, table, end)
    return bytes(block)


@cache
def _supervisor(size: int = _END) -> tuple[bytes, tuple[int, ...]]:
    """Return the code that makes the calls in order, and the addresses of the interrupt handlers, which end a call.

    First it reads a word of each block of memory from _SYSTEM to address `size`: Bochs allocates blocks in the order of
    their first access, but has loaded the image as if they were consecutive. Then it maps only used pages.
    """
    begin = bytes.fromhex("66b81800 0f00d8")  # mov ax,24; ltr ax: the task's descriptor
    exact = b"\xb8" + _EXACT.to_bytes(4, "little") + bytes.fromhex("0f22d8")  # mov eax,...; mov cr3,rax
    end = bytes.fromhex("6687db faf4")  # xchg bx,bx: break into the debugger; cli; hlt
    rax, rcx, rsp, entry, state = map(general, ("rax", "rcx", "rsp", "r10", "r11"))
    arguments: Sequence[Register] = list(map(general, ("rdi", "rsi", "rdx", "rcx")))

    def current() -> list[Instruction]:
        return [Instruction("mov", (state, _STATE)), move(entry, word(state, 0))]

    def copied(base: Register, at: int, to: int) -> list[Instruction]:
        return [move(rcx, word(base, at)), move(word(entry, to), rcx)]

    def progress(state: int) -> list[Instruction]:
        return [Instruction("mov", (rcx, state)), move(word(entry, _PROGRESS), rcx)]

    touch = Code(
        "touch",
        (
            Instruction("mov", (rcx, _SYSTEM)),
            Label("touch"),
            move(rax, word(rcx, 0)),
            Instruction("add", (rcx, _TOUCH)),
            Instruction("cmp", (rcx, size)),
            Instruction("jb", (Label("touch"),)),
        ),
    )
    code = Code(
        "supervisor",
        (
            Label("next"),
            *current(),
            Instruction("mov", (rsp, _STACK + _PAGE - 64)),
            move(rax, word(state, 1)),
            Instruction("cmp", (entry, rax)),
            Instruction("jae", (Label("done"),)),
            *progress(_BEGUN),
            *(move(register, word(entry, _ARGUMENTS + n)) for n, register in enumerate(arguments)),
            Instruction("call", (word(entry, _FUNCTION),)),
            *current(),
            move(word(entry, _RESULT), rax),
            *progress(_RETURNED),
            Label("advance"),
            Instruction("add", (entry, 8 * _ENTRY_WORDS)),
            move(word(state, 0), entry),
            Instruction("cld"),
            Instruction("jmp", (Label("next"),)),
            *(item for n in range(_VECTORS) for item in (Label(f"vector {n}"), Instruction("call", (Label("fault"),)))),
            Label("fault"),
            *current(),
            Instruction("pop", (rax,)),
            move(word(entry, _HANDLER), rax),
            *copied(rsp, 0, _PUSHED),
            *copied(rsp, 1, _PUSHED + 1),
            *progress(_FAULTED),
            Instruction("jmp", (Label("advance"),)),
            Label("done"),
        ),
    )
    begin += assemble(touch, "iced").text + exact
    calls = assemble(code, "iced")
    start = _SUPERVISOR + len(begin)
    return begin + calls.text + end, tuple(start + calls.labels[f"vector {n}"] for n in range(_VECTORS))


def _ending(entry: bytes) -> Ending:
    words = struct.unpack_from(f"<{_ENTRY_WORDS}Q", entry)
    if words[_PROGRESS] == _RETURNED:
        return Ending(words[_RESULT])
    if words[_PROGRESS] != _FAULTED:
        return Ending(ended=False)
    number = bisect_left(_supervisor()[1], words[_HANDLER]) - 1
    place = words[_PUSHED + (number in _WITH_ERROR_CODE)]
    return Ending(fault=_FAULTS.get(number, f"interrupt {number}"), place=place)
