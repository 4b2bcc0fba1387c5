"""Measures every instruction form on this processor: how long results take, how many go through, beside what.

Each form is timed in a few ways, all in loops of nothing else:

* in chains, each waiting for the one before through one of its operands. Where the result is in another register file
  or in flags, a move or setcc leads back, whose cycles are taken off; only the sum of the moves there and back can be
  timed, and is parted as the standing table of this processor parts it, else in halves;
* alone, results in several registers;
* among instructions that only take issue slots, for its own slots;
* beside instructions that keep some ports busy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import ceil, log

from setwise.analysis.cost.processors.measured import Size
from setwise.analysis.measure.forms import POINTER, Form, forms
from setwise.analysis.measure.quiet import by_turns
from setwise.analysis.measure.steady import Experiment
from setwise.codegen.machine.code import Instruction, Memory, Register, RegisterFile, general, vector
from setwise.codegen.machine.processors import asked_for
from setwise.codegen.run import cpu

PATIENCE = 120.0
"""Seconds after which nothing is measured again."""
_WANTED = 5  # figures of an experiment
_ABOVE = 0.1  # of a rate, that is measured too high
_SEVERAL = 18  # instances: results in all registers, equally often
_IDIOM = "xor =e,e"
_ADDRESS = general("rax")  # holds the address of memory that holds that address
# Registers: rdi, rcx and r11 are the loop's.
_OWN: Mapping[str, tuple[int, ...]] = {"general": (3, 8, 9, 10, 5, 12), "vector": tuple(range(9)), "mask": (3, 4)}
_OTHERS: Mapping[str, tuple[int, ...]] = {"general": (13, 14, 15, 6), "vector": (9, 10, 11, 12), "mask": (5, 6)}
_CONSTANT: Mapping[str, tuple[int, ...]] = {"general": (2, 1, 2, 1), "vector": (15, 13, 14, 15), "mask": (1, 2, 1, 2)}

BLOCKERS: Mapping[str, tuple[str, ...]] = {
    "general": ("lea r,[bd]", "rorx r,r,i", "imul r,r,i", "cmove r,r"),
    "sse": ("vpor x,x,x", "vpsllq x,x,i", "vpmuludq x,x,x", "vpcmpeqq x,x,x", "vmovq r,x"),
    "vex": ("vpor x,x,x", "vpsllq x,x,i", "vpmuludq x,x,x", "vpcmpeqq x,x,x", "vmovq r,x", "vperm2i128 y,y,y,i"),
    "wide": ("vporq z,z,z", "vpsllq z,z,i", "vpmuludq z,z,z", "vpermq z,z,i", "vmovq r,x"),
    "mask": ("kandq k,k,k",),
}
"""Instructions of one operation that others are timed beside."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A form that waits for itself through an operand of that file; the result comes back by these ways."""

    file: str
    ways: tuple[str, ...]
    experiment: Experiment


@dataclass
class Measured:
    """All experiments on a form."""

    form: Form
    chains: list[Chain]
    alone: Experiment
    among: tuple[Experiment, int] | None = None
    beside: dict[str, tuple[Experiment, int, int]] = field(default_factory=dict)

    @property
    def waits(self) -> bool:
        """Whether it waits for operands for which there is no chain."""
        return not self.chains and bool(self.form.read_places)

    @property
    def cycles(self) -> float | None:
        """Cycles each, alone; None where it waits for itself through flags, or was not measured."""
        return None if self.form.carries else self.alone.cycles


@dataclass(frozen=True)
class Calibration:
    """What was measured on this processor: forms by titles, loads and stores by size, and loads of what was stored."""

    forms: Mapping[str, Measured]
    loads: Mapping[Size, tuple[Chain, Experiment]]
    stores: Mapping[Size, Experiment]
    forwards: Mapping[str, Chain]

    @property
    def width(self) -> int:
        """Slots a cycle: the whole number above the rate of any form that gives a result; 0 where none was measured."""
        writing = [one for one in self.forms.values() if one.form.written_places]
        cycles = [one.alone.cycles for one in writing]
        cycles += [chain.experiment.cycles for one in writing for chain in one.chains if not chain.ways]
        return max((ceil(1 / one - _ABOVE) for one in cycles if one), default=0)

    @property
    def idiom(self) -> float | None:
        """Cycles of what only takes an issue slot."""
        return self.forms[_IDIOM].alone.cycles


