"""The prefix network of Kogge-Stone along one ray: as text, and as a picture beside the chain of dumb7."""

from __future__ import annotations

from collections.abc import Sequence

from setwise.analysis.pictures import svg
from setwise.analysis.pictures.svg import Drawing

SQUARES = 8
STEP, ROW, RADIUS = 38, 46, 9
_RUN = svg.RUN
_WIDE = (SQUARES - 1) * STEP
_LEFT, _TOP = 10, 50


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


def prefix_network(slider: int = 0, blocker: int = 6) -> str:
    """A ray of eight squares with one slider and one blocker, flooded by single steps and by doubled ones."""
    empty = tuple(square not in (slider, blocker) for square in range(SQUARES))
    start = tuple(square == slider for square in range(SQUARES))
    singles, single_runs = _levels(start, empty, (1,) * (SQUARES - 1))
    doubled, runs = _levels(start, empty, (1, 2, 4))
    right = _WIDE + 190
    marks = [
        svg.text(0, 16, f"dumb7: a chain, {SQUARES - 1} cycles deep", size=14, bold=True),
        svg.moved(_LEFT, _TOP, _network(singles, single_runs, (1,) * (SQUARES - 1), blocker, wave=True)),
        svg.text(right, 16, "Kogge-Stone: 3 cycles deep", size=14, bold=True),
        svg.moved(right + _LEFT, _TOP, _network(doubled, runs, (1, 2, 4), blocker)),
    ]
    marks += [
        svg.text(_WIDE + 36, _TOP + 4 + ROW * at, words, colour=svg.MUTED)
        for at, words in enumerate(("sliders", "cycle 1"))
    ]
    marks.append(svg.text(_WIDE + 36, _TOP + 4 + ROW * (SQUARES - 1), f"cycle {SQUARES - 1}", colour=svg.MUTED))
    code = ("sliders", "gen |= pro & step(gen)", "gen |= pro & step(gen, 2)", "gen |= pro & step(gen, 4)")
    marks += [
        svg.text(right + _WIDE + 36, _TOP + 4 + ROW * at, words, mono=at > 0, colour=svg.MUTED)
        for at, words in enumerate(code)
    ]
    top = _TOP + 3 * ROW + 48
    marks.append(svg.text(right, top, "and the runs that let it pass double with it", size=14, bold=True))
    of_runs = ("pro = empty", "pro &= step(pro)", "pro &= step(pro, 2)")
    for at, (length, run, words) in enumerate(zip((1, 2, 4), runs, of_runs, strict=True)):
        y = top + 30 + 44 * at
        marks.append(svg.moved(right + _LEFT, y, _bars(run, length)))
        marks.append(svg.text(right + _WIDE + 36, y + 4, words, mono=True, colour=svg.MUTED))
    height = _TOP + (SQUARES - 1) * ROW + 34
    explained = svg.legend(
        (
            (svg.circle(7, -4, 6, svg.INK), "flooded"),
            (svg.line([(0, -4), (14, -4)], svg.BLUE, 2), "the flood goes on"),
            (svg.line([(0, -4), (14, -4)], svg.OCHRE, 2, dashed=True), "stopped: no run ends there"),
            (svg.rectangle(2, -9, 10, 10, svg.OTHERS), "a piece in the way"),
            (svg.rectangle(0, -8, 14, 8, _RUN, radius=4), "a run of 1, 2 or 4 empty squares"),
        )
    )
    marks.append(svg.moved(0, height, explained.marks))
    wide = max(explained.width, right + _WIDE + 36 + 190)
    return svg.picture(
        "The prefix network of Kogge-Stone",
        "A ray of eight squares: a slider on the first, a piece on the seventh. Each row is what one cycle leaves.",
        Drawing(wide, height + explained.height, tuple(marks)),
        "Rows of eight squares joined by arrows: seven rows of steps by one; three rows of steps by one, two and four.",
    )


Marks = tuple[bool, ...]


def _levels(start: Marks, empty: Marks, steps: Sequence[int]) -> tuple[list[Marks], list[Marks]]:
    """The flood before and after each cycle, and the runs that each cycle lets through.

    >>> levels, runs = _levels((True, False, False), (False, True, True), (1, 2))
    >>> levels[-1], runs[-1]
    ((True, True, True), (False, False, True))
    """
    levels, runs, run, length = [start], [], empty, 1
    for step in steps:
        while length < step:
            run = tuple(here and (at < length or run[at - length]) for at, here in enumerate(run))
            run, length = tuple(here and at >= 2 * length - 1 for at, here in enumerate(run)), 2 * length
        flood = levels[-1]
        levels.append(tuple(here or (at >= step and flood[at - step] and run[at]) for at, here in enumerate(flood)))
        runs.append(run)
    return levels, runs


def _network(
    levels: Sequence[Marks], runs: Sequence[Marks], steps: Sequence[int], blocker: int, wave: bool = False
) -> list[str]:
    """The rows and what joins them; in a `wave` only what the cycle before has flooded goes on."""
    marks: list[str] = []
    above: list[str] = []
    for at, (before, run, step) in enumerate(zip(levels, runs, steps, strict=False)):
        y = at * ROW
        moving = (
            tuple(now and not old for now, old in zip(before, levels[at - 1], strict=True)) if wave and at else before
        )
        for square in range(SQUARES):
            x = square * STEP
            marks.append(svg.line([(x, y + RADIUS), (x, y + ROW - RADIUS)], svg.GRID, 1.5))
            if square + step < SQUARES:
                ends = _shortened(x, y, x + step * STEP, y + ROW)
                if not moving[square]:
                    marks.append(svg.line(ends, svg.GRID, 1.5))
                elif run[square + step]:
                    above.append(svg.line(ends, svg.BLUE, 2))
                else:
                    above.append(svg.line(ends, svg.OCHRE, 2, dashed=True))
    for at, level in enumerate(levels):
        for square, flooded in enumerate(level):
            above.append(_node(square * STEP, at * ROW, flooded, square == blocker))
    return marks + above


def _node(x: float, y: float, flooded: bool, piece: bool) -> str:
    if piece:
        return svg.rectangle(x - RADIUS + 1, y - RADIUS + 1, 2 * RADIUS - 2, 2 * RADIUS - 2, svg.OTHERS, radius=2)
    return svg.circle(
        x, y, RADIUS - 1, svg.INK if flooded else svg.PAPER, edge=svg.INK if flooded else svg.FAINT, thick=1.5
    )


def _shortened(x: float, y: float, to_x: float, to_y: float) -> list[tuple[float, float]]:
    """The line between two nodes without what lies under them."""
    length = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5
    part = RADIUS / length
    return [(x + part * (to_x - x), y + part * (to_y - y)), (to_x - part * (to_x - x), to_y - part * (to_y - y))]


def _bars(run: Marks, length: int) -> list[str]:
    """The squares, and below each square that ends a run a bar over all of the run."""
    marks = []
    for square, ends in enumerate(run):
        x = square * STEP
        if ends:
            lift = 9 * (square % min(length, 2)) - (4.5 if length > 1 else 0)
            left = x - (length - 1) * STEP
            marks.append(svg.rectangle(left - 10, lift - 4, x - left + 20, 8, _RUN, radius=4))
            marks.append(svg.circle(x, lift, 3, svg.OCHRE))
    return [svg.line([(-10, 16), (_WIDE + 10, 16)], svg.GRID, 1), *marks]
