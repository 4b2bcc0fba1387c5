"""`setwise list`: the catalogue."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from setwise.analysis.commands.arguments import PATTERNS, add_json, add_names
from setwise.analysis.commands.tables import print_json, width
from setwise.analysis.text import counted
from setwise.codegen.board import DIRECTION_SETS, DIRECTIONS
from setwise.codegen.catalogue import chosen, find
from setwise.codegen.ir.routine import Routine
from setwise.codegen.literature import FUNCTIONS, PAGES, PageSection
from setwise.codegen.tables import TABLES

EXAMPLES = ("setwise list", "setwise list 'kogge-stone.*'", "setwise list --page 'Occluded Fill'")


def add_arguments(parser: ArgumentParser) -> None:
    """Add NAME..., or a page, and --json."""
    add_names(parser, f"{PATTERNS}; default: all, on a terminal by family")
    parser.add_argument(
        "--page",
        metavar="P",
        help="functions and tables of a page or section of the literature, by name: kogge-stone, 'Occluded Fill'",
    )
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Print each routine with its instruction sets and source, or the functions and tables of a page of the literature.

    On a terminal the whole catalogue is summarized by family; in a pipe each routine has its line.
    """
    if arguments.page is not None:
        if arguments.names:
            raise ValueError("--page excludes names: give one of them")
        _print_page(arguments.page, arguments.json)
        return 0
    routines = chosen(arguments.names)
    if arguments.json:
        print_json(list(map(_row, routines)))
    elif arguments.names or width() is None:
        _print([(routine.name, routine) for routine in routines])
    else:
        _print_families(routines)
    return 0


def _print(named: Sequence[tuple[str, Routine]]) -> None:
    longest = max(len(name) for name, _ in named)
    for name, routine in named:
        print(f"{name:{longest}}  {' '.join(routine.isas):35}  {routine.source}".rstrip())


def _print_families(routines: Sequence[Routine]) -> None:
    """Print the forms of each family, with routines that differ only in direction on one line."""
    named: list[tuple[str, Routine]] = []
    for _, members in groupby(routines, key=lambda routine: routine.family):
        forms: dict[tuple[object, ...], list[Routine]] = {}
        for routine in members:
            directed = routine.direction in (*DIRECTIONS, *DIRECTION_SETS)
            stem = routine.name.removesuffix(f".{routine.direction}") if directed else routine.name
            forms.setdefault((stem, routine.isas, routine.source), []).append(routine)
        named += [(_of_directions(str(stem), alike), alike[0]) for (stem, *_), alike in forms.items()]
    _print(named)
    print(f"\n{counted(len(routines), 'routine')}; one by one: setwise list 'kogge-stone.*'")


def _of_directions(stem: str, alike: Sequence[Routine]) -> str:
    return alike[0].name if len(alike) == 1 else f"{stem}.* ({counted(len(alike), 'direction')})"


def _row(routine: Routine) -> dict[str, Any]:
    keys = ("name", "family", "form", "direction", "isas", "source", "summary")
    return {key: getattr(routine, key) for key in keys}


def _print_page(where: str, as_json: bool) -> None:
    """Print the functions and tables of a page or a section."""
    functions = [each for each in FUNCTIONS if each.place.within(where)]
    tables = [(place, table) for table in TABLES for place in table.places if place.within(where)]
    if not functions and not tables:
        places = dict.fromkeys(each.place for each in FUNCTIONS)
        known = (f"{page.title} ({', '.join(p.heading for p in places if p.page == page)})" for page in PAGES)
        raise ValueError(f"unknown page or section '{where}': choose from {'; '.join(known)}")
    if as_json:
        print_json(
            [
                *({"function": f.name, **_place(f.place), **_row(find(f.routine)), "also": f.also} for f in functions),
                *({"table": table.name, **_place(place)} for place, table in tables),
            ]
        )
        return
    rows = [(f.name, ", ".join((f.routine, *f.also)), str(f.place)) for f in functions]
    rows += [(table.name, f"setwise table {table.name}", str(place)) for place, table in tables]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    for name, here, place in rows:
        print(f"{name:{first}}  {here:{second}}  {place}")


def _place(place: PageSection) -> dict[str, str]:
    return {"page": place.page.title, "section": place.section}
