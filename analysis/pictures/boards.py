"""Fills in slow motion as a picture: a board a cycle, what is new set off from what was there before."""

from __future__ import annotations

from setwise.analysis.pictures.svg import (
    BLUE,
    FAINT,
    INK,
    MUTED,
    OCHRE,
    Drawing,
    circle,
    legend,
    line,
    moved,
    picture,
    rectangle,
    text,
)
from setwise.analysis.run.slow_motion import Cycle, TracedFill, conclusion

CELL = 13
BOARD = 8 * CELL
GAP = 18
_LIGHT, _DARK, _RUN, _OLD = "#f6f7f9", "#e9ecf0", "#f2d9a0", "#9dc3e6"
_LABEL = 104


def slow_motion(dumb7: TracedFill, doubling: TracedFill) -> str:
    """The same fill by single steps and by doubled ones, cycle by cycle."""
    marks: list[str] = []
    y = 0.0
    for title, below, shown in (
        ("dumb7", ("one step a cycle,", "seven cycles"), dumb7),
        ("Kogge-Stone", ("steps of 1, 2, 4,", "three cycles"), doubling),
    ):
        marks.append(text(0, y + 34, title, size=14, bold=True))
        marks += [text(0, y + 53 + 16 * at, words, colour=MUTED) for at, words in enumerate(below)]
        marks.append(moved(_LABEL, y, _start(shown)))
        for at, cycle in enumerate(shown.cycles, 1):
            marks.append(moved(_LABEL + at * (BOARD + GAP), y, _cycle(shown, cycle)))
        marks.append(_ending(shown, y) or _explained(y, len(shown.cycles)))
        y += BOARD + 52
    explained = legend(
        (
            (circle(7, -4, 4.4, INK), "sliders"),
            (circle(7, -4, 4.4, _OLD, edge=BLUE), "flooded before"),
            (circle(7, -4, 4.4, BLUE), "new in this cycle"),
            (_cross(7, -4), "not let through"),
            (rectangle(1, -10, 12, 12, _RUN), "runs of empty squares, as long as the step"),
            (rectangle(1, -10, 12, 12, "#b9c0c8"), "other pieces"),
        )
    )
    marks.append(moved(_LABEL, y, explained.marks))
    width = _LABEL + (len(dumb7.cycles) + 1) * (BOARD + GAP) - GAP
    drawing = Drawing(max(width, _LABEL + explained.width), y + explained.height, tuple(marks))
    same = "the same squares" if dumb7.flood == doubling.flood else "different squares"
    return picture(
        "A fill in slow motion: rooks and a queen flood southward",
        f"Seven single steps and three doubled ones reach {same}. The position is that of the literature (Dumb7Fill).",
        drawing,
        f"{len(dumb7.cycles)} boards of dumb7 and {len(doubling.cycles)} of Kogge-Stone, from the same sliders.",
    )


def _start(shown: TracedFill) -> list[str]:
    marks = _squares(shown, 0)
    marks += [_disc(square, INK, None) for square in _ones(shown.sliders)]
    return [*marks, text(BOARD / 2, BOARD + 18, "sliders", anchor="middle", colour=MUTED)]


def _cycle(shown: TracedFill, cycle: Cycle) -> list[str]:
    before = shown.sliders if cycle.number == 1 else shown.cycles[cycle.number - 2].flood
    new = cycle.flood & ~before
    marks = _squares(shown, cycle.propagator if cycle.steps > 1 else 0)
    marks += [_disc(square, _OLD, BLUE) for square in _ones(before & ~shown.sliders)]
    marks += [_disc(square, INK, None) for square in _ones(shown.sliders)]
    marks += [_disc(square, BLUE, None) for square in _ones(new)]
    stopped = cycle.arrives & ~cycle.kept & ~cycle.flood
    marks += [_cross(*_middle(square)) for square in _ones(stopped)]
    steps = "1 step" if cycle.steps == 1 else f"{cycle.steps} steps"
    title = f"cycle {cycle.number}" if shown.family == "dumb7" else f"cycle {cycle.number}: {steps}"
    marks.append(text(BOARD / 2, BOARD + 18, title, anchor="middle", colour=INK if new else FAINT))
    return marks


def _ending(shown: TracedFill, y: float) -> str:
    """Where the flood stopped, below the cycles that show it."""
    cycles = len(shown.cycles)
    if shown.dry is None or shown.family != "dumb7":
        return ""
    left = _LABEL + shown.dry * (BOARD + GAP)
    right = _LABEL + cycles * (BOARD + GAP) + BOARD
    words = conclusion(shown)
    return "\n".join(
        (
            line([(left, y + BOARD + 25), (right, y + BOARD + 25)], colour=FAINT),
            text(right, y + BOARD + 40, words, size=11, colour=MUTED, anchor="end"),
        )
    )


def _explained(y: float, cycles: int) -> str:
    """Why long steps are allowed, beside the cycles that take them."""
    x = _LABEL + (cycles + 1) * (BOARD + GAP) + 8
    lines = (
        "The flood may jump n squares at once only onto the last",
        "of n empty squares in a row: a run of n. The runs of 2 are",
        "empty & step(empty), and doubling those gives the runs of 4.",
        "So cycles of 1, 2 and 4 squares go as far as seven of one.",
    )
    return "\n".join(text(x, y + 30 + 18 * at, words, colour=MUTED) for at, words in enumerate(lines))


def _squares(shown: TracedFill, run: int) -> list[str]:
    """The board, its pieces that are no sliders, and the squares of a run."""
    marks = []
    for square in range(64):
        x, y = square % 8 * CELL, (7 - square // 8) * CELL
        piece = not (shown.empty | shown.sliders) >> square & 1
        light = (square % 8 + square // 8) % 2 == 1
        colour = _RUN if run >> square & 1 else "#b9c0c8" if piece else _LIGHT if light else _DARK
        marks.append(rectangle(x, y, CELL, CELL, colour))
    return [*marks, rectangle(0, 0, BOARD, BOARD, "none", edge="#ccd3da")]


def _ones(board: int) -> list[int]:
    return [square for square in range(64) if board >> square & 1]


def _middle(square: int) -> tuple[float, float]:
    return (square % 8 + 0.5) * CELL, (7 - square // 8 + 0.5) * CELL


def _disc(square: int, fill: str, edge: str | None) -> str:
    return circle(*_middle(square), 4.4, fill, edge)


def _cross(x: float, y: float) -> str:
    return line([(x - 3, y - 3), (x + 3, y + 3)], OCHRE, 2) + line([(x - 3, y + 3), (x + 3, y - 3)], OCHRE, 2)
