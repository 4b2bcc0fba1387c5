"""Right and wrong programs by number: a right kernel in the midst of random instructions, and one defect in wrong ones.

A right program is right by the way it is made: random instructions write only what holds nothing of value. A wrong one
may do no harm all the same, unless its defect is among `CERTAIN`: those no processor need show.

Forms of instructions are text: `|` parts forms, `;` parts lines, < and > stand for braces. {a} {b} are general
registers without a value, {c} is any, {g} one with a board, {v} one of the caller's; d and l before a letter take its
lowest 32 and 8 bits. {x} {y} {k} are vector and mask registers without a value, {w} {u} with one, {j} is any mask. {s8}
are 8 bytes of the stack without a value, {m} is a board in an array, {1} a label, {h} a number below 64. A line `~`
stands for a few random instructions, `-` perhaps for one that leaves the flags alone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.task import Task
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.analysis.proof.forms import (
    AVX,
    AVX512,
    CONDITIONS,
    DEFECTS,
    FINAL,
    LOOPS,
    MASKED,
    NOISE,
    ODD,
    PLACED,
    QUIET,
    REST,
    VECTORS,
)

GENERAL = ("rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", *(f"r{number}" for number in range(8, 16)))
SPECS = ("shift.one.nort", "kogge-stone.attacks.nort", "kogge-stone.attacks.nort.batch")
CERTAIN = frozenset({"rare", "narrow", *FINAL})
_FILES = {1: "xmm", 2: "xmm", 4: "ymm", 8: "zmm"}
Inner = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Program:
    """An assembly function, its contract, and the defect that a wrong one has."""

    name: str
    spec: str
    abi: str
    defect: str
    text: str

    @property
    def task(self) -> Task:
        return contract(self.spec, self.abi)


@cache
def contract(spec: str, abi: str) -> Task:
    """The task of a routine."""
    return task_of(lower(find(spec), "x86-64", abi))


def part(name: str, bits: str) -> str:
    """The lowest 32 (d) or 8 (l) bits of a general register."""
    if name[1].isdigit():
        return name + ("d" if bits == "d" else "b")
    return "e" + name[1:] if bits == "d" else name.strip("rx") + "l" if name[2] == "x" else name[1:] + "l"


class Fields(dict[str, str]):
    """The fields of one form, chosen when they are asked for; LookupError where there is none to choose."""

    def __init__(self, code: Code, form: str, **given: str) -> None:
        super().__init__(given)
        self.code, self.vectors = code, range(16 if "xmm" in form or "ymm" in form else 32)

    def filled(self, form: str) -> str:
        """The form with these fields."""
        return re.sub(r"\{(\w+)\}", lambda field: self[field[1]], form).replace("<", "{").replace(">", "}")

    def __missing__(self, key: str) -> str:
        self[key] = found = self._found(key)
        return found

    def _found(self, key: str) -> str:
        code, pick = self.code, self.code.chance.choice
        if len(key) == 2 and key[0] in "dl":
            return part(self[key[1]], key[0])
        if key.isdigit():
            return code.label()
        if key[0] == "s":
            place = code.slot(int(key[1:]))
            return code.at(place) if place is not None else pick([])
        if key in "ab":
            return pick([name for name in code.free() if name not in self.values()])
        if key in "xy":
            return str(pick([one for one in self.vectors if one not in code.vectors]))
        return {
            "c": lambda: pick(GENERAL),
            "g": lambda: pick(sorted(code.boards)),
            "v": lambda: pick(sorted({*code.task.saved} & code.live)),
            "k": lambda: str(pick([one for one in range(1, 8) if one not in code.masks])),
            "u": lambda: str(pick(sorted(code.masks))),
            "w": lambda: str(pick(sorted(code.vectors))),
            "j": lambda: str(code.chance.randrange(8)),
            "m": lambda: pick([place for place, names in code.readable if names <= code.live]),
            "h": lambda: str(code.chance.randrange(64)),
            # For defects: above the return address, below the red zone, a way down within the frame.
            "up": lambda: str(code.frame() + pick((8, 128, 144, 256, 1024, 4096))),
            "above": lambda: str(code.frame() + pick((0, 8, 8, 16, 128)) + code.task.home),
            "under": lambda: str(code.task.red_zone + pick((8, 16, 64, 256))),
            "lost": lambda: str(8 * pick(range(1, code.frame() // 8 + 1 if code.trusts_frame() else 1))),
        }[key]()


class Code:
    """Assembly as it is written, and what of the machine holds something of value at its end.

    `depth` is how far rsp is below a place above which all belongs to others; `kept` are the bytes of value below that
    place, sizes by offsets. `readable` are boards of arrays with the registers that lead
    there. The `defect` is planted once.
    """

    def __init__(self, chance: random.Random, task: Task, isa: int, name: str, defect: str) -> None:
        self.chance, self.task, self.isa, self.name, self.defect = chance, task, isa, name, defect
        self.planted, self.sites = False, chance.randrange(8)
        places = [argument.place for argument in task.arguments]
        self.arguments = [place.register for place in places]
        self.live = {name for name in self.arguments if name in GENERAL} | {*task.saved}
        self.vectors = {int(name[3:]) for name in (*task.saved_vectors, *self.arguments) if name.startswith("zmm")}
        self.masks: set[int] = set()
        self.lines: list[str] = []
        self.end = ""
        self.depth, self.outer, self.labels = 0, 0, 0
        self.kept: dict[int, int] = {}
        self.readable: list[tuple[str, set[str]]] = []
        self.boards: set[str] = set()

    def say(self, *lines: str) -> None:
        self.lines += lines

    def label(self) -> str:
        self.labels += 1
        return f".L{self.name}_{self.labels}"

    def free(self) -> list[str]:
        return [name for name in GENERAL if name not in self.live]

    def take(self) -> str:
        """A general register without a value, which has one from now on."""
        name = self.chance.choice(self.free())
        self.live.add(name)
        return name

    def slot(self, size: int) -> int | None:
        """The offset of bytes of the stack that hold nothing, if some are found."""
        low = -self.depth - self.task.red_zone
        for _ in range(8 if low <= -size else 0):
            place = self.chance.randint(low, -size)
            place -= place % self.chance.choice((8, 8, 8, 1))
            if place >= low and not self.touches(place, size):
                return place
        return None

    def touches(self, place: int, size: int) -> bool:
        """Whether bytes with a value are among these."""
        return any(place < start + length and start < place + size for start, length in self.kept.items())

    def at(self, place: int) -> str:
        return f"[rsp{place + self.depth:+d}]"

    def frame(self) -> int:
        """How far rsp is below the return address; IndexError if that depends on alignment."""
        if self.outer:
            raise IndexError
        return self.depth

    def trusts_frame(self) -> bool:
        """Whether bytes of value are below the red zone of a caller's rsp."""
        return min(self.kept, default=0) < -self.task.red_zone

    def fill(self, form: str, **given: str) -> bool:
        """Writes the form's lines, if there are registers and places for them."""
        if "push" in form and self.touches(-self.depth - 8, 8):
            return False
        try:
            text = Fields(self, form, **given).filled(form)
        except IndexError:
            return False
        for line in text.split("; "):
            if line == "~":
                self.noise(2)
            elif line == "-":
                if self.chance.random() < 0.3:
                    self.fill(self.chance.choice(_forms(QUIET)))
            else:
                self.say(line)
        return True

    def noise(self, most: int) -> None:
        """A few random instructions, or parts of a program around such; perhaps the defect."""
        for _ in range(self.chance.randint(0, most)):
            if self.defect in DEFECTS and not self.planted and (self.boards or self.chance.random() < 0.2):
                self.sites -= 1
                self.planted = self.sites < 0
                self.planted = self.planted and self.fill(self.chance.choice(_forms(DEFECTS[self.defect])))
            if most > 1 and self.chance.random() < 0.3:
                self.chance.choice(WRAPPERS)(self, self.live, lambda: self.noise(most - 1))
            else:
                forms = (ODD,) if self.chance.random() < 0.004 else (QUIET, NOISE, *(AVX, AVX512)[: self.isa])
                self.fill(self.chance.choice(_forms(*forms)))

    def run(self, instructions: Sequence[str], often: float) -> None:
        """These instructions, with random ones between them."""
        for line in instructions:
            self.say(line)
            if self.chance.random() < often:
                self.noise(2)

    def fault(self, name: str) -> bool:
        """Whether it is to go wrong in this way here."""
        here = self.defect == name and not self.planted
        self.planted |= here
        return here

    def restore(self, name: str, move: Callable[[], None]) -> None:
        """Puts a register back, if not on one of two ways only."""
        behind = self.label() if name in (*self.task.saved, *self.task.saved_vectors) and self.fault("restore") else ""
        if behind:
            self.fill("test {a},64; jnz {1}", **{"1": behind})
        move()
        if behind:
            self.say(f"{behind}:")


