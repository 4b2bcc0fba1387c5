"""The format of a processor's table, and the search for the row of an instruction.

A row is found by mnemonic and form. A form lists the operand kinds in order, one letter for each run of equal kinds:

    r w b    general register of 32 or 64 bits, of 16, of 8        i I      immediate, of more than 32 bits
    x y z    vector register of 128, 256, 512 bits                 k        mask register
    m        memory                                            {k}      suffix: under a lane mask
    =        suffix: the two sources, or the only two operands, are the same register
    none     no operands                                           taken    a branch that is taken

`and rax,rcx` is "r", `shl rax,3` is "ri", `vpinsrq xmm0,xmm1,rax,1` is "xri". In rows, v means x, y or z.
A row describes the register form, to which a memory operand adds its load or store. A row with m is for an instruction
that costs more than these two; it too gives the cost without the load or store. For lea the address is in brackets:
base b, index i, scaled index s, displacement d, or p for a rip-relative address.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct

from setwise.analysis.code.count import classify
from setwise.analysis.code.decode import Decoded, Imm, Mem, Operand, Reg, features
from setwise.codegen.machine.processors import lacking

Uops = tuple[tuple[frozenset[str], float], ...]
"""Micro-operations: sets of ports with counts. Each micro-operation runs on one port of its set."""


class UnknownCost(ValueError):
    """An instruction that a processor or its table lacks. The message names the instruction and the processor."""


Cycles = int | float


class CostRow(Struct, frozen=True, array_like=True, dict=True):
    """The cost of some instructions on one processor.

    `mnemonics` is a regular expression, `forms` a text of forms with blanks between them. `ports` describes
    micro-operations: "p015 + 2*p5" is one on p0, p1 or p5 and two on p5; "" is none. `latency` counts cycles from
    operands to result. If it depends on the operand, it maps operand kinds to cycles: r, x (any vector), k and f (a
    flag). `issue` counts issue slots. If `breaks` is set, the result does not depend on the operands. `source` cites
    the measurement.
    """

    mnemonics: str
    forms: str
    ports: str
    latency: Cycles | dict[str, Cycles]
    source: str
    issue: Cycles = 1
    breaks: bool = False

    @cached_property
    def uops(self) -> Uops:
        """The micro-operations that `ports` describes."""
        return parse_ports(self.ports)

    def after(self, kind: str) -> float:
        """Return the cycles from an operand of that kind to the result. For a kind without an entry it is the least."""
        if isinstance(self.latency, dict):
            return self.latency.get(kind, min(self.latency.values()))
        return self.latency

    @property
    def vanishes(self) -> bool:
        """Whether the instruction needs no port and no latency, as if register renaming eliminated it."""
        return not self.ports and not self.latency


class Access(Struct, frozen=True, array_like=True, dict=True):
    """Loads or stores of one size: ports as in `CostRow`, and cycles from the address to the loaded value."""

    ports: str
    latency: Cycles
    source: str

    @cached_property
    def uops(self) -> Uops:
        """The micro-operations that `ports` describes."""
        return parse_ports(self.ports)


class Processor(Struct, frozen=True, dict=True):
    """A model of a processor core for static bounds.

    `width` is the number of issue slots a cycle. `loads` and `stores` are given by size: r (general), s (up to 64 bits
    of a vector register), x, y, z. A scaled index adds `scaled` cycles to a load. `forwards` maps the sizes of a store
    and a load ("xr", or "" for all others) to the latency of store forwarding. `taken` maps the flow of a taken jump
    ("" for all others) to the fetch cycles that it costs at least. `fused` is a regular expression for the mnemonics of
    an instruction and the following branch, separated by a blank, that fuse. While a 512-bit instruction is in use,
    the `closed` ports take no vector operation. With `splits`, some memory operands take an issue slot of their own
    (see `slots`). `line` is the number of bytes fetched a cycle without a jump (0: unknown). For a form, the first
    matching row of `rows` counts.
    """

    name: str
    title: str
    width: int
    loads: dict[str, Access]
    stores: dict[str, Access]
    scaled: Cycles
    forwards: dict[str, Cycles]
    taken: dict[str, Cycles]
    fused: str
    rows: tuple[CostRow, ...]
    sources: tuple[str, ...]
    closed: frozenset[str] = frozenset()
    splits: bool = False
    line: int = 0

    @cached_property
    def by_form(self) -> Mapping[str, tuple[CostRow, ...]]:
        """The rows of each form, with v expanded to x, y and z."""
        by_form: dict[str, tuple[CostRow, ...]] = {}
        for row in self.rows:
            for form in row.forms.split():
                for letter in "xyz" if "v" in form else "v":
                    spelt = form.replace("v", letter)
                    by_form[spelt] = (*by_form.get(spelt, ()), row)
        return by_form

    def lacking(self, decoded: Iterable[Decoded]) -> tuple[str, ...]:
        """Return the CPU features that these instructions need and the processor lacks."""
        return lacking(self.name, features(decoded))

    def row(self, instruction: Decoded, taken: bool = False) -> CostRow:
        """Return the row of an instruction, with `taken` that of a taken branch. A load or store alone needs no row.

        Raises UnknownCost if there is none, or if the processor lacks the instruction.

        >>> from setwise.analysis.code.decode import decode
        >>> from setwise.analysis.cost.processors import processor
        >>> processor("zen4").row(decode(bytes.fromhex("48c1e003"))[0]).ports
        'I12'
        """
        if missing := self.lacking([instruction]):
            raise UnknownCost(f"{self.title} has no {missing[0]}, which '{instruction.text()}' needs: change --cpu")
        masked = instruction.mask is not None
        for form in ["taken"] * taken + [*forms(instruction)]:
            for row in self.by_form.get(form, ()):
                if re.fullmatch(row.mnemonics, instruction.mnemonic) and not (masked and row.vanishes):
                    return row
        if classify(instruction) in ("load", "store"):
            return _ACCESS_ALONE
        remedy = "setwise count counts the code without them"
        raise UnknownCost(f"{self.title}: the cost table has no figures for {instruction.title}: {remedy}")

    def fuses(self, instruction: Decoded, following: Decoded) -> bool:
        """Return whether an instruction fuses with the branch that follows it."""
        return (
            following.flow == "branch"
            and bool(re.fullmatch(self.fused, f"{instruction.mnemonic} {following.mnemonic}"))
            and not instruction.stores
            and not (instruction.loads and any(isinstance(operand, Imm) for operand in instruction.operands))
        )

    def slots(self, instruction: Decoded, row: CostRow) -> float:
        """Return the number of issue slots that an instruction takes.

        With `splits`, as on Intel, the memory operand of an operation or transfer takes a slot of its own in two cases:
        a rip-relative address beside an immediate, and an address with an index beside several register operands.
        """
        memory = instruction.memory
        if self.splits and memory is not None and classify(instruction) in ("operation", "transfer"):
            registers = sum(isinstance(operand, Reg) for operand in instruction.operands)
            immediate = any(isinstance(operand, Imm) for operand in instruction.operands)
            if instruction.mnemonic != "lea" and (
                (memory.target is not None and immediate) or (memory.index is not None and registers > 1)
            ):
                return row.issue + 1
        return row.issue


_ACCESS_ALONE = CostRow("", "", "", 0, "the table's loads and stores")


def parse_ports(text: str) -> Uops:
    """Parse ports in the notation of `CostRow`. Raises ValueError for a term without ports.

    >>> [(sorted(ports), count) for ports, count in parse_ports("p01 + 2*I0B0")]
    [(['p0', 'p1'], 1.0), (['B0', 'I0'], 2.0)]
    """
    uops = []
    for term in filter(None, text.replace(" ", "").split("+")):
        count, _, names = term.rpartition("*")
        ports = [letter + digit for letter, digits in re.findall(r"([A-Za-z])(\d+)", names) for digit in digits]
        if not ports or not re.fullmatch(r"([A-Za-z]\d+)+", names):
            raise ValueError(f"'{term}' names no ports")
        uops.append((frozenset(ports), float(count or 1)))
    return tuple(uops)


def size_of(instruction: Decoded) -> str:
    """Return the size of an instruction's memory access as a key of `Processor.loads` and `stores`.

    >>> from setwise.analysis.code.decode import decode
    >>> size_of(decode(bytes.fromhex("c5fd6f07"))[0]), size_of(decode(bytes.fromhex("58"))[0])
    ('y', 'r')
    """
    memory = instruction.memory
    vectors = any(isinstance(operand, Reg) and operand.file == "vector" for operand in instruction.operands)
    if memory is None or not vectors:
        return "r"
    return "s" if memory.bits <= 64 else {128: "x", 256: "y", 512: "z"}[memory.bits]


def forms(instruction: Decoded) -> Iterator[str]:
    """Yield the forms of an instruction, the most specific first.

    >>> from setwise.analysis.code.decode import decode
    >>> [*forms(decode(bytes.fromhex("4821f8"))[0])], [*forms(decode(bytes.fromhex("482307"))[0])]
    (['r'], ['rm', 'r'])
    """
    if instruction.mnemonic == "lea":
        assert instruction.memory is not None
        yield f"r[{_address(instruction.memory)}]"
        return
    operands = instruction.operands
    if not operands:
        yield "none"
        return
    spelt = [_letter(operand) for operand in operands]
    if "m" not in spelt or classify(instruction) in ("load", "store"):
        plain = [_joined(spelt)]
    else:
        memory = instruction.memory
        assert memory is not None
        stands_for = _register_for(memory, [letter for letter in spelt if letter in "xyz"])
        plain = [_joined(spelt), _joined([stands_for if letter == "m" else letter for letter in spelt])]
    for form in plain:
        if instruction.mask is not None:
            yield form + "{k}"
        elif _reads_one(operands):
            yield form + "="
        yield form
        if "I" in form:
            yield form.replace("I", "i")


def _letter(operand: Operand) -> str:
    if isinstance(operand, Mem):
        return "m"
    if isinstance(operand, Imm):
        return "i" if (operand.value + (1 << 31)) & 0xFFFF_FFFF_FFFF_FFFF < 1 << 32 or operand.value >> 32 == 0 else "I"
    if operand.file == "general":
        return {8: "b", 16: "w"}.get(operand.bits, "r")
    return {"mask": "k", "vector": {128: "x", 256: "y"}.get(operand.bits, "z")}.get(operand.file, "o")


def _register_for(memory: Mem, vectors: list[str]) -> str:
    if vectors:
        return max(vectors)
    return {8: "b", 16: "w"}.get(memory.bits, "r")


def _joined(letters: list[str]) -> str:
    return re.sub(r"(.)\1+", r"\1", "".join(letters))


def _reads_one(operands: tuple[Operand, ...]) -> bool:
    read = operands if len(operands) == 2 else operands[1:3]
    first = read[0] if read else None
    return len(read) == 2 and isinstance(first, Reg) and first == read[1]


def _address(memory: Mem) -> str:
    """Return the form of a lea's address. A base of rbp or r13 always has a displacement in the code, if only 0."""
    if memory.target is not None:
        return "p"
    base, index = memory.base, memory.index
    displaced = memory.displacement != 0 or (base is not None and base.full in ("rbp", "r13"))
    scaled = "s" if memory.scale > 1 else "i"
    return ("b" if base else "") + (scaled if index else "") + ("d" if displaced else "")
