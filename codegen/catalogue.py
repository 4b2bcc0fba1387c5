"""The catalogue: every routine by name, with its source."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cache, partial
from itertools import product
from typing import NamedTuple

from setwise.codegen import literature
from setwise.codegen.board import DIR8, DIRECTION_SETS, Direction
from setwise.codegen.fills import (
    batch,
    bytewise,
    dumb7,
    exploding,
    kogge_stone,
    leapers,
    push,
    ranks,
    sides,
    sliders,
    subtraction,
)
from setwise.codegen.ir.description import Fill, along, at_run_time, plain
from setwise.codegen.ir.routine import NOT_ON_EMPTY, WITHIN_OCCUPIED, Contract, Description, Parameter, Routine
from setwise.codegen.ir.values import Ray, Value
from setwise.codegen.numbering import BIG_ENDIAN_FILES, LITTLE_ENDIAN, Numbering
from setwise.codegen.own.user_files import is_own, routines_named
from setwise.codegen.tables import TABLES
from setwise.codegen.targets import ALL_SETS, SCALARS

SLIDERS = Parameter("sliders", "board")
ROOKS = Parameter("rooks", "board")
BISHOPS = Parameter("bishops", "board")
EMPTY = Parameter("empty", "empty")
OCCUPIED = Parameter("occupied", "occupied")
DIR_8 = Parameter("dir8", "dir8", below=8)
DIRECTION_9 = Parameter("direction", "direction9")
SQUARE = Parameter("square", "square", below=64)
FREE = Parameter("free", "empty")
WHITE = Parameter("white", "occupied")
BLACK = Parameter("black", "occupied")
TARGETS = Parameter("targets", "word")
RESULTS = Parameter("results", "results")
QUEENS = Parameter("queens", "board")
KNIGHTS = Parameter("knights", "leapers")
KINGS = Parameter("kings", "leapers")
PAWNS = Parameter("pawns", "leapers")
COLOR = Parameter("color", "number", below=2)
PIECES = (ROOKS, BISHOPS)
SIDES = tuple(Parameter(f"{side}_{piece}", "board") for side in ("white", "black") for piece in ("rooks", "bishops"))

DUMB7 = literature.DUMB7.citation
KOGGE_STONE = literature.KOGGE_STONE.citation
ISENBERG = literature.ISENBERG.citation
EXPLODING = literature.EXPLODING.citation
SETWISE = "setwise"

EACH = {direction.name: (direction,) for direction in DIR8}
"""For the name of each of the eight directions, the set of this direction alone."""


_COMPUTED = {
    "occluded": ("fill", "the sliding pieces and the empty squares that they reach {}"),
    "attacks": ("attacks", "the squares that sliding pieces attack {}"),
    "empty-fill": ("fill", "the sliding pieces and all squares that they reach {} on an empty board"),
    "empty-attacks": ("attacks", "the squares that sliding pieces attack {} on an empty board"),
    "step": ("squares", "the given squares, moved one step {}"),
    "right-attacks": ("attacks", "the squares that rooks attack {}"),
    "from-square": ("attacks", "the squares that a {} attacks from one square"),
    "from-square-of-pieces": ("attacks", "the squares that a {} or queen attacks from one square among pieces"),
    "direction-from-square": ("attacks", "the squares that a {} attacks from one square in one of eight directions"),
    "exploded-from-square": (
        "attacks",
        "the squares that a {} attacks from one square, limited by a number of repeats",
    ),
    "add": ("sum", "the sum of x and y modulo 2**64, made of and, xor and shifts"),
    "add-32": ("sum", "the sum of x and y modulo 2**32, made of and, xor and shifts"),
    "bytewise-add": ("sums", "the sums of the eight bytes of x and those of y, each modulo 256"),
    "bytewise-sub": ("differences", "the differences of the eight bytes of x and those of y, each modulo 256"),
}
"""By name of a specification: its result, and a summary. Braces in the summary take the direction or the piece."""

_TOWARDS = {
    "noEa": "to the north-east",
    "east": "to the east",
    "soEa": "to the south-east",
    "sout": "to the south",
    "soWe": "to the south-west",
    "west": "to the west",
    "noWe": "to the north-west",
    "nort": "to the north",
    "any": "in the direction dir8 (0 to 7: noEa east soEa sout soWe west noWe nort)",
    "vertical": "to the south and north",
    "eastward": "to the north-east, east and south-east",
    "westward": "to the north-west, west and south-west",
    "rook": "along ranks and files",
    "bishop": "along diagonals",
    "queen": "along ranks, files and diagonals",
}


def _summary(contract: Contract) -> str:
    """Return the summary of the routine with this contract, for a reader who does not know the source."""
    specification = str(contract.specification)
    _, computed = _COMPUTED[specification]
    numbered = "" if contract.numbering == LITTLE_ENDIAN else f", squares numbered {contract.numbering}"
    of_one = "from-square" in specification
    return computed.format(contract.direction if of_one else _TOWARDS.get(contract.direction, "")) + numbered


def _directed(
    family: str,
    form: str,
    specification: str,
    source: str,
    *fills: Fill,
    sets: Mapping[str, tuple[Direction, ...]] = EACH,
    parameters: tuple[Parameter, ...] = (SLIDERS, EMPTY),
    requires: tuple[str, ...] = (),
    isas: tuple[str, ...] = ALL_SETS,
    ways: tuple[tuple[str, Fill], ...] = (),
) -> Iterator[Routine]:
    """Yield the routines of one form, one for each name in `sets`, along its directions.

    `fills` are equivalent, and so are `ways`, which are named descriptions for further variants.
    """
    for name, directions in sets.items():
        descriptions = tuple(along(fill, directions) for fill in fills)
        contract = Contract(parameters, specification, name, _COMPUTED[specification][:1], requires)
        boards = len(directions) == 1
        summary, verbatim = _summary(contract), source != SETWISE
        others = tuple((way, along(fill, directions)) for way, fill in ways)
        yield Routine(family, form, name, contract, descriptions, source, summary, isas, boards, verbatim, others)


_of_sets = partial(_directed, sets=DIRECTION_SETS)


def _by_file(single: Fill, lanes: Fill) -> Fill:
    """Return a fill that is `single` for boards of one lane (general registers) and `lanes` for vectors."""
    return lambda ray, gen, boards: (single if gen.lanes == 1 else lanes)(ray, gen, boards)


def _directed_at_run_time(family: str, form: str, specification: str, source: str, fill: Fill) -> Routine:
    """Return a routine whose direction is known only at run time."""
    boards = (SLIDERS,) if specification == "step" else (SLIDERS, EMPTY)
    contract = Contract((*boards, DIR_8), specification, "any", _COMPUTED[specification][:1], ("dir8 below 8",))
    described = (at_run_time(fill),)
    return Routine(family, form, "any", contract, described, source, _summary(contract), SCALARS, verbatim=True)


def _simple(
    family: str,
    form: str,
    specification: str,
    source: str,
    function: Fill,
    *parameters: Parameter,
    direction: str = "",
    requires: tuple[str, ...] = (),
    of: str = "",
    numbering: Numbering = LITTLE_ENDIAN,
    ways: tuple[tuple[str, Fill], ...] = (),
) -> Routine:
    """Return a routine without a ray, described by `function`. `direction` is the last part of its name.

    `of` is the direction or the piece of its specification. `ways` are named descriptions for further variants.
    """
    contract = Contract(parameters, specification, of, _COMPUTED[specification][:1], requires, numbering=numbering)
    described, others = (plain(function),), tuple((name, plain(way)) for name, way in ways)
    return Routine(
        family,
        form,
        direction,
        contract,
        described,
        source,
        _summary(contract),
        SCALARS,
        verbatim=True,
        named_descriptions=others,
    )


def _dumb7() -> Iterator[Routine]:
    loop, rolled, dry = f"{DUMB7}: Fill Loop", f"{DUMB7}: Seven Fill Cycles", f"{DUMB7}: Generalized Rays"
    directed = partial(_directed, "dumb7")
    attacks = ("attacks", "attacks", f"{DUMB7}: All Directions", dumb7.attacks, dumb7.attacks_in_place)
    yield from directed("occluded", "occluded", f"{DUMB7}: Unrolled Loop", dumb7.occluded)
    yield from directed("occluded-rolled", "occluded", rolled, dumb7.occluded_rolled)
    yield from directed("occluded-until-dry", "occluded", loop, dumb7.occluded_until_dry, isas=SCALARS)
    yield from directed(*attacks)
    yield from directed("attacks-of-fill", "attacks", f"{DUMB7}: Attack Fill", dumb7.attacks_of_fill)
    yield from directed("attacks-until-dry", "attacks", dry, dumb7.attacks_until_dry, isas=SCALARS)
    yield from _of_sets("dumb7", *attacks)
    at_run_time = partial(_directed_at_run_time, "dumb7")
    yield at_run_time("occluded-until-dry", "occluded", f"{DUMB7}: Loop Version", dumb7.occluded_until_dry)
    yield at_run_time("attacks-until-dry", "attacks", f"{DUMB7}: Loop Version", dumb7.attacks_until_dry)
    yield at_run_time("attacks", "attacks", f"{DUMB7}: Unrolled Attacks", dumb7.attacks)


def _kogge_stone() -> Iterator[Routine]:
    general, empty_board = f"{KOGGE_STONE}: Generalized Rays", f"{KOGGE_STONE}: Fill on an empty Board"
    on_empty = partial(_directed, "kogge-stone", parameters=(SLIDERS,))
    occluded = ("occluded", "occluded", f"{KOGGE_STONE}: Occluded Fill", kogge_stone.occluded)
    attacks = ("attacks", "attacks", f"{KOGGE_STONE}: Ray-wise Attacks", kogge_stone.attacks)
    yield from on_empty("empty-fill", "empty-fill", empty_board, kogge_stone.empty_fill)
    yield from on_empty("empty-attacks", "empty-attacks", empty_board, kogge_stone.empty_attacks)
    yield from _directed("kogge-stone", *occluded)
    yield from _directed("kogge-stone", *attacks)
    yield from _of_sets("kogge-stone", *attacks)
    yield _directed_at_run_time("kogge-stone", "occluded", "occluded", general, kogge_stone.occluded)
    yield _directed_at_run_time("kogge-stone", "attacks", "attacks", general, kogge_stone.attacks)


def _push() -> Iterator[Routine]:
    attacks = ("push", "attacks", "attacks", SETWISE)
    for name, directions in EACH.items():
        if name == "east":
            east = {name: directions}
            by_carry = _by_file(push.east_by_addition, push.east_by_bytes)
            yield from _directed(*attacks, by_carry, sets=east, requires=(NOT_ON_EMPTY,))
        else:
            ways = (("pext", push.west_by_gathering),) if name == "west" else ()
            yield from _directed(*attacks, push.push, push.push_of_two, sets={name: directions}, ways=ways)
    yield from _of_sets(*attacks, push.push, push.push_of_two)


def _shift() -> Iterator[Routine]:
    def one_step(ray: Ray, board: Value) -> Value:
        return ray.step(board)

    steps = f"{KOGGE_STONE}: Direction-wise Fill"
    yield from _directed("shift", "one", "step", steps, one_step, parameters=(SLIDERS,))
    yield _directed_at_run_time("shift", "one", "step", f"{DUMB7}: Generalized Rays", one_step)


def _subtraction() -> Iterator[Routine]:
    forms = {
        "attacks": _by_file(subtraction.doubled, subtraction.doubled_bytewise),
        "attacks-cleared": _by_file(subtraction.cleared, subtraction.cleared_bytewise),
    }
    east = partial(_directed, "subtraction", sets={"east": EACH["east"]}, parameters=(SLIDERS, OCCUPIED))
    for form, fill in forms.items():
        yield from east(form, "attacks", ISENBERG, fill, requires=(WITHIN_OCCUPIED,))


def _bytewise() -> Iterator[Routine]:
    words = (Parameter("x", "word"), Parameter("y", "word"))
    narrow = (Parameter("x", "word", below=1 << 32), Parameter("y", "word", below=1 << 32))
    wide_loop, narrow_loop = partial(bytewise.carry_loop, bits=64), partial(bytewise.carry_loop, bits=32)
    below = ("x and y below 2**32",)
    yield _simple("bytewise", "carry-loop-64", "add", ISENBERG, wide_loop, *words)
    yield _simple("bytewise", "carry-loop-32", "add-32", ISENBERG, narrow_loop, *narrow, requires=below)
    yield _simple("bytewise", "add", "bytewise-add", ISENBERG, bytewise.add, *words)
    yield _simple("bytewise", "subtract", "bytewise-sub", ISENBERG, bytewise.subtract, *words)
    right = bytewise.right_attacks
    yield _simple("bytewise", "right-attacks", "right-attacks", ISENBERG, right, FREE, ROOKS, of="east")


def _exploding() -> Iterator[Routine]:
    bishop, rook = ((SQUARE, Parameter("repeats", "number", below=end), FREE) for end in (10, 12))
    for suffix, numbering in (("", LITTLE_ENDIAN), ("big-endian", BIG_ENDIAN_FILES)):
        direction = partial(exploding.direction, numbering=numbering)
        forms: tuple[tuple[str, str, Fill, tuple[Parameter, ...], str], ...] = (
            ("bishop", "from-square", exploding.bishop, (SQUARE, FREE), "bishop"),
            ("rook", "from-square", exploding.rook, (SQUARE, FREE), "rook"),
            ("orthogonal", "from-square-of-pieces", exploding.orthogonal, (SQUARE, WHITE, BLACK), "rook"),
            ("diagonal", "from-square-of-pieces", exploding.diagonal, (SQUARE, WHITE, BLACK), "bishop"),
            ("direction", "direction-from-square", direction, (SQUARE, DIRECTION_9, WHITE, BLACK), "queen"),
            ("bishop-corners", "exploded-from-square", exploding.bishop_corners, bishop, "bishop"),
            ("rook-corners", "exploded-from-square", exploding.rook_corners, rook, "rook"),
        )
        add = partial(_simple, "exploding", direction=suffix, numbering=numbering)
        for form, specification, function, parameters, of in forms:
            bounds = tuple(f"{each.name} below {each.below}" for each in parameters if each.below)
            ways = () if of == "bishop" else (("reassociated", partial(function, keep=exploding.beside)),)
            yield add(form, specification, EXPLODING, function, *parameters, of=of, requires=bounds, ways=ways)


class _Entry(NamedTuple):
    """The pieces, results and summary of a form of routines. `whole` is the function that returns the results.

    `others` are functions with the same results, which make shorter code on some targets.
    """

    name: str
    pieces: tuple[Parameter, ...]
    results: tuple[str, ...]
    whole: Callable[..., tuple[Value, ...]]
    summary: str
    others: tuple[Callable[..., tuple[Value, ...]], ...] = ()


_WHOLE = (
    _Entry("union", PIECES, ("attacks",), sliders.union, "all squares that rooks and bishops attack"),
    _Entry(
        "pair",
        PIECES,
        ("orthogonal", "diagonal"),
        sliders.pair,
        "the squares that rooks attack, and those that bishops attack",
    ),
    _Entry("rays", PIECES, tuple(EACH), sliders.rays, "the squares that rooks and bishops attack, by direction"),
    _Entry(
        "pieces",
        (*PIECES, QUEENS),
        ("rooks", "bishops", "queens"),
        sliders.pieces,
        "the squares that rooks, bishops and queens attack, by kind of piece",
    ),
    _Entry("sides", SIDES, ("white", "black"), sliders.sides, "all squares that each side's rooks and bishops attack"),
)
_TARGETED = (*PIECES, TARGETS)
_COUNTS = (
    _Entry("counts", _TARGETED, ("moves",), sliders.counts, "the number of moves of rooks and bishops to the targets"),
    _Entry(
        "mobility",
        _TARGETED,
        ("orthogonal", "diagonal"),
        sliders.mobility,
        "the numbers of moves of rooks and of bishops to the targets",
    ),
)


_Descriptions = tuple[tuple[Description, ...], tuple[tuple[str, Description], ...]]
"""Equivalent descriptions, and further ones with names."""


def _sliders() -> Iterator[Routine]:
    """Yield the routines of sliders: _WHOLE, given the occupied or the empty squares, and _COUNTS.

    Queens must be among the rooks and among the bishops, except in `pieces`, which has a parameter for them.
    """
    for entry, squares in (*product(_WHOLE, (OCCUPIED, EMPTY)), *product(_COUNTS, (OCCUPIED,))):
        given = squares is OCCUPIED, len(entry.pieces)
        descriptions = _by_forms(sliders.described, entry, sliders.FORMS, *given)
        yield _of_pieces("sliders", entry, descriptions, squares=squares)


def _of_pieces(
    family: str, entry: _Entry, descriptions: _Descriptions, color: str = "", squares: Parameter = OCCUPIED
) -> Routine:
    """Return the routine of an entry, for a color's pieces or for any, given the occupied or the empty squares."""
    results = (RESULTS,) if len(entry.results) > 1 else ()
    parameters = (*entry.pieces, squares, *results)
    specification = f"side-{entry.name}" if family == "side" else entry.name
    requirement, ending = (WITHIN_OCCUPIED, "") if squares is OCCUPIED else (NOT_ON_EMPTY, "-empty")
    requires = (requirement, *(["color below 2"] if color == "any" else []))
    counts = entry.results if entry in _COUNTS else ()
    contract = Contract(parameters, specification, color, entry.results, requires, counts=counts)
    of = "a side" if color == "any" else color.capitalize()
    computes = f"{entry.summary.format(of)}, given the {squares.name} squares"
    usual, ways = descriptions
    name = entry.name + ending
    return Routine(family, name, color, contract, usual, SETWISE, computes, ALL_SETS, named_descriptions=ways)