@cache
def _forms(*texts: str) -> tuple[str, ...]:
    return tuple(form for text in texts for form in text.strip().replace("\n", "|").split("|"))


class Place:
    """Where a word of value is: on the stack, or in another register of any kind."""

    def __init__(self, code: Code) -> None:
        slot = code.slot(8)
        self.halves = code.chance.random() < 0.3
        ways = ["vector", *["stack"] * (3 if slot is not None else 0), *["register"] * (len(code.free()) > 5)]
        ways += [*["upper"] * (code.isa > 0), *["mask"] * (code.isa == 2 and len(code.masks) < 4)]
        self.code, self.way = code, code.chance.choice(ways)
        self.held: int | str = -1
        if self.way == "stack" and slot is not None:
            self.held = slot
            code.kept[slot] = 8
        elif self.way == "register":
            self.held = code.take()
        else:
            self.held = int(Fields(code, "xmm")["k" if self.way == "mask" else "x"])
            (code.masks if self.way == "mask" else code.vectors).add(self.held)

    def move(self, name: str, there: bool) -> None:
        """Moves the register's word there, or it back."""
        code, held = self.code, self.held
        move, place = {"vector": "movq", "mask": "kmovq"}.get(self.way, "mov"), str(held)
        if isinstance(held, int):
            place = code.at(held) if self.way == "stack" else f"{'k' if self.way == 'mask' else 'xmm'}{held}"
        if self.way == "upper":
            ways = (
                "movq xmm{x},{c}; vinserti128 ymm{w},ymm{w},xmm{x},1",
                "vextracti128 xmm{x},ymm{w},1; movq {c},xmm{x}",
            )
            code.fill(ways[not there], w=str(held), c=name)
        elif self.way == "stack" and self.halves and there:
            low, high = code.at(int(held)), code.at(int(held) + 4)
            code.fill(f"mov {low},{{dc}}; rol {{c}},32; mov {high},{{dc}}; rol {{c}},32", c=name)
        elif self.way == "stack" and code.chance.random() < 0.3 and code.free():
            code.fill("lea {a},{c}; mov [{a}],{v}" if there else "lea {a},{c}; mov {v},[{a}]", c=place, v=name)
        else:
            code.say(f"{move} {place},{name}" if there else f"{move} {name},{place}")

    def end(self) -> None:
        code, held = self.code, self.held
        if isinstance(held, str):
            code.live.remove(held)
        elif self.way == "stack":
            del code.kept[held]
        else:
            (code.masks if self.way == "mask" else code.vectors).remove(held)


