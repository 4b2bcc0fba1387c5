"""Right and wrong programs by number: a right kernel in the midst of random instructions, and one defect in wrong ones.

A right program is right by the way it is made: random instructions write only what holds nothing of value. A wrong one
may do no harm all the same, unless its defect is among `CERTAIN`: those no processor need show.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from setwise.analysis.run.contracts import task_of
from setwise.analysis.run.task import Task
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower

GENERAL = tuple("rax rcx rdx rbx rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split())
STEP, ATTACKS, PAIR, ARRAYS = SPECS = (
    "shift.one.nort",
    "kogge-stone.attacks.nort",
    "sliders.pair",
    "kogge-stone.attacks.nort.batch",
)
_CONDITIONS = "o no b ae e ne be a s ns p np l ge le g".split()
_QUIET = """mov {a},{c}|lea {a},[{c}+8*{b}-16]|lea {da},[{c}+{b}]|mov {da},{dc}|movsxd {a},{dc}|movzx {da},{lc}|not {a}
bswap {a}|xchg {a},{b}|mov {la},{lc}|mov {a},-2|mov {a},{s8}|mov {s8},{c}|mov {s4},{dc}|movzx {da},byte ptr {s1}
mov qword ptr {s8},77|lea {a},{s8}; mov [{a}],{c}|lea {a},{s8}; mov {a},[{a}]|mov {a},{m}|movdqu xmm{x},{s16}
movdqu {s16},xmm{x}|movq xmm{x},{c}|movq {a},xmm{x}|movhps {s8},xmm{x}|nop|endbr64
"""
_NOISE = """add {a},{c}|sub {a},{c}|or {a},{c}|xor {a},{c}|add {a},-8|sub {a},255|and {a},-64|neg {a}|inc {a}|shl {a},32
shr {a},3|sar {a},1|shl {a},cl|ror {a},8|rol {a},cl|shld {a},{b},cl|shrd {a},{b},4|imul {a},{c}|imul {a},{b},8
cmp {a},{c}; cmovb {a},{b}|test {a},{a}; cmovs {a},{b}|cmp {a},{c}; sbb {b},{b}|bt {c},{b}; setb {la}|bts {a},{b}
add {s8},{c}|inc qword ptr {s8}|add {a},{s8}|xor {da},{da}|cmp {c},{s8}; sete {la}|add {a},{a}; adc {b},{c}; setc {la}
mov {a},{c}; and {a},7; lea {b},[rip+quads]; mov {b},[{b}+8*{a}]|mov {a},[rip+shared@GOTPCREL]
movdqa xmm{x},[rip+quads]|pxor xmm{x},xmm{y}|paddq xmm{x},xmm{y}|psllq xmm{x},8|pshufd xmm{x},xmm{y},27
pcmpeqd xmm{x},xmm{x}|pmovmskb {da},xmm{x}|punpcklqdq xmm{x},xmm{y}
push {c}; pop {a}|push {c}; add {a},[rsp]; add rsp,8|push {c}; lea rsp,[rsp+8]|movq xmm{x},{c}; movq {a},xmm{x}
"""
_ODD = """bt {c},5; setp {la}|imul {a},{b}; setz {lb}|mov {a},[rip+shared@GOTPCREL]; mov {b},[{a}+8]|adc {a},{b}
shl {a},3; seto {la}|setc {la}|bsf {a},{c}; sets {la}|and {a},{b}; imul {da},{db}; cmovz {a},{c}
"""
_AVX = """vpaddq ymm{x},ymm{y},ymm{y}|vpbroadcastq ymm{x},xmm{y}|vmovdqu {s32},ymm{x}|vmovdqu ymm{x},{s32}|vpermq ymm{x},ymm{y},78
vpsllvq ymm{x},ymm{y},ymm{x}|vextracti128 xmm{x},ymm{y},1|vpxor xmm{x},xmm{y},xmm{x}|shlx {a},{c},{b}|rorx {a},{c},9
andn {a},{c},{b}|pext {a},{c},{b}|popcnt {a},{c}|tzcnt {a},{c}|blsr {a},{c}|bzhi {a},{c},{b}|vmovq xmm{x},{c}
"""
_AVX512 = """kmovq k{k},{c}|kxorq k{k},k{k},k{k}|kandq k{k},k{k},k{j}|kmovq {a},k{k}|kortestq k{k},k{k}; setz {la}|knotq k{k},k{j}
kshiftrq k{k},k{j},3|vpcmpeqq k{k},zmm{x},zmm{y}|vpternlogq zmm{x},zmm{y},zmm{y},150|vpbroadcastq zmm{x},{c}
vmovdqu64 zmm{x}<k{k}><z>,{s64}|vmovdqu64 {s64}<k{k}>,zmm{x}|kxorq k{k},k{k},k{k}; vmovdqu64 zmm{x}<k{k}>,[{c}]
kxorq k{k},k{k},k{k}; vmovdqu64 [{c}+{b}]<k{k}>,zmm{x}|kxorq k{k},k{k},k{k}; vpaddq zmm{x}<k{k}>,zmm{y},qword ptr [{c}]<1to8>
mov {da},5; kmovb k{k},{da}; vmovdqu64 zmm{x}<k{k}><z>,{s24}|mov {da},2; kmovb k{k},{da}; vmovdqu64 {s16}<k{k}>,ymm{x}
mov {da},4; kmovb k{k},{da}; vpaddq zmm{x}<k{k}>,zmm{y},qword ptr {s8}<1to8>
vpaddq zmm{x}<k{k}>,zmm{y},zmm{x}|vmovdqa64 zmm{x}<k{k}>,zmm{y}|kmovw {da},k{k}
"""


def part(name: str, bits: int) -> str:
    """The lowest bits of a general register."""
    if name[1].isdigit():
        return name + {64: "", 32: "d", 8: "b"}[bits]
    low = name[1:] + "l" if name[2] in "ipI" else name[1] + "l"
    return {64: name, 32: "e" + name[1:], 8: low}[bits]


@dataclass(frozen=True, slots=True)
class Program:
    """An assembly function, its contract, and the defect that a wrong one has."""

    name: str
    spec: str
    abi: str
    lanes: int
    defect: str
    text: str

    @property
    def task(self) -> Task:
        """The contract."""
        return contract(self.spec, self.abi, self.lanes)


@cache
def contract(spec: str, abi: str, lanes: int) -> Task:
    """The task of a routine with so many boards in vector registers, or in general ones."""
    isa = {1: "x86-64", 2: "sse2", 4: "avx2", 8: "avx512"}[lanes]
    return task_of(lower(find(spec), isa, abi, lanes if lanes > 1 else None))


class Code:
    """Assembly as it is written, and what of the machine holds something of value at its end.

    `depth` is how far rsp stands below a place above which all belongs to others; `kept` are bytes below that place
    with a value, their sizes by their offsets from it. Some of `boards` or
    all else of value is damaged where the `defect` is planted.
    """

    def __init__(self, chance: random.Random, task: Task, isa: int, name: str, defect: str) -> None:
        self.chance, self.task, self.isa, self.name, self.defect = chance, task, isa, name, defect
        self.planted, self.sites = False, chance.randrange(8)
        self.lines: list[str] = []
        places = [argument.place for argument in task.arguments]
        self.arguments = [place.register for place in places]
        self.live = {place.register for place in places if place.file == "general"} | {*task.saved}
        self.vectors = {int(name[3:]) for name in task.saved_vectors}
        self.vectors |= {int(place.register[3:]) for place in places if place.file == "vector"}
        self.masks: set[int] = {0}
        self.depth, self.outer, self.labels = 0, 0, 0
        self.kept: dict[int, int] = {}
        self.readable: list[tuple[str, set[str]]] = []
        self.turned: set[str] = set()
        self.boards: set[str] = set()
        """Registers that hold a board or what a result is made of."""

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

    def vector(self, number: int = 16) -> int:
        return self.chance.choice([one for one in range(number) if one not in self.vectors])

    def mask(self) -> int:
        return self.chance.choice([one for one in range(8) if one not in self.masks])

    def slot(self, size: int) -> int | None:
        """The offset of bytes of the stack that hold nothing."""
        low = -self.depth - self.task.red_zone
        for _ in range(8):
            if low > -size:
                break
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

    def move(self, by: int) -> None:
        """Moves rsp up."""
        self.depth -= by
        self.say(self.chance.choice((f"add rsp,{by}", f"sub rsp,{-by}", f"lea rsp,[rsp{by:+d}]")))

    def fill(self, form: str) -> str | None:
        """The form with registers and places of no value; None where there are none."""
        free = self.free()
        if len(free) < 2 or ("push" in form and self.touches(-self.depth - 8, 8)):
            return None
        a, b = self.chance.sample(free, 2)
        c = self.chance.choice((*GENERAL, "rsp") if "{lc}" not in form else GENERAL)
        number = 16 if "xmm" in form or "ymm" in form else 32
        named = {"a": a, "b": b, "c": c, "x": self.vector(number), "y": self.vector(number), "k": 0, "j": self.chance.randrange(8)}
        named |= {"l" + key: part(named[key], 8) for key in "abc" if named[key] != "rsp"}
        named |= {"d" + key: "esp" if named[key] == "rsp" else part(named[key], 32) for key in "abc"}
        for size in map(int, re.findall(r"\{s(\d+)\}", form)):
            place = self.slot(size)
            if place is None:
                return None
            named[f"s{size}"] = self.at(place)
        if "{k}" in form:
            named["k"] = self.mask()
        if "{m}" in form:
            readable = [place for place, registers in self.readable if registers <= self.live - self.turned]
            if not readable:
                return None
            named["m"] = self.chance.choice(readable)
        return form.format_map(named).replace("<", "{").replace(">", "}")

    def quiet(self) -> None:
        """Perhaps an instruction that leaves the flags alone."""
        line = self.fill(self.chance.choice(_split(_QUIET))) if self.chance.random() < 0.3 else None
        self.say(*line.split("; ") if line else ())

    def quiet_registers(self) -> None:
        """Some instructions that touch no memory, or none."""
        self.say(*self.chance.sample(("nop", "endbr64", f"mov {self.free()[0]},rsp", f"not {self.free()[1]}"), 2))

    def fault(self, name: str) -> bool:
        """Whether it is to go wrong in this way here."""
        here = self.defect == name and not self.planted
        self.planted |= here
        return here

    def site(self) -> None:
        """Plants a defect that may be anywhere, at one of the first places where it can."""
        if self.defect in DEFECTS and not self.planted and (self.boards or self.chance.random() < 0.2):
            self.sites -= 1
            self.planted = self.sites < 0 and len(self.free()) > 2
            self.planted = self.planted and DEFECTS[self.defect](self)

    def copied(self, name: str) -> str:
        """Where a copy is kept, until `finish` compares it, for results wrong on one input alone."""
        if self.defect != "rare" or self.planted:
            return ""
        copy = self.take()
        self.say(f"mov {copy},{name}")
        return copy

    def finish(self, copy: str, result: str) -> None:
        """Perhaps makes a result wrong, on that input alone or by what nobody may trust."""
        if copy and self.fault("rare"):
            behind, other = self.label(), self.take()
            self.say(f"mov {other},{self.chance.getrandbits(64)}", f"cmp {copy},{other}", f"jne {behind}")
            self.say(f"btc {result},{self.chance.randrange(64)}", f"{behind}:")
            self.live -= {other, copy}
        for name in ("undefined", "exported"):
            if self.fault(name):
                {"undefined": _undefined, "exported": _exported}[name](self, result)

    def restore(self, name: str, line: str) -> None:
        """The line that puts a saved register back, if not on one of two ways only."""
        if name in (*self.task.saved, *self.task.saved_vectors) and self.fault("restore"):
            behind = self.label()
            self.say(f"test {self.chance.choice(self.free())},{2 << self.chance.randrange(30)}", f"jnz {behind}")
            self.say(line, f"{behind}:")
        else:
            self.say(line)

    def noise(self, most: int) -> None:
        """A few random instructions, or parts of a program around such."""
        for _ in range(self.chance.randint(0, most)):
            self.site()
            if most > 1 and self.chance.random() < 0.3:
                self.chance.choice(WRAPPERS)(self, sorted(self.live), lambda: self.noise(most - 1))
            else:
                forms = (_ODD,) if self.chance.random() < 0.004 else (_QUIET, _NOISE, *(_AVX, _AVX512)[: self.isa])
                line = self.fill(self.chance.choice(_split(*forms)))
                self.say(*line.split("; ") if line else ())

    def run(self, instructions: Sequence[str], often: float) -> None:
        """These instructions, with random ones between them."""
        for line in instructions:
            self.say(line)
            if self.chance.random() < often:
                self.noise(2)


@cache
def _split(*texts: str) -> tuple[str, ...]:
    return tuple(form for text in texts for form in text.strip().replace("\n", "|").split("|"))


# ---- parts of a program around others: code, the registers that may be put away, what stands within

Inner = Callable[[], None]


def _within(code: Code, name: str, inner: Inner, place: int | str, places: set[int] | set[str] | None) -> None:
    """What stands within while the register is free and its value in that place, of the stack where none is told."""
    board = name in code.boards
    code.live.remove(name)
    code.boards.discard(name)
    if isinstance(place, int) and places is None:
        code.kept[place] = 8
    else:
        places.add(place)
    inner()
    if isinstance(place, int) and places is None:
        del code.kept[place]
    else:
        places.remove(place)
    code.live.add(name)
    if board:
        code.boards.add(name)


def _framed(code: Code, names: Sequence[str], inner: Inner) -> None:
    size = code.chance.choice((8, 24, 40, 128, 256, 520, 1024))
    if code.outer + code.depth + size > 3500:
        return inner()
    code.move(-size)
    inner()
    code.move(size)


def _put_away(code: Code, names: Sequence[str], inner: Inner) -> None:
    """A register's value is elsewhere meanwhile, and it is free."""
    names = [name for name in names if name in code.live and name not in code.turned]
    if not names:
        return inner()
    name = code.chance.choice(names)
    way = code.chance.choice(("push", "slot", "slot", "vector", "mask", "register", "turned"))
    place = code.slot(8)
    if way == "push" and not code.touches(-code.depth - 8, 8):
        code.say(f"push {name}")
        code.depth += 8
        _within(code, name, inner, -code.depth, None)
        code.depth -= 8
        code.say(f"pop {name}")
    elif way == "slot" and place is not None:
        code.say(f"mov {code.at(place)},{name}")
        _within(code, name, inner, place, None)
        code.restore(name, f"mov {name},{code.at(place)}")
    elif way == "vector":
        vector = code.vector()
        code.say(f"movq xmm{vector},{name}")
        _within(code, name, inner, vector, code.vectors)
        code.restore(name, f"movq {name},xmm{vector}")
    elif way == "mask" and code.isa == 2 and len(code.masks) < 6:
        mask = code.mask()
        code.say(f"kmovq k{mask},{name}")
        _within(code, name, inner, mask, code.masks)
        code.restore(name, f"kmovq {name},k{mask}")
    elif way == "register" and len(code.free()) > 4:
        other = code.chance.choice(code.free())
        code.say(f"mov {other},{name}")
        _within(code, name, inner, other, code.live)
        code.restore(name, f"mov {name},{other}")
    elif way == "turned" and name not in code.turned:
        code.say(f"not {name}")
        code.turned.add(name)
        inner()
        code.turned.remove(name)
        code.say(f"not {name}")
    else:
        inner()


