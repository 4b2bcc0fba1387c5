"""`setwise shorten`: search for shorter code of kernels, or of a function in an ELF file, under the same contract."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from setwise.analysis import api
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.commands.arguments import add, object_given, seconds
from setwise.analysis.commands.prove import certificate_text
from setwise.analysis.commands.tables import print_json, print_reasons, print_table
from setwise.analysis.progress import Progress
from setwise.analysis.proof.prover import Prover
from setwise.analysis.proofs import Proof
from setwise.analysis.search.search import LEVELS, SearchSession, Tally, length
from setwise.analysis.semantics.domains import BitVectors
from setwise.analysis.text import counted
from setwise.codegen.catalogue import chosen, find

EXAMPLES = (
    "setwise shorten sliders.union --isa avx512",
    "setwise shorten 'kogge-stone.attacks.*' --level a",
    "setwise shorten --object fills.o --symbol soutAttacks --spec kogge-stone.attacks.sout",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `setwise shorten`."""
    add(parser, "names", "only --isa")
    add(parser, "--lanes", help="only kernels with this number of lanes; for an object, its boards per register")
    add(parser, "--abi", "--object", "--symbol", "--spec")
    parser.add_argument(
        "--level",
        action="append",
        choices=[*LEVELS],
        help="a: replace each instruction's result by another value or a constant; b: by one new instruction;  "
        "c: by two or three; d: by one to three that read what few replaced ones read, with new constants or carries; "
        "e: by four (default: all, in this order)",
    )
    parser.add_argument(
        "--budget", type=seconds, default=60.0, metavar="S", help="seconds of processor time a level (default: 60)"
    )
    add(parser, "--json")
    parser.epilog = (parser.epilog or "") + (
        "\n\nexit status: 0 nothing shorter was found, 1 something was, 2 bad usage or something is missing"
    )


def run(arguments: Namespace) -> int:
    """Search for shorter code; print the improvements and attempts, or JSON. Return 1 if something was found."""
    BitVectors()  # first of all, to fail early if there is no solver
    import numpy  # noqa: F401 - to fail early, too

    levels = [level for level in LEVELS if level in (arguments.level or LEVELS)]
    sessions = _sessions(arguments)
    try:
        with Progress(len(sessions)) as progress:
            api.shorten(sessions, levels, arguments.budget, processes=os.cpu_count() or 1, show=progress.show)
    finally:  # print the improvements even if the search is interrupted
        begun = [found for found in sessions if found.tallies or found.findings or found.refused]
        if arguments.json and begun:
            print_json([_row(found) for found in begun])
        elif begun:
            _print(begun)
    return int(any(found.findings for found in sessions))


def _sessions(arguments: Namespace) -> list[SearchSession]:
    abi, lanes = arguments.abi, arguments.lanes
    if object_given(arguments):
        function = ObjectFunction(arguments.object, arguments.symbol)
        return [api.session_of(function, find(arguments.spec), abi, lanes or 1)]
    if not arguments.names:
        raise ValueError("name routines, or --object FILE --symbol SYM --spec NAME")
    return api.sessions(api.requests(chosen(arguments.names), arguments.isa, abi, lanes))


def _row(found: SearchSession) -> dict[str, Any]:
    subject = found.subject
    return {
        "name": subject.routine,
        "isa": subject.isa,
        "abi": subject.abi,
        "instructions": length(found.original),
        "shortest": length(found.binary),
        "refused": found.refused,
        "findings": [
            {
                "level": f.level,
                "exchanged": f.description,
                "before": f.before,
                "after": f.after,
                "text": f.binary.text.hex(),
            }
            for f in found.findings
        ],
        "levels": {level: asdict(tally) for level, tally in found.tallies.items()},
    }


def _print(sessions: Sequence[SearchSession]) -> None:
    """Print the improvements and the attempts of each level; for a single session also the proof of any new code."""
    single = sessions[0] if len(sessions) == 1 else None
    for found in sessions:
        for finding in found.findings:
            which = "" if single else f"{found.title}: "
            print(f"{which}{finding.before} to {finding.after}, level {finding.level}: {finding.description}")
    if single and single.findings:
        found, title = single, single.title
        key = (found.subject.routine, found.subject.isa, found.subject.boards, found.subject.abi)
        certificate = Prover().prove(found.binary, found.subject.task)
        print(f"\n{certificate_text(Proof(key, certificate, title=title if ' as ' in title else ''))}\n")
    elif single:
        print(f"{single.title}: {counted(length(single.original), 'instruction')}, nothing shorter found")
    rows = [
        (found.title, length(found.original), length(found.binary), level, *_cells(tally))
        for found in sessions
        for level, tally in found.tallies.items()
    ]
    first = 3 if single else 0
    if rows:
        head = ("kernel", "before", "after", "level", *_HEAD)
        print_table([row[first:] for row in rows], head[first:])
    print_reasons(("not searched", found.refused) for found in sessions if found.refused)
    if not single:
        shorter = sum(bool(found.findings) for found in sessions)
        print(f"\n{counted(len(sessions), 'kernel')}: shorter code found for {shorter}, proved")


_HEAD = ("places", "tried", "right", "longer", "refuted", "undecided", "s")


def _cells(tally: Tally) -> tuple[str, ...]:
    figures = (tally.candidates, tally.fitting, tally.no_shorter, tally.refuted, tally.undecided)
    return (f"{tally.places}/{tally.all_places}", *(f"{figure:,}" for figure in figures), f"{tally.seconds:.1f}")
