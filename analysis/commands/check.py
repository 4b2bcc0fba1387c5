"""`setwise check`: run kernels, or a function of an ELF file, and compare results with the specification."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from setwise.analysis import api
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.commands.arguments import PATTERNS, add, object_given
from setwise.analysis.commands.tables import print_json, print_reasons, print_table, report_not_made, tally
from setwise.analysis.pictures.board_text import picture
from setwise.analysis.progress import Progress
from setwise.codegen.catalogue import chosen, find
from setwise.codegen.ir.routine import Contract

if TYPE_CHECKING:
    from setwise.analysis.run.check import Mismatch
    from setwise.analysis.run.checks import CheckedKernel

EXAMPLES = (
    "setwise check 'kogge-stone.*' --isa bmi2",
    "setwise check sliders.union --on icelake",
    "setwise check --object fills.o --symbol soutAttacks --spec kogge-stone.attacks.sout",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `setwise check`."""
    add(parser, "names", help=f"{PATTERNS}; default: all")
    add(parser, "only --isa", "--variant", "only --abi")
    add(parser, "--object", help="an ELF object, program or shared library; it runs in Bochs only")
    add(parser, "--symbol", "--spec", "--on")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run a sixteenth of the line cases and a tenth of the random boards (always so in Bochs)",
    )
    add(parser, "--json")


def run(arguments: Namespace) -> int:
    """Check code; print outcomes. Return 1 if a kernel fails, a routine has no kernel, or a function does not pass."""
    if object_given(arguments):
        return _check_function(arguments)
    requests = api.requests(chosen(arguments.names), arguments.isa, arguments.abi, variant=arguments.variant)
    with Progress(len(requests)) as progress:
        kernels = api.check(
            requests, quick=arguments.quick, on=arguments.on, processes=os.cpu_count() or 1, show=progress.show
        )
    if arguments.json:
        print_json([kernel.row for kernel in kernels])
    else:
        _report(kernels)
    is_missing = report_not_made(requests, {kernel.key for kernel in kernels})
    return int(is_missing or any(kernel.outcome.status == "failed" for kernel in kernels))


def _report(kernels: Sequence[CheckedKernel]) -> None:
    outcomes = [kernel.outcome for kernel in kernels]
    rows = [(*kernel.key, f"{kernel.outcome.cases:,}", kernel.outcome.status, kernel.outcome.on) for kernel in kernels]
    print_table(rows, ("name", "isa", "lanes", "abi", "cases", "", ""))
    for kernel in kernels:
        if kernel.outcome.mismatch is not None:
            print(f"\n{kernel.request.title} failed: {kernel.outcome.reason}")
            print(drawn(kernel.request.routine.contract, kernel.outcome.mismatch))
    # The reasons of outcomes without a mismatch to draw; equal ones are printed once, with their number.
    print_reasons((outcome.status, outcome.reason) for outcome in outcomes if outcome.reason and not outcome.mismatch)
    summary = tally([outcome.status for outcome in outcomes], ("passed", "failed", "not run"))
    places = Counter(f"on {each.on}" if each.on else "natively" for each in outcomes if each.status != "not run")
    ran = ", ".join(f"{number} {place}" for place, number in places.items())
    print(f"\n{summary}; {sum(outcome.cases for outcome in outcomes):,} calls" + (f"\nran: {ran}" if ran else ""))


def drawn(contract: Contract, mismatch: Mismatch) -> str:
    """Return a mismatch as text: the number of the case, its inputs, and the expected and actual results as boards."""
    words = [word for _, word in mismatch.inputs]
    return picture([f"case {mismatch.case}"], contract, words, expected=mismatch.expected, got=mismatch.got)


def _check_function(arguments: Namespace) -> int:
    """Check a function of an ELF file against a routine's contract and print the outcome. Return 1 unless it passes."""
    symbol, abi, routine = arguments.symbol, arguments.abi or "sysv", find(arguments.spec)
    function = ObjectFunction(arguments.object, symbol)
    outcome = api.check_function(function, routine, abi, quick=arguments.quick, on=arguments.on)
    if arguments.json:
        from setwise.analysis.run.checks import check_row

        print_json([check_row((symbol, None, 1, abi), outcome)])
    else:
        print(f"{symbol} as {routine.name}, {abi}: {outcome.status}")
        print(f"{outcome.cases:,} calls on {outcome.on}")
        if outcome.reason:
            print(f"\n{outcome.reason}")
        if outcome.mismatch is not None:
            print(drawn(routine.contract, outcome.mismatch))
    return int(outcome.status != "passed")