# ---- parts of a program around others: code, the registers that may be put away, what stands within


def _framed(code: Code, names: set[str], inner: Inner) -> None:
    size = code.chance.choice((8, 24, 40, 128, 256, 520, 1024))
    if code.outer + code.depth + size > 3500:
        return inner()
    for by in (-size, size):
        code.depth -= by
        code.say(code.chance.choice((f"add rsp,{by}", f"sub rsp,{-by}", f"lea rsp,[rsp{by:+d}]")))
        if by < 0:
            inner()
    return None


def _put_away(code: Code, names: set[str], inner: Inner) -> None:
    """A register's value is elsewhere meanwhile, and it is free."""
    known, way = sorted(names & code.live), code.chance.random()
    if not known:
        return inner()
    name = code.chance.choice(known)
    board, pushed = name in code.boards, way < 0.3 and not code.touches(-code.depth - 8, 8)
    place = None if pushed else Place(code)
    if place:
        place.move(name, True)
    else:
        code.say(f"push {name}")
        code.depth += 8
        code.kept[-code.depth] = 8
    code.live.remove(name)
    code.boards.discard(name)
    inner()
    code.live.add(name)
    code.boards |= {name} if board else set()
    if place:
        code.restore(name, lambda: place.move(name, False))
        return place.end()
    del code.kept[-code.depth]
    code.depth -= 8
    return code.say(f"pop {name}")


