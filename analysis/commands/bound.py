"""`setwise bound`: how few operations programs of shifts and bitwise functions need, each answer with a certificate."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from itertools import product
from pathlib import Path

from setwise.analysis.bounds.programs import text
from setwise.analysis.bounds.search import Answer, Found, Refuted, Undecided, decide, decide_within
from setwise.analysis.bounds.words import GOALS, KINDS, REGISTERS, Ruled, Words, ruled_out
from setwise.analysis.commands.arguments import add_dask, add_json, place
from setwise.analysis.commands.cluster import SomethingElse, workers_for
from setwise.analysis.commands.errors import CannotRunHere, NotInstalled
from setwise.analysis.commands.progress import Progress
from setwise.analysis.commands.tables import print_json
from setwise.analysis.report import words as words_report
from setwise.analysis.report.files import write
from setwise.analysis.report.optimality import RECORD, merged, row_of, steps_table
from setwise.analysis.run.workers import CAN_FORK, Crash, Workers
from setwise.analysis.text import counted

EXAMPLES = (
    "setwise bound 2 --inputs 2",
    "setwise bound 4 --inputs 3 --certificates proofs",
    "setwise bound --words east --most 2",
)

_LONGEST = 7  # squares that a slider can go
_MOST = 24  # operations: a fill of reach 7 takes 14
_MOST_OF_WORDS = 4
_MOST_BUDGET = 10_000_000  # seconds, four months: what is greater overflows a timer somewhere

Subject = tuple[int, int]
"""Reach and inputs."""


def add_arguments(parser: ArgumentParser) -> None:
    """REACH..., which functions, how far to go, and where the answers go."""
    parser.description = (
        "Find the fewest operations with which a program gives the attacks of sliders along a line. An operation "
        "shifts a value by any distance, or is any function of earlier values, bit by bit; constants and additions "
        "are not among them. Each answer that there is no program comes with a certificate, which is checked."
    )
    parser.add_argument(
        "reach",
        nargs="*",
        type=int,
        metavar="REACH",
        help="how many squares a slider goes; 1 is a step (default: 1 2 3)",
    )
    parser.add_argument("--inputs", type=int, choices=(2, 3), help="functions of so many values (default: both)")
    parser.add_argument(
        "--words",
        choices=[*GOALS],
        help="instead of attacks along a line, what words of 64 bits give, with constants and sums, in 3 operations",
    )
    parser.add_argument("--most", type=int, metavar="N", help="stop after N operations")
    parser.add_argument(
        "--budget", type=float, metavar="S", help="seconds of processor time a question (default: as long as it takes)"
    )
    parser.add_argument(
        "--certificates", type=place, metavar="DIR", help="write formulas (DIMACS) and certificates (DRUP) there"
    )
    parser.add_argument("--record", type=place, metavar="DIR", help="put the answers into the reports of that folder")
    add_dask(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Print each answer as it comes."""
    if arguments.words:
        return _of_words(arguments)
    most = _MOST if arguments.most is None else arguments.most
    reaches = list(dict.fromkeys(arguments.reach or (1, 2, 3)))
    if not all(1 <= reach <= _LONGEST for reach in reaches):
        raise ValueError(f"a reach is 1 to {_LONGEST}")
    if not 1 <= most <= _MOST:
        raise ValueError(f"--most is 1 to {_MOST}")
    if arguments.budget is not None and not 0 < arguments.budget <= _MOST_BUDGET:
        raise ValueError(f"--budget takes seconds above 0, at most {_MOST_BUDGET}")
    if arguments.budget is not None and not CAN_FORK:
        raise ValueError("--budget ends processes that this system cannot make: leave it out")
    inputs = (arguments.inputs,) if arguments.inputs else (2, 3)
    steps = steps_table() if 1 in reaches else []
    if not arguments.json:
        for row in steps:
            each = ", ".join(f"{isa} {number}" for isa, number in row["operations"].items())
            print(f"reach 1, {row['direction']}, fewest operations: {each}")
    subjects = [(reach, count) for count in inputs for reach in reaches if reach > 1]
    if subjects:
        _needs_solver()
    before = (RECORD.read(Path(arguments.record)) if arguments.record else None) or []
    answers: dict[Subject, list[Answer]] = {subject: [] for subject in subjects}
    certificates: dict[str, str] = {}
    try:
        for answer in _answers(subjects, most, arguments.dask, arguments.budget):
            subject = answer.model.reach, answer.model.inputs
            answers[subject].append(answer)
            if not arguments.json:
                print(_line(answer), flush=True)
            if arguments.certificates and isinstance(answer, Refuted):
                name = f"reach{subject[0]}-inputs{subject[1]}-operations{answer.operations}"
                certificates |= {f"{name}.cnf": answer.formula.dimacs(), f"{name}.drup": answer.certificate}
                write(Path(arguments.certificates), certificates)
            if arguments.record:
                rows = [row_of(found) for found in answers.values() if found]
                write(Path(arguments.record), {RECORD.path: RECORD.text(merged(before, rows))})
    except (BrokenProcessPool, Crash):
        raise CannotRunHere("one of its processes was ended from outside: try again") from None
    if arguments.json:
        print_json([*steps, *(row_of(found) for found in answers.values())])
    return 0