def _by_forms(described: Description, entry: _Entry, forms: Sequence[sliders.Form], *given: object) -> _Descriptions:
    """Return descriptions `described(whole, form, *given)`: those for `forms`, and those for BESIDE with names."""

    def by(form: sliders.Form, whole: Callable[..., tuple[Value, ...]] = entry.whole) -> Description:
        return partial(described, whole, form, *given)

    usual = tuple(by(form, whole) for whole in (entry.whole, *entry.others) for form in forms)
    return usual, tuple((name, by(form)) for name, form in sliders.BESIDE.items())


_OF_PAWNS: tuple[tuple[str, tuple[Parameter, ...], str, Callable[[str], Fill], str], ...] = (
    ("pawns", (PAWNS,), "attacks", leapers.pawns, "the squares that {}'s pawns attack"),
    ("pushes", (PAWNS, EMPTY), "squares", leapers.pushes, "the targets of single pushes of {}'s pawns"),
    ("double-pushes", (PAWNS, EMPTY), "squares", leapers.double_pushes, "the targets of double pushes of {}'s pawns"),
)


def _leapers() -> Iterator[Routine]:
    """Yield the routines of knights, kings and pawns."""
    either = (("knights", KNIGHTS, leapers.knights, leapers.JUMPS), ("kings", KINGS, leapers.kings, DIR8))
    for form, parameter, by_halves, directions in either:
        contract = Contract((parameter,), form, "", ("attacks",))
        descriptions = (plain(by_halves), leapers.in_lanes(directions))
        yield Routine("leapers", form, "", contract, descriptions, SETWISE, f"the squares that {form} attack", ALL_SETS)
    for color, (form, parameters, result, moved, summary) in product(leapers.COLORS, _OF_PAWNS):
        contract = Contract(parameters, form, color, (result,))
        computes = summary.format(color.capitalize())
        yield Routine("leapers", form, color, contract, (plain(moved(color)),), SETWISE, computes, ALL_SETS)