def _vector_away(code: Code, names: set[str], inner: Inner) -> None:
    """A vector register's value is on the stack meanwhile."""
    size, move = ((16, "movdqu xmm"), (32, "vmovdqu ymm"), (64, "vmovdqu64 zmm"))[code.isa]
    place = code.slot(size)
    if place is None or not code.vectors:
        return inner()
    vector = code.chance.choice(sorted(code.vectors))
    mnemonic, file = move.split()
    code.say(f"{mnemonic} {code.at(place)},{file}{vector}")
    code.kept[place] = size
    code.vectors.remove(vector)
    inner()
    code.vectors.add(vector)
    del code.kept[place]
    return code.restore(f"zmm{vector}", lambda: code.say(f"{move}{vector},{code.at(place)}"))


def _branch(code: Code, names: set[str], inner: Inner) -> None:
    """Before it two ways, of which none changes what is of value."""
    forms = _forms("cmp {a},{c}|test {a},{c}|add {a},{c}|cmp {lc},3|test {lc},{lc}")
    condition = code.chance.choice(CONDITIONS)
    ways = code.chance.choice(("; ~; {1}:", "; ~; jmp {2}; {1}:; ~; {2}:"))
    code.fill(f"{code.chance.choice(forms)}; -; j{condition} {{1}}{ways}")
    inner()


def _aligned(code: Code, names: set[str], inner: Inner) -> None:
    """A stack of its own, aligned; what was below rsp is lost by it."""
    if len(code.free()) < 4 or code.outer or code.depth > 2000 or any(place < -code.depth for place in code.kept):
        return inner()
    name, size = code.take(), code.chance.choice((64, 128, 192))
    code.fill(f"mov {{c}},rsp; and rsp,-{code.chance.choice((32, 64))}; sub rsp,{size}", c=name)
    before, code.outer, code.depth, code.kept = (code.depth, code.kept), code.depth + 64, size, {}
    code.fill(f"movdqa [rsp+{size - 32}],xmm{{x}}")
    inner()
    (code.depth, code.kept), code.outer = before, 0
    code.say(f"mov rsp,{name}")
    return code.live.remove(name)


WRAPPERS = (_framed, _framed, _put_away, _put_away, _put_away, _vector_away, _branch, _branch, _aligned)


# ---- kernels


def _north(code: Code, g: str, p: str, t: str) -> list[str]:
    """Attacks to the north of sliders in g with empty squares in p; by one of two algorithms."""

    def moved(by: int) -> list[str]:
        return [f"mov {t},{g}", f"shl {t},{by}", f"and {t},{p}", f"or {g},{t}"]

    if code.chance.random() < 0.3:
        return [*moved(8) * 6, f"shl {g},8"]
    doubled = [[f"mov {t},{p}", f"shl {t},{by}", f"and {p},{t}"] for by in (8, 16)]
    return [*moved(8), *doubled[0], *moved(16), *doubled[1], *moved(32), f"shl {g},8"]


def _north_lanes(code: Code, g: int, p: int, t: int, lanes: int) -> list[str]:
    """As `_north`, in vectors."""
    file, q = _FILES[lanes], "q" if lanes == 8 else ""
    three = lanes > 2 or (code.isa > 0 and code.chance.random() < 0.5)
    form = "movdqa xmm{t},xmm{g}; psllq xmm{t},{n}; pand xmm{t},xmm{p}; por xmm{g},xmm{t}; movdqa xmm{t},xmm{p}; "
    form += "psllq xmm{t},{n}; pand xmm{p},xmm{t}"
    if three:
        form = "vpsllq {f}{t},{f}{g},{n}; vpand{q} {f}{t},{f}{t},{f}{p}; vpor{q} {f}{g},{f}{t},{f}{g}; "
        form += "vpsllq {f}{t},{f}{p},{n}; vpand{q} {f}{p},{f}{p},{f}{t}"
    steps = [form.format(f=file, q=q, g=g, p=p, t=t, n=count) for count in (8, 16, 32)]
    last = f"vpsllq {file}{g},{file}{g},8" if three else f"psllq xmm{g},8"
    return [*"; ".join(steps).split("; "), last]


