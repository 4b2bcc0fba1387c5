"""Both ends of a proof: the state that a caller establishes, and the claims about the state on return."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import cast

from setwise.analysis.proof.image import MemoryImage
from setwise.analysis.proof.memory import ENTRY, LOWEST, STACK, Arrays, Space
from setwise.analysis.proof.path_state import Byte, Cells
from setwise.analysis.proof.pointers import Addresses, Base, Pointer
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.state import GENERAL, MASKS, VECTORS, MachineState
from setwise.analysis.spec.task import Place, Task

RESULTS = Base("results", 8)


@dataclass(frozen=True, slots=True)
class Case:
    """One part of a proof: the arguments' words, lane by lane.

    For arrays, `count` is their number of boards: an integer, and then the words are the boards; or a term, and then
    there are no words. The inputs whose numbers are in `alias` share one array with the result, and no other input
    does. If `apart` is False, any input may share it.
    """

    words: tuple[tuple[Bits, ...], ...]
    count: Bits = None
    alias: tuple[int, ...] = ()
    apart: bool = True

    @property
    def lanes(self) -> int:
        """The number of boards in each argument."""
        return max((len(lanes) for lanes in self.words), default=0)

    def base(self, task: Task, number: int) -> Base:
        """Return the base of an array; the last is the result. Aliased arrays share a base."""
        together = self.alias and number in (*self.alias, len(task.arrays) - 1)
        return Base(task.arrays[self.alias[0] if together else number], 8)

    def lane(self, lane: int) -> list[Bits]:
        """Return the arguments' words for one lane. A word that exists once serves all lanes."""
        return [lanes[min(lane, len(lanes) - 1)] for lanes in self.words if lanes]


@dataclass(frozen=True, slots=True)
class EntryUnknowns:
    """The unknowns at entry that all routines share: register contents and the return address."""

    registers: Mapping[str, Bits]
    vectors: Mapping[str, tuple[Bits, ...]]
    back: Bits

    @staticmethod
    def of(domain: Addresses) -> EntryUnknowns:
        """Create the unknowns."""
        registers = {name: domain.variable(f"{name} at entry", 64) for name in (*GENERAL, *MASKS)}
        vectors = {name: tuple(domain.variable(f"{name}.{lane} at entry", 64) for lane in range(8)) for name in VECTORS}
        return EntryUnknowns(registers, vectors, domain.variable("return address", 64))

    def words(self) -> Iterator[tuple[str, Bits]]:
        """Yield the name and value of each 64-bit register and of each vector lane (zmm3.2)."""
        yield from self.registers.items()
        for name, lanes in self.vectors.items():
            yield from ((f"{name}.{place}", value) for place, value in enumerate(lanes))


def entry_state(
    domain: Addresses,
    entry: EntryUnknowns,
    image: MemoryImage,
    task: Task,
    case: Case,
    unknown: Callable[[str, int], Bits],
) -> MachineState:
    """Return the registers, stack and buffers at entry; `unknown` makes a variable of a name and width."""
    cells = {STACK: Cells("the stack", ENTRY - task.red_zone, ENTRY + task.stack)}
    arrays = None
    bases = [case.base(task, number) for number in range(len(task.arrays))]
    if task.elements and isinstance(case.count, int):
        for base, given in zip(bases, (*case.words, ()), strict=True):
            content = {8 * at + part: Byte(word, 64, part) for at, word in enumerate(given) for part in range(8)}
            cells.setdefault(base, Cells(base.name, 0, 8 * case.count, content))
    elif task.elements:
        names = {base: base.name for base in bases}
        inputs = tuple(base.name for base in bases[:-1])
        arrays = Arrays(names, inputs, bases[-1], case.count, lambda name: unknown(name, 64), case.apart)
    written = [result.place.offset + 8 * result.place.lanes for result in task.results if result.place.file == "memory"]
    if written and not task.elements:
        cells[RESULTS] = Cells("results", 0, max(written))
    space = Space(domain, image, cells, arrays, task.red_zone)
    rsp = Pointer(STACK, ENTRY)
    space.store(rsp, 64, entry.back)
    state = MachineState(
        domain, space, image.place(0), dict(entry.registers), dict(entry.vectors), targets=image.targets
    )
    state.registers["rsp"] = rsp
    words = iter(case.words)
    for argument in task.arguments:
        lanes: tuple[Bits, ...]
        if argument.kind == "boards":
            lanes = (Pointer(bases[task.arrays.index(argument.name)], 0),)
        elif argument.kind == "count":
            lanes = (case.count,)
        else:
            lanes = (Pointer(RESULTS, 0),) if argument.kind == "results" else next(words)
        if argument.place.file == "general":
            state.registers[argument.place.register] = lanes[0]
        elif argument.place.file == "vector":
            state.vectors[argument.place.register] = (*lanes, *state.vectors[argument.place.register][len(lanes) :])
        else:
            space.store(domain.add(rsp, argument.place.offset, 64), 64, lanes[0])
    return state