_PIECES_AND_PAWNS = (*PIECES, KNIGHTS, KINGS, PAWNS)
_KINDS = (*PIECES, QUEENS, KNIGHTS, KINGS, PAWNS)
_BY_VALUE = (PAWNS, KNIGHTS, BISHOPS, ROOKS, QUEENS, KINGS)
_THREATS = (*(kind.name for kind in _BY_VALUE), "attacks")
_NESTED = ("by_pawns", "by_minors", "by_rooks", "by_all")
_OF_SIDES = (
    _Entry(
        "union",
        _PIECES_AND_PAWNS,
        ("attacks",),
        sides.union,
        "all squares that {} attacks",
        (sides.union_captures_first,),
    ),
    _Entry(
        "pieces",
        _KINDS,
        tuple(kind.name for kind in _KINDS),
        sides.pieces,
        "the squares that {}'s pieces attack, by kind: rooks, bishops, queens, knights, kings, pawns",
        (partial(sides.pieces, beside=False),),
    ),
    _Entry(
        "nested",
        _KINDS,
        _NESTED,
        sides.nested,
        "the squares that {} attacks with pawns; with pawns and minor pieces; with these and rooks; with all pieces",
    ),
    _Entry(
        "twice",
        _PIECES_AND_PAWNS,
        ("attacks", "twice"),
        sides.twice,
        "all squares that {} attacks, and the squares that it attacks at least twice",
    ),
    _Entry(
        "threats",
        _BY_VALUE,
        _THREATS,
        sides.threats,
        "the squares that {}'s pawns, knights, bishops, rooks, queens and king attack, and all of them",
    ),
    _Entry(
        "nested-three",
        _BY_VALUE[:4],
        _NESTED[:3],
        sides.nested_three,
        "the squares that {} attacks with pawns; with pawns and minor pieces; with these and rooks",
    ),
    _Entry(
        "nested-five",
        _BY_VALUE[:5],
        ("by_pawns", "by_knights", "by_bishops", "by_rooks", "by_queens"),
        sides.nested_five,
        "the squares that {} attacks with pawns; with these and knights; and bishops; and rooks; and queens",
    ),
)


