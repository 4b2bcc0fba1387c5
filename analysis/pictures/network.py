"""The prefix network of Kogge-Stone along one ray, as text."""

from __future__ import annotations

from collections.abc import Sequence

SQUARES = 8


def network_text(shift: int, steps: Sequence[int]) -> str:
    """The network as the literature draws it, with the lines of code for a shift to the left, or a negative one.

    >>> for line in network_text(8, (1,)).splitlines()[5:8]:
    ...     print(line)
    |\\ |\\ |\\ |\\ |\\ |\\ |\\ |
    | \\| \\| \\| \\| \\| \\| \\|
    |  #  #  #  #  #  #  #     g |= p & (g << 8);
    """
    sign = "<<" if shift > 0 else ">>"
    plain, arrows = (_wires(mark * SQUARES) for mark in "|V")
    lines = [_named("x") + "    Input: g, p", plain, arrows, plain, plain]
    for at, step in enumerate(steps):
        by = f"{sign} {abs(shift) * step}"
        lines += [_falling(step, row) for row in range(1, 3 * step)]
        lines.append(_wires("|" * step + "#" * (SQUARES - step)) + f"     g |= p & (g {by});")
        lines.append(plain + (f"     p &= (p {by});" if at < len(steps) - 1 else ""))
    return "\n".join([*lines, plain, arrows, _named("q") + "    Output: g"])


def _named(letter: str) -> str:
    return " ".join(f"{letter}{number}" for number in range(1, SQUARES + 1))


def _wires(marks: str) -> str:
    return "  ".join(marks)


def _falling(step: int, row: int) -> str:
    """Each wire falls three columns a square to the right; one that passes behind another dots it."""
    cells = list(_wires("|" * SQUARES).ljust(3 * SQUARES))
    for square in range(SQUARES - step):
        at = 3 * square + row
        beside = at + (at % 3 == 2) - (at % 3 == 1)  # the wire next to it, if there is one
        if beside % 3 == 0 and 3 * square < beside < 3 * (square + step):
            cells[beside] = ":"
        cells[at] = "\\"
    return "".join(cells).rstrip()