def _vector_away(code: Code, names: Sequence[str], inner: Inner) -> None:
    """A vector register's value is on the stack meanwhile."""
    size, vector = (16, 32, 64)[code.isa], code.chance.choice(sorted(code.vectors) or [-1])
    place = code.slot(size)
    if place is None or vector < 0:
        return inner()
    move = ("movdqu xmm", "vmovdqu ymm", "vmovdqu64 zmm")[code.isa].split()
    code.say(f"{move[0]} {code.at(place)},{move[1]}{vector}")
    code.kept[place] = size
    code.vectors.remove(vector)
    inner()
    code.vectors.add(vector)
    del code.kept[place]
    code.restore(f"zmm{vector}", f"{move[0]} {move[1]}{vector},{code.at(place)}")


def _branch(code: Code, names: Sequence[str], inner: Inner) -> None:
    """Within, on one of two ways only, nothing of value is changed."""
    before = code.fill(code.chance.choice(("cmp {a},{c}", "test {a},{c}", "add {a},{c}", "cmp {lc},3")))
    if before is None:
        return inner()
    condition, behind, end = code.chance.choice(_CONDITIONS), code.label(), code.label()
    code.say(before)
    code.quiet()
    code.say(f"j{condition} {behind}")
    code.noise(2)
    if code.chance.random() < 0.5:
        code.say(f"jmp {end}", f"{behind}:")
        code.noise(2)
        code.say(f"{end}:")
    else:
        code.say(f"{behind}:")
    return inner()