def places(domain: Addresses, image: MemoryImage, task: Task, case: Case, bases: Collection[Base]) -> Iterator[Bits]:
    """Yield the assumptions about the addresses of these bases.

    No block is at address 0 or wraps around. Distances that a linker stored in 32 bits fit. Code with data, the stack,
    the result block or array, and the inputs are disjoint, except that inputs may overlap each other, and the result
    array may coincide with one of them.
    """

    def at(base: Base, distance: Bits) -> Bits:
        place = domain.flat(Pointer(base, 0))
        return domain.add(place, distance % (1 << 64) if isinstance(distance, int) else distance, 64)

    def is_behind(one: Bits, other: Bits) -> Bits:
        return domain.not_(domain.ult(one, other, 64), 1)

    arrays = dict.fromkeys(case.base(task, number) for number in range(len(task.arrays)))
    output = case.base(task, len(task.arrays) - 1) if arrays else RESULTS
    size = domain.shl(case.count, 3, 64) if arrays else sum(8 * result.place.lanes for result in task.results)
    blocks = [(base, area.low, area.high) for base, areas in image.areas.items() for area in areas]
    blocks.append((STACK, ENTRY - LOWEST, ENTRY + task.stack))
    blocks += [(base, 0, size) for base in arrays or (RESULTS,)]
    ends = [(base, at(base, low), at(base, high)) for base, low, high in blocks if base in bases]
    for _, start, end in ends:
        yield domain.ult(0, start, 64)
        yield is_behind(end, start)
    for here, there in (ends for base in image.areas if base in bases for ends in image.distances(base)):
        distance = domain.sub(domain.flat(there), domain.flat(here), 64)
        yield domain.ult(domain.add(distance, 1 << 31, 64), 1 << 32, 64)
    for (one, start, end), (other, begin, stop) in combinations(ends, 2):
        apart = domain.or_(is_behind(begin, end), is_behind(start, stop), 1)
        if one in arrays and other in arrays:
            if output not in (one, other):
                continue
            if not case.apart:
                apart = domain.or_(apart, domain.eq(start, begin, 64), 1)
        elif one in image.areas and other in image.areas:
            continue
        yield apart


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim at the end of a path: the one-bit term `differs` must be 0. `lane` is the lane of a result, else None."""

    complaint: str
    differs: Bits
    lane: int | None = None


def results(task: Task, case: Case, state: MachineState, lane: int) -> list[Bits]:
    """Return the results of one lane."""
    if task.elements:
        return [state.memory.load(Pointer(case.base(task, len(task.arrays) - 1), 8 * lane), 64)]
    return [_at(result.place, case, state, lane) for result in task.results]


def _at(place: Place, case: Case, state: MachineState, lane: int) -> Bits:
    if place.file == "general":
        return state.registers[place.register]
    if place.file == "vector":
        return state.vectors[place.register][lane]
    if place.file == "stack":
        return state.memory.load(Pointer(STACK, ENTRY + place.offset), 64)
    return state.memory.load(Pointer(RESULTS, place.offset + 8 * lane), 64)


def claims(
    domain: Addresses,
    entry: EntryUnknowns,
    task: Task,
    case: Case,
    state: MachineState,
    expected: Sequence[Sequence[Bits] | None],
) -> Iterator[Claim]:
    """Yield the claims about the state on return; `expected` holds the results of each lane, None if already proved."""
    arrays = cast(Space, state.memory).arrays
    if arrays is not None:
        yield Claim("not all boards are processed", domain.ne(arrays.frontier, arrays.count, 64))
    for lane, wanted in enumerate(expected):
        if wanted is None:
            continue
        for result, want, got in zip(task.results, wanted, results(task, case, state, lane), strict=True):
            what = f"{result.name} is wrong" + (f" for board {lane}" if case.lanes > 1 else "")
            yield Claim(what, domain.ne(got, want, 64), lane)
    if task.elements and arrays is None:
        for at, (name, given) in enumerate(zip(task.arrays, case.words, strict=False)):
            for board, word in enumerate(given if at not in case.alias else ()):
                left = state.memory.load(Pointer(case.base(task, at), 8 * board), 64)
                yield Claim(f"{name} is changed", domain.ne(left, word, 64))
    rsp = cast(Bits, state.registers["rsp"])
    yield Claim("rsp is not restored", domain.ne(rsp, Pointer(STACK, ENTRY + 8), 64))
    for name in task.saved:
        yield Claim(f"{name} is not restored", domain.ne(state.registers[name], entry.registers[name], 64))
    for name in task.saved_vectors:
        for now, before in zip(state.vectors[name][:2], entry.vectors[name][:2], strict=True):
            yield Claim(f"x{name[1:]} is not restored", domain.ne(now, before, 64))
