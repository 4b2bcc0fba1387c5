"""How few operations there can be: lower bounds, as `setwise bound --record` recorded them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import date
from hashlib import sha256
from typing import Any, TypedDict

from setwise.analysis.bounds.programs import ANY as ANY_KIND
from setwise.analysis.bounds.programs import KINDS, Function, Model, Program, Shift, right_on_line, text
from setwise.analysis.bounds.search import Answer, Found, Refuted, Undecided, asked
from setwise.analysis.bounds.steps import in_one
from setwise.analysis.report.findings import ANY, Finding, about, explained
from setwise.analysis.report.findings import complaints as unexplained
from setwise.analysis.report.kernels import Figures
from setwise.analysis.report.markdown import code, page, table, table_if_any
from setwise.analysis.report.records import Record
from setwise.analysis.report.searched import Row as Searched
from setwise.analysis.report.searched import not_applied, searched_summary, searched_table
from setwise.analysis.report.since import Since, changed_table, summary
from setwise.analysis.report.words import Row as OfWords
from setwise.analysis.report.words import words_table
from setwise.codegen.board import DIRECTIONS
from setwise.codegen.run import cpu
from setwise.codegen.targets import TARGETS

PAGE = "optimality.md"
_MOST_RING = 16
"""Squares: answers so far need one more than the reach, or two."""


class Part(TypedDict):
    """That no program of these kinds, one an operation, is right.

    The formula is about a ring of so many squares and these inputs, pairs of sliders and empty squares; `any_reach`
    says whether it holds for greater reaches too. It has so many clauses, and `formula` is the SHA-256 of the file that
    `setwise bound --certificates` writes; the certificate derives so many clauses.
    """

    kinds: str
    ring: int
    samples: list[tuple[int, int]]
    any_reach: bool
    clauses: int
    formula: str
    derived: int


class Ruled(TypedDict):
    """That no program has so many operations: the first part is of any kinds but those of the others."""

    operations: int
    parts: list[Part]


class Tried(Ruled):
    """A question that stayed open, on that day and processor: these kinds, given up after so many seconds in all."""

    open: list[str]
    seconds: float
    date: str
    processor: str


class Row(TypedDict):
    """What is known of one reach and functions of so many inputs.

    `none` is what was ruled out, for 1, 2, ... operations. `program` is one of the fewest operations, "" where none was
    found, and `operations` are its own: a shift of the value `source` by a distance, or a function with the table of
    its values; values 0 and 1 are sliders and empty squares.
    """

    reach: int
    inputs: int
    at_least: int
    program: str
    operations: list[dict[str, Any]]
    none: list[Ruled]
    tried: list[Tried]


def part_of(answer: Refuted) -> Part:
    """What is kept of what was refuted."""
    return {
        "kinds": " ".join(answer.kinds),
        "ring": answer.model.ring,
        "samples": list(answer.samples),
        "any_reach": answer.any_reach,
        "clauses": len(answer.formula.clauses),
        "formula": _digest(answer.formula.dimacs()),
        "derived": answer.derived,
    }


def with_question(row: Row, rest: Refuted, before: Row | None) -> Row:
    """The row once it is known which programs of one operation more are worth asking about.

    What `before` has about some of them, where others stayed open, is taken over.
    """
    first = part_of(rest)
    new: Tried = {
        "operations": len(rest.kinds),
        "parts": [first],
        "open": [" ".join(kinds) for kinds in rest.but],
        "seconds": 0,
        "date": date.today().isoformat(),
        "processor": cpu.brand(),
    }
    known = next((tried for tried in (before["tried"] if before else ()) if tried["parts"][0] == first), new)
    return _settled({**row, "tried": [{**known, "date": new["date"], "processor": new["processor"]}]})


def with_answer(row: Row, answer: Answer) -> Row:
    """The row once a question is answered."""
    if isinstance(answer, Found):
        operations = [asdict(operation) for operation in answer.program]
        return {**row, "program": text(answer.program), "operations": operations, "tried": []}
    (tried,) = row["tried"]
    if isinstance(answer, Undecided):
        return {**row, "tried": [{**tried, "seconds": tried["seconds"] + answer.seconds}]}
    part = part_of(answer)
    rest, *others = tried["parts"]
    parts = [rest, *sorted([*others, part], key=lambda part: part["kinds"])]
    left = [kinds for kinds in tried["open"] if kinds != part["kinds"]]
    return _settled({**row, "tried": [{**tried, "parts": parts, "open": left}]})


def _settled(row: Row) -> Row:
    """The row with its question among those answered, if nothing of it is open."""
    (tried,) = row["tried"]
    if tried["open"]:
        return row
    none: Ruled = {"operations": tried["operations"], "parts": tried["parts"]}
    return {**row, "at_least": row["at_least"] + 1, "none": [*row["none"], none], "tried": []}


def _digest(content: str) -> str:
    return sha256(content.encode()).hexdigest()


def _check(rows: list[Row]) -> None:
    """Every formula is made again, from its model and its samples, and every program is held to all inputs."""
    for row in rows:
        if row["inputs"] not in (2, 3):
            raise ValueError(f"functions of {row['inputs']} values are not asked about")
        for number, none in enumerate(row["none"], 1):
            _check_parts(row, none, number)
        for tried in row["tried"]:
            _check_parts(row, tried, row["at_least"], tried["open"])
        if row["at_least"] != len(row["none"]) + 1:
            raise ValueError(f"reach {row['reach']}: at least {row['at_least']} is not what was shown")
        program = _program(row["operations"])
        if row["program"] != text(program) or (program and not right_on_line(program, row["reach"])):
            raise ValueError(f"reach {row['reach']}: its program is wrong")
        if program and len(program) != row["at_least"]:
            raise ValueError(f"reach {row['reach']}: its program is not the shortest")


def _check_parts(row: Row, none: Ruled, number: int, open_kinds: Sequence[str] = ()) -> None:
    rest, *others = none["parts"]
    but = sorted(tuple(kinds.split()) for kinds in (*open_kinds, *(part["kinds"] for part in others)))
    rings = {part["ring"] for part in none["parts"]}
    if not {kind for kinds in but for kind in kinds} <= {*KINDS} or not all(
        row["reach"] < ring <= _MOST_RING for ring in rings
    ):
        raise ValueError(f"reach {row['reach']}, {number} operations: nobody asks about such programs")
    if none["operations"] != number or rest["kinds"] != " ".join((ANY_KIND,) * number):
        raise ValueError(f"reach {row['reach']}, {number} operations: some kinds of programs are not among its parts")
    for part in none["parts"]:
        model = Model(row["reach"], row["inputs"], part["ring"])
        samples = [(sliders, empty) for sliders, empty in part["samples"]]
        formula = asked(model, tuple(part["kinds"].split()), samples, but if part is rest else ())
        if (len(formula.clauses), _digest(formula.dimacs())) != (part["clauses"], part["formula"]):
            raise ValueError(f"reach {row['reach']}, {number} operations: another formula")
        if part["any_reach"] != all(model.ends(*sample) for sample in samples):
            raise ValueError(f"reach {row['reach']}, {number} operations: its inputs do not end")


RECORD = Record("data/bounds.json", list[Row], "setwise bound --record", check=_check)


def _program(operations: Sequence[dict[str, Any]]) -> Program:
    return tuple(
        Function(tuple(operation["sources"]), tuple(operation["table"]))
        if "sources" in operation
        else Shift(**operation)
        for operation in operations
    )


def merged(rows: Iterable[Row], new: Iterable[Row]) -> list[Row]:
    """All rows, of two for the same the one that shows more, or else the new one; by inputs and reach."""
    ordered = sorted((*rows, *new), key=lambda row: (row["inputs"], row["reach"], _shown(row)))
    return [*{(row["inputs"], row["reach"]): row for row in ordered}.values()]


def _shown(row: Row) -> tuple[int, bool, int]:
    return row["at_least"], bool(row["program"]), sum(len(tried["parts"]) for tried in row["tried"])


def _any_reach(row: Row) -> int:
    """How many operations attacks of any greater reach take at least, by what was refuted for this one."""
    shown = [all(part["any_reach"] for part in none["parts"]) for none in row["none"]]
    return [*shown, False].index(False) + 1


def _operations(isa: str) -> set[str]:
    return {row.op for row in TARGETS[isa].rows}


def steps_table() -> list[dict[str, Any]]:
    """The fewest operations of a step, by direction and instruction set."""
    return [
        {
            "reach": 1,
            "direction": direction,
            "operations": {
                isa: 1 if in_one(direction, bool(target.vectors), _operations(isa)) else 2
                for isa, target in TARGETS.items()
            },
        }
        for direction in DIRECTIONS
    ]


def _of_steps(figures: Figures) -> str:
    """The same beside what the kernels take."""

    def cell(row: dict[str, Any], isa: str) -> str:
        extended = TARGETS[isa].extends
        kernel = figures.usual(isa, f"shift.one.{row['direction']}") or (
            figures.usual(extended.name, f"shift.one.{row['direction']}") if extended else None
        )
        return f"{row['operations'][isa]} : {kernel.counts.operations if kernel else '-'}"

    return table(
        ("", *TARGETS),
        [(row["direction"], *(cell(row, isa) for isa in TARGETS)) for row in steps_table()],
    )


def _tried(rows: Sequence[Row]) -> str | None:
    """The questions that stayed open, None where there are none."""
    lines = [
        (
            *(row["reach"], f"{row['inputs']} values", tried["operations"]),
            *(len(tried["parts"]) - 1 + len(tried["open"]), len(tried["open"]), f"{tried['seconds'] / 60:.0f}"),
            f"{tried['processor']}, {tried['date']}",
        )
        for row in rows
        for tried in row["tried"]
    ]
    head = ("reach", "functions of", "operations", "kinds of programs", "open", "minutes in vain", "on")
    return table_if_any(head, lines, left=0)


def _inputs(isa: str) -> int:
    """How many values a function of a set takes at most."""
    return 3 if "ternary" in _operations(isa) else 2


def complaints(searched: Sequence[Searched], figures: Figures, known: Sequence[Finding]) -> list[str]:
    """A line on each kernel whose shorter code is not taken for no known cause, and on each finding without one."""
    return unexplained(not_applied(searched, figures), about(known, ANY, PAGE))


def optimality(
    rows: Sequence[Row],
    figures: Figures,
    words: Sequence[OfWords] = (),
    searched: Sequence[Searched] = (),
    since: Since | None = None,
    known: Sequence[Finding] = (),
) -> str:
    """The page.

    `words` is what was ruled out of whole words, `searched` are the kernels that were searched for shorter code,
    `since` is what there was before, `known` says why shorter code that was found is not taken.
    """
    head = ("reach", "functions of", "fewest operations", "of greater reach", "clauses derived", "a program")
    lines = [
        (
            row["reach"],
            f"{row['inputs']} values",
            row["at_least"] if row["program"] else f"at least {row['at_least']}",
            f"at least {_any_reach(row)}",
            f"{sum(part['derived'] for none in row['none'] for part in none['parts']):,}",
            code(row["program"]) if row["program"] else "-",
        )
        for row in rows
    ]
    least = {isa: max((_any_reach(row) for row in rows if row["inputs"] == _inputs(isa)), default=1) for isa in TARGETS}
    return page(
        PAGE,
        bounds=table(head, lines, left=0),
        tried=_tried(rows),
        steps=_of_steps(figures),
        **(searched_summary(searched) if searched else {}),
        words=words_table(words, figures) if words else None,
        searched=searched_table(searched, figures, least) if searched else None,
        **explained(not_applied(searched, figures), about(known, ANY, PAGE)),
        **(summary(since, figures) if since else {}),
        fell=changed_table(since, figures, rose=False) if since else None,
        rose=changed_table(since, figures, rose=True) if since else None,
    )
