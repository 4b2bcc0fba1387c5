"""Every function that the implemented documents print, and the routine that it is here."""

from __future__ import annotations

from dataclasses import dataclass

EIGHT = ("sout", "nort", "east", "noEa", "soEa", "west", "soWe", "noWe")


@dataclass(frozen=True)
class Row:
    """Functions of one place, each with its routine."""

    page: str
    place: str
    functions: tuple[str, ...]
    routines: tuple[str, ...]


def _one(page: str, place: str, function: str, *routines: str) -> Row:
    return Row(page, place, (function,), routines)


def _eight(page: str, place: str, ending: str, form: str) -> Row:
    return Row(page, place, tuple(d + ending for d in EIGHT), tuple(f"{form}.{d}" for d in EIGHT))


DUMB7, KOGGE_STONE = "Dumb7Fill", "Kogge-Stone Algorithm"
ISENBERG, EXPLODING = "Isenberg, CCC 2005", "Exploding Bitboards"


def _exploding(function: str, routine: str) -> Row:
    return _one(EXPLODING, "", function, f"exploding.{routine}.big-endian", f"exploding.{routine}")


TABLE = (
    _one(DUMB7, "Seven Fill Cycles", "soutOccl", "dumb7.occluded-rolled.sout"),
    _one(DUMB7, "Fill Loop", "soutOccl", "dumb7.occluded-until-dry.sout"),
    _one(DUMB7, "Unrolled Loop", "soutOccl", "dumb7.occluded.sout"),
    _one(DUMB7, "Attack Fill", "soutAttacks", "dumb7.attacks-of-fill.sout"),
    _one(DUMB7, "Comparison, left", "soutAttacks", "dumb7.attacks.sout"),
    _one(DUMB7, "Comparison, right", "soutAttacks", "kogge-stone.attacks.sout"),
    _eight(DUMB7, "All Directions", "Attacks", "dumb7.attacks"),
    _one(DUMB7, "Loop Version", "occludedFill", "dumb7.occluded-until-dry.any"),
    _one(DUMB7, "Loop Version", "shiftOne", "shift.one.any"),
    _one(DUMB7, "Loop Version", "slidingAttacks", "dumb7.attacks-until-dry.any"),
    _one(DUMB7, "Unrolled Attacks", "slidingAttacks", "dumb7.attacks.any"),
    _one(KOGGE_STONE, "Parallel Prefix", "fillUpOccluded", "kogge-stone.occluded.nort"),
    _eight(KOGGE_STONE, "Fill on an empty Board", "Fill", "kogge-stone.empty-fill"),
    _eight(KOGGE_STONE, "Occluded Fill", "Occl", "kogge-stone.occluded"),
    _eight(KOGGE_STONE, "Ray-wise Attacks", "Attacks", "kogge-stone.attacks"),
    _eight(KOGGE_STONE, "Ray-wise Attacks (called)", "One", "shift.one"),
    _one(KOGGE_STONE, "Generalized Rays", "occludedFill", "kogge-stone.occluded.any"),
    _one(KOGGE_STONE, "Generalized Rays", "shiftOne", "shift.one.any"),
    _one(KOGGE_STONE, "Generalized Rays", "slidingAttacks", "kogge-stone.attacks.any"),
    _one(ISENBERG, "first formula", "rightAttacks", "subtraction.attacks.east"),
    _one(ISENBERG, "second formula, and SSE2", "rightAttacks", "subtraction.attacks-cleared.east"),
    _one(ISENBERG, "", "add", "bytewise.carry-loop-32", "bytewise.carry-loop-64"),
    _one(ISENBERG, "", "paddb", "bytewise.add"),
    _one(ISENBERG, "", "psubb", "bytewise.subtract"),
    _one(ISENBERG, "the final routine", "rightAttacks", "bytewise.right-attacks"),
    _exploding("bishopAttacks", "bishop"),
    _exploding("rookAttacks", "rook"),
    _exploding("orthogonal_attacks", "orthogonal"),
    _exploding("diagonal_attacks", "diagonal"),
    _exploding("direction_attacks", "direction"),
    Row(EXPLODING, "tables", ("makeInitB", "makeMaskB"), ("exploding.bishop",)),
    Row(EXPLODING, "tables", ("makeInitR", "makeMaskR", "makeRankR"), ("exploding.rook",)),
)


def as_markdown() -> str:
    """The table as docs/literature.md has it."""
    lines = ["| page | where | function | routine |", "|---|---|---|---|"]
    for row in TABLE:
        functions = ", ".join(f"`{name}`" for name in row.functions)
        lines.append(f"| {row.page} | {row.place} | {functions} | {_routines(row.routines)} |")
    return "\n".join(lines) + "\n"


def _routines(names: tuple[str, ...]) -> str:
    if len(names) == len(EIGHT):  # only the directions differ
        form = names[0].removesuffix(f".{EIGHT[0]}")
        return f"`{form}.sout` and so on"
    return ", ".join(f"`{name}`" for name in names)
