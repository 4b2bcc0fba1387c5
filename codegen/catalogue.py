"""Every routine by name, with where it comes from."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

from setwise.codegen.board import DIR8, DIRECTION_SETS, Direction
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.ray import Ray, RuntimeRay
from setwise.codegen.describe.routine import ALL_SETS, PACKED, SCALARS, Contract, Description, Parameter, Routine
from setwise.codegen.describe.values import Value
from setwise.codegen.fills import batch, bytewise, dumb7, exploding, kogge_stone, push, sliders, subtraction

SLIDERS = Parameter("sliders", "board")
ROOKS = Parameter("rooks", "board")
BISHOPS = Parameter("bishops", "board")
EMPTY = Parameter("empty", "empty")
OCCUPIED = Parameter("occupied", "occupied")
DIR_8 = Parameter("dir8", "dir8", below=8)
SQUARE = Parameter("square", "square", below=64)
FREE = Parameter("free", "empty")
WHITE = Parameter("white", "occupied")
BLACK = Parameter("black", "occupied")
RESULTS = Parameter("results", "results")
COUNT = Parameter("n", "count")
QUEENS = Parameter("queens", "board")
SIDES = tuple(Parameter(f"{side}_{piece}", "board") for side in ("white", "black") for piece in ("rooks", "bishops"))

DUMB7 = "Dumb7Fill, chessprogramming wiki (2016)"
KOGGE_STONE = "Kogge-Stone Algorithm, chessprogramming wiki (2018); Westcott, CCC (2002)"
ISENBERG = "Isenberg, CCC, 22 May 2005"
EXPLODING = "Exploding Bitboards, chessprogramming wiki (2018)"
SETWISE = "setwise"

WITHIN_OCCUPIED = "sliders within occupied"
NOT_ON_EMPTY = "no slider on an empty square"

Fill = Callable[..., Value]


def _words(family: str, form: str) -> str:
    return f"{family} {form}".replace("-", " ")


def _directed(
    family: str,
    form: str,
    fill: Fill,
    source: str,
    specification: str,
    *,
    empty: bool = True,
    directions: tuple[Direction, ...] = DIR8,
    aliases: dict[str, str] | None = None,
    requires: tuple[str, ...] = (),
    isas: tuple[str, ...] = ALL_SETS,
    others: tuple[Fill, ...] = (),
) -> Iterator[Routine]:
    """The routines of one form, a direction each; `others` write the fill otherwise."""

    def along(fill: Fill, direction: Direction) -> Description:
        def describe(layout: Layout, *boards: Value) -> tuple[Value, ...]:
            (ray,) = layout.rays((direction,))
            return (fill(ray, *boards),)

        return describe

    for direction in directions:
        descriptions = tuple(along(variant, direction) for variant in (fill, *others))

        contract = Contract((SLIDERS, EMPTY) if empty else (SLIDERS,), specification, direction.name, requires=requires)
        alias = (aliases or {}).get(direction.name)
        summary = f"{_words(family, form)}, {direction.name}"
        named = (alias,) if alias else ()
        yield Routine(family, form, direction.name, contract, descriptions, source, summary, isas, named, boards=True)


def _of_sets(family: str, fill: Fill, source: str, others: tuple[Fill, ...] = ()) -> Iterator[Routine]:
    """Attacks in several directions at once; `others` write the fill otherwise."""

    def along(fill: Fill, directions: tuple[Direction, ...]) -> Description:
        def describe(layout: Layout, gen: Value, pro: Value) -> tuple[Value, ...]:
            rays = layout.rays(directions)
            return (layout.union(fill(ray, layout.board(ray, gen), layout.board(ray, pro)) for ray in rays),)

        return describe

    for name, directions in DIRECTION_SETS.items():
        descriptions = tuple(along(variant, directions) for variant in (fill, *others))
        contract = Contract((SLIDERS, EMPTY), "attacks", name)
        summary = f"{_words(family, 'attacks')}, {name}"
        yield Routine(family, "attacks", name, contract, descriptions, source, summary, PACKED)


def _any(family: str, form: str, fill: Callable[..., Value], source: str, specification: str) -> Routine:
    """A routine whose direction is known at run time."""
    boards = (SLIDERS,) if specification == "step" else (SLIDERS, EMPTY)

    def describe(_: Layout, *values: Value) -> tuple[Value, ...]:
        ray: Ray = RuntimeRay.of(values[-1])
        return (fill(ray, *values[:-1]),)

    contract = Contract((*boards, DIR_8), specification, "any", requires=("dir8 below 8",))
    summary = f"{_words(family, form)}, direction at run time"
    return Routine(family, form, "any", contract, (describe,), source, summary)


def _one_step(ray: Ray, board: Value) -> Value:
    return ray.step(board)


def _simple(
    family: str,
    form: str,
    parameters: tuple[Parameter, ...],
    function: Callable[..., Value],
    source: str,
    specification: str,
    direction: str = "",
    requires: tuple[str, ...] = (),
    of: str = "",
    isas: tuple[str, ...] = SCALARS,
    boards: bool = False,
) -> Routine:
    """A routine that is one function of its parameters; `of` is the direction that the specification wants."""

    def describe(_: Layout, *values: Value) -> tuple[Value, ...]:
        return (function(*values),)

    contract = Contract(parameters, specification, of or direction, requires=requires)
    summary = f"{_words(family, form)} {direction}".strip()
    return Routine(family, form, direction, contract, (describe,), source, summary, isas, boards=boards)


def _dumb7() -> Iterator[Routine]:
    source = DUMB7
    yield from _directed("dumb7", "occluded", dumb7.occluded, f"{source}: Unrolled Loop", "occluded")
    yield from _directed("dumb7", "occluded-rolled", dumb7.occluded_rolled, f"{source}: Seven Fill Cycles", "occluded")
    yield from _directed(
        "dumb7", "occluded-until-dry", dumb7.occluded_until_dry, f"{source}: Fill Loop", "occluded", isas=SCALARS
    )
    yield from _directed(
        "dumb7", "attacks", dumb7.attacks, f"{source}: All Directions", "attacks", others=(dumb7.attacks_in_place,)
    )
    yield from _directed("dumb7", "attacks-of-fill", dumb7.attacks_of_fill, f"{source}: Attack Fill", "attacks")
    yield from _directed(
        "dumb7", "attacks-until-dry", dumb7.attacks_until_dry, f"{source}: Generalized Rays", "attacks", isas=SCALARS
    )
    yield from _of_sets("dumb7", dumb7.attacks, f"{source}: All Directions", others=(dumb7.attacks_in_place,))
    yield _any("dumb7", "occluded-until-dry", dumb7.occluded_until_dry, f"{source}: Loop Version", "occluded")
    yield _any("dumb7", "attacks-until-dry", dumb7.attacks_until_dry, f"{source}: Loop Version", "attacks")
    yield _any("dumb7", "attacks", dumb7.attacks, f"{source}: Unrolled Attacks", "attacks")


def _kogge_stone() -> Iterator[Routine]:
    source = KOGGE_STONE
    empty_board = f"{source}: Fill on an empty Board"
    up = {"nort": "fillUpOccluded"}
    yield from _directed("kogge-stone", "empty-fill", kogge_stone.empty_fill, empty_board, "empty-fill", empty=False)
    yield from _directed(
        "kogge-stone", "empty-attacks", kogge_stone.empty_attacks, empty_board, "empty-attacks", empty=False
    )
    yield from _directed(
        "kogge-stone", "occluded", kogge_stone.occluded, f"{source}: Occluded Fill", "occluded", aliases=up
    )
    yield from _directed("kogge-stone", "attacks", kogge_stone.attacks, f"{source}: Ray-wise Attacks", "attacks")
    yield from _of_sets("kogge-stone", kogge_stone.attacks, f"{source}: Ray-wise Attacks")
    yield _any("kogge-stone", "occluded", kogge_stone.occluded, f"{source}: Generalized Rays", "occluded")
    yield _any("kogge-stone", "attacks", kogge_stone.attacks, f"{source}: Generalized Rays", "attacks")


def _push() -> Iterator[Routine]:
    for direction in DIR8:
        by_addition = direction.name == "east"
        fill = push.east_by_addition if by_addition else push.push
        others = () if by_addition else (push.push_of_two,)
        requires = (NOT_ON_EMPTY,) if by_addition else ()
        yield from _directed(
            "push", "attacks", fill, SETWISE, "attacks", directions=(direction,), requires=requires, others=others
        )
    yield from _of_sets("push", push.push, SETWISE, others=(push.push_of_two,))


def _shift() -> Iterator[Routine]:
    yield from _directed("shift", "one", _one_step, f"{KOGGE_STONE}: Direction-wise Fill", "step", empty=False)
    yield _any("shift", "one", _one_step, f"{DUMB7}: Generalized Rays", "step")


def _subtraction() -> Iterator[Routine]:
    def either(single: Callable[..., Value], lanes: Callable[..., Value]) -> Description:
        """A general register subtracts as a whole, lanes a byte at a time."""

        def describe(layout: Layout, *boards: Value) -> tuple[Value, ...]:
            return ((single if layout.lanes == 1 else lanes)(*boards),)

        return describe

    forms = (
        ("attacks", either(subtraction.doubled, subtraction.doubled_bytewise)),
        ("attacks-cleared", either(subtraction.cleared, subtraction.cleared_bytewise)),
    )
    for form, describe in forms:
        contract = Contract((SLIDERS, OCCUPIED), "attacks", "east", requires=(WITHIN_OCCUPIED,))
        summary = f"subtraction {form}, east"
        yield Routine("subtraction", form, "east", contract, (describe,), ISENBERG, summary, ALL_SETS, boards=True)


def _bytewise() -> Iterator[Routine]:
    x, y = Parameter("x", "word"), Parameter("y", "word")
    narrow = (Parameter("x", "word", below=1 << 32), Parameter("y", "word", below=1 << 32))
    wide_loop, narrow_loop = partial(bytewise.carry_loop, bits=64), partial(bytewise.carry_loop, bits=32)
    below = ("x and y below 2**32",)
    yield _simple("bytewise", "carry-loop-64", (x, y), wide_loop, ISENBERG, "add")
    yield _simple("bytewise", "carry-loop-32", narrow, narrow_loop, ISENBERG, "add-32", requires=below)
    yield _simple("bytewise", "add", (x, y), bytewise.add, ISENBERG, "bytewise-add")
    yield _simple("bytewise", "subtract", (x, y), bytewise.subtract, ISENBERG, "bytewise-sub")
    yield _simple(
        "bytewise", "right-attacks", (FREE, ROOKS), bytewise.right_attacks, ISENBERG, "right-attacks", of="east"
    )


def _exploding() -> Iterator[Routine]:
    needs = ("square below 64",)
    number = Parameter("direction", "direction9")
    for suffix in ("", "big-endian"):
        add = partial(_simple, "exploding", source=EXPLODING, direction=suffix, requires=needs)
        ending = f"-{suffix}" if suffix else ""
        square = "from-square" + ending
        yield add("bishop", (SQUARE, FREE), exploding.bishop, specification=square, of="bishop")
        yield add("rook", (SQUARE, FREE), exploding.rook, specification=square, of="rook")
        around = "from-square-of-pieces" + ending
        yield add("orthogonal", (SQUARE, WHITE, BLACK), exploding.orthogonal, specification=around, of="rook")
        yield add("diagonal", (SQUARE, WHITE, BLACK), exploding.diagonal, specification=around, of="bishop")
        direction = partial(exploding.direction, files="big" if suffix else "little")
        parameters = (SQUARE, number, WHITE, BLACK)
        yield add("direction", parameters, direction, specification="direction-from-square" + ending, of="queen")


_WHOLE: tuple[tuple[str, tuple[Parameter, ...], tuple[str, ...], Callable[..., Description], str], ...] = (
    ("union", (ROOKS, BISHOPS), ("attacks",), sliders.union, "all squares that rooks and bishops attack"),
    (
        "pair",
        (ROOKS, BISHOPS),
        ("orthogonal", "diagonal"),
        sliders.pair,
        "squares attacked along lines, along diagonals",
    ),
    ("rays", (ROOKS, BISHOPS), tuple(d.name for d in DIR8), sliders.rays, "squares attacked in each direction"),
    (
        "pieces",
        (ROOKS, BISHOPS, QUEENS),
        ("rooks", "bishops", "queens"),
        sliders.pieces,
        "squares each piece type attacks",
    ),
    ("sides", SIDES, ("white", "black"), sliders.sides, "all squares that each side's rooks and bishops attack"),
)


def _sliders() -> Iterator[Routine]:
    """Whole-side routines, from occupied and from empty squares, queens among rooks and bishops both."""
    for form, boards, results, maker, summary in _WHOLE:
        for ending, board, requires in (("", OCCUPIED, WITHIN_OCCUPIED), ("-empty", EMPTY, NOT_ON_EMPTY)):
            given_occupied = board is OCCUPIED
            parameters = (*boards, board, RESULTS) if len(results) > 1 else (*boards, board)
            contract = Contract(parameters, form, "", results, (requires,))
            descriptions = tuple(partial(maker(how), given_occupied=given_occupied) for how in sliders.FORMS)
            yield Routine(
                "sliders",
                form + ending,
                "",
                contract,
                descriptions,
                SETWISE,
                f"{summary}, from {board.name} squares",
                PACKED,
            )


def _batch(routine: Routine) -> Routine:
    """The routine over arrays of boards; in vectors its lanes are boards."""

    def over(describe: Description) -> Description:
        return partial(batch.over, describe, routine.descriptions[0])

    inputs = routine.contract.parameters
    arrays = tuple(Parameter(p.name, "boards") for p in inputs)
    contract = replace(routine.contract, parameters=(*arrays, Parameter("result", "boards"), COUNT), elements=inputs)
    return replace(
        routine,
        form=routine.form if routine.direction else f"{routine.form}.batch",
        direction=f"{routine.direction}.batch" if routine.direction else "",
        contract=contract,
        descriptions=tuple(map(over, routine.descriptions)),
        summary=f"{routine.summary}, for n boards",
        isas=ALL_SETS,
        aliases=(),
        boards=True,
    )


def _batches() -> Iterator[Routine]:
    directed = (r for r in _kogge_stone() if r.form == "attacks" and r.direction != "any")
    yield from (_batch(r) for r in directed)
    yield from (_batch(r) for r in _sliders() if r.form in ("union", "union-empty"))


@cache
def catalogue() -> dict[str, Routine]:
    """Every routine, by its name."""
    makers = (_dumb7, _kogge_stone, _push, _shift, _subtraction, _bytewise, _exploding, _sliders, _batches)
    return {routine.name: routine for maker in makers for routine in maker()}


def find(name: str) -> Routine:
    """The routine of that name or alias, without regard to case; ValueError offers the nearest names."""
    by_name = {known.lower(): r for r in catalogue().values() for known in (r.name, *r.aliases)}
    if name.lower() in by_name:
        return by_name[name.lower()]
    near = difflib.get_close_matches(name.lower(), by_name, n=3, cutoff=0.4)
    offer = "nearest are " + ", ".join(by_name[n].name for n in near) if near else "setwise list shows them all"
    raise ValueError(f"unknown routine '{name}': {offer}")
