"""Sums and differences of words by integer arithmetic, the specification of adders built from logic operations."""

from collections.abc import Callable

from setwise.analysis.spec.words import W, clip, joined


def add(x: W, y: W) -> W:
    """Return the sum modulo 2**64."""
    return clip(x + y)


def add_32(x: W, y: W) -> W:
    """Return the sum modulo 2**32."""
    return (x + y) & 0xFFFF_FFFF


def bytewise_add(x: W, y: W) -> W:
    """Return the sums of the eight bytes, each modulo 256.

    >>> hex(bytewise_add(0x01FF, 0x0101))
    '0x200'
    """
    return _bytewise(x, y, lambda a, b: a + b)


def bytewise_sub(x: W, y: W) -> W:
    """Return the differences of the eight bytes, each modulo 256.

    >>> hex(bytewise_sub(0x0200, 0x0101))
    '0x1ff'
    """
    return _bytewise(x, y, lambda a, b: a - b)


def _bytewise(x: W, y: W, operation: Callable[[W, W], W]) -> W:
    return clip(
        joined((operation((x >> place) & 0xFF, (y >> place) & 0xFF) & 0xFF) << place for place in range(0, 64, 8))
    )
