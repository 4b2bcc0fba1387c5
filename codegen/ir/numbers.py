"""Integers in descriptions: one check of type and range, whose error names the range."""

from operator import index
from typing import Any, Final

from setwise.codegen.ir.operations import ALL

LEAST: Final = -1 << 64
"""The complement of ALL. So the complement of every board is in range."""


def integer(given: Any, what: str, least: int = LEAST, most: int = ALL, remedy: str = "") -> int:
    """Return an integer. Raise TypeError for another type, and ValueError unless it is from `least` to `most`.

    `what` names it in the message, and `remedy` is appended.
    """
    try:
        number = index(given)
    except TypeError:
        kind = {"Value": "a board"}.get(type(given).__name__, type(given).__name__)
        raise TypeError(f"{what} must be an integer, not {kind}{remedy}") from None
    if not least <= number <= most:
        raise ValueError(f"{what} must be from {_spelt(least)} to {_spelt(most)}, not {_spelt(number)}{remedy}")
    return number


def signed(number: int) -> int:
    """Return the signed number with the same 64 bits."""
    return number - (1 << 64) if number >> 63 else number


def is_immediate(number: int) -> bool:
    """Return whether an instruction can sign-extend a number modulo 2**64 from 32 bits."""
    return number + (1 << 31) & ALL < 1 << 32


def _spelt(number: int) -> str:
    """Return a number as text, in hexadecimal if it is large."""
    return str(number) if abs(number) < 1 << 31 else hex(number)
