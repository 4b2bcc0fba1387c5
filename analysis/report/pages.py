"""The files of reports/: pages of text from templates/ and figures from kernels and the recorded file, and pictures."""

from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from itertools import product, starmap

from msgspec.structs import replace as altered

from setwise.analysis.bench.compilers import installed
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.compare import side_by_side
from setwise.analysis.cost.processors import PROCESSORS, processor
from setwise.analysis.pictures.boards import slow_motion
from setwise.analysis.pictures.dependence_graph import DependencePicture, dependences, graph
from setwise.analysis.pictures.network import prefix_network
from setwise.analysis.pictures.slow_motion import EMPTY, SLIDERS, fills
from setwise.analysis.report.figures import Figures, KernelFigures, Measurements, figures_of, keys, shortest_of
from setwise.analysis.report.report_files import PATH, Files, text
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.workers import Workers
from setwise.codegen.board import DIR8, DIRECTION_SETS, DIRECTIONS
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.lower import lower
from setwise.codegen.targets import TARGETS

ISAS = tuple(TARGETS)
FAMILIES = ("dumb7", "kogge-stone")
MODEL = processor("zen4")  # the processor of the first table and of the dependence graphs
_GRAPHS = {  # pictures of dependence graphs, each of some kernels side by side
    "pictures/dependencies.svg": (("dumb7.attacks.sout", "x86-64"), ("kogge-stone.attacks.sout", "x86-64")),
    "pictures/dependencies-push.svg": (("push.attacks.sout", "x86-64"), ("push.attacks.sout", "bmi2")),
    "pictures/dependencies-union.svg": (("sliders.union", "avx512"),),
}
NEEDS = (  # the rows of the first table: a purpose, and the request of the kernel
    ("all squares that **one side's sliders** attack", "sliders.union", "sse2", ""),
    ("... with AVX2", "sliders.union", "avx2", ""),
    ("... with AVX2, if calls wait for each other", "sliders.union", "avx2", "scalar-rooks"),
    ("... with AVX-512", "sliders.union", "avx512", ""),
    ("... with AVX-512 in 256-bit registers", "sliders.union", "avx512", "4-lanes"),
    ("... with AVX-512, GFNI and VBMI", "sliders.union", "gfni", ""),
    ("the same with **knights, king and pawns**", "side.union.white", "avx2", ""),
    ("**rooks' and bishops' attacks** apart", "sliders.pair", "avx2", ""),
    ("**one direction**, one board a call", "push.attacks.sout", "bmi2", ""),
    ("one direction, four boards a call", "push.attacks.sout", "avx2", ""),
    ("one side's sliders, **arrays**; figures a board", "sliders.union.batch", "avx2", ""),
    ("... in long arrays", "sliders.union.batch", "avx2", "by-ranks"),
)
_WHICH = ("You need", "`setwise listing` ...", "instructions", "latency, cycles", "throughput, cycles a call")
_CYCLES = ("latency, at least", "latency, measured", "throughput, at least", "throughput, measured")
_FORMS = (
    *("dumb7.attacks", "kogge-stone.attacks", "push.attacks", "subtraction.attacks", "subtraction.attacks-cleared"),
    *("dumb7.attacks-of-fill", "dumb7.occluded", "kogge-stone.occluded", "kogge-stone.empty-fill"),
    *("kogge-stone.empty-attacks", "shift.one"),
    *("dumb7.occluded-rolled", "dumb7.occluded-until-dry", "dumb7.attacks-until-dry"),
)
_SHOWN = ("sout", "east", "queen", "")  # directions in costs.md; "" is a routine without one


