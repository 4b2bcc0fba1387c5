"""One table: what each operation computes, lane by lane.

What is known of the bits of a result, and asked of the bits of an argument, follows from what is computed; so does the
truth table of bitwise operations. An operation that is not in the table may stand in a graph; nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from types import MappingProxyType

from setwise.codegen.board import squares

ALL = (1 << 64) - 1
_LOW = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Operation:
    """What one operation is.

    compute    the result, modulo 2**64, of a lane of the arguments, and of the count where it has one
    bitwise    each bit of the result depends on the bits of the arguments in its place alone
    left       the bits are moved by the count: 1 to the left, -1 to the right
    commutes   the two arguments may change places
    neutral    as the second argument (where it commutes, as either) it changes nothing
    absorbing  as either argument it is the result
    writes     it writes memory and makes no value
    mask       the result lies in a mask register
    free       no instruction makes it
    cycles     about how many it takes where none waits
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
        """Whether a value and itself make the value."""
        return self.bitwise and self.commutes and (self.of(0, 0), self.of(ALL, ALL)) == (0, ALL)

    def of(self, *lane: int) -> int:
        """The result for a lane of the arguments."""
        assert self.compute is not None
        return self.compute(*lane) & ALL

    def zeros(self, known: tuple[int, ...], count: int, *, loose: bool) -> int:
        """The bits that are surely zero where those of the arguments are; `loose` takes a shift for a rotate."""
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

    def asked(self, wanted: int, at: int, known: tuple[int, ...], count: int) -> int:
        """The bits of argument number `at` on which these bits of the result may depend, the others' known zeros."""
        if self.left:
            return turned(wanted & self.of(ALL, count), -self.left * count)
        if not self.bitwise:
            return ALL
        depends = 0
        for others in _corners((*known[:at], *known[at + 1 :])):
            depends |= self.of(*others[:at], 0, *others[at:]) ^ self.of(*others[:at], ALL, *others[at:])
        return wanted & depends


def _corners(zeros: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Arguments with none, or with all, of the bits that may be one."""
    return product(*((0, ~zero & ALL) for zero in zeros))


def turned(bits: int, count: int) -> int:
    """The bits rotated to the left."""
    return (bits << count % 64 | bits >> -count % 64) & ALL


def _bytes(sign: int) -> Callable[[int, int], int]:
    """Sums, or differences, of the bytes of two numbers, each modulo 256."""

    def compute(a: int, b: int) -> int:
        return sum(((a >> at & 0xFF) + sign * (b >> at & 0xFF) & 0xFF) << at for at in range(0, 64, 8))

    return compute


def _affine(squares: int, matrix: int, n: int) -> int:
    """Each byte times a matrix of bits, whose lowest byte makes the highest bit, plus a number."""
    rows = matrix.to_bytes(8, "big")
    products = (sum((row & byte).bit_count() % 2 << at for at, row in enumerate(rows)) for byte in squares.to_bytes(8))
    return int.from_bytes(byte ^ n for byte in products)


def _gather(bits: int, mask: int) -> int:
    """The bits at the mask's squares, side by side from the lowest."""
    return sum((bits >> square & 1) << at for at, square in enumerate(squares(mask)))


def _scatter(bits: int, mask: int) -> int:
    """The lowest bits, one after the other at the mask's squares."""
    return sum((bits >> at & 1) << square for at, square in enumerate(squares(mask)))


_TABLE = (
    *(Operation(name, free=True) for name in ("const", "param", "phi", "result", "place")),
    Operation("copy", lambda a: a, bitwise=True, free=True),
    Operation("done", writes=True, free=True),  # ends a routine whose regions did all its writing
    Operation("and", lambda a, b: a & b, True, commutes=True, neutral=ALL, absorbing=0),
    Operation("or", lambda a, b: a | b, True, commutes=True, neutral=0, absorbing=ALL),
    Operation("xor", lambda a, b: a ^ b, True, commutes=True, neutral=0),
    Operation("not", lambda a: ~a, True),
    Operation("andn", lambda a, b: ~a & b, True),
    Operation("select", lambda a, b, c: a & b | ~a & c, True),
    Operation("add", lambda a, b: a + b, commutes=True, neutral=0),
    Operation("sub", lambda a, b: a - b, neutral=0),
    Operation("mul", lambda a, b: a * b, commutes=True, neutral=1),
    Operation("add-bytes", _bytes(1)),
    Operation("sub-bytes", _bytes(-1)),
    Operation("scaled-sum", lambda a, b, n: a + (b << n)),
    Operation("shl", lambda a, n: a << n if n < 64 else 0, left=1),
    Operation("shr", lambda a, n: a >> n, left=-1),
    Operation("rotl", turned, left=1),
    Operation("low-shl", lambda a, n: a << n & _LOW),
    Operation("loose-shl"),
    Operation("loose-shr"),
    Operation("shlv", lambda a, n: a << n % 64),
    Operation("shrv", lambda a, n: a >> n % 64),
    Operation("rotlv", turned),
    Operation("flip", lambda a: int.from_bytes(a.to_bytes(8), "little")),
    Operation("popcount", lambda a: a.bit_count()),
    Operation("gather", _gather, cycles=3),
    Operation("scatter", _scatter, cycles=3),
    Operation("as-wide", free=True),
    Operation("extended", free=True),
    Operation("low-half", free=True),
    Operation("high-half"),
    Operation("broadcast"),
    Operation("splat"),
    Operation("from-general"),
    Operation("join"),
    Operation("join-odd"),
    Operation("interleave"),
    Operation("interleave-high"),
    Operation("exchange"),
    Operation("repeat"),
    Operation("to-general"),
    Operation("odd-to-general"),
    Operation("insert"),
    Operation("ternary"),
    Operation("blend"),
    Operation("permute"),
    Operation("permute-bytes"),
    Operation("affine", _affine, cycles=3),
    Operation("test-bytes", mask=True),
    Operation("from-mask"),
    *(Operation(name) for name in ("unite", "total", "beside")),  # of lanes: gone when code is made
    *(Operation(name, writes=True) for name in ("store", "put", "put-low", "put-entry")),
    *(Operation(name) for name in ("load", "reload", "splat-reload", "argument", "load-constant")),
    *(Operation(name) for name in ("table", "entry", "address", "distance")),
    *(Operation(name) for name in ("step", "run", "path")),  # of rays: gone when code is made
)

OPERATIONS: Mapping[str, Operation] = MappingProxyType({operation.name: operation for operation in _TABLE})
"""By name."""
COMMUTATIVE = frozenset(operation.name for operation in _TABLE if operation.commutes)
WRITES = frozenset(operation.name for operation in _TABLE if operation.writes)


@cache
def operation_named(name: str) -> Operation:
    """The operation of that name; one of which nothing is known where the table has none.

    >>> operation_named("andn").of(0b1100, 0b1010)
    2
    """
    return OPERATIONS.get(name) or Operation(name)