def _finish(code: Code, copy: str, g: str) -> None:
    """Perhaps makes a result wrong, for that copy of an input alone or by what nobody may trust."""
    if copy and code.fault("rare"):
        code.live.remove(copy)
        number = code.chance.getrandbits(64)
        code.fill(f"mov {{a}},{number}; cmp {{b}},{{a}}; jne {{1}}; btc {{g}},{{h}}; {{1}}:", b=copy, g=g)
    if code.defect in FINAL and code.fault(code.defect):
        code.planted = code.fill(code.chance.choice(_forms(FINAL[code.defect])), g=g)


def _copied(code: Code, name: str) -> str:
    """Where a copy of an input is until `_finish`."""
    copy = code.take() if code.defect == "rare" and not code.planted else ""
    code.say(*([f"mov {copy},{name}"] if copy else []))
    return copy


def _single(code: Code, g: str) -> None:
    """A function of boards in registers; the result goes to g."""
    chance, a = code.chance, code.arguments
    code.noise(4)
    copy, t = _copied(code, a[0]), code.take()
    p = a[1] if len(a) > 1 and chance.random() < 0.5 else code.take()
    code.boards.add(g)
    if code.task.specification == "attacks":
        code.boards.add(p)
        lines = [f"mov {g},{a[0]}", *([f"mov {p},{a[1]}"] if p != a[1] else []), *_north(code, g, p, t)]
        code.run(lines, 0.2)
    else:
        ways = ([f"shl {g},8"], [f"imul {g},{g},256"], [f"add {g},{g}"] * 8, [f"rol {g},8", f"and {g},-256"])
        code.run([f"mov {g},{a[0]}", *chance.choice(ways)], 0.6)
    code.live -= {t, p}
    _finish(code, copy, g)
    code.boards.clear()
    code.live -= {*a}
    code.noise(4)


# ---- loops over arrays


def _carry(code: Code, zero: Place, g: str) -> None:
    """A round's use of the zero in that place: it goes into a result, and may be something else for a while."""
    t = code.take()
    other = f"mov {t},{g}" if code.chance.random() < 0.5 else f"mov {part(t, 'd')},1"
    zero.move(t, False)
    code.say(f"or {g},{t}")
    if code.chance.random() < 0.5:
        code.say(other)
        zero.move(t, True)
        code.noise(1)
        code.say(f"xor {part(t, 'd')},{part(t, 'd')}")
        zero.move(t, True)
    if code.fault("carried"):
        behind = code.label()
        code.fill(
            code.chance.choice(("bt {g},{h}; jnc {1}", "test {g},{g}; jz {1}", *["nop"] * 3)), **{"g": g, "1": behind}
        )
        code.say(other)
        zero.move(t, True)
        code.fill(f"{behind}:" + code.chance.choice(("; add rsp,512; sub rsp,512", *[""] * 4)))
    code.live.remove(t)


