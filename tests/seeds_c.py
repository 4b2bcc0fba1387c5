"""The seeds' one-direction fills in C, and what a compiler makes of them: what our own counts are held against.

The pages print every direction by itself; here they come from templates: the unrolled Dumb7Fill (seven cycles; six
and a shift for attacks, as in its "All Directions") and the Kogge-Stone "Occluded Fill" and "Ray-wise Attacks", with
masks of eight whole bytes, which the pages' conversion damaged.
"""

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from setwise.analysis.code.count import Counts, count
from setwise.analysis.code.decode import Binary

DIRECTIONS = {"nort": 8, "noEa": 9, "east": 1, "soEa": -7, "sout": -8, "soWe": -9, "west": -1, "noWe": 7}
FAMILIES = ("dumb7", "kogge-stone")
FORMS = ("occluded", "attacks")
ROUTINES = tuple(f"{family}.{form}.{name}" for family in FAMILIES for form in FORMS for name in DIRECTIONS)

_WRAPS = {
    "0xfefefefefefefefe": ("noEa", "east", "soEa"),  # not the A file
    "0x7f7f7f7f7f7f7f7f": ("noWe", "west", "soWe"),  # not the H file
}


def function(routine: str) -> str:
    """The C function of a routine.

    >>> print(function("kogge-stone.attacks.east"))
    U64 ABI kogge_stone_attacks_east(U64 gen, U64 pro) {
        pro &= 0xfefefefefefefefeULL;
        gen |= pro & (gen << 1);
        pro &= (pro << 1);
        gen |= pro & (gen << 2);
        pro &= (pro << 2);
        gen |= pro & (gen << 4);
        return (gen << 1) & 0xfefefefefefefefeULL;
    }
    """
    family, form, direction = routine.split(".")
    shift = DIRECTIONS[direction]
    wrap = next((f"{mask}ULL" for mask, names in _WRAPS.items() if direction in names), None)

    def shifted(board: str, steps: int = 1) -> str:
        return f"({board} {'<<' if shift > 0 else '>>'} {abs(shift) * steps})"

    lines = [f"pro &= {wrap};"] if wrap else []
    if family == "dumb7":
        flood = "flood"
        lines.insert(0, "U64 flood = gen;")
        cycles = 7 if form == "occluded" else 6
        lines += [f"flood |= gen = {shifted('gen')} & pro;"] * (cycles - 1)
        lines.append(f"flood |= {shifted('gen')} & pro;")
    else:
        flood = "gen"
        lines += [f"gen |= pro & {shifted('gen')};", f"pro &= {shifted('pro')};"]
        lines += [f"gen |= pro & {shifted('gen', 2)};", f"pro &= {shifted('pro', 2)};"]
        lines.append(f"gen |= pro & {shifted('gen', 4)};")
    if form == "attacks":
        flood = f"{shifted(flood)} & {wrap}" if wrap else shifted(flood)
    body = "\n".join(f"    {line}" for line in (*lines, f"return {flood};"))
    return f"U64 ABI {symbol(routine)}(U64 gen, U64 pro) {{\n{body}\n}}"


def symbol(routine: str) -> str:
    """The name of a routine's C function."""
    return routine.replace(".", "_").replace("-", "_")


def source(routines: Iterable[str] = ROUTINES) -> str:
    """A whole C file; `-DABI=` and `-DABI=__attribute__((ms_abi))` choose the calling convention."""
    return "typedef unsigned long long U64;\n\n" + "\n\n".join(function(routine) for routine in routines) + "\n"


def compiled(compiler: str, abi: str, flags: Sequence[str] = ()) -> Mapping[str, bytes]:
    """The machine code that a compiler makes at -O3 of every routine; `abi` is "sysv" or "win64"."""
    return _compiled(compiler, abi, tuple(flags))


@cache
def _compiled(compiler: str, abi: str, flags: tuple[str, ...]) -> Mapping[str, bytes]:
    attribute = {"sysv": "", "win64": "__attribute__((ms_abi))"}[abi]
    with TemporaryDirectory() as directory:
        c, made, text = (Path(directory) / name for name in ("seeds.c", "seeds.o", "seeds.bin"))
        c.write_text(source())
        options = ("-O3", "-c", "-ffunction-sections", "-fcf-protection=none", *flags, f"-DABI={attribute}")
        subprocess.run([compiler, *options, str(c), "-o", str(made)], check=True)
        codes = {}
        for routine in ROUTINES:
            section = f"--only-section=.text.{symbol(routine)}"
            subprocess.run(["objcopy", "-O", "binary", section, str(made), str(text)], check=True)
            codes[routine] = text.read_bytes()
        return codes


def counted(compiler: str, abi: str, flags: Sequence[str] = ()) -> Mapping[str, Counts]:
    """The counts of what a compiler makes of every routine."""
    return {routine: count(Binary(code)) for routine, code in compiled(compiler, abi, flags).items()}


def fewest(compilers: Iterable[str], abi: str, flags: Sequence[str] = ()) -> Mapping[str, int]:
    """For every routine the fewest instructions that any of the compilers needs."""
    each = [counted(compiler, abi, flags) for compiler in compilers]
    return {routine: min(counts[routine].instructions for counts in each) for routine in ROUTINES}