def generate(recorded: Measurements, check: bool, show: Callable[[str], None], note: Callable[[str], None]) -> Files:
    """Compile all kernels, run the C compilers, and return the text of every report file by its path.

    With `check`, only compilers of the recorded versions run. `note` receives a line about each recorded compiler that
    does not run, `show` a line of progress on each kernel.
    """
    here = {each.name: each for each in installed() if not check or recorded.compilers.get(each.name) == each.version}
    for name in recorded.compilers.keys() - here.keys():
        note(f"not checked: {recorded.compilers[name]}, which is not installed")
    isas = [isa for isa, target in TARGETS.items() if target.extends is None]
    with Workers() as workers:
        made = {
            name: {isa: workers.submit(shortest_of, compiler, isa) for isa in isas} for name, compiler in here.items()
        }
        figures = Figures()
        for task in [workers.submit(figures_of, *key) for key in keys()]:
            kernel = task.result()
            show(f"{kernel.name} {kernel.isa}")
            figures[kernel.name, kernel.isa, kernel.lanes] = kernel
        shortest = {name: {isa: task.result() for isa, task in each.items()} for name, each in made.items()}
    recorded = altered(
        recorded,
        compilers=dict(sorted({**recorded.compilers, **{each.name: each.version for each in here.values()}}.items())),
        shortest=dict(sorted({**recorded.shortest, **shortest}.items())),
    )
    return {**pages(figures.differing, recorded), PATH: text(recorded)}


def pages(figures: Figures, recorded: Measurements) -> dict[str, str]:
    """Return the text of every page and picture by its path."""
    fresh = recorded.of(figures)
    floods = [fills(find(f"{family}.occluded.sout"), (SLIDERS, EMPTY))[0] for family in FAMILIES]
    drawn = {name: dependences([*starmap(_graph, kernels)], MODEL) for name, kernels in _GRAPHS.items()}
    return {
        "README.md": page(
            "README.md",
            on=f"{MODEL.title} (`--cpu {MODEL.name}`)",
            which=table(_WHICH, ((need, *_row(*request)) for need, *request in NEEDS)),
            fills=[_row(f"{family}.attacks.sout", "x86-64") for family in FAMILIES],
            union={isa: _row("sliders.union", isa) for isa in ISAS},
            verdict=_verdict(figures),
        ),
        "comparison.md": _comparison(figures),
        "compilers.md": _compilers(figures, fresh),
        "costs.md": _costs(figures),
        "measurements.md": _measurements(figures, fresh),
        "pictures/slow-motion.svg": slow_motion(*floods),
        "pictures/prefix-network.svg": prefix_network(),
        **drawn,
    }


def _graph(name: str, isa: str) -> DependencePicture:
    kernel = lower(find(name), isa, "sysv")
    return graph(f"{name}, {_with_lanes(isa, kernel.layout.lanes)}", binary_of(kernel), task_of(kernel), MODEL)


def _row(name: str, isa: str, variant: str = "") -> tuple[str, ...]:
    """Return a kernel's cells: arguments of a command, number of instructions, bounds on latency and throughput."""
    kernel = figures_of(name, isa, variant=variant)
    command = f"`{name} --isa {isa}{variant and f' --variant {variant}'}`"
    return command, figure(kernel.length), *map(figure, kernel.bounds[MODEL.name])


def _titled(kernel: KernelFigures) -> tuple[str, str]:
    """Return the first two cells of a row: the routine, and the instruction set with the number of lanes."""
    return f"`{kernel.name}`", _with_lanes(kernel.isa, kernel.lanes)


def _with_lanes(isa: str, lanes: int) -> str:
    return isa if lanes == 1 else f"{isa} x{lanes}"


def _verdict(figures: Figures) -> str:
    """Return Markdown that compares dumb7 with Kogge-Stone: its number of wins, and a table of ranges of figures."""
    lines, less = [], []
    for scope, ways in (("one direction", [way.name for way in DIR8]), ("all eight", ["queen"])):
        for isa, lanes in product(ISAS, (1, 2, 4, 8)):
            found = ([figures.get((f"{each}.attacks.{way}", isa, lanes)) for each in FAMILIES] for way in ways)
            pairs = [(left, right) for left, right in found if left and right]
            if not pairs:
                continue
            both = [(left.bounds[on], right.bounds[on]) for left, right in pairs for on in left.bounds]
            cycles = [[(left[at] or 0, right[at] or 0) for left, right in both] for at in (0, 1)]
            each_of = [[(left.length, right.length) for left, right in pairs], *cycles]
            cells = [f"{span(side[0] for side in each)} : {span(side[1] for side in each)}" for each in each_of]
            less += [right < left for each in each_of for left, right in each]
            lines.append((f"{_with_lanes(isa, lanes)}, {scope}", *cells))
    head = "", "instructions", "latency, cycles", "throughput, cycles a call"
    wins = f"Kogge-Stone has the lower figure in {sum(less)} of {len(less)} comparisons."
    return f"{wins}\n\n{table(head, lines, left=1)}"