def _board(code: Code, places: Sequence[str], zero: Place | None) -> None:
    """One board of the arrays: sliders, empty squares, result at these places."""
    g, p, t = code.take(), code.take(), code.take()
    lines = [f"mov {p},{places[1]}"]
    lines.insert(code.chance.randrange(2), f"mov {g},{places[0]}")
    flag = code.take() if code.fault("flag") else ""
    if flag:
        code.say(
            f"set{code.chance.choice(('c', 'be'))} {part(flag, 'l')}", f"movzx {part(flag, 'd')},{part(flag, 'l')}"
        )
    if code.fault("early"):
        lines.insert(1, f"mov {places[2]},{g if lines[0].startswith(f'mov {g}') else p}")
    code.run(lines, 0.1)
    if code.chance.random() < 0.1:
        code.say(f"mov {places[2]},{code.chance.choice((*code.free(), g))}")
    copy = _copied(code, g)
    code.boards |= {g, p}
    code.run(_north(code, g, p, t), 0.06)
    code.live -= {p, t}
    code.boards.discard(p)
    if zero:
        _carry(code, zero, g)
    if flag:
        code.say(f"or {g},{flag}")
        code.live.remove(flag)
    _finish(code, copy, g)
    behind = code.label()
    if code.fault("break"):
        code.fill("bt {g},{h}; jc {2}", **{"g": g, "2": code.end})
    if code.fault("skip"):
        code.fill("bt {g},{h}; jc {1}", **{"g": g, "1": behind})
    code.say(f"mov {places[2]},{g}", f"{behind}:")
    if code.fault("beside"):
        code.say(f"mov {places[2][:-1]}{code.chance.choice((8, -8, 16)):+d}],{g}")
    code.live.remove(g)
    code.boards.clear()
    code.noise(1)


def _boards(code: Code, places: Sequence[str], lanes: int, mask: str) -> None:
    """So many boards at once, under a mask perhaps."""
    g, p, t = code.chance.sample([one for one in range(16) if one not in code.vectors], 3)
    code.vectors |= {g, p, t}
    move, end, file = "movdq" if lanes == 2 else "vmovdq", "64" if lanes == 8 else "", _FILES[lanes]
    of = "a" if code.fault("aligned") else "u"
    load, zeroed = f"{move}{of}{end} {file}", mask and mask + "{z}"
    loads = [f"{load}{g}{zeroed},{places[0]}", f"{load}{p}{zeroed},{places[1]}"]
    code.run([*loads, *_north_lanes(code, g, p, t, lanes)], 0.05)
    code.say(f"{move}u{end} {places[2]}{mask},{file}{g}")
    if code.fault("beside"):
        code.say(f"{move}u{end} {places[2][:-1]}{code.chance.choice((8, -8, 8 * lanes)):+d}],{file}{g}")
    code.vectors -= {g, p, t}
    code.noise(1)


def _loop(code: Code, zero: Place | None) -> None:
    """One of the loops over the arrays: a line = stands for a board, * for several, ? for several under a mask."""
    chance, (s, e, r, n) = code.chance, code.arguments
    lanes = chance.choice((1, *((2,), (2, 4), (4, 8))[code.isa]))
    form = chance.choice(_forms(LOOPS))
    if lanes > 1:
        masked = lanes == 8 and chance.random() < 0.6
        main = "" if masked and chance.random() < 0.4 else VECTORS.strip()
        form = "; ".join(filter(None, ("{zero}", main, "{4}:", (MASKED if masked else REST).strip())))
    else:
        lanes = 2
    taken = {field: code.take() for field in "itq" if "{" + field + "}" in form or "{d" + field + "}" in form}
    names = {"s": s, "e": e, "r": r, "n": n, "lanes": str(lanes), **taken}
    low = part(taken["i"], "d")
    names["zero"] = f"mov {low},1" if "{zero}" in form and code.fault("late") else f"xor {low},{low}"
    slot = code.slot(8) if "{p}" in form else None
    if slot is not None:
        names["p"] = code.at(slot)
        code.kept[slot] = 8
    elif "{p}" in form:
        raise IndexError
    mask = int(Fields(code, "")["k"]) if "{o}" in form else None
    if mask is not None:
        names["o"] = str(mask)
        code.masks.add(mask)
        if code.fault("mask"):
            ways = ("lea {q},[{q}+{q}+1]", "shr {q},1", "or {q},1", "mov {q},-1")
            form = form.replace("kmovb", chance.choice(ways) + "; kmovb")
    if "cmp {i},{n}" in form and "{t}" not in form and code.fault("narrow"):
        form = form.replace("cmp {i},{n}", "cmp {di},{dn}")
    if code.fault("count"):
        code.say(chance.choice((f"dec {n}", f"inc {n}")))
    fields = Fields(code, form, **names)
    for line in form.split("; "):
        line = fields.filled(line)
        if line[0] in "=*?":
            at = [f"[{array}{line[1:].strip() and '+' + line[1:].strip()}]" for array in (s, e, r)]
            code.readable = [(place, {*fields.values()} & {s, e, r, taken["i"]}) for place in at[:2] if line[0] != "?"]
            if line[0] == "=":
                _board(code, at, zero)
            else:
                _boards(code, at, lanes, f"{{k{mask}}}" if line[0] == "?" else "")
            code.readable = []
        else:
            code.fill(line)
    code.live -= {*taken.values()}
    code.masks.discard(-1 if mask is None else mask)
    if slot is not None:
        del code.kept[slot]


