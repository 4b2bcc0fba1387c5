"""Functions of the C library that compilers call, by meaning: memcpy and memset, for constant sizes.

They follow the System V convention. Afterwards all that a called function may change has an arbitrary value: the other
registers, the flags, and the stack below the return address.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial

from setwise.analysis.code.decode import Decoded, decode
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.general import pop_value, push_value
from setwise.analysis.semantics.state import MASKS, UNDEFINED, VECTORS, Execution, Goto, Meaning

_MOST = 4096  # bytes
_LOST = 0xA5A5_A5A5_A5A5_A5A5
_SPOILT = ("rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11")
_WORDS_BELOW = 17  # words of the stack that a function overwrites: the red zone of its caller

Word = Callable[[Execution, int, int], Bits]
"""Returns the value that a function writes at an offset, of a width in bits."""


def _call(word: Word, x: Execution) -> Goto:
    d, top, target, size = x.domain, x.register("rsp"), x.register("rdi"), x.register("rdx")
    x.require(d.eq(d.extract(top, 0, 4, 64), 8, 4), "needs a stack aligned to 16 bytes at its call")
    if not isinstance(size, int) or size > _MOST:
        raise x.unknown(f"only constant sizes up to {_MOST} bytes are supported")
    _spoil_stack(x, top)
    pieces = [(at, 64) for at in range(0, size - 7, 8)] + [(at, 8) for at in range(size - size % 8, size)]
    words = [word(x, at, width) for at, width in pieces]
    for (at, width), value in zip(pieces, words, strict=True):
        x.store(d.add(target, at, 64), width, value)
    _spoil_stack(x, top)
    x.state.registers |= {name: d.undefined(_LOST, 64) for name in (*_SPOILT, *MASKS)} | {"rax": target}
    x.state.vectors |= {name: tuple(d.undefined(_LOST, 64) for _ in range(8)) for name in VECTORS}
    x.set_flags(UNDEFINED)
    return Goto(pop_value(x))


def _spoil_stack(x: Execution, top: Bits) -> None:
    """Overwrite the stack below the return address at `top`."""
    for _ in range(_WORDS_BELOW):
        push_value(x, x.domain.undefined(_LOST, 64))
    x.set_register("rsp", top)


def _copied(x: Execution, at: int, width: int) -> Bits:
    d, source, target, size = x.domain, x.register("rsi"), x.register("rdi"), x.register("rdx")
    if at == 0:
        for one, other in ((source, target), (target, source)):
            apart = d.not_(d.ult(d.sub(one, other, 64), size, 64), 1)
            x.require(apart, "copies between blocks that overlap")
    return x.load(d.add(source, at, 64), width)


def _filled(x: Execution, at: int, width: int) -> Bits:
    byte = x.domain.extract(x.register("rsi"), 0, 8, 64)
    return x.join([byte] * (width // 8), 8)[0]


TABLE: Mapping[str, Meaning] = {"memcpy": partial(_call, _copied), "memset": partial(_call, _filled)}


@cache
def library_function(name: str, offset: int) -> Decoded:
    """Return a function of the C library as one instruction without bytes at an offset."""
    written = frozenset({"rax", "rsp", *_SPOILT, *MASKS, *VECTORS})
    return replace(decode(b"\xc3")[0], offset=offset, raw=b"", mnemonic=name, writes=written)