def _sides() -> Iterator[Routine]:
    """Yield the routines for attacks of a side: one of each form, or one for each color if the form has pawns.

    Without a parameter for queens, the queens must be among the rooks and among the bishops.
    """
    minor = "all squares that rooks, bishops and knights attack"
    union_knights = _Entry("union-knights", (*PIECES, KNIGHTS), ("attacks",), sides.union, minor)
    for entry, color in ((union_knights, ""), *product(_OF_SIDES, (*leapers.COLORS, "any"))):
        if color == "any":
            entry = entry._replace(pieces=(COLOR, *entry.pieces))
        names = tuple(given.name for given in (*entry.pieces, OCCUPIED))
        descriptions = _by_forms(sides.described, entry, sides.FORMS, color, names)
        yield _of_pieces("side", entry, descriptions, color)
    pieces = (Parameter(f"{color}_{kind.name}", kind.kind) for color in leapers.COLORS for kind in _BY_VALUE)
    results = tuple(f"{color}_{name}" for color in leapers.COLORS for name in _THREATS)
    both = _Entry("threats-both", tuple(pieces), results, sides.threats, "what `side.threats` gives for each color")
    names = (*(kind.name for kind in _BY_VALUE), OCCUPIED.name)
    yield _of_pieces("side", both, _by_forms(sides.of_both, both, sides.FORMS, names))


