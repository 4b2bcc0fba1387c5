"""Own routines are on every set at most as long as clang's code of plain C: an x-ray, floods and Connect-4."""

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import setwise
from setwise import (
    EAST,
    NOEA,
    NORT,
    NOWE,
    QUEEN,
    ROOK,
    SOUT,
    WEST,
    Board,
    Grid,
    Layout,
    Occupied,
    fills,
    nonzero,
    repeat,
    spec,
    while_,
)
from setwise.analysis import api
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import count
from setwise.analysis.code.decode import Binary
from setwise.analysis.code.objects import functions
from setwise.codegen.export.compiler_names import flags
from setwise.codegen.ir.values import Value
from setwise.codegen.kernel import widths
from setwise.codegen.lower import lower
from setwise.codegen.targets import TARGETS
from tests.conftest import require_module, require_tool

C = r"""
#include <stdint.h>

#if LANES > 1
typedef uint64_t Board __attribute__((vector_size(8 * LANES)));
static int differ(Board a, Board b)
{
    uint64_t bits = 0;
    for (int lane = 0; lane < LANES; lane++)
        bits |= (a ^ b)[lane];
    return bits != 0;
}
#else
typedef uint64_t Board;
static int differ(Board a, Board b) { return a != b; }
#endif

#define NOT_A 0xfefefefefefefefeULL
#define NOT_H 0x7f7f7f7f7f7f7f7fULL
#define ATTACKS(NAME, BY, MASK)        \
    static Board NAME(Board gen, Board pro) \
    {                                  \
        pro &= MASK;                   \
        gen |= pro & (gen BY);         \
        pro &= pro BY;                 \
        gen |= pro & (gen BY * 2);     \
        pro &= pro BY * 2;             \
        gen |= pro & (gen BY * 4);     \
        return (gen BY) & MASK;        \
    }
ATTACKS(nort, << 8, ~0ULL)
ATTACKS(noea, << 9, NOT_A)
ATTACKS(east, << 1, NOT_A)
ATTACKS(soea, >> 7, NOT_A)
ATTACKS(sout, >> 8, ~0ULL)
ATTACKS(sowe, >> 9, NOT_H)
ATTACKS(west, >> 1, NOT_H)
ATTACKS(nowe, << 7, NOT_H)

static Board xray_attacks(Board queens, Board occupied)
{
    const Board empty = ~occupied;
    return nort(queens, empty) | noea(queens, empty) | east(queens, empty) | soea(queens, empty)
        | sout(queens, empty) | sowe(queens, empty) | west(queens, empty) | nowe(queens, empty);
}

Board xray(Board queens, Board occupied, Board blockers)
{
    return xray_attacks(queens, occupied ^ (xray_attacks(queens, occupied) & blockers));
}

Board component(Board seed, Board own)
{
    Board x = seed & own, before;
    do {
        before = x;
        x |= own & (x << 8 | x >> 8 | (x << 1 & NOT_A) | (x >> 1 & NOT_H));
    } while (differ(x, before));
    return x;
}

Board group(Board seed, Board own)
{
    Board x = seed & own, before;
    do {
        before = x;
        const Board row = x | (x << 1 & NOT_A) | (x >> 1 & NOT_H);
        x = own & (row | row << 8 | row >> 8);
    } while (differ(x, before));
    return x;
}

Board fours(Board own)
{
    const Board east = own & own << 1, nort = own & own << 8, noea = own & own << 9, nowe = own & own << 7;
    return (east & east << 2) | (nort & nort << 16) | (noea & noea << 18) | (nowe & nowe << 14);
}
"""
"""An engine's C. clang may call `xray_attacks`, whose instructions count once."""

OPTIONS = ("-O3", "-c", "-fPIC", "-ffunction-sections", "-fcf-protection=none", "-falign-loops=1")

GRID = Grid(7, 6, gap=1)


def _xray(layout: Layout, queens: Value, occupied: Value, blockers: Value) -> Value:
    def attacks(occupied: Value, _: Value) -> tuple[Value, Value]:
        rays = ((ray, layout.board(ray, queens), layout.board(ray, ~occupied)) for ray in layout.rays(QUEEN))
        seen = layout.union(fills.kogge_stone.attacks(*each) for each in rays)
        return occupied ^ seen & blockers, seen

    return repeat(2, attacks, occupied, queens)[1]


def _fours(layout: Layout, own: Value) -> Value:
    ends = []
    for ray in GRID.rays(layout, (EAST, NORT, NOEA, NOWE)):
        discs = layout.board(ray, own)
        pairs = discs & ray.step(discs)
        ends.append(pairs & ray.step(pairs, 2))
    return layout.union(ends)


