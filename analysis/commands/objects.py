"""`setwise check --object`: a function of somebody's ELF file, run in Bochs and judged; nothing of it runs here."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import replace

from setwise.analysis.code.decode import Binary, decode, features
from setwise.analysis.code.objects import load
from setwise.analysis.commands.check import drawn
from setwise.analysis.commands.errors import CannotRunHere
from setwise.analysis.run.cases import make_cases
from setwise.analysis.run.emulation import EmulatedCode, check_emulated
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.run.bochs import PROCESSORS, Processor, ready, usual
from setwise.codegen.run.call import calling_sequence
from setwise.codegen.run.cpu import BASELINE

_CAME_WITH = {
    "sse3": "ssse3",
    "lzcnt": "bmi1",
    "avx512cd": "avx512f",
    "avx512bitalg": "avx512vbmi",
    "avx512vpopcntdq": "avx512vbmi",
    "avx512vbmi2": "avx512vbmi",
}
"""Features that no kernel of ours needs, and of ours one that every emulated processor with it has as well."""


def check_object(arguments: Namespace) -> int:
    """Check a function of an ELF file against the ray-walk by the contract of a routine; 1 if that fails.

    Raises NoBochs without Bochs, and CannotRunHere where the processor lacks what the function needs.
    """
    binary = load(arguments.object, arguments.symbol)
    routine = find(arguments.spec)
    kernel = lower(routine, routine.isas[0], arguments.abi)
    on = processor_for(binary, None if arguments.on is None else ready(arguments.on))
    cases = make_cases(routine.contract, arguments.quick)
    arrays = bool(routine.contract.elements)
    (outcome,) = check_emulated([EmulatedCode(binary, calling_sequence(kernel), arrays)], cases, on)
    outcome = replace(outcome, on=outcome.on or f"{on.title}, emulated")
    if arguments.json:
        row = {"name": arguments.symbol, "isa": None, "lanes": 1, "abi": arguments.abi, "status": outcome.status}
        print(json.dumps([{**row, "on": outcome.on, "cases": outcome.cases, "reason": outcome.reason}], indent=2))
    else:
        print(f"{arguments.symbol} as {routine.name}, {arguments.abi}: {outcome.status}")
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
    needed = frozenset(_CAME_WITH.get(one, one) for one in features(decode(binary.text))) - BASELINE
    if on is not None:
        if lacking := needed - on.features:
            raise CannotRunHere(f"{on.title} lacks {', '.join(sorted(lacking))}")
        return on
    found = usual(needed)
    if found is None:
        lacking = needed - frozenset[str]().union(*(one.features for one in PROCESSORS.values()))
        raise CannotRunHere(f"no processor in Bochs is known to have {', '.join(sorted(lacking or needed))}")
    return ready(found.name)