def _batches() -> Iterator[Routine]:
    directed = (r for r in _kogge_stone() if r.form == "attacks" and r.direction != "any")
    yield from (batch.on_arrays(r) for r in directed)
    by_ranks = {"union": ranks.union, "union-empty": ranks.union_of_empty}
    ways = {"by-ranks": ranks.SHIFTED, "mirrored-ranks": ranks.MIRRORED}
    for routine in _sliders():
        if routine.form in by_ranks:
            union = by_ranks[routine.form]
            yield batch.on_arrays(routine, *((name, partial(union, west)) for name, west in ways.items()))


@cache
def catalogue() -> dict[str, Routine]:
    """Return all routines of setwise, without those of users, by name."""
    makers = (
        _dumb7,
        _kogge_stone,
        _push,
        _shift,
        _subtraction,
        _bytewise,
        _exploding,
        _sliders,
        _leapers,
        _sides,
        _batches,
    )
    return {routine.name: routine for maker in makers for routine in maker()}


@cache
def _known() -> dict[str, Routine]:
    return {name.lower(): routine for name, routine in catalogue().items()}


def find(name: str) -> Routine:
    """Return the routine of a catalogue name or a page's printed name, both in any case, or of a name in a user's file.

    A user's file is run. Raise ValueError for an unknown name, with near ones if any, and for an ambiguous name.
    """
    if is_own(name):
        first, *others = routines_named(name)
        if others:
            raise ValueError(f"{name} names {len(others) + 1} routines: choose one, such as {first.name}")
        return first
    known = _known()
    if name.lower() in known:
        return known[name.lower()]
    if meant := literature.routine_meant(name):
        return catalogue()[meant]
    if several := _beginning_with(name):
        raise ValueError(f"{name} names {len(several)} routines: choose one, such as {several[0]}")
    if name and name.lower() in {each.lower() for table in TABLES for each in (table.name, table.maker)}:
        raise ValueError(f"{name} is a table: print it with setwise table {name}")
    raise ValueError(f"unknown routine '{name}': {_offer(name)}")


