"""Every row of every target as instructions: a value that it makes, in each width, its registers low and high."""

from collections.abc import Callable, Iterator

from setwise.codegen.ir.values import Value, constant, parameter
from setwise.codegen.machine.code import Instruction, Memory, Operand, Register
from setwise.codegen.targets.table import Row, Target, build

_ARGUMENTS: dict[str, Callable[[int], tuple[int, ...]]] = {
    "broadcast": lambda n: (1,),
    "from-general": lambda n: (1,),
    "splat": lambda n: (2,),
    "insert": lambda n: (2, 1),
    "to-general": lambda n: (2,),
    "odd-to-general": lambda n: (2,),
    **dict.fromkeys(("popcount", "popcount-bytes"), lambda n: (n,)),
    "load-constant": lambda n: (n,),
    "from-mask": lambda n: (1,),
    "lanes-of-mask": lambda n: (1,),
    "concatenate": lambda n: (n, n // 2),
    "nonzero-lanes": lambda n: (n,),
    "ternary": lambda n: (n, n, n),
    **dict.fromkeys(("displaced-sum", "displaced-scaled-sum"), lambda n: (n, n, n)),
    "load": lambda n: (1, 1),
    **dict.fromkeys(("lanes-to-bytes", "lanes-to-words"), lambda _: (8,)),
    "put": lambda n: (1, n),
    **dict.fromkeys(("put-low", "put-odd"), lambda n: (1, 2)),
    "put-entry": lambda n: (1, 1, n),
    "load-some": lambda _: (1, 1, 1),
    "put-some": lambda n: (1, 1, n, 1),
}
"""The lanes of the arguments where they are not two of as many as the result has."""
_LANES = {
    **dict.fromkeys(("from-general", "insert", "to-general", "odd-to-general", "put-low", "put-odd"), 2),
    **dict.fromkeys(("lanes-to-bytes", "lanes-to-words"), 2),
    "permute": 4,
    "repeat": 8,
    "exchange": 8,
}
_MASKS = ("nonzero-bytes-mask", "not-less-bytes-mask", "nonzero-lanes", "equal-mask", "less-mask", "less-signed-mask")
_ONE = frozenset({"to-general", "odd-to-general", "put-low", "put-odd", *_MASKS})
"""Those of vectors with a result of 64 bits."""
_OF_MASKS = ("from-mask", "lanes-of-mask", "or-masks", "put-mask")
"""Operations on mask registers: all their arguments are in one, of put-mask only the last."""
_SUMS = ("scaled-sum", "displaced-scaled-sum", "displaced-shift")
_MASK = Value("nonzero-bytes-mask", (parameter(0, 8), parameter(1, 8)))
_COUNTED = frozenset({"shl", "shr", "rotl", "sar", "low-shl", "shl-or-rotl", "shr-or-rotr", "load-constant", *_SUMS})


def values(target: Target, row: Row) -> Iterator[Value]:
    """Values that the row makes, of every number of lanes that the target has."""
    for lanes in target.widths if row.file == "vector" else (1,):
        if _LANES.get(row.op, lanes) != lanes:
            continue
        many = _ARGUMENTS[row.op](lanes) if row.op in _ARGUMENTS else (lanes, lanes)
        for shape in ((2 * lanes,), (2,))[: 1 + (lanes == 2)] if row.op == "high-half" else (many,):
            args = [parameter(at, each) for at, each in enumerate(shape)]
            if row.op in _OF_MASKS:
                args = [args[0] if row.op == "put-mask" and arg is args[0] else _MASK for arg in args]
            if row.masked:
                args[-1] = _MASK
            for attr in _attributes(row.op, lanes):
                numbers = (
                    () if args[-1] is _MASK else (constant(5, shape[-1]), constant(tuple(range(1, shape[-1] + 1))))
                )
                masks = [constant(n) for n in (0xFF, 0xFFFF, 0xFFFF_FFFF)] if row.op == "and" and lanes == 1 else []
                for last in (args[-1], *numbers, *masks):
                    value = Value(row.op, (*args[:-1], last), attr, 1 if row.op in _ONE else lanes)
                    if (row.op != "load-constant" or last.constant) and row in target.rows_for(value):
                        yield value


def _attributes(op: str, lanes: int) -> Iterator[object]:
    if op not in _COUNTED:
        yield from (4,) if op == "distance" else (8, 4, 1)
        return
    yield from (
        (n,) * lanes for n in ((5, 1 << 40) if op == "load-constant" else (1, 2, 32) if op == "rotl" else (1, 2))
    )
    yield tuple(range(1, lanes + 1))


def instructions(target: Target, row: Row) -> Iterator[Instruction]:
    """The row's instructions on these values; constants in memory where it folds them."""
    for value in values(target, row):
        for number in dict.fromkeys((1, min(15, target.vectors - 1) if target.vectors else 9, target.vectors - 1 or 9)):
            args: list[Operand] = []
            for letter, arg in zip("abcd", value.args, strict=False):
                if arg.constant is not None and letter in row.folds:
                    spread = f"{letter.upper()}1" in row.spellings
                    args.append(Memory(64 if spread else 64 * arg.lanes, symbol="datum", broadcast=spread))
                else:
                    args.append(_register(max(number - 1, 0), arg))
            if row.masked:
                args[-1] = Register("mask", 1 + number % 7, 64)  # k0 is no write mask
            result = _register(number, value)
            yield build(row, value, result, [result, *args[1:]] if row.tied else args)


def _register(number: int, value: Value) -> Register:
    numbers = {"general": 16, "vector": 32, "mask": 8}[value.file]
    return Register(value.file, number % numbers, 64 * value.lanes)