BOARDS = Layout(batched=True)


@setwise.routine
def xray(queens: Board, occupied: Occupied, blockers: Board) -> Board:
    """Squares that queens attack if the blockers that they attack are taken away."""
    return _xray(BOARDS, queens, occupied, blockers)


@setwise.routine
def xray_in_lanes(layout: Layout, queens: Board, occupied: Occupied, blockers: Board) -> Board:
    """The same, with directions in lanes."""
    return _xray(layout, queens, occupied, blockers)


@xray.specification
@xray_in_lanes.specification
def _(queens: Any, occupied: Any, blockers: Any) -> Any:
    taken = spec.attacks("queen", queens, ~occupied) & blockers
    return spec.attacks("queen", queens, ~(occupied ^ taken))


@setwise.routine
def component(seed: Board, own: Board) -> Board:
    """Squares of `own` that are connected with the seed by sides."""

    def spread(x: Value, _: Value) -> tuple[Value, Value]:
        return x | own & setwise.union(x.step(direction) for direction in ROOK), x

    return while_(lambda x, before: nonzero(x ^ before), spread, seed & own, 0)[0]


@setwise.routine
def group(seed: Board, own: Board) -> Board:
    """Squares of `own` that are connected with the seed by sides or corners."""

    def spread(x: Value, _: Value) -> tuple[Value, Value]:
        row = x | x.step(EAST) | x.step(WEST)
        return own & (row | row.step(NORT) | row.step(SOUT)), x

    return while_(lambda x, before: nonzero(x ^ before), spread, seed & own, 0)[0]


@setwise.routine(grid=GRID)
def fours(own: Board) -> Board:
    """Squares of Connect-4 at which four discs in a row end."""
    return _fours(BOARDS, own)


@setwise.routine(grid=GRID)
def fours_in_lanes(layout: Layout, own: Board) -> Board:
    """The same, with directions in lanes."""
    return _fours(layout, own)


OWN = {
    name: [routine for own in each for routine in own.routines]
    for name, each in {
        "xray": (xray, xray_in_lanes),
        "component": (component,),
        "group": (group,),
        "fours": (fours, fours_in_lanes),
    }.items()
}
"""Routines by the name of their C function, the one with boards in lanes first."""


def shortest(name: str, isa: str, lanes: int) -> int:
    """The instructions of our shortest kernel for this number of boards; a set with vectors has x86-64, too."""
    boards, *directions = OWN[name]
    kernels = [lower(boards, isa if lanes in TARGETS[isa].widths else "x86-64", "sysv", lanes)]
    for routine in directions if lanes == 1 else ():
        if isa in routine.isas:
            kernels += [lower(routine, isa, "sysv", width) for width in widths(routine, TARGETS[isa])]
    return min(count(binary_of(kernel)).instructions for kernel in kernels)


def clang(folder: Path, isa: str, lanes: int) -> Counter[str]:
    """The instructions of clang's functions, of scalar C for one board, else of C with vectors of boards."""
    source, made, text = folder / "plain.c", folder / "plain.o", folder / "text"
    source.write_text(C)
    options = (*OPTIONS, *flags(isa), f"-DLANES={lanes}")
    subprocess.run([require_tool("clang-19"), *options, str(source), "-o", str(made)], check=True)
    lengths: Counter[str] = Counter()
    for name in functions(made):
        section = f"--only-section=.text.{name}"
        subprocess.run(["objcopy", "-O", "binary", section, str(made), str(text)], check=True)
        lengths[name.removesuffix("_attacks")] += count(Binary(text.read_bytes())).instructions
    return lengths


@pytest.mark.slow
@pytest.mark.parametrize("isa", TARGETS)
def test_clang_makes_no_shorter_code(isa: str, tmp_path: Path) -> None:
    for lanes in sorted({1, *TARGETS[isa].widths}):
        theirs = clang(tmp_path, isa, lanes)
        assert {*theirs} == {*OWN}
        longer = {name: (shortest(name, isa, lanes), theirs[name]) for name in OWN}
        assert {name: both for name, both in longer.items() if both[0] > both[1]} == {}, lanes


@pytest.mark.slow
def test_the_xray_is_proved() -> None:
    require_module("bitwuzla")
    proofs = api.prove(api.requests(OWN["xray"], abi="sysv"))
    assert {proof.key: proof.why for proof in proofs if proof.status != "proved"} == {}
