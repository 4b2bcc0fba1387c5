"""Runs a routine on a counterexample with every register as the proof's model has it."""

from __future__ import annotations

from setwise.analysis.proof.certificate import Certificate
from setwise.analysis.semantics.state import MASKS
from setwise.analysis.spec.task import Task
from setwise.codegen.run.executable import Executable
from tests.analysis.semantics.machines import GENERAL as ORDER
from tests.analysis.semantics.machines import Cpu, Registers, Trial
from tests.processes import in_own_process

_PAGE = 4096  # for arrays and results; behind it is one of stack
_STACK = 2048  # where rsp is in the stack's page before the call
_APART = 512  # bytes between arrays


def wrong(cpu: Cpu, certificate: Certificate) -> bool:
    """Whether the routine, run with these registers, breaks its contract in the lane of the counterexample."""
    return in_own_process(lambda: _wrong(cpu, certificate))


def _wrong(cpu: Cpu, certificate: Certificate) -> bool:
    task, found = certificate.task, certificate.counterexample
    assert found is not None
    registers = dict(found.registers)
    memory = bytearray(2 * _PAGE)
    words = dict(found.inputs)
    number = len(found.inputs[0][1])
    blocks = {name: cpu.memory + at * _APART for at, name in enumerate((*task.arrays, "results"))}
    # What no routine gives by chance, so that a result that is never written shows.
    junk = b"".join((word ^ (1 << 64) - 1).to_bytes(8, "little") for word in found.expected)
    memory[:_PAGE] = (junk * _PAGE)[:_PAGE] if len(junk) == 8 else memory[:_PAGE]
    if found.alias is not None:
        blocks[task.arrays[-1]] = blocks[task.arrays[found.alias]]
    for argument, (_, inputs) in zip(task.elements, found.inputs, strict=False) if task.elements else ():
        start = blocks[task.arrays[task.elements.index(argument)]] - cpu.memory
        memory[start : start + 8 * number] = b"".join(word.to_bytes(8, "little") for word in inputs)
    if not task.elements:
        for one, word in zip(task.results, found.expected, strict=True):
            if one.place.file == "memory":
                at = blocks["results"] - cpu.memory + one.place.offset + 8 * found.lane
                memory[at : at + 8] = (word ^ (1 << 64) - 1).to_bytes(8, "little")
    for argument in task.arguments:
        lanes: tuple[int, ...]
        if argument.kind in ("boards", "results"):
            lanes = (blocks[argument.name if argument.kind == "boards" else "results"],)
        else:
            lanes = (number,) if argument.kind == "count" else words[argument.name]
        if argument.place.file == "general":
            registers[argument.place.register] = lanes[0]
        elif argument.place.file == "vector":
            registers |= {f"{argument.place.register}.{lane}": word for lane, word in enumerate(lanes)}
        else:  # the call puts the return address below
            at = _PAGE + _STACK - 8 + argument.place.offset
            memory[at : at + 8] = lanes[0].to_bytes(8, "little")
    rsp = cpu.memory + _PAGE + _STACK
    given = Registers(
        [rsp if name == "rsp" else registers[name] for name in ORDER],
        [registers[name] for name in MASKS],
        0,
        [tuple(registers[f"zmm{vector}.{lane}"] for lane in range(8)) for vector in range(32)],
    )
    with Executable(certificate.binary.image, len(certificate.binary.data)) as code:
        call = b"\xff\x15\x02\x00\x00\x00\xeb\x08" + code.address().to_bytes(8, "little")
        (behind,) = cpu.run([Trial(call, given, bytes(memory))])
    after, left = behind.registers, behind.memory
    general = dict(zip(ORDER, after.general, strict=True))
    if general["rsp"] != rsp or any(general[name] != registers[name] for name in task.saved):
        return True
    for name in task.saved_vectors:
        if after.vectors[int(name[3:])][:2] != given.vectors[int(name[3:])][:2]:
            return True
    for name, inputs in found.inputs if task.elements else ():
        start = blocks[name] - cpu.memory
        kept = left[start : start + 8 * number] == b"".join(word.to_bytes(8, "little") for word in inputs)
        if not kept and blocks[name] != blocks[task.arrays[-1]]:
            return True
    return number > 0 and _results(task, cpu, general, after, left, blocks, found.lane) != found.expected


def _results(
    task: Task, cpu: Cpu, general: dict[str, int], after: Registers, left: bytes, blocks: dict[str, int], lane: int
) -> tuple[int, ...]:
    def at(address: int) -> int:
        place = address - cpu.memory
        return int.from_bytes(left[place : place + 8], "little")

    if task.elements:
        return (at(blocks[task.arrays[-1]] + 8 * lane),)
    return tuple(
        general[one.place.register]
        if one.place.file == "general"
        else after.vectors[int(one.place.register[3:])][lane]
        if one.place.file == "vector"
        else at(blocks["results"] + one.place.offset + 8 * lane)
        for one in task.results
    )
