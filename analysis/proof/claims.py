"""Both ends of a proof: the state that a caller establishes, and the claims about the state on return."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import cast

from setwise.analysis.proof.image import MemoryImage
from setwise.analysis.proof.memory import ENTRY, LOWEST, STACK, Arrays, Space
from setwise.analysis.proof.path_state import Byte, Cells
from setwise.analysis.proof.pointers import Addresses, Base, Pointer
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.state import GENERAL, MASKS, VECTORS, MachineState
from setwise.analysis.spec.lists import comparable
from setwise.analysis.spec.task import MemoryBlock, Place, Task

RESULTS = Base("results", 8)


def base_of(block: MemoryBlock) -> Base:
    """Return the base of a block. No other base has its name."""
    return Base(f"*{block.name}", block.alignment)


@dataclass(frozen=True, slots=True)
class Case:
    """One part of a proof of a task: `words` holds the words of each argument, one a lane.

    For arrays, `count` is the number of boards in each: an integer, and then `words` holds the boards; or a term, and
    then `words` is empty. The inputs whose indices are in `alias` share one array with the result, and no other input
    does. If `apart` is False, any input may share it.
    """

    task: Task
    words: tuple[tuple[Bits, ...], ...]
    count: Bits = None
    alias: tuple[int, ...] = ()
    apart: bool = True

    @property
    def lanes(self) -> int:
        """The largest number of words that an argument has; 0 without words."""
        return max((len(lanes) for lanes in self.words), default=0)

    @property
    def bases(self) -> list[Base]:
        """The base of each array, those of results last. Aliased arrays share a base."""
        names = self.task.arrays
        together = {*self.alias, len(names) - 1} if self.alias else ()
        return [Base(names[self.alias[0]] if at in together else name, 8) for at, name in enumerate(names)]

    def lane(self, lane: int) -> list[Bits]:
        """Return one lane's word of each argument that has words. An argument with one word has it in all lanes."""
        return [lanes[min(lane, len(lanes) - 1)] for lanes in self.words if lanes]


class EntryUnknowns:
    """The unknowns at entry that all routines share: register contents and the return address."""

    def __init__(self, domain: Addresses) -> None:
        self.domain = domain
        self.registers: dict[str, Bits] = {name: domain.variable(f"{name} at entry", 64) for name in (*GENERAL, *MASKS)}
        self.vectors: dict[str, tuple[Bits, ...]] = {
            name: tuple(domain.variable(f"{name}.{lane} at entry", 64) for lane in range(8)) for name in VECTORS
        }
        self.back = domain.variable("return address", 64)

    def words(self) -> Iterator[tuple[str, Bits]]:
        """Yield the name and value of each mask register, vector lane (zmm3.2), and general register other than rsp."""
        yield from self.registers.items()
        for name, lanes in self.vectors.items():
            yield from ((f"{name}.{place}", value) for place, value in enumerate(lanes))


def entry_state(entry: EntryUnknowns, image: MemoryImage, case: Case) -> MachineState:
    """Return the machine state at entry: arguments and return address in their places, and arrays or results' block."""
    domain, task, bases = entry.domain, case.task, case.bases
    cells = {STACK: Cells("the stack", ENTRY - task.red_zone, ENTRY + task.stack)}
    arrays = None
    if task.elements and isinstance(case.count, int):
        for base, given in zip(bases, (*case.words, *((),) * len(task.results)), strict=True):
            content = {8 * at + part: Byte(word, 64, part) for at, word in enumerate(given) for part in range(8)}
            cells.setdefault(base, Cells(base.name, 0, 8 * case.count, content))
    elif task.elements:
        names = {base: base.name for base in bases}
        read = len(task.elements)
        inputs, written_to = tuple(base.name for base in bases[:read]), tuple(bases[read:])
        arrays = Arrays(names, inputs, written_to, case.count, case.apart)
    written = [result.place.offset + 8 * result.place.lanes for result in task.results if result.place.file == "memory"]
    if written and not task.elements:
        cells[RESULTS] = Cells("results", 0, max(written))
    blocks = {block.name: Pointer(base_of(block), 0) for block in task.blocks}
    for block in task.blocks:
        cells[base_of(block)] = Cells(block.name, 0, block.size, writable=block.written)
    space = Space(domain, image, cells, arrays, task.red_zone)
    rsp = Pointer(STACK, ENTRY)
    space.store(rsp, 64, entry.back)
    registers = {**entry.registers, "rsp": rsp}
    state = MachineState(domain, space, image.place(0), registers, dict(entry.vectors), targets=image.targets)
    words = iter(case.words)
    for argument in task.arguments:
        lanes: tuple[Bits, ...]
        if argument.kind == "boards":
            lanes = (Pointer(bases[task.arrays.index(argument.name)], 0),)
        elif argument.kind == "count":
            lanes = (case.count,)
        elif argument.kind == "block":
            lanes = (blocks[argument.name],)
        else:
            lanes = (Pointer(RESULTS, 0),) if argument.kind == "results" else next(words)
        place = argument.place
        if place.file == "general":
            state.registers[place.register] = place.filled(domain, lanes[0], state.registers[place.register])
        elif place.file == "vector":
            before, start = state.vectors[place.register], place.offset // 8
            state.vectors[place.register] = (*before[:start], *lanes, *before[start + len(lanes) :])
        elif place.file == "memory":
            inside, bits = cells[blocks[place.register].base], 8 * place.bytes
            inside.write(place.offset, bits, domain.extract(lanes[0], 0, bits, 64))
        else:
            address = domain.add(rsp, place.offset, 64)
            space.store(address, 64, place.filled(domain, lanes[0], domain.undefined(0, 64)))
    return state


