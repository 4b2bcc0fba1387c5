"""`setwise check`: kernels, or a function of somebody's ELF file, run against the ray-walk.

Kernels run here, or on an emulated processor; nothing of somebody's file runs but in Bochs. What needs NumPy is
imported where it is used, so that the help is there without.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING

from setwise.analysis.code.decode import Binary, decode, features
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.code.objects import load
from setwise.analysis.commands.arguments import (
    PATTERNS,
    add_json,
    add_names,
    add_object,
    add_on,
    add_only_abi,
    add_only_isa,
    object_given,
)
from setwise.analysis.commands.jobs import Job, KernelKey, jobs_of, judged, lowered
from setwise.analysis.commands.kernels import add_variant
from setwise.analysis.commands.tables import print_json, print_reasons, print_table, tally
from setwise.analysis.errors import CannotRunHere
from setwise.analysis.pictures.board_text import boards, expected_and_got, input_lines
from setwise.analysis.progress import Progress
from setwise.codegen.catalogue import chosen, find
from setwise.codegen.describe.routine import Contract
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.machine.processors import BASELINE, asked_for
from setwise.codegen.run.bochs import HOW_TO_GET, PROCESSORS, Processor, installed, ready, usual
from setwise.codegen.run.call import calling_sequence, missing, runner

if TYPE_CHECKING:
    from setwise.analysis.run.cases import Cases
    from setwise.analysis.run.check import Mismatch, Outcome

EXAMPLES = (
    "setwise check 'kogge-stone.*' --isa bmi2",
    "setwise check sliders.union --on icelake",
    "setwise check --object fills.o --symbol soutAttacks --spec kogge-stone.attacks.sout",
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A kernel and how its check ended."""

    job: Job
    outcome: Outcome

    @property
    def key(self) -> KernelKey:
        """Name, instruction set, lanes, convention."""
        return self.job.key


