"""`setwise shorten`: a search for shorter code under the same contract, of kernels or of a function of an object."""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from typing import Any, ParamSpec, TypeVar

from setwise.analysis.code.decode import Binary
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.code.objects import load
from setwise.analysis.commands.arguments import (
    add_dask,
    add_json,
    add_names,
    add_object,
    add_only_isa,
    object_given,
    place,
)
from setwise.analysis.commands.cluster import SomethingElse, workers_for
from setwise.analysis.commands.errors import CannotRunHere
from setwise.analysis.commands.jobs import OWN_HERE, jobs_of, lowered
from setwise.analysis.commands.progress import Progress
from setwise.analysis.commands.prove import Proof, certificate_text
from setwise.analysis.commands.tables import print_json, print_reasons, print_table
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.workers import Workers
from setwise.analysis.search.hunt import Hunt, Part
from setwise.analysis.search.levels import ALL_LEVELS
from setwise.analysis.search.saved import SavedError, resume, save
from setwise.analysis.search.search import Outcome, Tally, search
from setwise.analysis.search.subject import Subject, instruction_set
from setwise.analysis.semantics.domains import BitVectors
from setwise.analysis.text import counted
from setwise.codegen.catalogue import chosen, find
from setwise.codegen.own.files import is_own

EXAMPLES = (
    "setwise shorten sliders.union --isa avx512",
    "setwise shorten 'kogge-stone.attacks.*' --level a --save search.json",
    "setwise shorten --object fills.o --symbol soutAttacks --spec kogge-stone.attacks.sout",
)

P = ParamSpec("P")
T = TypeVar("T")

BUDGET = 60.0
_WORTH_PROCESSES = 8  # kernels: level a of fewer is done before processes have started
_SAVED_EVERY = 10.0  # seconds
_EACH = 2  # places a part, where one subject has all cores
Titled = tuple[str, Hunt]


def add_arguments(parser: ArgumentParser) -> None:
    """NAME..., or an object; the levels, how long each may take, and where the search is kept."""
    add_names(parser)
    add_only_isa(parser)
    parser.add_argument("--lanes", type=int, metavar="N", help="only kernels of so many lanes; an object's boards")
    parser.add_argument("--abi", metavar="A", help="sysv, win64 or wiki (default: sysv)")
    add_object(parser, spec=True)
    parser.add_argument(
        "--level",
        action="append",
        choices=ALL_LEVELS,
        help="a: another value, or a constant, in the place of each instruction's result; b: one new instruction; "
        "c: two or three; d: bits of constants that do not matter (default: all, one after the other)",
    )
    parser.add_argument(
        "--budget", type=float, default=BUDGET, metavar="S", help="seconds of processor time a level (default: 60)"
    )
    parser.add_argument("--save", type=place, metavar="FILE", help="keep the search in this file, and go on from there")
    add_dask(parser)
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
    levels = [level for level in ALL_LEVELS if level in (arguments.level or ALL_LEVELS)]
    hunts = _of_object(arguments, levels) if object_given(arguments, elsewhere=True) else _of_names(arguments, levels)
    if arguments.save:
        resume(arguments.save, hunts)
        _proved_again(arguments.save, hunts)
        save(arguments.save, hunts)
    with _workers(hunts, arguments.dask) as workers, _reported(arguments, hunts):
        _search(hunts, workers, arguments.budget, arguments.save)
    return int(any(hunt.findings for _, hunt in hunts))


def _of_object(arguments: Namespace, levels: Sequence[str]) -> list[Titled]:
    binary, routine = load(arguments.object, arguments.symbol), find(arguments.spec)
    subject = Subject(routine.name, instruction_set(binary), arguments.abi or "sysv", arguments.lanes or 1)
    title = f"{arguments.symbol} as {routine.name}"
    hunt = Hunt.of(subject, binary, levels)
    hunt.parts(None)
    if hunt.refused:
        raise ValueError(f"{arguments.symbol}: {hunt.refused}")
    return [(title, hunt)]