def calibrate(
    report: Callable[[str], None], wanted: Iterable[Form] | None = None, patience: float = PATIENCE
) -> Calibration:
    """Measure these forms, by default all that this processor has; NotRunnable where it cannot run x86-64 code.

    `report` is told now and then how far it is.
    """
    here = {form.title: form for form in forms() if asked_for(form.decoded.features) <= cpu.features()}
    needed = {_IDIOM, *(name for names in BLOCKERS.values() for name in names)}
    chosen = set(here) if wanted is None else needed | {form.title for form in wanted}
    measured = {
        title: Measured(form, list(_chains(form)), Experiment(tuple(instances(form, _SEVERAL)), _SEVERAL))
        for title, form in here.items()
        if title in chosen
    }
    loads, stores, forwards = _loads(), _stores(), _forwards()
    first = [
        *(one.alone for one in measured.values()),
        *(chain.experiment for one in measured.values() for chain in one.chains),
        *(part for chain, alone in loads.values() for part in (chain.experiment, alone)),
        *stores.values(),
        *(chain.experiment for chain in forwards.values()),
    ]
    end = time.monotonic() + patience
    row = by_turns(first, _WANTED, patience / 2, lambda state: report(f"1 of 2: {state}"))
    for one in measured.values():
        if one.cycles is None:
            continue
        one.among = _among(one.form, one.cycles)
        for other in _blockers(one.form, measured):
            assert other.cycles is not None
            one.beside[other.form.title] = _mixed(one.form, other.form, one.cycles, other.cycles)
    second = [one.among[0] for one in measured.values() if one.among is not None]
    second += [mix for one in measured.values() for mix, _, _ in one.beside.values()]
    by_turns(second, _WANTED, end - time.monotonic(), lambda state: report(f"2 of 2: {state}"), row)
    return Calibration(measured, loads, stores, forwards)


def _general(number: int) -> Register:
    return Register("general", number, 64)


def _register(file: RegisterFile, number: int) -> Register:
    return Register(file, number, 64)


