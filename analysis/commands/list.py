"""`setwise list`: the catalogue."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from setwise.analysis.commands.arguments import PATTERNS, add_json, add_names
from setwise.analysis.commands.tables import print_json
from setwise.codegen.catalogue import chosen

EXAMPLES = ("setwise list 'kogge-stone.*'",)


def add_arguments(parser: ArgumentParser) -> None:
    """NAME... and --json."""
    add_names(parser, f"{PATTERNS}; default: all")
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Print each routine with its instruction sets and its source."""
    routines = chosen(arguments.names)
    if arguments.json:
        keys = ("name", "family", "form", "direction", "isas", "source", "summary")
        print_json([{key: getattr(routine, key) for key in keys} for routine in routines])
        return 0
    width = max(len(routine.name) for routine in routines)
    for routine in routines:
        print(f"{routine.name:{width}}  {' '.join(routine.isas):30}  {routine.source}")
    return 0
