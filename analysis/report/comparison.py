"""comparison.md: moves and operations of every family, direction and instruction set, as the literature counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from setwise.analysis.code.compare import side_by_side
from setwise.analysis.code.count import Counts
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
    return page(
        "Moves and operations of every fill",
        _INTRODUCTION,
        "## The classic comparison",
        "In the registers of the literature (sliders in rdx, empty squares in rcx, the result in rax), "
        "`setwise compare dumb7.attacks.sout kogge-stone.attacks.sout --abi wiki`:",
        f"```\n{classic}\n```",
        "## One direction",
        "A cell is moves + operations; a third number counts all other instructions, where there are any. With sse2, "
        "avx2 and avx512 one call works on 2, 4 or 8 boards at once (or fewer: `--lanes`), and the count is the same.",
        *(_of_instruction_set(figures, isa) for isa in ISAS),
        "## Loops",
        "The length of their code says little: seven rounds, or as many as the flood lasts. "
        "`setwise count --executed` and `--over` count what calls really execute.",
        _loops(figures),
        "## Several directions at once",
        "One board; with avx2 and avx512 a ray a lane. All instructions, and in brackets the moves among them.",
        _sets(figures),
        "## A whole side",
        "`sliders.*` take rooks, bishops (queens among both; `pieces`: queens apart; `sides`: of both sides) and the "
        "occupied squares, or with `-empty` the empty ones. All instructions, and in brackets the moves among them.",
        _sides(figures),
        "## Arrays of boards",
        "Instructions a board, the control of the loop included.",
        _arrays(figures),
        "## Everything else",
        "All instructions of the code, and in brackets the moves among them. Of the exploding routines, and of the "
        "loops, a call executes a part, or a part many times.",
        _remaining(figures),
    )


_INTRODUCTION = """\
What every kernel costs in instructions, counted by decoding its bytes, in the classes of the literature: a *move*
copies a register, an *operation* is arithmetic, logic or a shift. The final `ret` is never counted. All but the classic
comparison is in the System V convention. What they cost in cycles is in [costs.md](costs.md); the same counts as data,
all classes apart, in [data/kernels.json](data/kernels.json)."""


def classic_listings() -> str:
    """The two listings of the literature side by side, their counts below."""
    kernels = [lower(find(name), "x86-64", "wiki") for name in CLASSIC]
    left, right = ((kernel.name, binary_of(kernel)) for kernel in kernels)
    return side_by_side(left, right)


def split(counts: Counts) -> str:
    """Moves + operations, and the rest if there is any."""
    rest = counts.instructions - counts.moves - counts.operations
    return f"{counts.moves} + {counts.operations}" + (f" + {rest}" if rest else "")


def total(kernel: KernelFigures | None) -> str:
    """All instructions and the moves among them; a dash where there is no such kernel."""
    if kernel is None:
        return "-"
    return f"{kernel.counts.instructions}" + (f" ({kernel.counts.moves})" if kernel.counts.moves else "")


def usual_kernel(figures: Figures, name: str, isa: str) -> KernelFigures | None:
    """The kernel with the usual number of lanes, if there is one."""
    widths = [kernel for kernel in figures.values() if (kernel.name, kernel.isa) == (name, isa)]
    return max(widths, key=lambda kernel: kernel.lanes, default=None)


def _of_instruction_set(figures: Figures, isa: str) -> str:
    def cell(kernel: KernelFigures) -> str:
        return split(kernel.counts)

    tables = [
        table((title, *DIRECTIONS), [(code(form), *cells) for form, cells in _by_direction(figures, forms, isa, cell)])
        for title, forms in _FILLS
    ]
    return "\n\n".join((f"### {isa}", *tables))


def _loops(figures: Figures) -> str:
    lines = [
        (code(form), isa, *cells)
        for loop in _LOOPS
        for isa in ISAS
        for form, cells in _by_direction(figures, [loop], isa, total)
    ]
    return table(("Instructions of the code (moves)", "", *DIRECTIONS), lines, left=2)


def _by_direction(
    figures: Figures, forms: Iterable[str], isa: str, cell: Callable[[KernelFigures], str]
) -> Iterator[tuple[str, list[str]]]:
    """A cell a direction, of each form that there is for the instruction set."""
    for form in forms:
        kernels = [usual_kernel(figures, f"{form}.{direction}", isa) for direction in DIRECTIONS]
        if any(kernels):
            yield form, [cell(kernel) if kernel else "-" for kernel in kernels]


def _columns(figures: Figures, names: Sequence[str]) -> list[tuple[str, str, int]]:
    """Title, set and lanes of each column: a number of lanes has its own where some of these kernels differ with it."""
    columns = []
    for isa in ISAS:
        lanes = sorted(
            {kernel.lanes for kernel in figures.values() if kernel.isa == isa and kernel.name in names}, reverse=True
        )
        for number in lanes:
            if number == lanes[0] or _differs(figures, names, isa, lanes[0], number):
                columns.append((f"{isa}, {number} lanes" if number > 1 else isa, isa, number))
    return columns


def _differs(figures: Figures, names: Sequence[str], isa: str, usual_lanes: int, lanes: int) -> bool:
    pairs = ((figures.get((name, isa, usual_lanes)), figures.get((name, isa, lanes))) for name in names)
    return any(one and other and one.counts != other.counts for one, other in pairs)


def _table_of(figures: Figures, head: str, names: Sequence[str]) -> str:
    columns = _columns(figures, names)
    lines = [(code(name), *(total(figures.get((name, isa, lanes))) for _, isa, lanes in columns)) for name in names]
    return table((head, *(title for title, _, _ in columns)), lines)


def _sets(figures: Figures) -> str:
    families = [
        family for family in FAMILIES if any(kernel.name == f"{family}.attacks.queen" for kernel in figures.values())
    ]
    return _table_of(figures, "Attacks", [f"{family}.attacks.{name}" for name in DIRECTION_SETS for family in families])


def _sides(figures: Figures) -> str:
    names = [kernel.name for kernel in figures.values() if kernel.family == "sliders" and kernel.shape != "arrays"]
    return _table_of(figures, "Routine", list(dict.fromkeys(names)))


def _arrays(figures: Figures) -> str:
    names = dict.fromkeys(kernel.name for kernel in figures.values() if kernel.shape == "arrays")
    lines = []
    for name in names:
        cells = (usual_kernel(figures, name, isa) for isa in ISAS)
        lines.append((code(name), *(figure(kernel.per_board) if kernel else "-" for kernel in cells)))
    return table(("Routine", *ISAS), lines)


def _remaining(figures: Figures) -> str:
    names = [
        kernel.name
        for kernel in figures.values()
        if kernel.family in ("exploding", "bytewise") or kernel.direction == "any"
    ]
    return _table_of(figures, "Routine", list(dict.fromkeys(names)))