def _rounds(code: Code, names: Sequence[str], inner: Inner) -> None:
    """A loop of a few rounds beside it."""
    if len(code.free()) > 3:
        counter, head = code.take(), code.label()
        code.say(f"mov {part(counter, 32)},{code.chance.randint(1, 4)}", f"{head}:")
        code.run(["nop"], 0.9)
        code.say(f"dec {counter}", f"jnz {head}")
        code.live.remove(counter)
    inner()


def _aligned(code: Code, names: Sequence[str], inner: Inner) -> None:
    """A stack of its own, aligned; what was below rsp is lost by it."""
    if len(code.free()) < 4 or code.outer or code.depth > 2000 or any(place < -code.depth for place in code.kept):
        return inner()
    name, size = code.take(), code.chance.choice((64, 128, 192))
    code.say(f"mov {name},rsp", f"and rsp,-{code.chance.choice((32, 64))}", f"sub rsp,{size}")
    before, code.outer, code.depth, code.kept = (code.depth, code.kept), code.depth + 64, size, {}
    code.say(f"movdqa [rsp+{size - 32}],xmm{code.vector()}")
    inner()
    (code.depth, code.kept), code.outer = before, 0
    code.say(f"mov rsp,{name}")
    code.live.remove(name)


WRAPPERS = (_vector_away, _framed, _framed, _put_away, _put_away, _put_away, _branch, _branch, _rounds, _aligned)




