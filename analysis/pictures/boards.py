"""The SVG picture of fills in slow motion, with new squares highlighted."""

from collections.abc import Mapping

from setwise.analysis.pictures import svg
from setwise.analysis.pictures.slow_motion import Cycle, TracedFill, conclusion
from setwise.analysis.pictures.svg import Drawing

CELL = 13
BOARD = 8 * CELL
GAP = 18
(_LIGHT, _DARK), _RUN, _OLD, _PIECE = svg.SQUARES, svg.RUN, svg.FLOODED, svg.OTHERS
_LABEL = 104


def slow_motion(dumb7: TracedFill, doubling: TracedFill) -> str:
    """Draw the same fill by single steps and by doubled steps, cycle by cycle."""
    marks: list[str] = []
    y = 0.0
    for title, below, shown in (
        ("dumb7", ("one step a cycle,", "seven cycles"), dumb7),
        ("Kogge-Stone", ("steps of 1, 2, 4,", "three cycles"), doubling),
    ):
        marks.append(svg.text(0, y + 34, title, size=14, bold=True))
        marks += [svg.text(0, y + 53 + 16 * at, words, colour=svg.MUTED) for at, words in enumerate(below)]
        marks.append(svg.moved(_LABEL, y, _start(shown)))
        for at, cycle in enumerate(shown.cycles, 1):
            marks.append(svg.moved(_LABEL + at * (BOARD + GAP), y, _cycle(shown, cycle)))
        marks.append(_ending(shown, y) or _explained(y, len(shown.cycles)))
        y += BOARD + 52
    drawing = svg.explained(
        Drawing(_LABEL + (len(dumb7.cycles) + 1) * (BOARD + GAP) - GAP, y, tuple(marks)),
        (svg.circle(7, -4, 4.4, svg.INK), "sliders"),
        (svg.circle(7, -4, 4.4, _OLD, edge=svg.BLUE), "flooded before"),
        (svg.circle(7, -4, 4.4, svg.BLUE), "new in this cycle"),
        (_cross(7, -4), "not let through"),
        (svg.rectangle(1, -10, 12, 12, _RUN), "runs of empty squares, as long as the step"),
        (svg.rectangle(1, -10, 12, 12, _PIECE), "other pieces"),
        left=_LABEL,
    )
    same = "the same squares" if dumb7.flood == doubling.flood else "different squares"
    return svg.picture(
        "A fill in slow motion: rooks and a queen flood southward",
        f"Seven single steps and three doubled ones reach {same}. The position is that of the literature (Dumb7Fill).",
        drawing,
        f"{len(dumb7.cycles)} boards of dumb7 and {len(doubling.cycles)} of Kogge-Stone, from the same sliders.",
    )


def _start(shown: TracedFill) -> list[str]:
    marks = _squares(shown, 0)
    marks += [_disc(square, svg.INK) for square in _ones(shown.sliders)]
    return [*marks, svg.text(BOARD / 2, BOARD + 18, "sliders", anchor="middle", colour=svg.MUTED)]


def _cycle(shown: TracedFill, cycle: Cycle) -> list[str]:
    before, new = cycle.before, cycle.flood & ~cycle.before
    marks = _squares(shown, (cycle.propagator or 0) if cycle.steps > 1 else 0)
    marks += [_disc(square, _OLD, svg.BLUE) for square in _ones(before & ~shown.sliders)]
    marks += [_disc(square, svg.INK) for square in _ones(shown.sliders)]
    marks += [_disc(square, svg.BLUE) for square in _ones(new)]
    stopped = cycle.arrives & ~cycle.kept & ~cycle.flood
    marks += [_cross(*_middle(square)) for square in _ones(stopped)]
    steps = "1 step" if cycle.steps == 1 else f"{cycle.steps} steps"
    title = f"cycle {cycle.number}" if shown.family == "dumb7" else f"cycle {cycle.number}: {steps}"
    marks.append(svg.text(BOARD / 2, BOARD + 18, title, anchor="middle", colour=svg.INK if new else svg.FAINT))
    return marks


def _ending(shown: TracedFill, y: float) -> str:
    """Mark the cycles that change nothing, below their boards."""
    cycles = len(shown.cycles)
    if shown.dry is None or shown.family != "dumb7":
        return ""
    left = _LABEL + shown.dry * (BOARD + GAP)
    right = _LABEL + cycles * (BOARD + GAP) + BOARD
    words = conclusion(shown)
    return "\n".join(
        (
            svg.line([(left, y + BOARD + 25), (right, y + BOARD + 25)], colour=svg.FAINT),
            svg.text(right, y + BOARD + 40, words, size=11, colour=svg.MUTED, anchor="end"),
        )
    )


def _explained(y: float, cycles: int) -> str:
    """Explain why long steps are correct, beside the cycles that take them."""
    x = _LABEL + (cycles + 1) * (BOARD + GAP) + 8
    lines = (
        "The flood may jump n squares at once only onto the last",
        "of n empty squares in a row: a run of n. The runs of 2 are",
        "empty & step(empty), and doubling those gives the runs of 4.",
        "So cycles of 1, 2 and 4 squares go as far as seven of one.",
    )
    return "\n".join(svg.text(x, y + 30 + 18 * at, words, colour=svg.MUTED) for at, words in enumerate(lines))


def _squares(shown: TracedFill, run: int) -> list[str]:
    """Draw the board, the pieces other than sliders, and the squares of a run."""
    taken = 0 if shown.empty is None else ~(shown.empty | shown.sliders)
    pieces = dict.fromkeys(_ones(taken), _PIECE)
    return _board(pieces | dict.fromkeys(_ones(run), _RUN))


def _board(tinted: Mapping[int, str]) -> list[str]:
    """Draw an empty board with some squares tinted."""
    marks = []
    for square in range(64):
        x, y = square % 8 * CELL, (7 - square // 8) * CELL
        light = (square % 8 + square // 8) % 2 == 1
        marks.append(svg.rectangle(x, y, CELL, CELL, tinted.get(square, _LIGHT if light else _DARK)))
    return [*marks, svg.rectangle(0, 0, BOARD, BOARD, "none", edge=svg.EDGE)]


def _ones(board: int) -> list[int]:
    return [square for square in range(64) if board >> square & 1]


def _middle(square: int) -> tuple[float, float]:
    return (square % 8 + 0.5) * CELL, (7 - square // 8 + 0.5) * CELL


def _disc(square: int, fill: str, edge: str | None = None) -> str:
    return svg.circle(*_middle(square), 4.4, fill, edge)


def _cross(x: float, y: float) -> str:
    return svg.line([(x - 3, y - 3), (x + 3, y + 3)], svg.OCHRE, 2) + svg.line(
        [(x - 3, y + 3), (x + 3, y - 3)], svg.OCHRE, 2
    )