def instances(form: Form, number: int, pools: Mapping[str, Sequence[int]] = _OWN) -> list[Instruction]:
    """The form so many times, with results in several registers and operands that nobody changes."""
    changed = tuple(range(len(form.kinds))) if form.idiom else form.written_places

    def written(at: int) -> Instruction:
        def choose(place: int, file: RegisterFile) -> Register:
            if place not in changed:
                return _register(file, _CONSTANT[file][place])
            pool = pools[file]
            return _register(file, pool[(at + len(pool) // 2 * (place != changed[0])) % len(pool)])

        return form.written(choose)

    return [written(at) for at in range(number)]


def _chains(form: Form) -> Iterator[Chain]:
    if form.idiom:
        itself = form.written(lambda _, file: _register(file, _OWN[file][0]))
        yield Chain(next(iter(form.files)), (), Experiment((itself,)))
        return
    if form.decoded.loads and form.written_places:
        back = Instruction("vmovq" if form.mnemonic[0] == "v" else "movq", (_general(3), vector(0, 128)))
        zero = Instruction("and", (_general(3), 0)), Instruction("add", (_ADDRESS, _general(3)))
        yield Chain("vector", ("load", "vg", "sum"), Experiment((_step(form, {0: 0}, _ADDRESS), back, *zero)))
    for place in form.read_places:
        into = form.file(place)
        if not form.written_places:
            yield from _through_flags(form, place, into)
            continue
        result = form.written_places[0]
        out = form.file(result)
        first, second = _OWN[into][:2]
        if out == into:
            same = place == result
            steps = [(first, first)] if same else [(first, second), (second, first)]
            period = tuple(_step(form, {result: to, place: origin}) for to, origin in steps)
            yield Chain(into, (), Experiment(period, len(steps)))
        elif way := _way(out, into, form):
            yield Chain(into, (out[0] + into[0],), Experiment((_step(form, {result: _OWN[out][0], place: first}), way)))
    if form.decoded.flags_read and form.written_places and not form.carries:
        own = _OWN["general"][0]
        test = Instruction("test", (general("rbx"), general("rbx")))
        yield Chain("flags", ("flags",), Experiment((test, _step(form, {0: own}))))


def _through_flags(form: Form, place: int, into: RegisterFile) -> Iterator[Chain]:
    """Back by setcc, and on into the file of the operand."""
    read = _step(form, {place: _OWN[into][0]})
    carry = Instruction("setb", (general("rbx").at(8),))
    if into == "general":
        yield Chain(into, ("flags",), Experiment((read, carry)))
    elif way := _way("general", into, form):
        yield Chain(into, ("flags", "g" + into[0]), Experiment((read, carry, way)))


def _step(form: Form, chosen: Mapping[int, int], pointer: Register = POINTER) -> Instruction:
    """The form with these registers by place, further results elsewhere, and operands that nobody changes."""

    def choose(place: int, file: RegisterFile) -> Register:
        rest = _OTHERS[file][0] if place in form.written_places else _CONSTANT[file][place]
        return _register(file, chosen.get(place, rest))

    return form.written(choose, pointer)


def _way(out: RegisterFile, into: RegisterFile, form: Form) -> Instruction | None:
    """A move of the first register of one file to that of another."""
    origin, result = _register(out, _OWN[out][0]), _register(into, _OWN[into][0])
    files = {out, into}
    if files == {"general", "vector"}:
        ends = [one.at(128) if one.file == "vector" else one for one in (result, origin)]
        return Instruction("vmovq" if form.mnemonic[0] in "vk" else "movq", tuple(ends))
    return Instruction("kmovq", (result, origin)) if files == {"general", "mask"} else None


def _among(form: Form, alone: float) -> tuple[Experiment, int]:
    """The form among so many that only take slots, that these are what takes time."""
    number = max(12, ceil(12 * alone))
    zero = Form("xor", ("e", "e"), idiom=True)
    idle = instances(zero, number, _OTHERS)
    return Experiment(tuple(one for each in instances(form, 6) for one in (each, *idle)), 6), number


def _blockers(form: Form, measured: Mapping[str, Measured]) -> list[Measured]:
    kinds = set()
    if "general" in form.files:
        kinds.add("general")
    if "mask" in form.files:
        kinds |= {"mask", "wide"}
    if "vector" in form.files:
        kinds.add("wide" if "z" in form.kinds else "vex" if form.mnemonic[0] == "v" else "sse")
    names = (name for kind in BLOCKERS if kind in kinds for name in BLOCKERS[kind])
    return [measured[name] for name in names if name in measured and measured[name].cycles]


def _mixed(form: Form, other: Form, alone: float, others: float) -> tuple[Experiment, int, int]:
    """Both, so many of each that they take about as long alone."""
    few = product(range(1, 7), repeat=2)
    number, beside = min(few, key=lambda n: (round(abs(log(n[0] * alone / (n[1] * others))), 1), sum(n)))
    parts = _SEVERAL // number if _SEVERAL % number == 0 else _SEVERAL
    placed = [
        ((at + 0.5) / len(each), which, one)
        for which, each in enumerate((instances(form, parts * number), instances(other, parts * beside, _OTHERS)))
        for at, one in enumerate(each)
    ]
    ordered = sorted(placed, key=lambda item: item[:2])
    return Experiment(tuple(one for _, _, one in ordered), parts), number, beside


def _loads() -> dict[Size, tuple[Chain, Experiment]]:
    """By size: an address that is loaded again and again, and loads that wait for nothing."""
    moves = dict(_vector_moves())
    chain = Experiment((Instruction("mov", (_ADDRESS, Memory(64, _ADDRESS))),))
    alone = tuple(Instruction("mov", (_general(number), Memory(64, POINTER))) for number in _OWN["general"])
    loads: dict[Size, tuple[Chain, Experiment]] = {"r": (Chain("general", (), chain), Experiment(alone, len(alone)))}
    for size, (name, bits) in moves.items():
        into = max(128, bits)
        back = Instruction(moves["s"][0], (_ADDRESS, vector(0, 128)))
        chain = Experiment((Instruction(name, (vector(0, into), Memory(bits, _ADDRESS))), back))
        alone = tuple(Instruction(name, (vector(at, into), Memory(bits, POINTER))) for at in range(6))
        loads[size] = Chain("general", ("vg",), chain), Experiment(alone, len(alone))
    return loads


def _stores() -> dict[Size, Experiment]:
    """By size: stores that wait for nothing."""
    stores: dict[Size, Instruction] = {"r": Instruction("mov", (Memory(64, POINTER, displacement=64), _ADDRESS))}
    for size, (name, bits) in _vector_moves():
        stores[size] = Instruction(name, (Memory(bits, POINTER, displacement=64), vector(0, max(128, bits))))
    return {size: Experiment((one,) * 6, 6) for size, one in stores.items()}


def _forwards() -> dict[str, Chain]:
    """By sizes of a store and a load: what was stored is loaded again and again.

    Between general registers it may never go through memory, which no chain can tell; so these are left out.
    """
    moves = dict(_vector_moves())
    place, first = Memory(64, POINTER, displacement=64), _general(3)
    back = Instruction(moves["s"][0], (first, vector(0, 128)))
    through = Instruction("mov", (place, first)), Instruction(moves["s"][0], (vector(0, 128), place)), back
    chains = {"rs": Chain("general", ("vg",), Experiment(through))}
    for size, (name, bits) in moves.items():
        register, whole = vector(0, max(128, bits)), Memory(bits, POINTER, displacement=64)
        store, load = Instruction(name, (whole, register)), Instruction(name, (register, whole))
        narrow = Instruction("mov", (first, place)), Instruction(moves["s"][0], (register.at(128), first))
        chains[2 * size] = Chain("vector", (), Experiment((store, load)))
        chains[f"{size}r"] = Chain("vector", ("gv",), Experiment((store, *narrow)))
    return chains


def _vector_moves() -> Iterator[tuple[Size, tuple[str, int]]]:
    """What loads and stores vectors of each size here, and how many bits."""
    prefix = "v" if "avx" in cpu.features() else ""
    yield "s", (f"{prefix}movq", 64)
    yield "x", (f"{prefix}movdqu", 128)
    if "avx" in cpu.features():
        yield "y", ("vmovdqu", 256)
    if "avx512f" in cpu.features():
        yield "z", ("vmovdqu64", 512)