# ---- kernels


def _north(code: Code, g: str, p: str, t: str) -> list[str]:
    """Attacks to the north in general registers, of sliders in g and empty squares in p."""
    if code.chance.random() < 0.3:  # square by square
        return [*[f"mov {t},{g}", f"shl {t},8", f"and {t},{p}", f"or {g},{t}"] * 6, f"shl {g},8"]
    return _fill(g, p, t, 8) + [f"shl {g},8"]


def _fill(g: str, p: str, t: str, by: int) -> list[str]:
    """An occluded fill by that shift, to the right where it is negative."""
    shift, lines = "shl" if by > 0 else "shr", list[str]()
    for count in (abs(by), 2 * abs(by), 4 * abs(by)):
        lines += [f"mov {t},{g}", f"{shift} {t},{count}", f"and {t},{p}", f"or {g},{t}"]
        lines += [f"mov {t},{p}", f"{shift} {t},{count}", f"and {p},{t}"] if count < 4 * abs(by) else []
    return lines


def _north_lanes(code: Code, g: int, p: int, t: int, lanes: int) -> list[str]:
    """As `_north`, in vectors of so many boards; without a register p one step."""
    lines: list[str] = []
    file = {2: "xmm", 4: "ymm", 8: "zmm"}[lanes]
    q = "q" if lanes == 8 else ""
    three = lanes > 2 or (code.isa and code.chance.random() < 0.5)
    for count in (8, 16, 32) if p >= 0 else ():
        if three:
            lines += [f"vpsllq {file}{t},{file}{g},{count}", f"vpand{q} {file}{t},{file}{t},{file}{p}"]
            lines += [f"vpor{q} {file}{g},{file}{t},{file}{g}", f"vpsllq {file}{t},{file}{p},{count}"]
            lines += [f"vpand{q} {file}{p},{file}{p},{file}{t}"]
        else:
            lines += [f"movdqa xmm{t},xmm{g}", f"psllq xmm{t},{count}", f"pand xmm{t},xmm{p}", f"por xmm{g},xmm{t}"]
            lines += [f"movdqa xmm{t},xmm{p}", f"psllq xmm{t},{count}", f"pand xmm{p},xmm{t}"]
    return [*lines, f"vpsllq {file}{g},{file}{g},8" if three else f"psllq xmm{g},8"]


def _single(code: Code, g: str) -> None:
    """A function of one board in registers; the result goes to g."""
    chance, a = code.chance, code.arguments
    code.noise(4)
    if code.task.specification == "pair":
        results, t, p, out = a[3], code.take(), code.take(), code.take()
        code.boards |= {out}
        for place, sliders, steps in ((0, a[0], (8, -8, 1, -1)), (8, a[1], (9, 7, -7, -9))):
            for number, by in enumerate(steps):
                mask = {1: 0xFEFEFEFEFEFEFEFE, 7: 0x7F7F7F7F7F7F7F7F, 0: (1 << 64) - 1}[by % 8]
                lines = [f"mov {g},{sliders}", f"mov {p},{a[2]}", f"not {p}", f"mov {t},{mask}", f"and {p},{t}"]
                lines += [*_fill(g, p, t, by), f"{'shl' if by > 0 else 'shr'} {g},{abs(by)}", f"mov {t},{mask}"]
                code.run([*lines, f"and {g},{t}", f"{'or' if number else 'mov'} {out},{g}"], 0.01)
            code.say(f"mov [{results}{place:+d}],{out}")
        code.live -= {t, p, out, *a}
        code.boards -= {out}
    elif code.task.lanes > 1:
        t, p = code.vector(), 1 if code.task.specification == "attacks" else -1
        code.vectors.add(t)
        code.run(_north_lanes(code, 0, p, t, code.task.lanes), 0.2)
    else:
        sliders = code.copied(a[0])
        t = code.take()
        code.boards.add(g)
        if code.task.specification == "attacks":
            p = a[1] if chance.random() < 0.5 else code.take()
            lines = [f"mov {g},{a[0]}", *([f"mov {p},{a[1]}"] if p != a[1] else []), *_north(code, g, p, t)]
            code.boards.add(p)
            code.run(lines, 0.2)
            code.boards.discard(p)
            code.live.discard(p)
        else:
            ways = ([f"shl {g},8"], [f"imul {g},{g},256"], [f"add {g},{g}"] * 8, [f"rol {g},8", f"and {g},-256"])
            code.run([f"mov {g},{a[0]}", *chance.choice(ways)], 0.6)
        code.live -= {t, *a}
        code.finish(sliders, g)
        code.boards.discard(g)
    code.noise(4)