def _of_names(arguments: Namespace, levels: Sequence[str]) -> list[Titled]:
    if not arguments.names:
        raise ValueError("name routines, or --object FILE --symbol SYM --spec NAME")
    jobs = jobs_of(chosen(arguments.names), arguments.isa, arguments.abi or "sysv")
    jobs = [job for job in jobs if arguments.lanes in (None, job.lanes)]
    if arguments.dask and any(is_own(job.routine.name) for job in jobs):
        raise ValueError(OWN_HERE)
    if not jobs:
        raise ValueError(f"no kernel has {arguments.lanes} lanes: leave --lanes out, or give 1, 2, 4 or 8")
    hunts = []
    known: dict[tuple[Binary, str], None] = {}
    for job, kernel in lowered(jobs):
        if isinstance(kernel, str):
            continue
        binary = binary_of(kernel)
        if (binary, job.routine.name) in known:  # a set that adds nothing
            continue
        known[binary, job.routine.name] = None
        boards = kernel.layout.lanes if kernel.layout.boards else 1
        subject = Subject(job.routine.name, job.isa, job.abi, boards)
        hunts.append((job.title, Hunt.of(subject, binary, levels)))
    return hunts


def _workers(hunts: Sequence[Titled], dask: str | None) -> AbstractContextManager[Workers | _Here]:
    """Who does the parts: as `workers_for` has it, or this process."""
    quick = [*{level for _, hunt in hunts for level in hunt.levels}] == ["a"]
    here = (os.cpu_count() or 1) < 2 or (quick and len(hunts) < _WORTH_PROCESSES)
    return _Here() if here and dask is None else workers_for(dask)


def _search(hunts: Sequence[Titled], workers: Workers | _Here, budget: float, path: str | None) -> None:
    """Do all parts; each hunt asks for its next ones when the last are done.

    What the parts of a hunt give is looked at in their order, so that the same is found whoever is the quickest. Who
    works at the same hunt shares what is left of a level's budget.
    """
    each, sharing = (_EACH, workers.number) if len(hunts) == 1 else (None, 1)
    with Progress() as progress:
        running: dict[Future[Outcome], tuple[str, Hunt, Part]] = {}
        begun: deque[tuple[str, Hunt, Part]] = deque()

        def begin(title: str, hunt: Hunt) -> None:
            begun.extend((title, hunt, part) for part in hunt.parts(each))

        waiting = [*hunts][::-1]
        saved = time.monotonic()
        try:
            while running or begun or waiting:
                while (begun or waiting) and len(running) < (workers.number if each else 2 * workers.number):
                    if not begun:
                        begin(*waiting.pop())
                        continue
                    title, hunt, part = begun.popleft()
                    if part.binary != hunt.binary:  # something was found since
                        continue
                    left = (budget - hunt.tallies[part.level].seconds) / sharing
                    asked = (part.subject, part.binary, part.level, part.at, left)
                    running[workers.submit(search, *asked)] = (title, hunt, part)
                firsts = {id(hunt): future for future, (_, hunt, _) in reversed(running.items())}
                ready, _ = wait(firsts.values(), return_when=FIRST_COMPLETED)
                for future in ready:
                    title, hunt, part = running.pop(future)
                    progress.show(f"{title} level {part.level} {hunt.after} instructions")
                    outcome = future.result()
                    if not isinstance(outcome, Outcome):
                        raise SomethingElse
                    if hunt.add(part, outcome):
                        for other in [f for f, (_, h, _) in running.items() if h is hunt]:
                            other.cancel()
                            running.pop(other)
                        begin(title, hunt)
                    if path and time.monotonic() > saved + _SAVED_EVERY:
                        save(path, hunts)
                        saved = time.monotonic()
        except BrokenProcessPool:
            raise CannotRunHere("a search ended the process that made it: try routines one by one") from None