def _offer(name: str) -> str:
    """Return text with the nearest names of routines and families, if any is near, and the advice to list all."""
    names = {each.lower(): each for each in (*catalogue(), *literature.printed_names(), *literature.names())}
    names |= {each.family: each.family for each in catalogue().values()}
    near = ", ".join(names[each] for each in difflib.get_close_matches(name.lower(), names, cutoff=0.5))
    return f"{f'the nearest names are {near}; ' if near else ''}list all with setwise list"


def is_pattern(name: str) -> bool:
    """Return whether a name has *, ? or [, or names no routine but begins the names of some: a family or a form."""
    return any(sign in name for sign in "*?[") or (name.lower() not in _known() and bool(_beginning_with(name)))


def _beginning_with(name: str) -> list[str]:
    return [known for known in catalogue() if known.lower().startswith(f"{name.lower()}.")]


def chosen(names: Iterable[str]) -> list[Routine]:
    """Return the routines that names, families and patterns select, each once; for no names the whole catalogue."""
    routines: dict[str, Routine] = {}
    for name in dict.fromkeys(names):
        if is_own(name):
            routines |= {routine.name: routine for routine in routines_named(name)}
            continue
        like = [name]
        if is_pattern(name):
            like = _beginning_with(name) or [known for known in catalogue() if fnmatch(known.lower(), name.lower())]
        if not like:
            raise ValueError(f"no routine matches '{name}': {_offer(name.rstrip('.*?'))}")
        routines |= {routine.name: routine for routine in map(find, like)}
    return list(routines.values()) if routines else list(catalogue().values())