# ---- loops over arrays


class Carrier:
    """A zero that a loop carries through its rounds, in a place of any kind."""

    def __init__(self, code: Code) -> None:
        self.code = code
        place = code.slot(8)
        ways = ["register", "vector", *(["upper"] if code.isa else []), *(["mask"] if code.isa == 2 else []), *(["slot"] * 3 if place is not None else [])]
        self.way = code.chance.choice(ways)
        if self.way == "slot" and place is not None:
            self.place = place
            code.kept[place] = 8
        elif self.way == "register":
            self.register = code.take()
        else:
            self.number = code.mask() if self.way == "mask" else code.vector()
            (code.masks if self.way == "mask" else code.vectors).add(self.number)

    def move(self, name: str, write: bool) -> None:
        """The register goes there, or what is there into the register."""
        code = self.code
        if self.way == "slot":
            there, move = code.at(self.place), "mov"
            if write and code.chance.random() < 0.4 and len(code.free()) > 1:
                other = code.chance.choice(code.free())
                code.say(f"lea {other},{there}")
                there = f"[{other}]"
        elif self.way == "register":
            there, move = self.register, "mov"
        elif self.way == "upper":
            other, own = f"xmm{code.vector()}", f"ymm{self.number}"
            lines = [f"movq {other},{name}", f"vinserti128 {own},{own},{other},1"]
            return code.say(*(lines if write else (f"vextracti128 {other},{own},1", f"movq {name},{other}")))
        else:
            there, move = (f"xmm{self.number}", "movq") if self.way == "vector" else (f"k{self.number}", "kmovq")
        return code.say(f"{move} {there},{name}" if write else f"{move} {name},{there}")

    def end(self) -> None:
        code = self.code
        if self.way == "slot":
            del code.kept[self.place]
        elif self.way == "register":
            code.live.remove(self.register)
        else:
            (code.masks if self.way == "mask" else code.vectors).remove(self.number)

    def round(self, g: str) -> None:
        """A round's use of it: it is or-ed into a result, and may be something else for a while."""
        code, t = self.code, self.code.take()
        self.move(t, False)
        code.say(f"or {g},{t}")
        if code.chance.random() < 0.5:
            code.say(f"mov {t},{g}" if code.chance.random() < 0.5 else f"mov {part(t, 32)},1")
            self.move(t, True)
            code.noise(1)
            code.say(f"xor {part(t, 32)},{part(t, 32)}")
            self.move(t, True)
        if code.fault("carried"):
            behind, way = code.label(), code.chance.randrange(4)
            if way == 1:
                code.say(f"bt {g},{code.chance.randrange(64)}", f"jnc {behind}")
            elif way == 2:
                code.say(f"test {g},{g}", f"j{code.chance.choice(('z', 'nz', 's', 'p'))} {behind}")
            code.say(f"mov {t},{g}" if code.chance.random() < 0.5 else f"mov {part(t, 32)},1")
            self.move(t, True)
            code.say(f"{behind}:")
            if way == 3:
                code.say("add rsp,512", "sub rsp,512")
        code.live.remove(t)


def _board(code: Code, places: Sequence[str], registers: set[str], carrier: Carrier | None) -> None:
    """One board of the arrays: sliders, empty squares, result at these places."""
    code.readable = [(place, registers) for place in places[:2]]
    g, p, t = code.take(), code.take(), code.take()
    lines = [f"mov {g},{places[0]}", f"mov {p},{places[1]}"]
    flag = code.take() if code.fault("flag") else ""
    if flag:
        code.say(f"set{code.chance.choice(('c', 'be'))} {part(flag, 8)}", f"movzx {part(flag, 32)},{part(flag, 8)}")
    if code.fault("early"):
        lines.insert(1, f"mov {places[2]},{g}")
    code.run(lines, 0.1)
    sliders = code.copied(g)
    code.boards |= {g, p}
    code.run(_north(code, g, p, t), 0.06)
    code.live -= {p, t}
    code.boards.discard(p)
    if carrier:
        carrier.round(g)
    if flag:
        code.say(f"or {g},{flag}")
        code.live.remove(flag)
    code.finish(sliders, g)
    code.say(f"mov {places[2]},{g}")
    if code.fault("beside"):
        code.say(f"mov {places[2][:-1]}{code.chance.choice((8, -8, 16)):+d}],{g}")
    code.live.remove(g)
    code.boards.discard(g)
    code.noise(1)
    code.readable = []


