"""What a round of the timing loop executes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from setwise.analysis.code.decode import Binary, Decoded, Mem, decode
from setwise.analysis.measure.subjects import Subject, arguments_for, timing_loop
from setwise.analysis.run.steps import Machine, Start
from setwise.codegen.run.timer import CONTEXT_WORDS, ROUNDS, Mode


def round_stream(subject: Subject, mode: Mode) -> tuple[Decoded, ...]:
    """The instructions that one round of the loop executes, those of the routine among them, in their order.

    Offsets count from the loop's beginning; the routine lies behind it. Divide by `subject.calls` for one call.
    """
    emitted = timing_loop(subject, mode)
    text = emitted.image[: emitted.routine + len(subject.binary.text)]
    data = subject.binary.data
    binary = Binary(text, data, emitted.routine + subject.binary.data_offset if data else 0)
    code = [
        *(_moved(instruction, emitted.calls) for instruction in decode(text[emitted.calls : emitted.round_end])),
        *(_moved(instruction, emitted.routine) for instruction in decode(subject.binary.text)),
    ]
    loaded = arguments_for(subject, mode)
    arrays = (*loaded.arrays, (0,) * subject.boards) if subject.boards else ()
    words = loaded.words or (0,) * (len(arrays) + 1)
    memory = {"arguments": _bytes(words), "context": bytes(8 * CONTEXT_WORDS)}
    memory |= {f"array {at}": _bytes(array) for at, array in enumerate(arrays)}
    registers: dict[str, Start] = {"r12": "arguments", "r13": 0, "r15": "context", "rbp": (1 << 64) - 1}
    machine = Machine(binary, registers, memory, code, emitted.calls)
    machine.buffers["context"].content[8 * ROUNDS : 8 * ROUNDS + 8] = _bytes([1])
    if arrays:
        addresses = [machine.buffers[f"array {at}"].start for at in range(len(arrays))]
        machine.buffers["arguments"].content[:] = _bytes([*addresses, subject.boards])
    while machine.offset != emitted.round:
        machine.step()
    executed = []
    while machine.offset != emitted.round_end:
        executed.append(machine.step().instruction)
    return tuple(executed)


def _bytes(words: Sequence[int]) -> bytes:
    return b"".join(word.to_bytes(8, "little") for word in words)


def _moved(instruction: Decoded, by: int) -> Decoded:
    """The instruction so many bytes further on."""
    operands = tuple(
        replace(operand, target=operand.target + by)
        if isinstance(operand, Mem) and operand.target is not None
        else operand
        for operand in instruction.operands
    )
    target = None if instruction.target is None else instruction.target + by
    return replace(instruction, offset=instruction.offset + by, operands=operands, target=target)