def _comparison(figures: Figures) -> str:
    south = [find(f"{family}.attacks.sout") for family in FAMILIES]
    sets = [f"{family}.attacks.{way}" for way in DIRECTION_SETS for family in ("dumb7", "kogge-stone", "push")]
    arrays = [name for name, routine in catalogue().items() if routine.contract.elements]
    straight = [routine for name, routine in catalogue().items() if name not in arrays]
    sides = [each.name for each in straight if each.family in ("sliders", "side")]
    families = ("exploding", "bytewise", "leapers")
    rest = [each.name for each in straight if each.family in families or each.contract.direction == "any"]
    directions = []
    for isa in ISAS:
        forms = [(form, [figures.usual(isa, f"{form}.{way}") for way in DIRECTIONS]) for form in _FORMS]
        if lines := [(f"`{form}`", *map(_split, kernels)) for form, kernels in forms if any(kernels)]:
            directions.append(f"### {isa}\n\n{table(('', *DIRECTIONS), lines, left=1)}")
    return page(
        "comparison.md",
        classic=side_by_side(*((each.name, binary_of(lower(each, "x86-64", "wiki"))) for each in south)),
        fills="\n\n".join(directions),
        sets=_totals(figures, sets),
        sides=_totals(figures, sides),
        arrays=_totals(figures, arrays),
        remaining=_totals(figures, rest),
    )


def _split(kernel: KernelFigures | None) -> str:
    """Return the text "moves + operations", then " + others" if there are other instructions; a dash for None."""
    rest = kernel.counts.instructions - kernel.counts.moves - kernel.counts.operations if kernel else 0
    return f"{kernel.counts.moves} + {kernel.counts.operations}" + (f" + {rest}" if rest else "") if kernel else "-"


def _total(kernel: KernelFigures | None) -> str:
    """Return the number of instructions as text, for arrays a board; otherwise any moves follow in brackets."""
    moves = kernel.counts.moves if kernel and not kernel.arrays else 0
    return figure(kernel.length if kernel else None) + (f" ({moves})" if moves else "")


def _totals(figures: Figures, names: Sequence[str]) -> str:
    """Return a table with a row a routine and a column an instruction set.

    Another number of lanes than the largest gets a column of its own if a count differs.
    """
    columns: dict[str, list[str]] = {}
    for isa in ISAS:
        usual = [_total(figures.usual(isa, name)) for name in names]
        for at, lanes in enumerate(dict.fromkeys(kernel.lanes for kernel in figures.of(isa, *names))):
            column = [_total(figures.get((name, isa, lanes))) for name in names]
            if at == 0 or any(cell not in ("-", most) for cell, most in zip(column, usual, strict=True)):
                columns[f"{isa}, {lanes} lanes" if lanes > 1 else isa] = column
    return table(("Routine", *columns), zip((f"`{name}`" for name in names), *columns.values(), strict=True), left=1)


Pair = tuple[KernelFigures, tuple[int, str, str]]
"""Our kernel; number of instructions, kind of source and compiler of the compilers' shortest code."""