def _boards(code: Code, places: Sequence[str], registers: set[str], lanes: int, mask: str = "", to: str = "u") -> None:
    """So many boards at once, under a mask perhaps."""
    code.readable = [(place, registers) for place in places[:2]] if not mask else []
    g = code.vector()
    code.vectors.add(g)
    p = code.vector()
    code.vectors.add(p)
    t = code.vector()
    code.vectors.add(t)
    file = {2: "xmm", 4: "ymm", 8: "zmm"}[lanes]
    v, end = ("v", "64") if lanes == 8 else ("v" if lanes == 4 else "", "")
    of = "a" if code.fault("aligned") else "u"
    zero = mask + "{z}" if mask else ""
    loads = [f"{v}movdq{of}{end} {file}{at}{zero},{place}" for at, place in ((g, places[0]), (p, places[1]))]
    code.run([*loads, *_north_lanes(code, g, p, t, lanes)], 0.05)
    code.say(f"{v}movdq{to}{end} {places[2]}{mask},{file}{g}")
    if code.fault("beside"):
        code.say(f"{v}movdqu{end} {places[2][:-1]}{code.chance.choice((8, -8, 8 * lanes)):+d}],{file}{g}")
    code.vectors -= {g, p, t}
    code.readable = []
    code.noise(1)


def _few(code: Code, name: str, value: int) -> None:
    code.say(f"xor {part(name, 32)},{part(name, 32)}" if not value else f"mov {part(name, 32)},{value}")


def _scalar(code: Code, carrier: Carrier | None, index: str | None = None) -> None:
    """A loop of one board a round; from the index on, where it is given."""
    chance, (s, e, r, n) = code.chance, code.arguments
    style = chance.choice(("up", "rotated", "bump", "negative", "down", "bytes", "memory")) if index is None else "up"
    end, head, given = code.label(), code.label(), index
    index = code.take() if index is None else index
    if code.fault("count"):
        code.say(chance.choice((f"dec {n}", f"inc {n}", f"sub {n},1\nadc {n},0")))
    start = int(style in ("up", "rotated", "memory") and given is None and code.fault("late"))
    place = code.slot(8)
    at = [f"[{array}+8*{index}]" for array in (s, e, r)]
    every = {s, e, r, index}
    if style in ("up", "bytes"):
        if given is None:
            _few(code, index, start)
        if style == "bytes":
            code.say(f"shl {n},3")
            at = [f"[{array}+{index}]" for array in (s, e, r)]
        code.say(f"{head}:", f"cmp {index},{n}")
        code.quiet()
        code.say(f"jae {end}")
        _board(code, at, every, carrier)
        step = 8 if style == "bytes" else 1
        code.say(chance.choice((f"add {index},{step}", f"sub {index},-{step}", f"lea {index},[{index}+{step}]")))
        code.say(f"jmp {head}")
    elif style == "rotated":
        code.say(f"test {n},{n}", f"je {end}")
        _few(code, index, start)
        code.say(f"{head}:")
        _board(code, at, every, carrier)
        code.say(f"inc {index}", f"cmp {index},{n}")
        code.quiet()
        code.say(f"j{chance.choice(('b', 'ne'))} {head}")
    elif style == "bump":
        code.say(f"lea {index},[{s}+8*{n}]", f"cmp {index},{s}", f"je {end}", f"{head}:")
        _board(code, [f"[{array}]" for array in (s, e, r)], {s, e, r}, carrier)
        code.say(*(f"add {array},8" for array in (s, e, r)))
        code.say(*((f"cmp {s},{index}",) if chance.random() < 0.5 else (f"dec {n}",)))
        code.quiet()
        code.say(f"jne {head}")
    elif style == "negative":
        code.say(*(f"lea {array},[{array}+8*{n}]" for array in (s, e, r)), f"mov {index},{n}", f"neg {index}")
        code.say(f"je {end}", f"{head}:")
        _board(code, at, every, carrier)
        code.say(f"inc {index}")
        code.quiet()
        code.say(f"jnz {head}")
    elif style == "down" or place is None:
        code.say(f"mov {index},{n}", f"{head}:", f"sub {index},1", f"jb {end}")
        _board(code, at, every, carrier)
        code.say(f"jmp {head}")
    else:  # the number that is left is on the stack
        code.say(f"mov {code.at(place)},{n}")
        code.kept[place] = 8
        _few(code, index, start)
        code.say(f"{head}:", f"cmp qword ptr {code.at(place)},0", f"je {end}")
        _board(code, at, every, carrier)
        code.say(f"dec qword ptr {code.at(place)}", f"inc {index}", f"jmp {head}")
        del code.kept[place]
    code.say(f"{end}:")
    if given is None:
        code.live.remove(index)


def _vectors(code: Code, carrier: Carrier | None) -> None:
    """A loop of several boards a round, and the rest in some other way."""
    chance, (s, e, r, n) = code.chance, code.arguments
    lanes = chance.choice(((2,), (2, 4), (4, 8))[code.isa])
    index, head, rest = code.take(), code.label(), code.label()
    at = [f"[{array}+8*{index}]" for array in (s, e, r)]
    every, to = {s, e, r, index}, "u"
    masked = lanes == 8 and chance.random() < 0.7
    _few(code, index, 1 if code.fault("late") else 0)
    if code.fault("count"):
        code.say(chance.choice((f"dec {n}", f"inc {n}")))
    if lanes == 2 and chance.random() < 0.5:
        if chance.random() < 0.5:  # the first alone, so that the number is even, or the result aligned
            code.say(f"test {n},1", f"je {head}")
        else:
            to = "a"
            code.say(f"test {part(r, 8)},8", f"je {head}", f"test {n},{n}", f"je {rest}")
        _board(code, at, every, carrier)
        code.say(f"inc {index}")
    limit = code.take()
    if not (masked and chance.random() < 0.4):
        code.say(f"{head}:", f"lea {limit},[{index}+{lanes}]", f"cmp {limit},{n}", f"ja {rest}")
        _boards(code, at, every, lanes, to=to)
        code.say(f"mov {index},{limit}", f"jmp {head}")
    code.say(f"{rest}:")
    if masked:
        mask, bits, end = code.mask(), code.take(), code.label()
        again = code.label()
        code.masks.add(mask)
        code.say(f"{again}:", f"mov {limit},{n}", f"sub {limit},{index}", f"je {end}", f"mov {bits},-1")
        few = code.label()
        code.say(f"cmp {limit},8", f"jae {few}", f"bzhi {bits},{bits},{limit}")
        if code.fault("mask"):
            code.say(chance.choice((f"lea {bits},[{bits}+{bits}+1]", f"shr {bits},1", f"or {bits},1", f"mov {bits},-1")))
        code.say(f"{few}:", f"kmovb k{mask},{part(bits, 32)}")
        _boards(code, at, every, 8, f"{{k{mask}}}")
        code.say(f"cmp {limit},8", f"jbe {end}", f"add {index},8", f"jmp {again}", f"{end}:")
        code.masks.remove(mask)
        code.live -= {bits}
    code.live.remove(limit)
    if not masked:
        _scalar(code, carrier, index)
    code.live.remove(index)


