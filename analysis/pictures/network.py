"""The prefix network of Kogge-Stone along one ray: as text, and as a picture (SVG) beside the chain of dumb7."""

from collections.abc import Iterator, Sequence

from setwise.analysis.pictures import svg
from setwise.analysis.pictures.svg import Drawing

SQUARES = 8
_STEP, _ROW, _RADIUS, _LABEL = 38, 46, 8, 36
_NETWORKS = (("dumb7: a chain, 7 cycles deep", (1,) * 7), ("Kogge-Stone: 3 cycles deep", (1, 2, 4)))


def network_text(shift: int, steps: Sequence[int]) -> str:
    r"""Return the network as the literature draws it, with lines of C for each step.

    `shift` is one square's distance in bits, negative for >>. `steps` are the cycles' distances in squares.

    >>> for line in network_text(8, (1,)).splitlines()[5:8]:
    ...     print(line)
    |\ |\ |\ |\ |\ |\ |\ |
    | \| \| \| \| \| \| \|
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
    """Return row `row` of wires that fall by `step` squares of 3 columns; they dot vertical wires that they cross."""
    cells = list(_wires("|" * SQUARES).ljust(3 * SQUARES))
    for square in range(SQUARES - step):
        at = 3 * square + row
        beside = at + (at % 3 == 2) - (at % 3 == 1)  # the adjacent column, perhaps a wire
        if beside % 3 == 0 and 3 * square < beside < 3 * (square + step):
            cells[beside] = ":"
        cells[at] = "\\"
    return "".join(cells).rstrip()


def prefix_network(slider: int = 0, blocker: int = 6) -> str:
    """Return a picture (SVG): single and doubled steps flood a ray with a slider and a blocker (squares 0 to 7)."""
    marks: list[str] = []
    x, height = 0.0, 0.0
    for title, steps in _NETWORKS:
        marks.append(svg.text(x, 16, title, size=14, bold=True))
        marks.append(svg.moved(x + 12, 50, _network(1 << slider, 1 << blocker, steps)))
        right = x + 12 + (SQUARES - 1) * _STEP + _LABEL
        marks.append(svg.text(right, 54, "sliders", colour=svg.MUTED))
        for row, step in enumerate(steps):
            by = "" if step == 1 else f", {step}"
            of_runs = ["pro &= step(pro)" if step == 2 else "pro &= step(pro, 2)"] if step > 1 else []
            for at, words in enumerate((*of_runs, f"gen |= pro & step(gen{by})")):
                y = 54 + (row + 1) * _ROW - 16 * (len(of_runs) - at)
                marks.append(svg.text(right, y, words, colour=svg.MUTED, mono=True))
        x, height = right + 220, max(height, 50 + len(steps) * _ROW + 24)
    drawing = svg.explained(
        Drawing(x - 40, height, tuple(marks)),
        (svg.circle(7, -4, 6, svg.INK), "flooded"),
        (svg.line([(0, -4), (14, -4)], svg.BLUE, 2), "flooded by this cycle"),
        (svg.circle(7, -4, 7, svg.RUN), "ends a run of as many empty squares as the step"),
        (svg.line([(0, -4), (14, -4)], svg.OCHRE, 2, dashed=True), "stopped: no such run ends there"),
        (svg.rectangle(2, -9, 10, 10, svg.OTHERS), "a piece in the way"),
    )
    return svg.picture(
        "The prefix network of Kogge-Stone",
        "A ray of eight squares: a slider on the first, a piece on the seventh. Each row is what one cycle leaves.",
        drawing,
        "Rows of eight squares joined by lines: seven rows of steps by one; three rows of steps by one, two and four.",
    )


def _network(flood: int, pieces: int, steps: Sequence[int]) -> list[str]:
    """Return the SVG marks of the ray at the start and after each cycle, a row each, and of the steps between rows."""
    wires, arrows, squares = [], [], []
    for row, (now, run, step) in enumerate(_cycles(flood, ~(flood | pieces), steps)):
        y = row * _ROW
        for at in range(SQUARES):
            x, to = at * _STEP, at + step
            if row < len(steps):
                wires.append(svg.line([(x, y), (x, y + _ROW)], svg.EDGE))
            if row < len(steps) and to < SQUARES:
                ends = [(x, y), (to * _STEP, y + _ROW)]
                if now >> at & 1 and not now >> to & 1:
                    passes = bool(run >> to & 1)
                    arrows.append(svg.line(ends, svg.BLUE if passes else svg.OCHRE, 2, dashed=not passes))
                else:
                    wires.append(svg.line(ends, svg.EDGE))
                if run >> to & 1:
                    squares.append(svg.circle(to * _STEP, y + _ROW, _RADIUS + 4, svg.RUN))
            if pieces >> at & 1:
                squares.append(svg.rectangle(x - 7, y - 7, 14, 14, svg.OTHERS, radius=2))
            else:
                squares.append(svg.circle(x, y, _RADIUS, svg.INK if now >> at & 1 else svg.PAPER, edge=svg.FAINT))
    return wires + arrows + squares


def _cycles(flood: int, run: int, steps: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield the flood before each cycle, the ends of runs as long as its step, and the step; then the last flood, 0, 0.

    >>> [flood for flood, _, _ in _cycles(0b00001, 0b11110, (1, 2))]
    [1, 3, 15]
    """
    for before, step in zip((1, *steps), steps, strict=False):
        run &= run << before if step > before else run
        yield flood, run, step
        flood |= run & flood << step
    yield flood, 0, 0
