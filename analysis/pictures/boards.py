"""The SVG picture of fills in slow motion, with new squares highlighted."""

from setwise.analysis.pictures import svg
from setwise.analysis.pictures.slow_motion import Cycle, TracedFill, conclusion
from setwise.analysis.pictures.svg import Drawing

CELL = 13
BOARD = 8 * CELL
GAP = 18
(_LIGHT, _DARK), _RUN, _OLD, _PIECE = svg.SQUARES, svg.RUN, svg.FLOODED, svg.OTHERS
_LEFT = 14
"""The space in pixels for the ranks' numbers, left of the first board."""
_EXPLAINED = (
    "A jump of n squares is right onto the last of n empty squares",
    "in a row: a run of n. Runs of 2 are empty & step(empty), and",
    "two of those make a run of 4. So three cycles do for seven.",
)


def slow_motion(dumb7: TracedFill, doubling: TracedFill) -> str:
    """Return a picture (SVG) of the same fill by single and by doubled steps, each cycle on a board of its own."""
    marks: list[str] = []
    y = 0
    for title, shown, notes in (
        ("dumb7: seven cycles of one step", dumb7, (conclusion(dumb7),)),
        ("Kogge-Stone: cycles of 1, 2 and 4 steps", doubling, _EXPLAINED),
    ):
        marks.append(svg.text(0, y + 14, title, size=16, bold=True))
        for at, panel in enumerate((_start(shown), *(_cycle(shown, cycle) for cycle in shown.cycles))):
            row, column = divmod(at, 4)
            marks.append(svg.moved(_LEFT + column * (BOARD + GAP), y + 28 + row * (BOARD + 30), panel))
        y += (row + 1) * (BOARD + 30) + 38
        marks += [svg.text(0, y + 18 * at, words, size=14, colour=svg.MUTED) for at, words in enumerate(notes)]
        y += 18 * len(notes) + 16
    drawing = svg.explained(
        Drawing(_LEFT + 4 * (BOARD + GAP) - GAP, y, tuple(marks)),
        (svg.circle(7, -4, 4.4, svg.INK), "sliders"),
        (svg.circle(7, -4, 4.4, _OLD, edge=svg.BLUE), "flooded before"),
        (svg.circle(7, -4, 4.4, svg.BLUE), "new in this cycle"),
    )
    drawing = svg.explained(
        drawing,
        (svg.rectangle(1, -10, 12, 12, _PIECE), "other pieces"),
        (_cross(7, -4), "not let through"),
        (svg.rectangle(1, -10, 12, 12, _RUN), "runs of empty squares"),
    )
    same = "the same squares" if dumb7.flood == doubling.flood else "different squares"
    return svg.picture(
        "Sliders flood southward, in slow motion",
        f"Seven single steps and three doubled ones reach {same}.",
        drawing,
        f"{len(dumb7.cycles)} boards of dumb7 and {len(doubling.cycles)} of Kogge-Stone, from the same sliders, "
        "in the position of the literature (Dumb7Fill).",
    )


def _start(shown: TracedFill) -> list[str]:
    marks = _squares(shown, 0)
    marks += [_disc(square, svg.INK) for square in _ones(shown.sliders)]
    places = ((-10, CELL, "8"), (-10, BOARD - 2, "1"), (2, BOARD + 16, "a"), (BOARD - 10, BOARD + 16, "h"))
    marks += [svg.text(x, y, words, colour=svg.MUTED) for x, y, words in places]
    return [*marks, svg.text(BOARD / 2, BOARD + 17, "sliders", size=14, anchor="middle", colour=svg.MUTED)]


def _cycle(shown: TracedFill, cycle: Cycle) -> list[str]:
    before, new = cycle.before, cycle.flood & ~cycle.before
    marks = _squares(shown, (cycle.propagator or 0) if cycle.steps > 1 else 0)
    marks += [_disc(square, _OLD, svg.BLUE) for square in _ones(before & ~shown.sliders)]
    marks += [_disc(square, svg.INK) for square in _ones(shown.sliders)]
    marks += [_disc(square, svg.BLUE) for square in _ones(new)]
    stopped = cycle.arrives & ~cycle.kept & ~cycle.flood
    marks += [_cross(*_middle(square)) for square in _ones(stopped)]
    steps = "1 step" if cycle.steps == 1 else f"{cycle.steps} steps"
    title = f"cycle {cycle.number}" if shown.family == "dumb7" else steps
    marks.append(svg.text(BOARD / 2, BOARD + 17, title, 14, svg.INK if new else svg.FAINT, anchor="middle"))
    return marks


def _squares(shown: TracedFill, run: int) -> list[str]:
    """Return the SVG marks of a board without sliders; other pieces' squares and those of `run` are tinted."""
    taken = 0 if shown.empty is None else ~(shown.empty | shown.sliders)
    tinted = dict.fromkeys(_ones(taken), _PIECE) | dict.fromkeys(_ones(run), _RUN)
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
