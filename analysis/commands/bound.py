"""`setwise bound`: how few operations programs of shifts and bitwise functions need, each answer with a certificate."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from importlib import import_module
from itertools import chain, product
from pathlib import Path
from typing import Any, TypeVar

from setwise.analysis.bounds.search import Answer, Found, Refuted, decide, monotone, worth_asking
from setwise.analysis.bounds.words import GOALS, KINDS, REGISTERS, Ruled, Words, ruled_out
from setwise.analysis.commands.arguments import add_dask, add_json, place
from setwise.analysis.commands.cluster import SomethingElse, workers_for
from setwise.analysis.commands.errors import CannotRunHere, NotInstalled
from setwise.analysis.commands.progress import Progress
from setwise.analysis.commands.tables import print_json
from setwise.analysis.report import words as words_report
from setwise.analysis.report.files import write
from setwise.analysis.report.optimality import RECORD, Row, merged, steps_table, with_answer, with_question
from setwise.analysis.run.workers import CAN_FORK, Crash, Workers
from setwise.analysis.text import counted

EXAMPLES = (
    "setwise bound 2 --inputs 2",
    "setwise bound 4 --inputs 3 --certificates proofs",
    "setwise bound --words east --most 2",
)

T = TypeVar("T")

_LONGEST = 7  # squares that a slider can go
_MOST = 24  # operations: a fill of reach 7 takes 14
_MOST_OF_WORDS = 4
_MOST_BUDGET = 10_000_000  # seconds, four months: what is greater overflows a timer somewhere


class _Settled(Exception):
    """A program is found: what else was asked about one of so many operations need not be answered."""


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
        "--budget",
        type=float,
        metavar="S",
        help="seconds of processor time a kind of programs (default: as long as it takes)",
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
    folder = Path(arguments.record) if arguments.record else None
    held = (RECORD.read(folder) if folder else None) or []
    rows: list[Row] = []

    def keep(row: Row) -> None:
        if folder:
            RECORD.write(folder, merged(held, [*rows, row]))

    try:
        for subject in subjects:
            before = next((row for row in held if (row["reach"], row["inputs"]) == subject), None)
            rows.append(_along_line(arguments, subject, most, None if arguments.certificates else before, keep))
    except (BrokenProcessPool, Crash):
        raise CannotRunHere("one of its processes was ended from outside: try again") from None
    if arguments.json:
        print_json([*steps, *rows])
    return 0


def _along_line(
    arguments: Namespace, subject: tuple[int, int], most: int, before: Row | None, keep: Callable[[Row], None]
) -> Row:
    """What is known of a reach and functions of so many inputs: 1, 2, ... operations until a program is found.

    What `before` has about kinds of programs, where others were left open, is not asked again.
    """
    reach, inputs = subject
    name = f"reach{reach}-inputs{inputs}"
    row = Row(reach=reach, inputs=inputs, at_least=1, program="", operations=[], none=[], tried=[])
    with suppress(_Settled), Progress() as progress, workers_for(arguments.dask) as workers:
        for number in range(1, most + 1):
            head = f"reach {reach}, functions of {inputs} values, {counted(number, 'operation')}"
            progress.show(head)
            rest = workers.submit(worth_asking, *subject, number).result()
            if not isinstance(rest, Refuted):
                raise SomethingElse
            _write_certificate(arguments, f"{name}-operations{number}-rest", rest)
            row = with_question(row, rest, before)
            keep(row)
            left = {kinds for tried in row["tried"] for kinds in tried["open"]}
            tasks = [(*subject, kinds, arguments.budget) for kinds in rest.but if " ".join(kinds) in left]
            some: Iterator[Answer | None] = _each(workers, progress, f"{head}, monotone", monotone, tasks)
            for answer in chain(some, _each(workers, progress, head, decide, tasks)):
                if answer is None:
                    continue
                if not isinstance(answer, Answer):
                    raise SomethingElse
                if isinstance(answer, Refuted):
                    _write_certificate(arguments, "-".join((f"{name}-operations{number}", *answer.kinds)), answer)
                row = with_answer(row, answer)
                keep(row)
                if isinstance(answer, Found):
                    _tell(arguments, f"{head}: {row['program']}")
                    raise _Settled
            _tell(arguments, f"{head}: {_what_is_known(row)}")
            if row["tried"]:
                break
    return row


def _what_is_known(row: Row) -> str:
    """Of the last question that no program answered."""
    ruled = (row["tried"] or row["none"])[-1]
    left = [kinds for tried in row["tried"] for kinds in tried["open"]]
    number = len(ruled["parts"]) - 1 + len(left)
    kinds = f"{counted(number, 'kind')} of programs, the others at once" if number else "all kinds of programs at once"
    if left:
        return f"not decided ({kinds}, {len(left)} open)"
    inputs = max(len(part["samples"]) for part in ruled["parts"])
    derived = sum(part["derived"] for part in ruled["parts"])
    return f"none ({kinds}, {inputs} inputs at most; certificates checked, {derived} steps)"


def _tell(arguments: Namespace, line: str) -> None:
    if not arguments.json:
        print(line, flush=True)


def _write_certificate(arguments: Namespace, name: str, answer: Refuted | Ruled) -> None:
    if arguments.certificates:
        files = {f"{name}.cnf": answer.formula.dimacs(), f"{name}.drup": answer.certificate}
        write(Path(arguments.certificates), files)


def _each(
    workers: Workers, progress: Progress, head: str, function: Callable[..., T], tasks: Sequence[tuple[Any, ...]]
) -> Iterator[T]:
    """What a function gives for each kind of programs, as it comes; what nobody waits for any more is not begun."""
    running = [workers.submit(function, *task) for task in tasks]
    try:
        for done, future in enumerate(as_completed(running)):
            progress.show(f"{head}: {done} of {len(tasks)} kinds of programs")
            yield future.result()
    finally:
        for future in running:
            future.cancel()


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
                        words_report.RECORD.write(folder, held)
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
    cases = derived = 0
    tasks = [(words, arguments.words, kinds) for kinds in programs]
    for ruled in _each(workers, progress, head, ruled_out, tasks):
        if ruled is None:
            return None
        if not isinstance(ruled, Ruled):
            raise SomethingElse
        cases, derived = max(cases, ruled.cases), derived + ruled.derived
        _write_certificate(arguments, "-".join((arguments.words, words.name, *ruled.kinds)), ruled)
    return {"operations": number, "programs": len(programs), "cases": cases, "derived": derived}


def _said(none: words_report.Ruled | None) -> str:
    if none is None:
        return "not ruled out"
    return (
        f"none ({counted(none['programs'], 'kind')} of programs, {none['cases']} cases; "
        f"certificates checked, {none['derived']} steps)"
    )
