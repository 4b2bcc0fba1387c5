"""The classes of instruction and their counts.

Each known instruction falls in exactly one class:

move       register to register within one file, extensions (movzx) included
operation  arithmetic, logic, shifts, comparisons, selects (masked moves between registers too), lea
constant   an immediate into a register by mov (xor r, r is an operation)
transfer   between files, and between lanes: broadcast, permute, unpack, extract, insert
load       memory to register and nothing else, a repeated or widened element included
store      register or immediate to memory
branch     jumps, calls and returns
stack      push, pop, enter, leave, and writes of rsp as first operand (not by xchg, xadd)
other      vzeroupper, endbr64, nops, fences, prefetches, traps

`count` leaves out the last return. An operation or transfer with a memory operand (but not lea) counts once in its
class, and once more in `memory_operands`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from setwise.analysis.code.decode import Binary, Decoded, Imm, Mem, Reg, decode

Class = Literal["move", "operation", "constant", "transfer", "load", "store", "branch", "stack", "other"]


class UnclassifiedError(ValueError):
    """An instruction that belongs to no known class. The message names it."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of instructions in each class. The nine classes sum to `instructions`.

    `memory_operands` counts the operations and transfers, but not lea, that have a memory operand. `bytes` is the size
    of the code with its last return, `data_bytes` the size of the read-only data.
    """

    instructions: int
    moves: int
    operations: int
    constants: int
    transfers: int
    loads: int
    stores: int
    branches: int
    stack: int
    other: int
    memory_operands: int
    bytes: int
    data_bytes: int = 0

    @property
    def by_class(self) -> dict[Class, int]:
        """The number of instructions in each class."""
        return dict(zip(get_args(Class), tuple(asdict(self).values())[1:10], strict=True))

    def as_dict(self) -> dict[str, int]:
        """Return the counts as a dictionary, in the order of the fields."""
        return asdict(self)


def count(code: Binary | Sequence[Decoded]) -> Counts:
    """Count the instructions of a routine by class, but not its last return.

    `data_bytes` is 0 if decoded instructions are given. Raises UnclassifiedError for an instruction that has no class.

    >>> counts = count(Binary(bytes.fromhex("4889d048c1e808c3")))
    >>> counts.moves, counts.operations, counts.instructions, counts.bytes
    (1, 1, 2, 8)
    """
    if isinstance(code, Binary):
        decoded: Sequence[Decoded] = decode(code.text)
        data_bytes = len(code.data)
    else:
        decoded, data_bytes = code, 0
    last = max((place for place, instruction in enumerate(decoded) if instruction.flow == "return"), default=-1)
    counted = [instruction for place, instruction in enumerate(decoded) if place != last]
    return tally(counted, bytes=sum(instruction.length for instruction in decoded), data_bytes=data_bytes)


def tally(instructions: Iterable[Decoded], bytes: int = 0, data_bytes: int = 0) -> Counts:
    """Count exactly these instructions, returns included. The sizes are copied from the arguments."""
    kinds: Counter[Class] = Counter()
    memory_operands = 0
    for instruction in instructions:
        kind = classify(instruction)
        kinds[kind] += 1
        if kind in ("operation", "transfer") and instruction.mnemonic != "lea" and instruction.memory:
            memory_operands += 1
    by_class = [kinds[kind] for kind in get_args(Class)]
    fields = [kinds.total(), *by_class, memory_operands, bytes, data_bytes]  # in the order of the fields of Counts
    return Counts(*fields)


def classify(instruction: Decoded) -> Class:
    """Return the class of an instruction. Raises UnclassifiedError if it has none.

    >>> [classify(instruction) for instruction in decode(bytes.fromhex("4889d04831c04c0fb6c0b801000000"))]
    ['move', 'operation', 'move', 'constant']
    """
    name = instruction.mnemonic
    if instruction.flow in ("jump", "branch", "indirect", "call", "return"):
        return "branch"
    if _OTHER.fullmatch(name):
        return "other"
    if _STACK.fullmatch(name) or _is_stack_adjustment(instruction):
        return "stack"
    if _MOVE.fullmatch(name):
        return _class_of_move(instruction)
    if _LANES.fullmatch(name):
        return _class_of_lanes(instruction)
    if _OPERATION.fullmatch(name):
        return "operation"
    remedy = "give a function without this instruction"
    raise UnclassifiedError(f"{instruction.title} is in no class that is counted: {remedy}")


def _is_stack_adjustment(instruction: Decoded) -> bool:
    first = instruction.operands[0] if instruction.operands else None
    return (
        isinstance(first, Reg)
        and first.full == "rsp"
        and "rsp" in instruction.writes
        and instruction.mnemonic not in ("xchg", "xadd")
    )


def _class_of_move(instruction: Decoded) -> Class:
    """Return the class of an instruction that _MOVE matches."""
    if not instruction.operands:  # cbw, cwde, cdqe
        return "move"
    target, source = instruction.operands[0], instruction.operands[-1]
    if isinstance(target, Mem):
        return "store"
    if isinstance(source, Mem):
        return "load"
    if isinstance(source, Imm):
        return "constant"
    assert isinstance(target, Reg)
    if target.file != source.file:
        return "transfer"
    # A masked move selects between its source and the old value or 0, as a blend does.
    return "operation" if instruction.mask else "move"


def _class_of_lanes(instruction: Decoded) -> Class:
    """Return store, load or transfer for an instruction that copies lanes to lanes, between files or with memory."""
    if isinstance(instruction.operands[0], Mem):
        return "store"
    # An instruction with a third operand, or one not in _LOADING, is a transfer even if it reads memory.
    alone = len(instruction.operands) == 2 and isinstance(instruction.operands[1], Mem)
    return "load" if alone and _LOADING.fullmatch(instruction.mnemonic) else "transfer"


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


_OTHER = _pattern(
    "vzeroupper|vzeroall|endbr(32|64)|nop|fnop|pause|int3?|ud[012]|hlt",
    "[lms]fence|prefetch\\w*|clflush(opt)?|clwb|cpuid|rdtscp?|emms|cld|std|rdssp[dq]",
)
_STACK = _pattern("push[fq]*|pop[fq]*|enter|leave")
_MOVE = _pattern(
    "mov|movzx|movsxd?|movbe|movnti|cbw|cwde|cdqe",
    "v?mov(dq[au]|[au]p[sd]|nt(dqa?|p[sd]|q)|d|q)|v?lddqu|vmovdqa(32|64)|vmovdqu(8|16|32|64)",
    "kmov[bwdq]|v?maskmov(dqu|q)|vp?maskmov[dqsp]+|rep stos[bwdq]|stos[bwdq]",
)
_LANES = _pattern(
    "vp?broadcast\\w+|v?mov(d|s[lh])dup",
    "v?mov(hl|lh)ps|v?mov[hl]p[sd]|v?movs[sd]",
    "v?pshuf(b|d|hw|lw)|v?shufp[sd]|vshuf[fi]\\w+",
    "v?punpck[lh]\\w+|v?unpck[lh]p[sd]|kunpck\\w+|v?palignr|valign[dq]",
    "vperm\\w+|vp(compress|expand)[bwdq]|v(compress|expand)p[sd]",
    "v?pextr[bwdq]|v?pinsr[bwdq]|vextract\\w+|vinsert\\w+|v?extractps|v?insertps",
    "v?pmov[sz]x\\w+|vpmov[su]?s?[qdw][dwb]|v?pmovmskb|v?movmskp[sd]|vpmov[bwdq]2m|vpmovm2[bwdq]",
    "vp?(gather|scatter)\\w+",
)
# The instructions of _LANES that are loads if they have no operands but a destination and memory.
_LOADING = _pattern(
    "vp?broadcast\\w+|v?mov(d|s[lh])dup|v?mov[hl]p[sd]|v?movs[sd]|v?pmov[sz]x\\w+|vp?expand\\w+|vp?gather\\w+"
)
_OPERATION = _pattern(
    # general registers
    "(lock )?(add|sub|adc|sbb|and|or|xor|not|neg|inc|dec|xadd|cmpxchg|btc|btr|bts)",
    "xchg|i?mul|i?div|cmp|test|bt|lea|sh[lr]d?|sa[lr]|ro[lr]|rc[lr]|bswap|bs[fr]",
    "cwd|cdq|cqo|cmov\\w+|set\\w+|cmc|clc|stc|lahf|sahf|crc32",
    "andn|bextr|blsi|blsmsk|blsr|tzcnt|bzhi|mulx|pdep|pext|rorx|sarx|sh[lr]x|lzcnt|popcnt|adcx|adox",
    # mask registers
    "k(add|andn?|or|not|xnor|xor|ortest|test|shiftl|shiftr)[bwdq]",
    # vector registers: integers, blends, tests
    "v?p(add|sub)(u?s)?[bwdq]|v?p(and|andn|or|xor)[dq]?|vpternlog[dq]|v?psra[wdq]|v?ps[lr]l(d|q|w|dq)|vps[lr][la]v[wdq]",
    "vpro[lr]v?[dq]|vpsh[lr]dv?[wdq]|v?pmul\\w+|v?pmadd\\w+|v?ph(add|sub)\\w+|v?psign[bwd]|v?pabs[bwdq]|v?pavg[bw]",
    "v?p(min|max)[su][bwdq]|v?psadbw|vdbpsadbw|v?mpsadbw|v?pcmp(eq|gt)[bwdq]|vpcmpu?[bwdq]|v?ptest|vptestn?m[bwdq]",
    "v?pack[su]s\\w+|v?p?blend\\w+|vp?blend\\w+|vpopcnt[bwdq]|vplzcnt[dq]|vpconflict[dq]|vpmultishiftqb|vpshufbitqmb",
    "v?gf2p8\\w+|v?pclmulqdq|v?aes\\w+|vpdp\\w+|vtestp[sd]",
    # vector registers: floating point
    "v?(and|andn|or|xor|add|sub|mul|div|min|max|cmp|sqrt|hadd|hsub|addsub|round|dp)(p|s)[sd]|v?u?comis[sd]|v?cvt\\w+",
    "vf(n?m)(add|sub)\\w+",
)
