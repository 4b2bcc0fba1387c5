"""All that computes a routine of single boards here: our variants, compilers' code beside them, and timings of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.processors.table import Processor
from setwise.analysis.measure.bench import bench
from setwise.analysis.measure.objective import WAYS, kernel_of, objectives, offers
from setwise.analysis.measure.subjects import Subject, subject
from setwise.analysis.measure.trials import OURS, Timing
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.kernel import Kernel
from setwise.codegen.run.call import missing
from setwise.codegen.run.timer import MODES, Mode
from setwise.codegen.targets import TARGETS

SHORTLY = {"processes": 1, "wanted": 4}


@dataclass(frozen=True, slots=True)
class Taken:
    """What took so many core cycles a call: instruction set and variant of ours, or a compiler, its flags and its C.

    `noise` is how far processes' medians lie apart, as a part of the cycles.
    """

    maker: str
    cycles: float
    noise: float


@dataclass(frozen=True, slots=True)
class Field:
    """All that computes a routine: ours by set and variant, which of them is taken for what, and the compilers'."""

    name: str
    ours: tuple[Subject, ...]
    taken: Mapping[str, str]
    theirs: tuple[Subject, ...] = ()

    @property
    def digest(self) -> str:
        """Of all the code, and of what is taken."""
        images = (each.binary.image for each in (*self.ours, *self.theirs))
        parts = (*map(str.encode, (self.taken[objective] for objective in sorted(self.taken))), *sorted(images))
        return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ways to call it that say something of any of them."""
        return tuple(mode for mode in MODES if any(mode in each.modes for each in (*self.ours, *self.theirs)))


def routines() -> tuple[str, ...]:
    """The names of all routines of single boards."""
    return tuple(name for name, routine in catalogue().items() if not routine.contract.elements)


def sets_here(name: str) -> tuple[str, ...]:
    """The instruction sets of which this processor runs the routine, of single boards those that take one a call."""
    routine = find(name)
    here = [isa for isa in routine.isas if not missing(TARGETS[isa])]
    several = routine.boards and not routine.contract.elements
    return tuple(isa for isa in here if not (several and TARGETS[isa].vectors))


def label_of(kernel: Kernel) -> str:
    """Its maker: ours, with instruction set and variant."""
    return f"{OURS} {kernel.target.name} {kernel.variant}".rstrip()


def set_and_variant(label: str) -> tuple[str, str]:
    """What of our makers a label names.

    >>> set_and_variant("setwise avx2 held/1"), set_and_variant("setwise bmi2")
    (('avx2', 'held/1'), ('bmi2', ''))
    """
    isa, _, variant = label.removeprefix(f"{OURS} ").partition(" ")
    return isa, variant


def all_made(making: Sequence[Future[Field]], progress: Callable[[str], None]) -> Iterator[Field]:
    """The fields as other processes have made them."""
    for number, made in enumerate(making, 1):
        field = made.result()
        progress(f"variants: {number}/{len(making)} {field.name}")
        yield field


def field_of(name: str, on: Processor, sets: Sequence[str] = ()) -> Field:
    """In another process: our variants for these sets, or else all that this processor has, no two alike."""
    routine = find(name)
    isas = tuple(sets or sets_here(name))
    found: dict[str, Kernel] = {objective: kernel_of(objective, on, routine, isas) for objective in objectives(routine)}
    ours: dict[bytes, Subject] = {}
    for kernel in (*offers(routine, isas), *found.values()):
        ours.setdefault(binary_of(kernel).image, subject(kernel, maker=label_of(kernel)))
    makers = {objective: ours[binary_of(kernel).image].maker for objective, kernel in found.items()}
    taken = {objective: makers.get(objective, makers["throughput"]) for objective in WAYS}
    return Field(name, tuple(ours.values()), taken)


def timed(subjects: Sequence[Subject], mode: Mode, patience: float, processes: int, wanted: int) -> dict[str, Taken]:
    """Figures by maker, of those that have one."""
    timings = bench(subjects, (mode,), patience, processes, wanted=wanted)
    # What takes as long whatever its arguments are has no mixed calls of its own.
    steady = [one for one in subjects if mode not in one.modes]
    timings += bench(steady, ("independent",), patience, processes, wanted=wanted) if steady else []
    return {
        timing.measurand.maker: Taken(timing.measurand.maker, round(timing.median, 3), round(timing.spread, 4))
        for timing in timings
        if isinstance(timing, Timing)
    }