def places(domain: Addresses, image: MemoryImage, case: Case, bases: Collection[Base]) -> Iterator[Bits]:
    """Yield the assumptions about the addresses of these bases as one-bit conditions.

    No block is at address 0 or wraps around. Distances that a linker stored in 32 bits fit. Code with data, the stack,
    the result block or array, and the inputs are disjoint. But inputs may overlap each other, and unless `case.apart`
    the result array may be one of them. A read-only block may be data of the code.
    """

    def at(base: Base, distance: Bits) -> Bits:
        place = domain.flat(Pointer(base, 0))
        return domain.add(place, distance % (1 << 64) if isinstance(distance, int) else distance, 64)

    def is_behind(one: Bits, other: Bits) -> Bits:
        return domain.not_(domain.ult(one, other, 64), 1)

    arrays = case.bases
    size = domain.shl(case.count, 3, 64) if arrays else sum(8 * result.place.lanes for result in case.task.results)
    blocks = [(base, area.low, area.high) for base, areas in image.areas.items() for area in areas]
    blocks.append((STACK, ENTRY - LOWEST, ENTRY + case.task.stack))
    blocks += [(base, 0, size) for base in dict.fromkeys(arrays or (RESULTS,))]
    blocks += [(base_of(block), 0, block.size) for block in case.task.blocks]
    readable = {*image.areas, *(base_of(block) for block in case.task.blocks if not block.written)}
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
            if not {one, other} & {*arrays[len(case.task.elements) :]}:
                continue
            if not case.apart:
                apart = domain.or_(apart, domain.eq(start, begin, 64), 1)
        elif one in readable and other in readable:
            continue
        yield apart


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim on return. It fails, as `complaint` says, if the bit `differs` is 1. `lane` is a result's, else None."""

    complaint: str
    differs: Bits
    lane: int | None = None


def results(case: Case, state: MachineState, lane: int) -> list[Bits]:
    """Return the word of each result for one lane, from the state on return."""

    def at(place: Place, number: int) -> Bits:
        domain, bits = state.domain, 8 * place.bytes
        if place.file == "vector":
            return state.vectors[place.register][place.offset // 8 + lane]
        if place.file == "general":
            found = domain.extract(state.registers[place.register], 0, bits, 64)
        else:
            base = bases[number] if place.file == "memory" else STACK
            start = place.offset + (ENTRY if place.file == "stack" else 8 * lane)
            found = state.memory.load(Pointer(base, start), bits)
        return domain.concat(0, found, 64 - bits, bits)

    named = {block.name: base_of(block) for block in case.task.blocks}
    arrays = case.bases[len(case.task.elements) :]
    bases = arrays if case.task.elements else [named.get(each.place.register, RESULTS) for each in case.task.results]
    return [at(result.place, number) for number, result in enumerate(case.task.results)]


def claims(
    entry: EntryUnknowns, case: Case, state: MachineState, expected: Sequence[Sequence[Bits] | None]
) -> Iterator[Claim]:
    """Yield the claims about the state on return; `expected` holds each lane's results, None for a proved lane."""
    domain, task, arrays = entry.domain, case.task, cast(Space, state.memory).arrays
    if arrays is not None:
        yield Claim("not all boards are processed", domain.ne(arrays.frontier, arrays.count, 64))
    for lane, wanted in enumerate(expected):
        if wanted is None:
            continue
        item = domain.unknown("an item") if task.items and task.items.unordered else 0
        pairs = (comparable(task, domain, words, item) for words in (wanted, results(case, state, lane)))
        for result, want, got in zip(task.results, *pairs, strict=True):
            what = f"{result.name} is wrong" + (f" for board {lane}" if case.lanes > 1 else "")
            yield Claim(what, domain.ne(got, want, 64), lane)
    if task.elements and arrays is None:
        for at, (name, given) in enumerate(zip(task.arrays, case.words, strict=False)):
            for board, word in enumerate(given if at not in case.alias else ()):
                left = state.memory.load(Pointer(case.bases[at], 8 * board), 64)
                yield Claim(f"{name} is changed", domain.ne(left, word, 64))
    rsp = cast(Bits, state.registers["rsp"])
    yield Claim("rsp is not restored", domain.ne(rsp, Pointer(STACK, ENTRY + 8), 64))
    for name in task.saved:
        yield Claim(f"{name} is not restored", domain.ne(state.registers[name], entry.registers[name], 64))
    for name in task.saved_vectors:
        for now, before in zip(state.vectors[name][:2], entry.vectors[name][:2], strict=True):
            yield Claim(f"x{name[1:]} is not restored", domain.ne(now, before, 64))
