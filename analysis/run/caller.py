"""Interpreted calls of a routine with a known contract: arguments are placed as its convention requires."""

from collections.abc import Mapping, Sequence

from setwise.analysis.code.decode import Binary, Decoded, decode
from setwise.analysis.run.interpreter import Interpreter, Start, Trace
from setwise.analysis.spec.task import Place, Task

RESULTS = "results"
"""The name of the buffer that results are written to."""


class Caller:
    """A routine that can be called repeatedly; its code is decoded once."""

    def __init__(self, binary: Binary, task: Task) -> None:
        self.binary, self.task = binary, task
        self._instructions: tuple[Decoded, ...] = decode(binary.text)

    def trace(self, words: Sequence[int], limit: int = 1_000_000) -> Trace:
        """Return the trace of a call with these words, one for each parameter but the results' address.

        A word is repeated in all lanes of a vector. Raises ValueError for a wrong number of words, and SemanticsError
        for code that the semantics forbid or do not know, or after `limit` instructions.
        """
        inputs = [argument for argument in self.task.arguments if argument.kind != RESULTS]
        values: Mapping[str, int] = dict(zip((argument.name for argument in inputs), words, strict=True))
        registers: dict[str, Start] = {}
        stack: dict[int, int | str] = {}
        for argument in self.task.arguments:
            place = argument.place
            word: int | str = RESULTS if argument.kind == RESULTS else values[argument.name]
            if place.file == "stack":
                stack[place.offset] = word
            elif isinstance(word, int) and place.file == "vector":
                registers[place.register] = [word] * place.lanes
            else:
                registers[place.register] = word
        size = 8 * sum(result.place.lanes for result in self.task.results)
        machine = Interpreter(self.binary, registers, {RESULTS: bytes(size)}, self._instructions, stack=stack)
        return machine.run(limit)

    def results(self, trace: Trace) -> tuple[tuple[int, ...], ...]:
        """Return the lanes of each result after a run."""
        block = trace.buffers.get(RESULTS, b"")
        return tuple(
            tuple(
                word_at(result.place, lane, trace.registers, trace.vectors, block) for lane in range(result.place.lanes)
            )
            for result in self.task.results
        )


def word_at(
    place: Place, lane: int, registers: Mapping[str, int], vectors: Mapping[str, Sequence[int]], block: bytes
) -> int:
    """Return one lane of a result. For one in memory or on the stack, `block` holds the bytes from offset 0 on."""
    if place.file == "vector":
        return vectors[place.register][place.offset // 8 + lane]
    if place.file == "general":
        return registers[place.register] % (1 << 8 * place.bytes)
    offset = place.offset + 8 * lane
    return int.from_bytes(block[offset : offset + place.bytes], "little")
