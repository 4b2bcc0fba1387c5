"""`setwise list`: print the catalogue, or the functions and tables of a page of the literature."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from setwise.analysis.commands.arguments import PATTERNS, add
from setwise.analysis.commands.tables import print_json, print_table, report_not_made, width
from setwise.analysis.text import counted, plural
from setwise.codegen.board import DIRECTION_SETS, DIRECTIONS
from setwise.codegen.catalogue import chosen, find
from setwise.codegen.ir.routine import Routine
from setwise.codegen.literature import FUNCTIONS, PAGES, PageSection
from setwise.codegen.lower import sets_of
from setwise.codegen.own.user_files import is_own
from setwise.codegen.request import Request
from setwise.codegen.tables import TABLES

EXAMPLES = ("setwise list", "setwise list 'kogge-stone.*'", "setwise list --page 'Occluded Fill'")


def add_arguments(parser: ArgumentParser) -> None:
    """Add NAME..., or a page, and --json."""
    add(parser, "names", help=f"{PATTERNS}; default: all, on a terminal by family")
    parser.add_argument(
        "--page",
        metavar="P",
        help="functions and tables of a page or section of the literature, by name: kogge-stone, 'Occluded Fill'",
    )
    add(parser, "--json")


def run(arguments: Namespace) -> int:
    """Print each routine with its instruction sets and source, or the functions and tables of a page of the literature.

    A single routine's summary and the names of its results follow. Without names, a terminal gets a summary by family
    instead, and a pipe a line for each routine. With --json all is printed as JSON.
    """
    if arguments.page is not None:
        if arguments.names:
            raise ValueError("--page excludes names: give one of them")
        _print_page(arguments.page, arguments.json)
        return 0
    named = chosen(arguments.names)
    routines = [replace(each, isas=sets_of(each)) if is_own(each.name) else each for each in named]
    if arguments.json:
        print_json(list(map(_row, routines)))
    elif arguments.names or width() is None:
        print_table((routine.name, " ".join(routine.isas), routine.source) for routine in routines)
        if len(routines) == 1:
            results = routines[0].contract.results
            print(f"\n{routines[0].summary}; {plural(len(results), 'result')}: {', '.join(results)}")
    else:
        _print_families(routines)
    return int(report_not_made([Request(each, isa) for each in named if is_own(each.name) for isa in each.isas], ()))


def _print_families(routines: Sequence[Routine]) -> None:
    """Print the routines, with those that differ only in direction on one line, and their number."""
    forms: dict[tuple[str, tuple[str, ...], str], list[Routine]] = {}
    for routine in routines:
        directed = routine.direction in (*DIRECTIONS, *DIRECTION_SETS)
        stem = routine.name.removesuffix(f".{routine.direction}") if directed else routine.name
        forms.setdefault((stem, routine.isas, routine.source), []).append(routine)
    print_table(
        (alike[0].name if len(alike) == 1 else f"{stem}.* ({len(alike)} directions)", " ".join(isas), source)
        for (stem, isas, source), alike in forms.items()
    )
    print(f"\n{counted(len(routines), 'routine')}; one by one: setwise list kogge-stone")


def _row(routine: Routine) -> dict[str, Any]:
    keys = ("name", "family", "form", "direction", "isas", "source", "summary")
    return {key: getattr(routine, key) for key in keys} | {"results": routine.contract.results}


def _print_page(where: str, as_json: bool) -> None:
    """Print functions and tables of the pages or sections that `where` names. Raises ValueError if there are none."""
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
    print_table(rows)


def _place(place: PageSection) -> dict[str, str]:
    return {"page": place.page.title, "section": place.section}