class _Here:
    """As Workers, in this process: where starting others takes longer than the work."""

    number = 1

    def submit(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> Future[T]:
        """What the function gives, at once."""
        future: Future[T] = Future()
        future.set_result(function(*arguments, **named))
        return future

    def __enter__(self) -> _Here:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def _proved_again(path: str, hunts: Sequence[Titled]) -> None:
    """What a file calls shorter code must be proved here."""
    for title, hunt in hunts:
        if hunt.findings and Prover().prove(hunt.binary, hunt.subject.task).status != "proved":
            raise SavedError(f"--save {path}: its code for {title} is not proved: give another file")


@contextmanager
def _reported(arguments: Namespace, hunts: Sequence[Titled]) -> Iterator[None]:
    """Print what was found, whatever ends the search."""
    try:
        yield
    finally:
        if arguments.save:
            save(arguments.save, hunts)
        if arguments.json:
            print_json([_row(hunt) for _, hunt in hunts])
        elif len(hunts) == 1:
            _print_one(*hunts[0])
        else:
            _print_all(hunts)


def _row(hunt: Hunt) -> dict[str, Any]:
    """A hunt, with what each level tried and what was found."""
    subject = hunt.subject
    return {
        "name": subject.routine,
        "isa": subject.isa,
        "abi": subject.abi,
        "instructions": hunt.before,
        "shortest": hunt.after,
        "refused": hunt.refused,
        "findings": [
            {"level": f.level, "exchanged": f.said, "before": f.before, "after": f.after, "text": f.binary.text.hex()}
            for f in hunt.findings
        ],
        "spare": [{"constant": list(s.words), "bits": list(s.bits)} for s in hunt.spare],
        "levels": {level: asdict(tally) for level, tally in hunt.tallies.items()},
    }


def _print_one(title: str, hunt: Hunt) -> None:
    for finding in hunt.findings:
        print(f"{finding.before} to {finding.after}, level {finding.level}: {finding.said}")
    if hunt.findings:
        certificate = Prover().prove(hunt.binary, hunt.subject.task)
        key = (hunt.subject.routine, hunt.subject.isa, hunt.subject.boards, hunt.subject.abi)
        proof = Proof(key, certificate, title=title if " as " in title else "")
        print(f"\n{certificate_text(proof)}\n")
    else:
        print(f"{title}: {counted(hunt.before, 'instruction')}, nothing shorter found")
    rows = [(level, *_cells(tally)) for level, tally in hunt.tallies.items()]
    if rows:
        print_table(("level", *_HEAD), rows, "l" + "r" * len(_HEAD))
    _print_spare(hunt)
    if hunt.refused:
        print(f"not searched: {hunt.refused}")


def _print_all(hunts: Sequence[Titled]) -> None:
    rows = []
    for title, hunt in hunts:
        for level, tally in hunt.tallies.items():
            rows.append((title, hunt.before, hunt.after, level, *_cells(tally)))
    print_table(("kernel", "before", "after", "level", *_HEAD), rows, "lrrl" + "r" * len(_HEAD))
    for title, hunt in hunts:
        for finding in hunt.findings:
            print(f"\n{title}: {finding.before} to {finding.after}, level {finding.level}: {finding.said}")
        _print_spare(hunt, title)
    print_reasons(("not searched", hunt.refused) for _, hunt in hunts if hunt.refused)
    shorter = sum(bool(hunt.findings) for _, hunt in hunts)
    print(f"\n{counted(len(hunts), 'kernel')}: shorter code found for {shorter}, proved")


def _print_spare(hunt: Hunt, title: str = "") -> None:
    for number, spare in enumerate(hunt.spare, 1):
        print(f"\n{title}{title and ': '}constant {number}, and its bits that do not matter, all of them together")
        for word, bits in zip(spare.words, spare.bits, strict=True):
            print(f"  {word:#018x}  {bits:#018x}")


_HEAD = ("places", "tried", "right", "longer", "refuted", "undecided", "s")


def _cells(tally: Tally) -> tuple[str, ...]:
    figures = (tally.candidates, tally.fitting, tally.no_shorter, tally.refuted, tally.undecided)
    return (f"{tally.places}/{tally.all_places}", *(f"{figure:,}" for figure in figures), f"{tally.seconds:.1f}")
