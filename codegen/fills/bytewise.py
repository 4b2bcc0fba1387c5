"""Adders and a subtraction made of bitwise logic and shifts, and the fill derived from them.

Source: Gerd Isenberg, CCC, 22 May 2005. The carries of an addition follow c[i+1] = g[i] | p[i] & c[i] with g = x & y
and p = x ^ y. Unrolled:

>>> def carries(g, p):
...     c1 = g[0]
...     c2 = g[1] | c1 & p[1]
...     c3 = g[2] | c2 & p[2]
...     c4 = g[3] | c3 & p[3]
...     return c1, c2, c3, c4
>>> def bits(number):
...     return [number >> i & 1 for i in range(4)]
>>> def right(x, y):
...     unrolled = carries(bits(x & y), bits(x ^ y))
...     return unrolled == tuple(((x % 2**i) + (y % 2**i)) >> i & 1 for i in (1, 2, 3, 4))
>>> all(right(x, y) for x in range(16) for y in range(16))
True
"""

from setwise.codegen.board import FILE_A
from setwise.codegen.ir.control import nonzero, while_
from setwise.codegen.ir.values import ALL, Value

NOT_A = ~FILE_A & ALL


def carry_loop(x: Value, y: Value, bits: int) -> Value:
    """Return x + y modulo 2**bits, for x and y below 2**bits, by a loop until no carry is left (the post's `add`)."""

    def cycle(p: Value, g: Value) -> tuple[Value, ...]:
        g <<= 1
        if bits < 64:
            g &= (1 << bits) - 1
        return p ^ g, p & g

    return while_(lambda _, g: nonzero(g), cycle, x ^ y, x & y)[0]


def add(x: Value, y: Value) -> Value:
    """Return the sums of the eight bytes of x and y, each modulo 256, by parallel prefix (the post's `paddb`)."""
    return ((_carries(x & y, x ^ y) << 1) & NOT_A) ^ (x ^ y)


def subtract(x: Value, y: Value) -> Value:
    """Return the differences x - y byte by byte, each modulo 256, by parallel prefix (the post's `psubb`)."""
    differing = x ^ y
    return ((_carries(~x & y, ~differing) << 1) & NOT_A) ^ differing


def right_attacks(free: Value, rooks: Value) -> Value:
    """Return the attacks of rooks to the right (east), as the post derives them from the subtraction."""
    return (_carries(rooks, free) << 1) & NOT_A


def _carries(g: Value, p: Value) -> Value:
    p &= NOT_A
    g |= (g << 1) & p
    p = (p << 1) & p
    g |= (g << 2) & p
    p = (p << 2) & p
    return g | (g << 4) & p