def _needs_solver() -> None:
    try:
        import_module("pysat.solvers")
    except ModuleNotFoundError:
        raise NotInstalled("python-sat is not installed: pip install python-sat") from None


def _of_words(arguments: Namespace) -> int:
    """The same of programs of whole words, for each kind of registers."""
    if arguments.reach or arguments.inputs:
        raise ValueError("--words has no REACH and no --inputs: leave them out")
    if arguments.budget is not None:
        raise ValueError("--budget is for attacks along a line: with --words, --most says where to stop")
    most = _MOST_OF_WORDS - 1 if arguments.most is None else arguments.most
    if not 1 <= most <= _MOST_OF_WORDS:
        raise ValueError(f"--most is 1 to {_MOST_OF_WORDS} with --words")
    _needs_solver()
    goal, folder = arguments.words, Path(arguments.record) if arguments.record else None
    before = (words_report.RECORD.read(folder) if folder else None) or []
    rows: list[words_report.Row] = []
    try:
        with Progress() as progress, workers_for(arguments.dask) as workers:
            for words in REGISTERS:
                rows.append({"goal": goal, "registers": words.name, "at_least": 1, "none": []})
                for number in range(1, most + 1):
                    head = f"{goal}, {words.name} registers, {counted(number, 'operation')}"
                    none = _none(arguments, words, number, workers, progress, head)
                    if not arguments.json:
                        print(f"{head}: {_said(none)}", flush=True)
                    if none is None:
                        break
                    rows[-1]["at_least"] = number + 1
                    rows[-1]["none"].append(none)
                    if folder:
                        held = words_report.merged(before, rows)
                        write(folder, {words_report.RECORD.path: words_report.RECORD.text(held)})
    except BrokenProcessPool:
        raise CannotRunHere("one of its processes was ended from outside: try again") from None
    if arguments.json:
        print_json(rows)
    return 0


def _none(
    arguments: Namespace, words: Words, number: int, workers: Workers, progress: Progress, head: str
) -> words_report.Ruled | None:
    """That no program of so many operations is right, kind by kind; None where one may be."""
    programs = [*product(KINDS, repeat=number)]
    running = [workers.submit(ruled_out, words, arguments.words, kinds) for kinds in programs]
    cases = derived = 0
    for done, future in enumerate(as_completed(running)):
        progress.show(f"{head}: {done} of {len(programs)} kinds of programs")
        ruled = future.result()
        if ruled is None:
            for other in running:
                other.cancel()
            return None
        if not isinstance(ruled, Ruled):
            raise SomethingElse
        cases, derived = max(cases, ruled.cases), derived + ruled.derived
        if arguments.certificates:
            name = "-".join((arguments.words, words.name, *ruled.kinds))
            files = {f"{name}.cnf": ruled.formula, f"{name}.drup": ruled.certificate}
            write(Path(arguments.certificates), files)
    return {"operations": number, "programs": len(programs), "cases": cases, "derived": derived}


def _said(none: words_report.Ruled | None) -> str:
    if none is None:
        return "not ruled out"
    return (
        f"none ({counted(none['programs'], 'kind')} of programs, {none['cases']} cases; "
        f"certificates checked, {none['derived']} steps)"
    )


def _answers(subjects: Sequence[Subject], most: int, dask: str | None, budget: float | None) -> Iterator[Answer]:
    """The answers for 1, 2, ... operations until a program is found, or a question takes so many seconds.

    Of each subject one question at a time.
    """
    running: set[Future[Answer]] = set()
    with Progress() as progress, workers_for(dask) as workers:

        def ask(reach: int, inputs: int, operations: int) -> None:
            asked = reach, inputs, operations
            running.add(workers.submit(decide_within, *asked, budget) if budget else workers.submit(decide, *asked))
            progress.show(f"reach {reach}, functions of {inputs} values: {counted(operations, 'operation')}")

        for subject in subjects:
            ask(*subject, 1)
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                running.remove(future)
                answer = future.result()
                if not isinstance(answer, Answer):
                    raise SomethingElse
                yield answer
                if isinstance(answer, Refuted) and answer.operations < most:
                    ask(answer.model.reach, answer.model.inputs, answer.operations + 1)


def _line(answer: Answer) -> str:
    """An answer in words."""
    model = answer.model
    head = f"reach {model.reach}, functions of {model.inputs} values, {counted(answer.operations, 'operation')}: "
    if isinstance(answer, Found):
        return head + text(answer.program)
    if isinstance(answer, Undecided):
        return f"{head}not decided in {answer.seconds:g} s of processor time"
    return (
        f"{head}none (ring of {model.ring}, {len(answer.samples)} inputs, {len(answer.formula.clauses)} clauses; "
        f"certificate checked, {answer.derived} steps)"
    )
