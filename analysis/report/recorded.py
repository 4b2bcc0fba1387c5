"""The one recorded file of the reports: measured cycles, and compilers' counts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from setwise.analysis.code.count import count
from setwise.analysis.measure.bench import bench
from setwise.analysis.measure.compilers import FOR_SCALE, Compiler, compile_all
from setwise.analysis.measure.here import machine, processor_here, today
from setwise.analysis.measure.subjects import subject
from setwise.analysis.measure.trials import METHOD, Timing
from setwise.analysis.report.figures import Figures, Key
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.files import told_content
from setwise.codegen.lower import lower
from setwise.codegen.run.call import missing
from setwise.codegen.targets import TARGETS

PATH = "data/measurements.json"
_MOST_BYTES = 1 << 26
TIMED = (
    *(f"{family}.attacks.{way}" for way in ("sout", "noEa", "east", "queen") for family in ("dumb7", "kogge-stone")),
    *("push.attacks.sout", "push.attacks.east", "subtraction.attacks.east"),
    *("sliders.union", "sliders.pair", "side.union.white", "sliders.union.batch"),
)
"""The routines that `setwise report --measure` times, for each instruction set that the processor has."""


class Cycles(NamedTuple):
    """Measured core cycles of a kernel, call and return included: a call, or a board of an array; null: no figure."""

    name: str
    isa: str
    lanes: int
    digest: str
    latency: float | None
    throughput: float | None


class Session(Struct, frozen=True, forbid_unknown_fields=True):
    """One run of measurements; `processor` is its name for `setwise cost --cpu`."""

    processor: str
    machine: str
    date: str
    method: str
    cycles: list[Cycles]


class Recorded(Struct, frozen=True, forbid_unknown_fields=True):
    """All of it; rows are lists, in the order of their fields. A `digest` begins the SHA-256 of a kernel's image.

    `compilers` are versions by name. `shortest` has, by compiler, instruction set and routine, the number of
    instructions and the kind of source.
    """

    sessions: list[Session] = []
    compilers: dict[str, str] = {}
    shortest: dict[str, dict[str, dict[str, tuple[int, str]]]] = {}

    def cycles(self, key: Key, processor: str) -> Cycles | None:
        """Return what was measured of a kernel on a processor, in the first session that has it."""
        rows = (row for session in self.sessions if session.processor == processor for row in session.cycles)
        return next((row for row in rows if row[:3] == key), None)

    def of(self, figures: Figures) -> Recorded:
        """Return the same without the rows of other bytes than the kernels have."""
        held = {(*key, kernel.digest) for key, kernel in figures.items()}
        fresh = [replace(each, cycles=[row for row in each.cycles if row[:4] in held]) for each in self.sessions]
        return replace(self, sessions=fresh)


def read(folder: Path) -> Recorded:
    """Return the records of a reports folder. ValueError if the file is damaged."""
    path, remedy = folder / PATH, "restore it from the repository"
    if not path.exists():
        return Recorded()
    content = told_content(path, _MOST_BYTES, links=True, larger="any measurements", remedy=remedy)
    try:
        return msgspec.json.decode(content, type=Recorded)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read ({error}): {remedy}") from None


def text(recorded: Recorded) -> str:
    """Return the file's text, with a row a line."""
    indented = json.dumps(msgspec.to_builtins(recorded), indent=1)
    return re.sub(r"\[[^][{}]*\]", lambda row: re.sub(r"\n +", " ", row[0]), indented) + "\n"


def shortest_of(compiler: Compiler, isa: str) -> dict[str, tuple[int, str]]:
    """Return by routine the length and the kind of source of the shortest code that a compiler makes of our C."""
    names = [name for name, routine in catalogue().items() if isa in routine.isas and not routine.contract.elements]
    found: dict[str, tuple[int, str]] = {}
    for made in compile_all(names, isa, using=(compiler,)):
        if made.binary and not made.kind.startswith(FOR_SCALE):
            length = count(made.binary).instructions
            if length and (made.routine not in found or length < found[made.routine][0]):
                found[made.routine] = length, made.kind
    return found


def measure(progress: Callable[[str], None], patience: float) -> Session:
    """Time TIMED on this processor. ValueError if `setwise cost` has no table of it."""
    here = processor_here()
    if here is None:
        raise ValueError(f"setwise cost has no table of {machine()}: measure on a processor that it has")
    wanted = [(name, isa) for name in TIMED for isa in find(name).isas if not missing(TARGETS[isa])]
    subjects = [subject(lower(find(name), isa)) for name, isa in wanted]
    timings = [each for each in bench(subjects, patience=patience, report=progress) if isinstance(each, Timing)]
    medians = {
        (each.measurand.name, each.measurand.isa, each.measurand.lanes, each.measurand.mode): round(each.median, 2)
        for each in timings
    }
    rows = []
    for each in subjects:
        cycles = (medians.get((each.name, each.isa, each.lanes, mode)) for mode in ("chained", "independent"))
        rows.append(Cycles(each.name, each.isa, each.lanes, each.binary.image_sha256[:16], *cycles))
    return Session(here.name, machine(), today(), " ".join(METHOD.split()), rows)
