"""The table of operations, with the function that each computes on one lane, if it is known.

Known bits, demanded bits and the truth tables of bitwise operations follow from that function. A graph may hold
operations that are missing here; nothing is known of them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from itertools import product
from operator import add, or_
from types import MappingProxyType
from typing import Any

ALL = (1 << 64) - 1
_LOW = (1 << 32) - 1
SIGN = 1 << 63
"""The sign bit. As a bound: an unsigned number below it is non-negative as a signed one."""
_LOW_BITS, _HIGH_BITS = 0x7F7F_7F7F_7F7F_7F7F, 0x8080_8080_8080_8080  # of each byte


@dataclass(frozen=True, slots=True)
class Operation:
    """The properties of one operation.

    compute    a function from one lane of each argument, and of `attr` if any (a shift count), to the result, which
               may need reduction modulo 2**64; None if it is not known. Except for affine, popcount and tzcnt, lanes
               may be arrays or bit-vectors
    bitwise    each bit of the result depends only on the argument bits in the same position
    left       1 for shl and rotl, -1 for shr: shifts and a rotate by constant counts; 0 for other operations
    commutes   the two arguments may be exchanged
    neutral    the second argument (either one, if it commutes) that leaves the other unchanged
    absorbing  the argument that is itself the result
    writes     it has no result: it writes memory, or is `done`
    mask       the result is in a mask register
    free       it needs no instruction
    cycles     approximate latency
    """

    name: str
    compute: Callable[..., int] | None = None
    bitwise: bool = False
    left: int = 0
    commutes: bool = False
    neutral: int | None = None
    absorbing: int | None = None
    writes: bool = False
    mask: bool = False
    free: bool = False
    cycles: int = 1

    @property
    def idempotent(self) -> bool:
        """Whether the operation on two equal values returns that value."""
        return self.bitwise and self.commutes and (self.of(0, 0), self.of(ALL, ALL)) == (0, ALL)

    def of(self, *lane: int) -> int:
        """Return `compute` of these numbers modulo 2**64."""
        assert self.compute is not None
        return self.compute(*lane) & ALL

    def zeros(self, known: tuple[int, ...], count: int, *, loose: bool) -> int:
        """Return the known zero bits of one lane of the result, given those of the arguments and the shift count.

        `loose` treats a shift as a rotate.
        """
        if self.left and loose:
            return turned(known[0], self.left * count)
        if self.left:
            return ALL & ~self.of(~known[0] & ALL, count)
        if not self.bitwise:
            return 0
        ones = 0
        for corner in _corners(known):
            ones |= self.of(*corner)
        return ALL & ~ones

    def demanded(self, wanted: int, at: int, known: tuple[int, ...], count: int) -> int:
        """Return the bits of argument number `at` on which the bits `wanted` of the result may depend.

        `known` holds the known zero bits of all arguments, `count` is the shift count.
        """
        if self.left:
            return turned(wanted & self.of(ALL, count), -self.left * count)
        if not self.bitwise:
            return ALL
        depends = 0
        for others in _corners((*known[:at], *known[at + 1 :])):
            depends |= self.of(*others[:at], 0, *others[at:]) ^ self.of(*others[:at], ALL, *others[at:])
        return wanted & depends


def _corners(zeros: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield every choice of arguments with all unknown bits of each zero or all one, given their known zero bits."""
    return product(*((0, ~zero & ALL) for zero in zeros))


def turned(bits: int, count: int) -> int:
    """Rotate the bits left by `count`, which may be negative."""
    return (bits << (count & 63) | bits >> (-count & 63)) & ALL


def _signed_shift(bits: Any, count: Any) -> Any:
    """Shift the bits right by 0 to 63, with copies of the highest bit shifted in."""
    return bits >> count | -(bits >> 63) << 1 << 63 - count


def _truth(holds: Any, like: Any) -> Any:
    """Return all ones if a comparison holds, else 0, in the kind of a word."""
    return -(like ^ like | holds)


def _affine(squares: int, matrix: int, n: int) -> int:
    """Return each byte times a bit matrix, xor n. The matrix's lowest byte is the row of the top result bit."""
    rows = matrix.to_bytes(8, "big")
    products = (sum((row & byte).bit_count() % 2 << at for at, row in enumerate(rows)) for byte in squares.to_bytes(8))
    return int.from_bytes(byte ^ n for byte in products)


def _gather(bits: Any, mask: Any) -> Any:
    """Return the bits at the squares of the mask, packed from the lowest bit (pext), the last square first."""
    result = bits ^ bits
    for square in reversed(range(64)):
        here = mask >> square & 1
        result = result << here | bits >> square & here
    return result


def _scatter(bits: Any, mask: Any) -> Any:
    """Return the lowest bits, deposited at the squares of the mask (pdep): each square takes the next bit."""
    result = bits ^ bits
    for square in range(64):
        here = mask >> square & 1
        result, bits = result | (bits & here) << square, bits >> here
    return result


VIEWS = ("as-wide", "extended", "low-half")
"""The operations whose result is the register of their argument, with more or fewer lanes."""