def _arrays(code: Code, _: str) -> None:
    """A function over arrays, perhaps with another way for the result in place."""
    chance, (s, e, r, n) = code.chance, code.arguments
    code.noise(3)
    code.end = end = code.label()
    other = code.label()
    for array in chance.sample((s, e, r), chance.randint(1, 3) if chance.random() < 0.2 else 0):
        code.say(f"test {array},{array}", f"je {end}")
    zero = Place(code) if chance.random() < 0.5 or code.defect == "carried" else None
    if zero:
        t = code.take()
        code.say(f"xor {part(t, 'd')},{part(t, 'd')}")
        zero.move(t, True)
        code.live.remove(t)
    if chance.random() < 0.15:
        code.say(f"cmp {r},{chance.choice((s, e))}", f"je {other}")
        _loop(code, zero)
        code.say(f"jmp {end}", f"{other}:")
    _loop(code, zero)
    code.say(f"{end}:")
    if zero:
        zero.end()
    code.live -= {s, e, r, n}
    code.noise(2)


# ---- programs


def program(kind: str, number: int) -> Program:
    """The right or wrong program of that number."""
    for attempt in range(1000):
        chance = random.Random(f"{kind} {number} {attempt}")
        defects = (*DEFECTS, *FINAL, *PLACED.split(), "carried", "carried")
        defect = random.Random(f"{number} {attempt // 50}").choice(defects) if kind == "wrong" else ""
        with suppress(IndexError, ValueError):  # no register or place is left
            made = _made(chance, f"{kind}{number}", defect)
            if made is not None:
                return made
    raise AssertionError(f"no defect can be planted in {kind} {number}")


def _made(chance: random.Random, name: str, defect: str) -> Program | None:
    (spec,) = chance.choices(SPECS, (20, 25, 55))
    isa, abi = chance.randrange(3), "win64" if chance.random() < 0.1 else "sysv"
    task = contract(spec, abi)
    code = Code(chance, task, isa, name, defect)
    result = code.take() if spec != SPECS[2] else ""
    away = (_vector_away,) if task.saved_vectors else ()

    def nested(times: int) -> None:
        if times:
            wrapper = chance.choice((_framed, _put_away, _put_away, _put_away, _aligned, *away))
            wrapper(code, {*task.saved}, lambda: nested(times - 1))
        else:
            (_arrays if spec == SPECS[2] else _single)(code, result)

    nested(chance.choice((0, 0, 1, 1, 2, 3, 4)))
    if spec in SPECS[:2] and result not in ("", "rax"):
        code.say(f"mov rax,{result}")
    if chance.random() < 0.1 and isa:
        code.say("vzeroupper")
    if bool(defect) != code.planted:
        return None
    place = chance.choice(("", "", "", ".p2align 4", ".p2align 12\n.zero 0xff0", ".p2align 6"))
    lines = [*place.split("\n"), f".globl {name}", f".type {name},@function", f"{name}:", *code.lines, "ret"]
    return Program(name, spec, abi, defect, "\n".join([*lines, f".size {name},.-{name}", ""]))


_DATA = """
.section .rodata
.p2align 6
quads: .quad 1,2,3,4,5,6,7,8
.globl shared, shared2
.type shared,@object
.type shared2,@object
.size shared,64
.size shared2,64
shared: .zero 64
shared2: .zero 64
.section .note.GNU-stack,"",@progbits
"""


def source(programs: Sequence[Program]) -> str:
    """The assembly of an object file with these programs, and with tables for them."""
    return ".intel_syntax noprefix\n.text\n" + "".join(program.text for program in programs) + _DATA