def _compilers(figures: Figures, recorded: Measurements) -> str:
    groups: dict[tuple[str, str], list[Pair]] = {}
    for name, isa in ((name, isa) for name, routine in catalogue().items() for isa in routine.isas):
        made = ((*by[isa][name], compiler) for compiler, by in recorded.shortest.items() if name in by.get(isa, {}))
        if (theirs := min(made, default=None)) and (ours := figures.usual(isa, name)):
            groups.setdefault((find(name).family, isa), []).append((ours, theirs))
    pairs = [pair for group in groups.values() for pair in group]
    families, losses = [], []
    for key, group in groups.items():
        lengths = sum(ours.counts.instructions for ours, _ in group), sum(theirs[0] for _, theirs in group)
        families.append((*key, len(group), *lengths, *_won(group)))
    for ours, (length, kind, compiler) in pairs:
        if ours.counts.instructions > length:
            losses.append((*_titled(ours), ours.counts.instructions, length, compiler, kind))
    won = ("shorter", "as long", "longer")
    return page(
        "compilers.md",
        compilers=" and ".join(f"{name} ({version})" for name, version in recorded.compilers.items()),
        kernels=len(pairs),
        won=", ".join(f"{word} in {number}" for word, number in zip(won, _won(pairs), strict=True)),
        families=table(("Family", "", "kernels", "setwise", "compilers' shortest", *won), families),
        losses=table(("Routine", "", "setwise", "theirs", "made by", "from"), losses),
    )


def _won(pairs: Iterable[Pair]) -> tuple[int, int, int]:
    """Return the numbers of pairs in which our code is shorter, equally long and longer."""
    more = [ours.counts.instructions - theirs[0] for ours, theirs in pairs]
    return sum(each < 0 for each in more), more.count(0), sum(each > 0 for each in more)


def _costs(figures: Figures) -> str:
    lines = []
    for kernel in figures.values():
        if kernel.bounds and find(kernel.name).contract.direction in _SHOWN:
            bounds = (kernel.bounds.get(on.name) for on in PROCESSORS)
            cells = (f"{figure(each[0])} / {figure(each[1])}" if each else "-" for each in bounds)
            lines.append((*_titled(kernel), *cells))
    sources = "\n".join(f"* {on.title}: {' '.join(on.sources)}" for on in PROCESSORS)
    return page("costs.md", costs=table(("Routine", "", *(on.name for on in PROCESSORS)), lines), sources=sources)


def _measurements(figures: Figures, recorded: Measurements) -> str:
    """Return the page of measurements: for each session a table of measured cycles beside lower bounds."""
    sections = []
    for session in recorded.sessions:
        lines = []
        for row in session.cycles:
            kernel = figures[row[:3]]
            counts = figure(kernel.length), "-" if kernel.arrays else kernel.counts.moves
            latency, throughput = kernel.bounds.get(session.processor, (None, None))
            cycles = latency, row.latency, throughput, row.throughput
            lines.append((*_titled(kernel), *counts, *map(figure, cycles)))
        title = f"## {processor(session.processor).title}, {session.date}\n\n{session.machine}. {session.method}"
        sections.append(f"{title}\n\n{table(('Routine', '', 'instructions', 'moves', *_CYCLES), lines)}")
    return page("measurements.md", sessions="\n\n".join(sections))


def page(template: str, /, **fields: object) -> str:
    """Return the text of a file of templates/ with its fields filled in."""
    return (files(__package__) / "templates" / template).read_text(encoding="utf-8").format(**fields)


def table(head: Sequence[str], rows: Iterable[Sequence[object]], left: int = 2) -> str:
    """Return a Markdown table. The first `left` columns are left-aligned, the others right-aligned."""
    lines = [head, [":--" if at < left else "--:" for at in range(len(head))], *rows]
    cells = ((str(cell).replace("|", "\\|") for cell in line) for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def figure(value: float | None) -> str:
    """Return a number with at most one decimal, or a dash for None."""
    return "-" if value is None else f"{value:.1f}".removesuffix(".0")


def span(values: Iterable[float]) -> str:
    """Return the range of some numbers as text, "least to most", or one number if they print alike."""
    least, *_, most = map(figure, sorted([*values] * 2))
    return least if least == most else f"{least} to {most}"