def _arrays(code: Code, _: str) -> None:
    """A function over arrays, in one of its ways for the result in place perhaps."""
    chance, (s, e, r, n) = code.chance, code.arguments
    code.noise(3)
    end, other = code.label(), code.label()
    if chance.random() < 0.2:
        for array in chance.sample((s, e, r), chance.randint(1, 3)):
            code.say(f"test {array},{array}", f"je {end}")
    carrier = Carrier(code) if chance.random() < 0.5 or code.defect == "carried" else None
    if carrier:
        t = code.take()
        _few(code, t, 0)
        carrier.move(t, True)
        code.live.remove(t)
    loops = (_scalar, _scalar, _vectors)
    if chance.random() < 0.15:
        code.say(f"cmp {r},{chance.choice((s, e))}", f"je {other}")
        chance.choice(loops)(code, carrier)
        code.say(f"jmp {end}", f"{other}:")
    chance.choice(loops)(code, carrier)
    code.say(f"{end}:")
    if carrier:
        carrier.end()
    code.live -= {s, e, r, n}
    code.noise(2)


# ---- defects: each takes the code where it is to go wrong, and says whether it could


def _harmed(code: Code) -> str:
    """A register with a board, else any of value."""
    return code.chance.choice(sorted(code.boards - code.turned) or sorted(code.live))


def _raise(code: Code) -> bool:
    by = code.depth + code.chance.choice((8, 128, 144, 256, 1024, 4096))
    code.say(code.chance.choice((f"add rsp,{by}", f"lea rsp,[rsp+{by}]", f"sub rsp,-{by}")))
    code.quiet_registers()
    code.say(code.chance.choice((f"sub rsp,{by}", f"lea rsp,[rsp-{by}]", f"add rsp,-{by}")))
    return not code.outer


