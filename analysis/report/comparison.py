"""comparison.md: moves and operations of every family, direction and instruction set, as the literature counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from setwise.analysis.code.compare import side_by_side
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.report.kernels import Figures, KernelFigures
from setwise.analysis.report.markdown import FAMILIES, ISAS, code, figure, page, table
from setwise.codegen.board import DIRECTION_SETS, DIRECTIONS
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower

CLASSIC = ("dumb7.attacks.sout", "kogge-stone.attacks.sout")
_FILLS = (
    ("Attacks", (
        "dumb7.attacks", "dumb7.attacks-of-fill", "kogge-stone.attacks", "push.attacks", "subtraction.attacks",
        "subtraction.attacks-cleared",
    )),
    ("Occluded fills", ("dumb7.occluded", "kogge-stone.occluded")),
    ("Fills of an empty board, and single steps", ("kogge-stone.empty-fill", "kogge-stone.empty-attacks", "shift.one")),
)  # fmt: skip
_LOOPS = ("dumb7.occluded-rolled", "dumb7.occluded-until-dry", "dumb7.attacks-until-dry")


def comparison(figures: Figures, classic: str) -> str:
    """The page; `classic` is the comparison that the literature prints, as `classic_listings` makes it."""
    attacks = [f"{family}.attacks.{way}" for way in DIRECTION_SETS for family in FAMILIES]
    routines = figures.names(lambda row: row.form == "attacks")
    arrays = figures.names(lambda row: row.shape == "arrays")
    of_arrays = [isa for isa in ISAS if any(figures.of(isa, *arrays))]
    return page(
        "comparison.md",
        classic=classic,
        fills="\n\n".join(filter(None, (_fills(figures, isa) for isa in ISAS))),
        loops=table(
            ("Instructions of the code (moves)", "", *DIRECTIONS),
            [
                (form, isa, *cells)
                for loop in _LOOPS
                for isa in ISAS
                for form, *cells in _rows(figures, [loop], isa, total)
            ],
            left=2,
        ),
        sets=_table(figures, "Attacks", [name for name in attacks if name in routines]),
        sides=_table(
            figures,
            "Routine",
            figures.names(lambda row: row.family in ("sliders", "side") and row.shape != "arrays"),
        ),
        arrays=table(
            ("Routine", *of_arrays),
            [(code(name), *(_per_board(figures.usual(isa, name)) for isa in of_arrays)) for name in arrays],
        ),
        remaining=_table(
            figures,
            "Routine",
            figures.names(lambda row: row.family in ("exploding", "bytewise", "leapers") or row.direction == "any"),
        ),
    )


def classic_listings() -> str:
    """The two listings of the literature side by side, their counts below."""
    kernels = [lower(find(name), "x86-64", "wiki") for name in CLASSIC]
    left, right = ((kernel.name, binary_of(kernel)) for kernel in kernels)
    return side_by_side(left, right)


def split(kernel: KernelFigures | None) -> str:
    """Moves + operations, and the rest if there is any; a dash where there is no such kernel."""
    if kernel is None:
        return "-"
    counts = kernel.counts
    rest = counts.instructions - counts.moves - counts.operations
    return f"{counts.moves} + {counts.operations}" + (f" + {rest}" if rest else "")


def total(kernel: KernelFigures | None) -> str:
    """All instructions and the moves among them; a dash where there is no such kernel."""
    if kernel is None:
        return "-"
    return f"{kernel.counts.instructions}" + (f" ({kernel.counts.moves})" if kernel.counts.moves else "")


def _per_board(kernel: KernelFigures | None) -> str:
    return figure(kernel.per_board if kernel else None)


def _fills(figures: Figures, isa: str) -> str:
    """A table for each kind of fill on an instruction set; nothing where it has none."""
    rows = {title: list(_rows(figures, forms, isa, split)) for title, forms in _FILLS}
    tables = [table((title, *DIRECTIONS), lines) for title, lines in rows.items() if lines]
    return "\n\n".join((f"### {isa}", *tables)) if tables else ""


def _rows(
    figures: Figures, forms: Iterable[str], isa: str, cell: Callable[[KernelFigures | None], str]
) -> Iterator[tuple[str, ...]]:
    """A line with a cell a direction, of each form that there is for the instruction set."""
    for form in forms:
        kernels = [figures.usual(isa, f"{form}.{direction}") for direction in DIRECTIONS]
        if any(kernels):
            yield code(form), *map(cell, kernels)


def _table(figures: Figures, head: str, names: Sequence[str]) -> str:
    """A line a routine; a number of lanes has a column of its own where some of these kernels differ with it."""
    columns = []
    for isa in ISAS:
        usual = {kernel.name: kernel.counts for kernel in reversed(figures.of(isa, *names))}
        widths = dict.fromkeys(kernel.lanes for kernel in figures.of(isa, *names))
        for at, lanes in enumerate(widths):
            kernels = [figures.get((name, isa, lanes)) for name in names]
            if at == 0 or any(kernel and kernel.counts != usual[kernel.name] for kernel in kernels):
                columns.append((f"{isa}, {lanes} lanes" if lanes > 1 else isa, kernels))
    lines = [(code(name), *(total(kernels[at]) for _, kernels in columns)) for at, name in enumerate(names)]
    return table((head, *(title for title, _ in columns)), lines)