def add_arguments(parser: ArgumentParser) -> None:
    """NAME..., or an object; where they run, and --json."""
    add_names(parser, f"{PATTERNS}; default: all")
    add_only_isa(parser)
    add_variant(parser)
    add_only_abi(parser)
    add_object(parser, remark="; it runs in Bochs only", spec=True)
    add_on(parser)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a sixteenth of the lines' cases, a tenth of the random boards, as always in Bochs",
    )
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Check what is asked for and print how it ended; 1 if one fails."""
    is_object = object_given(arguments)
    on = None if arguments.on is None else ready(arguments.on)
    if is_object:
        return _check_object(arguments, on)
    jobs = jobs_of(chosen(arguments.names), arguments.isa, arguments.abi, arguments.variant)
    kernels = judged(partial(check_kernels, quick=arguments.quick, on=on), jobs)
    if arguments.json:
        print_json([check_row(kernel.key, kernel.outcome) for kernel in kernels])
    else:
        _report(kernels)
    return int(any(kernel.outcome.status == "failed" for kernel in kernels))


def check_row(key: tuple[str, str | None, int, str], outcome: Outcome) -> dict[str, object]:
    """How the check of a kernel ended."""
    figures = {name: getattr(outcome, name) for name in ("status", "on", "cases", "reason")}
    return dict(zip(("name", "isa", "lanes", "abi"), key, strict=True)) | figures


def check_kernels(
    jobs: Sequence[Job], progress: Progress | None = None, *, quick: bool = False, on: Processor | None = None
) -> Iterator[Judged]:
    """Each kernel's outcome; kernels of one contract, which stand together, share cases and expected results.

    They run here, or on an emulated processor: on the one that is asked for, or where this one lacks what they need;
    there over the cases of `quick`, for it takes a hundred times as long. The same bytes run once.
    What a convention or an instruction set refuses is passed over; if that is all, Refused is raised.
    """
    for _, group in groupby(lowered(jobs, progress), lambda attempt: attempt[0].routine.contract):
        yield from _judged(list(group), quick, on)


def _judged(attempts: Sequence[tuple[Job, Kernel | str]], quick: bool, on: Processor | None) -> Iterator[Judged]:
    """The outcomes of kernels of one contract; those that one emulated processor runs go into its boots together."""
    from setwise.analysis.run.cases import make_cases
    from setwise.analysis.run.check import Outcome
    from setwise.analysis.run.emulation import EmulatedCode, check_emulated

    contract = attempts[0][0].routine.contract
    here: list[tuple[EmulatedCode, Kernel]] = []
    elsewhere: dict[Processor, list[EmulatedCode]] = {}
    alike: dict[EmulatedCode, list[Job]] = {}
    for job, kernel in attempts:
        if isinstance(kernel, str):
            yield Judged(job, Outcome("failed", reason=kernel))
            continue
        place = _place(kernel, on)
        if isinstance(place, str):
            yield Judged(job, Outcome("not run", reason=place))
            continue
        code = EmulatedCode(binary_of(kernel), calling_sequence(kernel), arrays=bool(contract.elements))
        jobs = alike.setdefault(code, [])
        jobs.append(job)
        if len(jobs) == 1 and place is None:
            here.append((code, kernel))
        elif len(jobs) == 1 and place is not None:
            elsewhere.setdefault(place, []).append(code)
    try:
        cases = make_cases(contract, quick) if here else None
        fewer = make_cases(contract, quick=True) if elsewhere else None
    except ValueError as error:  # what cannot be checked has not passed
        yield from (Judged(job, Outcome("failed", reason=str(error))) for job in chain(*alike.values()))
        return

    def outcomes() -> Iterator[tuple[EmulatedCode, Outcome]]:
        if cases is not None:
            yield from ((code, run_cases(kernel, cases)) for code, kernel in here)
        if fewer is not None:
            for processor, codes in elsewhere.items():
                yield from zip(codes, check_emulated(codes, fewer, processor), strict=True)

    for code, outcome in outcomes():
        yield from (Judged(job, outcome) for job in alike[code])


def _place(kernel: Kernel, on: Processor | None) -> Processor | str | None:
    """The emulated processor that a kernel runs on, None for this one, or why there is none."""
    needed = kernel.target.features - BASELINE
    if on is not None:
        lacking = needed - on.features
        return f"{on.title} lacks {', '.join(sorted(lacking))}" if lacking else on
    lacking = frozenset(missing(kernel.target))
    if not lacking:
        return None
    emulated = usual(needed)
    if emulated is None or installed():
        return emulated or f"this processor lacks {', '.join(sorted(lacking))}, and Bochs has none that has them"
    return f"this processor lacks {', '.join(sorted(lacking))}; Bochs has {emulated.title}: {HOW_TO_GET}"


def run_cases(kernel: Kernel, cases: Cases) -> Outcome:
    """One kernel over all cases."""
    from setwise.analysis.run.check import check

    with runner(kernel) as running:
        return check(running.run, cases, arrays=bool(kernel.routine.contract.elements))


def _report(kernels: Sequence[Judged]) -> None:
    outcomes = [kernel.outcome for kernel in kernels]
    rows = [(*kernel.key, f"{kernel.outcome.cases:,}", kernel.outcome.status, kernel.outcome.on) for kernel in kernels]
    print_table(("name", "isa", "lanes", "abi", "cases", "", ""), rows, "llrlrll")
    for kernel in kernels:
        if kernel.outcome.mismatch is not None:
            print(f"\n{kernel.job.title} failed: {kernel.outcome.reason}")
            print(drawn(kernel.job.routine.contract, kernel.outcome.mismatch))
    # Kernels that never came to a case, gathered by the reason.
    print_reasons((outcome.status, outcome.reason) for outcome in outcomes if outcome.reason and not outcome.mismatch)
    summary = tally([outcome.status for outcome in outcomes], ("passed", "failed", "not run"))
    anywhere = [outcome for outcome in outcomes if outcome.status != "not run"]
    places = Counter(f"on {outcome.on}" if outcome.on else "natively" for outcome in anywhere)
    ran = ", ".join(f"{number} {place}" for place, number in places.items())
    print(f"\n{summary}; {sum(outcome.cases for outcome in outcomes):,} calls" + (f"\nran: {ran}" if ran else ""))


def drawn(contract: Contract, mismatch: Mismatch) -> str:
    """A case that went wrong, as boards."""
    kinds = {parameter.name: parameter.kind for parameter in contract.elements or contract.parameters}
    inputs = ((name, kinds[name], word) for name, word in mismatch.inputs)
    lines, shown = input_lines(inputs, contract.numbering)
    shown += expected_and_got(contract.results, mismatch.expected, mismatch.got)
    return "\n".join([f"case {mismatch.case}", *lines]) + "\n\n" + boards(shown, contract.numbering)


def _check_object(arguments: Namespace, on: Processor | None) -> int:
    """Check a function of an ELF file by the contract of a routine; 1 if that fails.

    Raises NoBochs without Bochs, and CannotRunHere where the processor lacks what the function needs.
    """
    from setwise.analysis.run.cases import make_cases
    from setwise.analysis.run.emulation import EmulatedCode, check_emulated

    symbol, abi = arguments.symbol, arguments.abi or "sysv"
    binary = load(arguments.object, symbol)
    routine = find(arguments.spec)
    kernel = lower(routine, routine.isas[0], abi)
    on = processor_for(binary, on)
    cases = make_cases(routine.contract, arguments.quick)
    arrays = bool(routine.contract.elements)
    (outcome,) = check_emulated([EmulatedCode(binary, calling_sequence(kernel), arrays)], cases, on)
    outcome = replace(outcome, on=outcome.on or f"{on.title}, emulated")
    if arguments.json:
        print_json([check_row((symbol, None, 1, abi), outcome)])
    else:
        print(f"{symbol} as {routine.name}, {abi}: {outcome.status}")
        print(f"{outcome.cases:,} calls on {outcome.on}")
        if outcome.reason:
            print(f"\n{outcome.reason}")
        if outcome.mismatch is not None:
            print(drawn(routine.contract, outcome.mismatch))
    return int(outcome.status != "passed")


def processor_for(binary: Binary, on: Processor | None = None) -> Processor:
    """The processor that was asked for, or the oldest one that has all features in these bytes.

    Raises CannotRunHere where there is none, or it lacks one; NoBochs without Bochs.
    """
    needed = asked_for(features(decode(binary.text)))
    if on is not None:
        if lacking := needed - on.features:
            raise CannotRunHere(f"{on.title} lacks {', '.join(sorted(lacking))}")
        return on
    emulated = usual(needed)
    if emulated is None:
        lacking = needed - frozenset[str]().union(*(processor.features for processor in PROCESSORS.values()))
        raise CannotRunHere(f"no processor in Bochs is known to have {', '.join(sorted(lacking or needed))}")
    return ready(emulated.name)