_TABLE = (
    *(Operation(name, free=True) for name in ("const", "param", "phi", "result", "place")),
    Operation("copy", lambda a: a, bitwise=True, free=True),
    Operation("done", writes=True, free=True),  # `done` ends a routine whose results are written in regions
    Operation("and", lambda a, b: a & b, True, commutes=True, neutral=ALL, absorbing=0),
    Operation("or", lambda a, b: a | b, True, commutes=True, neutral=0, absorbing=ALL),
    Operation("xor", lambda a, b: a ^ b, True, commutes=True, neutral=0),
    Operation("not", lambda a: ~a, True),
    Operation("andn", lambda a, b: ~a & b, True),
    Operation("select", lambda a, b, c: a & b | ~a & c, True),
    Operation("add", lambda a, b: a + b, commutes=True, neutral=0),
    Operation("sub", lambda a, b: a - b, neutral=0),
    Operation("mul", lambda a, b: a * b, commutes=True, neutral=1, absorbing=0),
    Operation("low-product", lambda a, b: (a & _LOW) * (b & _LOW), commutes=True, absorbing=0),
    Operation("neg", lambda a: -a),
    Operation("add-bytes", lambda a, b: ((a & _LOW_BITS) + (b & _LOW_BITS)) ^ ((a ^ b) & _HIGH_BITS)),
    Operation("sub-bytes", lambda a, b: ((a | _HIGH_BITS) - (b & _LOW_BITS)) ^ ((a ^ ~b) & _HIGH_BITS)),
    Operation("scaled-sum", lambda a, b, n: a + (b << n)),
    Operation("displaced-sum", lambda a, b, c: a + b + c),
    Operation("displaced-scaled-sum", lambda a, b, c, n: a + (b << n) + c),
    Operation("displaced-shift", lambda a, b, n: (a << n) + b),
    Operation("shl", lambda a, n: a << n if n < 64 else a ^ a, left=1),
    Operation("shr", lambda a, n: a >> n if n < 64 else a ^ a, left=-1),
    Operation("rotl", turned, left=1),
    Operation("rotl-half", turned),
    Operation("rotl-bytes", lambda a, _, n: turned(a, n)),
    Operation("sum-bytes", lambda a, _: reduce(add, (a >> 8 * at & 0xFF for at in range(8)))),
    Operation("signs-of-halves", lambda a: -(a >> 63) << 32 | -(a >> 31 & 1) & _LOW),
    Operation("high-halves", lambda a: a >> 32 | a & ~_LOW),
    Operation("reverse-low-words"),
    Operation("reverse-high-words"),
    Operation("nibble-counts"),
    Operation("low-shl", lambda a, n: a << n & _LOW),
    Operation("shlv", lambda a, n: a << (n & 63)),
    Operation("shrv", lambda a, n: a >> (n & 63)),
    Operation("rotlv", turned),
    Operation("sar", _signed_shift),
    Operation("sarv", lambda a, n: _signed_shift(a, n & 63)),
    Operation("flip", lambda a: reduce(or_, ((a >> 8 * at & 0xFF) << 8 * (7 - at) for at in range(8)))),
    Operation("popcount", lambda a: a.bit_count()),
    Operation("popcount-bytes"),
    Operation("isolate-lsb", lambda a: a & -a),
    Operation("clear-lsb", lambda a: a & (a - 1)),
    Operation("mask-to-lsb", lambda a: a ^ (a - 1)),
    Operation("tzcnt", lambda a: (a & -a).bit_length() - 1 if a else 64, cycles=3),
    Operation("equal", lambda a, b: _truth(a == b, a), commutes=True),
    Operation("less", lambda a, b: _truth(a < b, a)),
    Operation("less-signed", lambda a, b: _truth((a ^ SIGN) < (b ^ SIGN), a)),
    *(Operation(name, mask=True, cycles=3) for name in ("equal-mask", "less-mask", "less-signed-mask")),
    Operation("gather", _gather, cycles=3),
    Operation("scatter", _scatter, cycles=3),
    Operation("affine", _affine, cycles=3),
    *(Operation(name, mask=True) for name in ("nonzero-bytes-mask", "nonzero-lanes", "or-masks")),
    Operation("not-less-bytes-mask", mask=True),
    *(Operation(name, free=True) for name in VIEWS),
    *(Operation(name) for name in ("high-half", "broadcast", "splat", "insert", "blend", "permute", "permute-bytes")),
    Operation("multishift", cycles=3),
    *(Operation(name) for name in ("join", "join-odd", "interleave", "interleave-high", "exchange", "repeat")),
    *(Operation(name) for name in ("from-general", "to-general", "odd-to-general", "from-mask", "concatenate")),
    Operation("sub-borrow"),  # a - b - the bit that the first shift behind b drops: see `orders.borrow_path`
    *(Operation(name) for name in ("shl-or-rotl", "shr-or-rotr", "ternary", "shuffle-bytes", "lanes-of-mask")),
    *(Operation(name, cycles=3) for name in ("lanes-to-bytes", "lanes-to-words")),  # truncated, and zeros above them
    *(Operation(name) for name in ("shl-each", "shr-each", "sar-each", "shl-all", "shr-all")),
    *(Operation(name) for name in ("unite", "overlap", "total", "beside")),  # selection lowers these
    *(Operation(name, writes=True) for name in ("store", "put", "put-low", "put-odd", "put-mask", "put-entry")),
    *(Operation(name) for name in ("load", "reload", "splat-reload", "argument", "load-constant")),
    *(Operation("load-some"), Operation("put-some", writes=True)),
    *(Operation(name) for name in ("table", "entry", "address", "distance")),
    *(Operation(name) for name in ("step", "run", "path")),  # the pass `expand` lowers these
)

OPERATIONS: Mapping[str, Operation] = MappingProxyType({operation.name: operation for operation in _TABLE})
"""The operations by name."""
COMMUTATIVE = frozenset(operation.name for operation in _TABLE if operation.commutes)
WRITES = frozenset(operation.name for operation in _TABLE if operation.writes)


@cache
def operation_named(name: str) -> Operation:
    """Return the operation with this name. An unknown name gives an operation without known properties.

    >>> operation_named("andn").of(0b1100, 0b1010)
    2
    """
    return OPERATIONS.get(name) or Operation(name)
