"""Random descriptions judged: lowered, run against the evaluator of their graph, and proved against it."""

from collections.abc import Iterable
from random import Random

import numpy as np

from setwise.analysis.code.binary import binary_of
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.interpreter import Interpreter
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.task import Task
from setwise.codegen.board import ALL
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.regalloc.machine import OutOfRegisters
from setwise.codegen.run.call import missing, runner
from setwise.codegen.targets.table import Refused
from tests.codegen.descriptions import SECONDS, RandomDescription

EXTREMES = (0, 1, ALL, 1 << 63, 7, 0x0123_4567_89AB_CDEF, 0x8100_0000_0000_0081, 0x00FF_FFFF_FFFF_FF00)
Ran = Iterable[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]
"""Arguments, what the evaluator gives for them, and what the code gave."""


def judged(description: RandomDescription, isa: str, abi: str, prover: Prover) -> str:
    """How a description ended: proved, right where it ran, or refused; AssertionError where it is wrong."""
    try:
        kernel = lower(description.routine, isa, abi)
    except (Refused, OutOfRegisters) as error:
        refusal = str(error)
    else:
        run = stepped if missing(kernel.target) else on_this_processor
        assert_right(run(description, kernel, Random(description.seed)))
        return proved(kernel, prover)
    assert len(refusal.splitlines()) == 1, refusal
    return "refused"


def proved(kernel: Kernel, prover: Prover) -> str:
    """Whether a kernel is proved; AssertionError where it is refuted, or nobody knows why it is not proved."""
    certificate = prover.prove(binary_of(kernel), task_of(kernel), SECONDS)
    assert certificate.status != "refuted", certificate.reason
    if certificate.status == "proved":
        return "proved"
    assert "time limit" in certificate.reason, certificate.reason
    return "ran right"


def assert_right(ran: Ran) -> None:
    """Every case gave what the evaluator gives."""
    for words, expected, got in ran:
        assert got == expected, words


def words_for(task: Task, random: Random) -> tuple[int, ...]:
    numbers = (random.choice((*EXTREMES, *(random.getrandbits(64) for _ in EXTREMES))) for _ in task.words)
    return tuple(number % (argument.below or 1 << 64) for argument, number in zip(task.words, numbers, strict=True))


def on_this_processor(
    description: RandomDescription, kernel: Kernel, random: Random, image: bytes | None = None
) -> Ran:
    """Sixteen cases, by other code in the kernel's place if it is given."""
    task = task_of(kernel)
    cases = [words_for(task, random) for _ in range(16)]
    columns = [np.array(column, np.uint64) for column in zip(*cases, strict=True)]
    results = np.zeros((len(cases), len(task.results)), np.uint64)
    with runner(kernel, image) as code:
        violation = code.run([column.ctypes.data for column in columns], results.ctypes.data, len(cases))
    assert violation is None, violation
    for words, got in zip(cases, results, strict=True):
        yield words, description.specification(*words), tuple(map(int, got))


def stepped(description: RandomDescription, kernel: Kernel, random: Random) -> Ran:
    """A few cases, instruction by instruction: what this processor lacks."""
    task = task_of(kernel)
    binary = binary_of(kernel)
    for _ in range(3):
        lanes = [words_for(task, random) for _ in range(task.lanes)]
        given = iter(zip(*lanes, strict=True))
        registers: dict[str, str | tuple[int, ...] | int] = {}
        stack: dict[int, str | int] = {}
        for argument in task.arguments:
            place = argument.place
            words = next(given) if argument.kind != "results" else ()
            if place.file == "vector":
                registers[place.register] = words
            elif place.file == "general":
                registers[place.register] = words[0] if words else "results"
            else:
                stack[place.offset] = words[0] if words else "results"
        left = Interpreter(binary, registers, {"results": bytes(64)}, stack=stack).run()
        for lane, words in enumerate(lanes):
            got = []
            for result in task.results:
                place = result.place
                if place.file == "vector":
                    got.append(left.vectors[place.register][lane])
                elif place.file == "general":
                    got.append(left.registers[place.register])
                else:
                    start = place.offset + 8 * lane
                    got.append(int.from_bytes(left.buffers["results"][start : start + 8], "little"))
            yield words, description.specification(*words), tuple(got)