def _drop(code: Code) -> bool:
    """Bytes are trusted that were below the red zone for a while."""
    lost = [place for place in code.kept if place < -code.task.red_zone and code.depth]
    if lost:
        by = code.chance.randint(1, code.depth // 8) * 8
        code.say(f"add rsp,{by}", *code.chance.choice(([], ["nop"])), f"sub rsp,{by}")
    return bool(lost)


def _below(code: Code) -> bool:
    name, place = _harmed(code), code.task.red_zone + code.chance.choice((8, 16, 64, 256))
    code.say(f"mov [rsp-{place}],{name}")
    code.noise(2)
    code.say(f"mov {name},[rsp-{place}]" if place > 200 or code.chance.random() < 0.5 else f"push [rsp-{place}]; pop {name}")
    return True


def _undefined(code: Code, g: str) -> None:
    """A flag that is undefined goes into a result, though most processors leave it as it was: 0."""
    a, b = code.chance.sample(code.free(), 2)
    ways = (f"bt {b},3; setz", f"imul {b},{b},0; sets", f"imul {b},{b},1; setz", f"bt {b},5; sets", f"bts {b},7; setz")
    code.say(f"xor {part(a, 32)},{part(a, 32)}", f"or {b},1", f"shr {b},1", f"or {b},1")
    code.say(f"{code.chance.choice(ways)} {part(a, 8)}")
    code.say(f"shl {a},{code.chance.randrange(64)}", f"or {g},{a}")


def _unset(code: Code) -> bool:
    """A result is made of what nobody has set."""
    g, place = _harmed(code), code.slot(8)
    other = [f"or {g},{name}" for name in code.free()[:3]]
    if place is not None:
        other += [f"or {g},{code.at(place)}"] * 3
    code.say(code.chance.choice(other))
    return True


def _caller(code: Code) -> bool:
    place, a = code.depth + code.chance.choice((0, 8, 8, 16, 128)) + code.task.home, code.free()[0]
    forms = (f"mov [rsp+{place}],{a}", f"inc qword ptr [rsp+{place}]", f"mov byte ptr [rsp+{place + 7}],1")
    code.say(code.chance.choice((*forms, f"or {_harmed(code)},[rsp+{place + 8}]")))
    return not code.outer


def _wild(code: Code) -> bool:
    a, b = code.chance.sample(code.free(), 2)
    code.say(code.chance.choice((f"mov [{a}],{b}", f"mov {b},[{a}]", f"mov [{sorted(code.live)[0]}-8],{a}", "movdqa xmm0,[rsp+1]")))
    return True


def _value(code: Code) -> bool:
    g, n = _harmed(code), code.chance.randrange(64)
    low, narrow = part(g, 8), part(g, 32)
    forms = (f"btc {g},{n}", f"mov {narrow},{narrow}", f"btr {g},{n}", f"mov {low},1", f"shr {g},1", f"xor {narrow},{narrow}")
    code.say(code.chance.choice((*forms, f"cmp {g},77; sete {low}", f"test {low},{low}; cmovs {g},{code.free()[0]}")))
    return True


def _vector(code: Code) -> bool:
    ways = [f"pxor xmm{one},xmm{one}" for one in code.vectors] + [f"kxorq k{one},k{one},k1" for one in code.masks - {0}]
    if code.isa:
        ways += ["vzeroupper", *(f"vmovdqa xmm{one},xmm{one}" for one in code.vectors)]
    code.say(code.chance.choice(ways or ["nop"]))
    return bool(ways)


def _saved(code: Code) -> bool:
    saved = sorted({*code.task.saved} & code.live)
    name = code.chance.choice(saved or ["rax"])
    code.say(code.chance.choice((f"inc {name}", f"mov {part(name, 32)},{part(name, 32)}", f"xchg {name},{code.free()[0]}")))
    return bool(saved)


def _exported(code: Code, g: str) -> None:
    """Trusts of an exported object's place, size and bytes what another that is linked need not keep."""
    a, b = code.chance.sample(code.free(), 2)
    ways = (
        [f"and {part(a, 32)},63"],
        [f"mov {b},[rip+shared2@GOTPCREL]", f"sub {b},{a}", f"lea {a},[{b}-64]"],
        [f"mov {a},[{a}+8]"],
        [f"movdqa xmm{code.vector()},[{a}]", f"xor {part(a, 32)},{part(a, 32)}"],
    )
    code.say(f"mov {a},[rip+shared@GOTPCREL]", *code.chance.choice(ways), f"or {g},{a}")


def _deep(code: Code) -> bool:
    size = code.chance.choice((4096, 5000, 8192, 20000))
    a = code.free()[0]
    code.say(f"sub rsp,{size}", f"mov {code.chance.choice(('[rsp]', '[rsp-128]'))},{a}", f"add rsp,{size}")
    return code.task.red_zone > 0


def _lost(code: Code) -> bool:
    a, behind = code.free()[0], code.label()
    code.say(f"test {a},1", f"jz {behind}", code.chance.choice(("lea rsp,[rsp+8]", "ret", f"push {a}")), f"{behind}:")
    return True


def _endless(code: Code) -> bool:
    head, g = code.label(), _harmed(code)
    code.say(f"{head}:", f"bt {g},{code.chance.randrange(64)}", f"jc {head}")
    return g in code.boards


DEFECTS: dict[str, Callable[[Code], bool]] = {
    "raise": _raise, "drop": _drop, "below": _below, "unset": _unset, "caller": _caller,
    "wild": _wild, "value": _value, "vector": _vector, "saved": _saved, "deep": _deep,
    "lost": _lost, "endless": _endless,
}  # fmt: skip
"""Those that may be planted anywhere."""

PLACED = "carried restore rare early beside aligned count late mask flag undefined exported".split()
"""Those that belong to one part of a program."""

CERTAIN = frozenset({"undefined", "rare", "exported"})
"""Those that are wrong though no run need show it."""


def program(kind: str, number: int) -> Program:
    """The right or wrong program of that number."""
    for attempt in range(1000):
        defect = random.Random(f"{number} {attempt // 50}").choice((*DEFECTS, *PLACED, "carried", "carried"))
        with suppress(IndexError):  # no register is left
            if made := _made(f"{kind}{number}", defect if kind == "wrong" else "", attempt):
                return made
    raise AssertionError(f"no defect can be planted in {kind} {number}")


def _made(name: str, defect: str, attempt: int) -> Program | None:
    chance = random.Random(f"{name} {attempt}")
    (spec,) = chance.choices(SPECS, (20, 25, 2, 53))
    isa, abi, lanes = chance.randrange(3), "win64" if chance.random() < 0.1 else "sysv", 1
    if spec in (STEP, ATTACKS) and chance.random() < 0.1:
        lanes, abi = (2, 4, 8)[isa], "sysv"
    task = contract(spec, abi, lanes)
    code = Code(chance, task, isa, name, defect)
    inner = _arrays if spec == ARRAYS else _single
    result = code.take() if spec in (STEP, ATTACKS) and lanes == 1 else ""
    g = result or (code.take() if spec == PAIR else "")

    away = (_vector_away,) * bool(task.saved_vectors)

    def nested(times: int) -> None:
        if not times:
            inner(code, g)
        else:
            wrapper = chance.choice((_framed, _put_away, _put_away, _put_away, _aligned, *away))
            wrapper(code, sorted({*task.saved} & code.live), lambda: nested(times - 1))

    nested(chance.choice((0, 0, 1, 1, 2, 3, 4)))
    if result and result != "rax":
        code.say(f"mov rax,{result}")
    if chance.random() < 0.1 and lanes == 1 and isa:
        code.say("vzeroupper")
    if bool(defect) != code.planted:
        return None
    place = chance.choice(("", "", "", ".p2align 4", ".p2align 12\n.zero 0xff0", ".p2align 6"))
    lines = [*place.split("\n"), f".globl {name}", f".type {name},@function", f"{name}:", *code.lines, "ret"]
    return Program(name, spec, abi, lanes, defect, "\n".join([*lines, f".size {name},.-{name}", ""]))


HEAD = ".intel_syntax noprefix\n.text\n"
TAIL = """
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
    """The assembly of an object file with these programs."""
    return HEAD + "".join(program.text for program in programs) + TAIL
