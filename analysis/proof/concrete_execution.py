"""Replay of counterexamples by an interpreter, which runs none of the code on the processor.

The interpreter shares its table of semantics with the prover, but neither the solver nor the memory model: all
addresses are numbers, and each access is checked against the memory that the caller provides. Bytes below the red zone
are overwritten whenever the stack pointer moves, as a signal handler may do. Undefined values are the usual ones of
processors in the first replay at each stack address, and random in later ones.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from setwise.analysis.code.decode import Binary, Decoded, DecodeError
from setwise.analysis.proof.certificate import Certificate, Confirmation, Counterexample
from setwise.analysis.proof.memory import LOWEST
from setwise.analysis.proof.symbolic import MOST_STEPS, CodeMap
from setwise.analysis.run.caller import RESULTS, word_at
from setwise.analysis.run.interpreter import CODE, STACK, Interpreter, MemoryRange, MemoryRanges, Start, StepError
from setwise.analysis.semantics.domains import Bits, Integers
from setwise.analysis.semantics.state import GENERAL, MASKS, VECTORS, ContractViolation, SemanticsError
from setwise.analysis.spec.lists import equal
from setwise.analysis.spec.task import Argument, Place, Task

_OFFSETS = (8, 24, 40, 56)  # offsets of rsp at entry from a multiple of 64
_DRAWS = 8  # most replays for each offset, with different undefined values
_LOST = 0xA5  # the content of bytes below the red zone
_WORD = (1 << 64) - 1


def confirm_by_stepping(certificate: Certificate) -> Confirmation:
    """Replay a certificate's counterexample from its registers, for several stack addresses and undefined values.

    Return the first confirmation with the status "confirmed"; if there is none, that of the first replay.
    """
    if certificate.counterexample is None:
        return Confirmation("not confirmed", "not confirmed: there is no counterexample")
    layout = certificate.binary.layout
    if layout is not None and layout.branches and any(each.flow == "indirect" for each in certificate.instructions):
        # A jump table holds distances in the file, and in the image the functions have others from each other.
        return Confirmation("not confirmed", "not confirmed: calls with indirect jumps are not stepped")
    found, first = certificate.counterexample, None
    for offset in _OFFSETS:
        for draw in range(_DRAWS):
            domain = _Drawn(draw)
            confirmation = _step(certificate, found, STACK + offset, domain)
            if confirmation.status == "confirmed":
                return confirmation
            first = first or confirmation
            if not domain.drawn:
                break
    assert first is not None
    return first


def replayed(binary: Binary, task: Task, found: Counterexample) -> tuple[int, ...]:
    """Return the results of a function for the inputs and registers of a counterexample. Raises SemanticsError."""
    machine = _Replay(Certificate("refuted", binary, task), found, STACK + _OFFSETS[0], _Drawn(0))
    if not machine.returns():
        raise StepError(f"has not returned after {MOST_STEPS} steps")
    return machine.results()


class _Drawn(Integers):
    """A domain of integers with random undefined values, from the seed `number`; 0 gives the usual values instead."""

    def __init__(self, number: int) -> None:
        self._chance = random.Random(number) if number else None
        self.drawn = False

    def undefined(self, usual: Bits, width: int) -> Bits:
        """Return a random value for an undefined result, or `usual` if the seed is 0."""
        self.drawn = True
        return usual if self._chance is None else self._chance.getrandbits(width)


def _step(certificate: Certificate, found: Counterexample, rsp: int, domain: _Drawn) -> Confirmation:
    try:
        machine = _Replay(certificate, found, rsp, domain)
        if not machine.returns():
            return Confirmation("not confirmed", f"not confirmed: it has not returned after {MOST_STEPS} steps")
    except (ContractViolation, StepError) as error:
        return _confirmed(found, str(error))
    except (SemanticsError, DecodeError) as error:
        return Confirmation("not confirmed", f"not confirmed, because it cannot be stepped: {error}")
    got = machine.results()
    broken = ", ".join(machine.broken())
    if broken:
        return _confirmed(found, broken, got)
    if not equal(certificate.task, got, found.expected):
        return Confirmation("confirmed", "confirmed by stepping", got)
    if not found.runs or not found.anywhere or domain.drawn or machine.shift is None:
        why = "it depends on the addresses or the contents of code and memory"
        return Confirmation("not confirmed", f"not confirmed by stepping: {why}", got)
    return Confirmation("disagrees", "but the replay gives the expected results: the proof is wrong", got)


def _confirmed(found: Counterexample, what: str, got: tuple[int, ...] = ()) -> Confirmation:
    """Return a confirmation. It quotes the replay's complaint `what`, unless the prover's is equal up to an offset."""
    same = what.partition(" offset ")[0] == found.complaint.partition(" offset ")[0]
    return Confirmation("confirmed", "confirmed by stepping" + ("" if same else f": {what}"), got)


class _Memory(MemoryRanges):
    """The memory of a replay, in which bytes below the red zone are overwritten and inaccessible."""

    def __init__(self, regions: list[MemoryRange], stack: MemoryRange, rsp: int, red_zone: int) -> None:
        super().__init__(regions)
        self._stack, self._entry, self._red_zone = stack, rsp, red_zone
        stack.content[: rsp - stack.start] = bytes([_LOST]) * (rsp - stack.start)
        self.move_stack(rsp)

    def move_stack(self, rsp: int) -> None:
        """Overwrite and bar the stack below the new red zone.

        Raises StepError if the stack pointer leaves the stack or enters the caller's frame, and SemanticsError if the
        routine takes too much stack.
        """
        limit = rsp - self._red_zone
        if not 0 <= limit - self._stack.start <= len(self._stack.content):
            raise StepError("moves rsp outside the stack, where it must be after every instruction")
        if limit > self._entry + 8:
            raise StepError("raises the stack pointer into its caller's frame, which a signal handler may overwrite")
        if limit < self._entry - LOWEST:
            raise SemanticsError(f"takes more than {LOWEST} bytes of stack")
        own = limit - self._stack.start
        self._stack.content[self._stack.barred : own] = bytes([_LOST]) * (own - self._stack.barred)
        self._stack.barred = own


class _Replay(Interpreter):
    """An interpreter of the call in a counterexample; the code may access only the contract's memory."""

    def __init__(self, certificate: Certificate, found: Counterexample, rsp: int, domain: Integers) -> None:
        task = self._task = certificate.task
        self._found = found
        self._code, layout = CodeMap(certificate.binary), certificate.binary.layout
        self.shift = 0 if layout is None else layout.shift
        self._count = len(found.inputs[0][1]) if task.elements else 1  # of boards in each array
        inputs = zip(task.arrays, found.inputs, strict=False)  # the last arrays are those of results
        self._arrays = {name: _bytes(words) for name, (_, words) in inputs}
        self._results: tuple[str, ...] = (RESULTS,) * len(task.results)
        if task.elements:
            self._results = task.arrays[len(task.elements) :] if found.alias is None else (task.arrays[found.alias],)
        # Results in memory or on the stack are prefilled with words that differ from the expected ones.
        # A block's bytes are arguments, too.
        written = zip(task.results, found.expected, strict=False)
        unset = [(result.place, word ^ _WORD) for result, word in written if not result.place.register]
        super().__init__(
            certificate.binary,
            self._registers(),
            {**self._block(unset), **self._arrays, **self._blocks()},
            self._code.instructions,
            stack={
                **{a.place.offset: self._filled(a, 0) for a in task.arguments if a.place.file == "stack"},
                **{place.offset: word for place, word in unset if place.file == "stack"},
            },
            rsp=rsp,
            above=task.stack,
            code=CODE + (self.shift or 0),
            aligned={block.name: block.alignment for block in task.blocks},
        )
        for block in task.blocks:
            self.buffers[block.name].writable = block.written
        memory = self.state.memory
        assert isinstance(memory, MemoryRanges)
        self.state.memory = _Memory(memory.regions, self.stack, rsp, task.red_zone)
        self.state.domain = domain
        self._before = dict(self.state.registers), dict(self.state.vectors)

    def instruction(self, offset: int) -> Decoded:
        """Return the instruction at an offset, even inside another one. Raises SemanticsError if there is none."""
        if not 0 <= offset < len(self.binary.text):
            raise StepError(f"goes to {self.code + offset:#x}, outside its code")
        return self._code.at(offset)

    def returns(self) -> bool:
        """Run, and return whether the final ret comes within MOST_STEPS instructions.

        Raises StepError if a state repeats or if rsp is wrong after the ret.
        """
        before = self._whole()
        for number in range(1, MOST_STEPS + 1):
            self.step()
            if self.offset is None:
                moved = int(self.state.registers["rsp"]) - self.rsp - 8
                if moved:
                    raise StepError(f"returns with rsp {moved:+d} bytes from where it was")
                return True
            if self.offset == before[0] and self._whole() == before:
                raise StepError("never returns: a state repeats")
            if number & (number - 1) == 0:  # at growing distances, so that a cycle of any length is found
                before = self._whole()
        return False

    def _whole(self) -> tuple[Any, ...]:
        flags = {name: None if flag is None else flag() for name, flag in self.state.flags.items()}
        contents = [bytes(region.content) for region in (self.stack, *self.buffers.values())]
        return self.offset, dict(self.state.registers), dict(self.state.vectors), flags, contents

    def results(self) -> tuple[int, ...]:
        """Return the replayed results of the counterexample's lane; none for arrays without a board."""
        places = zip(self._task.results, self._results, strict=True)
        return tuple(self._read(result.place, name) for result, name in places) if self._count else ()

    def broken(self) -> Iterator[str]:
        """Yield complaints about changed callee-saved registers, and changed input arrays other than the result's."""
        registers, vectors = self._before
        for name in self._task.saved:
            if self.state.registers[name] != registers[name]:
                yield f"{name} is not restored"
        for name in self._task.saved_vectors:
            if self.state.vectors[name][:2] != vectors[name][:2]:
                yield f"x{name[1:]} is not restored"
        for name, content in self._arrays.items():
            if name not in self._results and bytes(self.buffers[name].content) != content:
                yield f"{name} is changed"

    def _block(self, unset: Sequence[tuple[Place, int]]) -> dict[str, bytes]:
        """Return the results' buffers by name; `unset` holds each result's place and the word that prefills it."""
        if self._task.elements:
            # Arrays without a board have no expected words.
            words = [word for _, word in unset] or [0] * len(self._results)
            return {name: _bytes([word] * self._count) for name, word in zip(self._results, words, strict=True)}
        content = bytearray(max((place.offset + 8 * place.lanes for place, _ in unset), default=0))
        for place, word in unset:
            content[place.offset : place.offset + 8 * place.lanes] = _bytes([word] * place.lanes)
        return {RESULTS: bytes(content)}

    def _registers(self) -> dict[str, Start]:
        given = self._found.registers
        registers: dict[str, Start] = {name: given[name] for name in (*GENERAL, *MASKS) if name in given}
        for name in VECTORS:
            if f"{name}.0" in given:
                registers[name] = [given[f"{name}.{lane}"] for lane in range(8)]
        for argument in self._task.arguments:
            if argument.place.file == "general":
                name = argument.place.register
                registers[name] = self._filled(argument, given.get(name, 0))
            elif argument.place.file == "vector":
                name, start = argument.place.register, argument.place.offset // 8
                lanes = dict(self._found.inputs)[argument.name]
                before = registers.get(name, [given.get(f"{name}.{lane}", 0) for lane in range(8)])
                assert isinstance(before, list)
                registers[name] = [*before[:start], *lanes, *before[start + len(lanes) :]]
        return registers

    def _blocks(self) -> dict[str, bytes]:
        """Return the bytes of each block at entry."""
        content, given = {block.name: bytearray(block.size) for block in self._task.blocks}, dict(self._found.inputs)
        for argument in self._task.arguments:
            place = argument.place
            if place.file == "memory":
                word = given[argument.name][0].to_bytes(8, "little")
                content[place.register][place.offset : place.offset + place.bytes] = word[: place.bytes]
        return {name: bytes(each) for name, each in content.items()}

    def _filled(self, argument: Argument, before: int) -> int | str:
        """Return the content of an argument's register or stack slot: a number, or the name of a buffer."""
        word = self._word(argument)
        return word if isinstance(word, str) else int(argument.place.filled(Integers(), word, before))

    def _word(self, argument: Argument) -> int | str:
        """Return the content of an argument that is no vector: a number, or the name of the buffer it points to."""
        if argument.kind in ("results", "block"):
            return RESULTS if argument.kind == "results" else argument.name
        if argument.kind == "boards":
            number = self._task.arrays.index(argument.name) - len(self._task.elements)
            return argument.name if number < 0 else self._results[number]
        return self._count if argument.kind == "count" else dict(self._found.inputs)[argument.name][0]

    def _read(self, place: Place, name: str) -> int:
        block = self.buffers[place.register if place.file == "memory" and place.register else name].content
        if place.file == "stack":
            block = self.stack.content[self.rsp - self.stack.start :]
        return word_at(place, self._found.lane, self.state.registers, self.state.vectors, bytes(block))


def _bytes(words: Sequence[int]) -> bytes:
    return b"".join(word.to_bytes(8, "little") for word in words)
