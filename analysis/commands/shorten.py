"""`setwise shorten`: a search for shorter code under the same contract, of kernels or of a function of an object."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from typing import Any

from setwise.analysis.code.decode import Binary
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.code.objects import load
from setwise.analysis.commands.arguments import add_json, add_names, add_object, add_only_isa, object_given
from setwise.analysis.commands.jobs import lowered
from setwise.analysis.commands.prove import Proof, certificate_text, jobs_with
from setwise.analysis.commands.tables import print_json, print_reasons, print_table
from setwise.analysis.errors import CannotRunHere
from setwise.analysis.progress import Progress
from setwise.analysis.proof.prover import Prover
from setwise.analysis.search.levels import LEVELS
from setwise.analysis.search.search import Hunt, Tally, hunt, length, refusal
from setwise.analysis.search.subject import Subject, instruction_set
from setwise.analysis.semantics.domains import BitVectors
from setwise.analysis.text import counted
from setwise.analysis.workers import Workers
from setwise.codegen.catalogue import chosen, find

EXAMPLES = (
    "setwise shorten sliders.union --isa avx512",
    "setwise shorten 'kogge-stone.attacks.*' --level a",
    "setwise shorten --object fills.o --symbol soutAttacks --spec kogge-stone.attacks.sout",
)

_WORTH_PROCESSES = 8  # kernels: level a of fewer is done before processes have started
Asked = tuple[str, Subject, Binary]
Titled = tuple[str, Hunt]


def add_arguments(parser: ArgumentParser) -> None:
    """NAME..., or an object; the levels, and how long each may take."""
    add_names(parser)
    add_only_isa(parser)
    parser.add_argument("--lanes", type=int, metavar="N", help="only kernels of so many lanes; an object's boards")
    parser.add_argument("--abi", metavar="A", help="sysv, win64 or wiki (default: sysv)")
    add_object(parser, spec=True)
    parser.add_argument(
        "--level",
        action="append",
        choices=[*LEVELS],
        help="a: another value, or a constant, in the place of each instruction's result; b: one new instruction; "
        "c: two or three (default: all, one after the other)",
    )
    parser.add_argument(
        "--budget", type=float, default=60.0, metavar="S", help="seconds of processor time a level (default: 60)"
    )
    add_json(parser)
    parser.epilog = (parser.epilog or "") + (
        "\n\nexit status: 0 nothing shorter was found, 1 something was, 2 bad usage or something is missing"
    )


def run(arguments: Namespace) -> int:
    """Search what is asked for, and print what was found and tried; 1 if something was found."""
    BitVectors()  # before anything is made: it says at once if there is no solver
    import numpy  # noqa: F401 - as well

    if not 0 < arguments.budget < float("inf"):
        raise ValueError("--budget takes seconds above 0")
    levels = [level for level in LEVELS if level in (arguments.level or LEVELS)]
    asked = [_of_object(arguments)] if object_given(arguments) else list(_of_names(arguments))
    hunts: list[Titled] = []
    try:
        _search(asked, hunts, levels, arguments.budget)
    finally:  # whatever ends the search, what was found is printed
        if arguments.json and hunts:
            print_json([_row(found) for _, found in hunts])
        elif hunts:
            _print(hunts)
    return int(any(found.findings for _, found in hunts))


def _of_object(arguments: Namespace) -> Asked:
    binary, routine = load(arguments.object, arguments.symbol), find(arguments.spec)
    subject = Subject(routine.name, instruction_set(binary), arguments.abi or "sysv", arguments.lanes or 1)
    if why := refusal(subject, binary):
        raise ValueError(f"{arguments.symbol}: {why}")
    return f"{arguments.symbol} as {routine.name}", subject, binary


def _of_names(arguments: Namespace) -> Iterator[Asked]:
    if not arguments.names:
        raise ValueError("name routines, or --object FILE --symbol SYM --spec NAME")
    known: set[tuple[Binary, str]] = set()
    for job, kernel in lowered(
        jobs_with(chosen(arguments.names), arguments.isa, arguments.lanes, arguments.abi or "sysv")
    ):
        if isinstance(kernel, str):
            continue
        binary, name = binary_of(kernel), job.routine.name
        if (binary, name) not in known:  # else a set that adds nothing
            known.add((binary, name))
            boards = kernel.layout.lanes if kernel.layout.boards else 1
            yield job.title, Subject(name, job.isa, job.abi, boards), binary


def _search(asked: Sequence[Asked], hunts: list[Titled], levels: Sequence[str], budget: float) -> None:
    """Search each subject, in a process a core where that is worth their start; add what is found to the hunts."""
    number = min(os.cpu_count() or 1, len(asked))
    with Progress(len(asked)) as progress:
        if number < 2 or (levels == ["a"] and len(asked) < _WORTH_PROCESSES):
            for title, subject, binary in asked:
                progress.show(title)
                hunts.append((title, Hunt(subject, binary, binary)))
                hunt(hunts[-1][1], levels, budget)
            return
        try:
            with Workers(number) as workers:
                running = [(each[0], workers.submit(hunt, Hunt(*each[1:], each[2]), levels, budget)) for each in asked]
                for title, future in running:
                    progress.show(title)
                    hunts.append((title, future.result()))
        except BrokenProcessPool:
            raise CannotRunHere("a search ended the process that made it: try routines one by one") from None


def _row(found: Hunt) -> dict[str, Any]:
    """Return the row of a hunt: the attempts of each level, and the shorter code."""
    subject = found.subject
    return {
        "name": subject.routine,
        "isa": subject.isa,
        "abi": subject.abi,
        "instructions": length(found.original),
        "shortest": length(found.binary),
        "refused": found.refused,
        "findings": [
            {"level": f.level, "exchanged": f.said, "before": f.before, "after": f.after, "text": f.binary.text.hex()}
            for f in found.findings
        ],
        "levels": {level: asdict(tally) for level, tally in found.tallies.items()},
    }


def _print(hunts: Sequence[Titled]) -> None:
    """Print the shorter code, its proof, and the attempts of each level."""
    single = hunts[0] if len(hunts) == 1 else None
    for title, found in hunts:
        for finding in found.findings:
            which = "" if single else f"{title}: "
            print(f"{which}{finding.before} to {finding.after}, level {finding.level}: {finding.said}")
    if single and single[1].findings:
        title, found = single
        key = (found.subject.routine, found.subject.isa, found.subject.boards, found.subject.abi)
        certificate = Prover().prove(found.binary, found.subject.task)
        print(f"\n{certificate_text(Proof(key, certificate, title=title if ' as ' in title else ''))}\n")
    elif single:
        print(f"{single[0]}: {counted(length(single[1].original), 'instruction')}, nothing shorter found")
    rows = [
        (title, length(found.original), length(found.binary), level, *_cells(tally))
        for title, found in hunts
        for level, tally in found.tallies.items()
    ]
    first = 3 if single else 0
    if rows:
        head = ("kernel", "before", "after", "level", *_HEAD)
        print_table(head[first:], [row[first:] for row in rows], ("lrrl" + "r" * len(_HEAD))[first:])
    print_reasons(("not searched", found.refused) for _, found in hunts if found.refused)
    if not single:
        shorter = sum(bool(found.findings) for _, found in hunts)
        print(f"\n{counted(len(hunts), 'kernel')}: shorter code found for {shorter}, proved")


_HEAD = ("places", "tried", "right", "longer", "refuted", "undecided", "s")


def _cells(tally: Tally) -> tuple[str, ...]:
    figures = (tally.candidates, tally.fitting, tally.no_shorter, tally.refuted, tally.undecided)
    return (f"{tally.places}/{tally.all_places}", *(f"{figure:,}" for figure in figures), f"{tally.seconds:.1f}")
