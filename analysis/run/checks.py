"""Checks of kernels, and of functions in ELF files, against their specifications.

A kernel runs here or on an emulated processor. A function of an ELF file runs in Bochs only.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import groupby, repeat
from operator import attrgetter

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary, decode, features
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.errors import CannotRunHere
from setwise.analysis.parallel import Show, in_processes, made, silent
from setwise.analysis.run.check import Outcome
from setwise.analysis.run.check import check as check_cases
from setwise.analysis.run.emulation import EmulatedCode, check_emulated
from setwise.analysis.run.inputs import Cases, make_cases
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.machine.processors import BASELINE, asked_for
from setwise.codegen.request import KernelKey, Request
from setwise.codegen.run.bochs import HOW_TO_GET, PROCESSORS, EmulatedProcessor, installed, ready, usual
from setwise.codegen.run.call import missing, runner, signature_of


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """A request for a kernel and the outcome of its check."""

    request: Request
    outcome: Outcome

    @property
    def key(self) -> KernelKey:
        """The routine, instruction set, lanes and calling convention."""
        return self.request.key

    @property
    def row(self) -> dict[str, object]:
        """The check as a row of a table."""
        return check_row(self.key, self.outcome)


def check_row(key: tuple[str, str | None, int, str], outcome: Outcome) -> dict[str, object]:
    """Return the outcome of a check as a row of a table."""
    figures = {name: getattr(outcome, name) for name in ("status", "on", "cases", "reason")}
    return dict(zip(("name", "isa", "lanes", "abi"), key, strict=True)) | figures


def check_kernels(
    requests: Sequence[Request], show: Show = silent, *, quick: bool = False, on: EmulatedProcessor | None = None
) -> Iterator[CheckedKernel]:
    """Yield the outcome of each kernel's check; for consecutive kernels with one contract in any order.

    Such kernels share cases; identical bytes with one signature are run once. A kernel runs on the emulated
    processor `on` if given, else on this processor, else on the oldest emulated one that has the features it needs.
    An emulated processor runs the cases of `quick`, because it is a hundred times slower. Refused requests are skipped;
    raises Refused if all are.
    """
    for _, group in groupby(made(requests, show), lambda attempt: attempt[0].routine.contract):
        yield from _checked(list(group), quick, on)


def _checked(
    attempts: Sequence[tuple[Request, Kernel | str]], quick: bool, on: EmulatedProcessor | None
) -> Iterator[CheckedKernel]:
    """Yield the outcomes of kernels with one contract; those for one emulated processor share its boots."""
    cases_of = cache(partial(make_cases, attempts[0][0].routine.contract))
    alike: dict[EmulatedProcessor | None, dict[EmulatedCode, list[tuple[Request, Kernel]]]] = {}
    for request, kernel in attempts:
        if isinstance(kernel, str):
            yield CheckedKernel(request, Outcome("failed", reason=kernel))
        elif isinstance(place := _place(kernel, on), str):
            yield CheckedKernel(request, Outcome("not run", reason=place))
        else:
            code = EmulatedCode(binary_of(kernel), signature_of(kernel))
            alike.setdefault(place, {}).setdefault(code, []).append((request, kernel))
    for place, codes in alike.items():
        outcomes: Iterable[Outcome]
        try:
            cases = cases_of(quick or place is not None)
        except ValueError as error:  # without cases the check fails
            outcomes = repeat(Outcome("failed", reason=str(error)), len(codes))
        else:
            here = (run_cases(same[0][1], cases) for same in codes.values())
            outcomes = here if place is None else check_emulated([*codes], cases, place)
        for same, outcome in zip(codes.values(), outcomes, strict=True):
            yield from (CheckedKernel(request, outcome) for request, _ in same)


def _place(kernel: Kernel, on: EmulatedProcessor | None) -> EmulatedProcessor | str | None:
    """Return the emulated processor that a kernel runs on, None for this processor, or the reason why it cannot run."""
    needed = kernel.target.features - BASELINE
    if on is not None:
        lacking = needed - on.features
        return f"{on.title} lacks {', '.join(sorted(lacking))}: leave out --on" if lacking else on
    lacking = frozenset(missing(kernel.target))
    if not lacking:
        return None
    emulated = usual(needed)
    if emulated is None or installed():
        return emulated or f"this processor lacks {', '.join(sorted(lacking))}, and Bochs has none that has them"
    return f"this processor lacks {', '.join(sorted(lacking))}; Bochs has {emulated.title}: {HOW_TO_GET}"


def run_cases(kernel: Kernel, cases: Cases) -> Outcome:
    """Check one kernel over all cases on this processor."""
    with runner(kernel) as running:
        return check_cases(running.run, cases)


def check(
    requests: Sequence[Request], *, quick: bool = False, on: str | None = None, processes: int = 1, show: Show = silent
) -> list[CheckedKernel]:
    """Check kernels against their specifications in up to `processes` processes, on this processor or an emulated one.

    Return the outcomes sorted by key. A kernel whose features this processor lacks runs in Bochs. `on` names a
    processor of Bochs for all. Needs NumPy.
    """
    work = partial(check_kernels, quick=quick, on=None if on is None else ready(on))
    return sorted(in_processes(work, requests, processes, show), key=attrgetter("key"))


def check_function(
    function: ObjectFunction, spec: Routine, abi: str = "sysv", *, quick: bool = False, on: str | None = None
) -> Outcome:
    """Check a function of an ELF file in Bochs against the specification of a routine.

    `abi` is the function's calling convention. The code runs on the emulated processor `on`, by default the oldest one
    that has its features. Raises NoBochs without Bochs, and CannotRunHere if a feature is missing. Needs NumPy.
    """
    emulated = None if on is None else ready(on)
    binary, kernel = function.binary, lower(spec, spec.isas[0], abi)
    processor = _processor_for(binary, emulated)
    cases = make_cases(spec.contract, quick)
    code = EmulatedCode(binary, signature_of(kernel))
    (outcome,) = check_emulated([code], cases, processor)
    return replace(outcome, on=outcome.on or f"{processor.title}, emulated")


def _processor_for(binary: Binary, on: EmulatedProcessor | None) -> EmulatedProcessor:
    """Return `on`, or without it the oldest emulated processor with all features that the code needs.

    Raises CannotRunHere if `on` lacks a feature, or without `on`, if no processor has all.
    """
    needed = asked_for(features(decode(binary.text)))
    if on is not None:
        if lacking := needed - on.features:
            raise CannotRunHere(f"{on.title} lacks {', '.join(sorted(lacking))}: leave out --on")
        return on
    emulated = usual(needed)
    if emulated is None:
        lacking = needed - frozenset[str]().union(*(processor.features for processor in PROCESSORS.values()))
        lacked = ", ".join(sorted(lacking or needed))
        raise CannotRunHere(f"no processor in Bochs is known to have {lacked}: run setwise prove")
    return ready(emulated.name)
