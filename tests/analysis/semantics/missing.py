"""Count the instructions without semantics in code of public engines and Othello programs about attacks and flips.

`python -m tests.analysis.semantics.missing FOLDER` takes a folder of checkouts, each called after its repository. It
compiles some of their files with gcc and clang for several processors, and prints, for each mnemonic, in how many of
the functions it is whose names speak of attacks, threats, rays, pins or checks.
"""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from setwise.analysis.semantics.table import TABLE

COMPILERS = (("gcc", "g++"), ("clang-19", "clang++-19"))
PROCESSORS = ("x86-64-v2", "x86-64-v3", "x86-64-v4", "znver5", "znver3")
"""gcc 12 does not know the fourth, and takes the last."""
FMT = "-DFMT_HEADER_ONLY"
FILES = {
    "berserk/src": ("-std=gnu17", "attacks.c bits.c board.c movegen.c see.c"),
    "edax-reversi/src": ("-std=c17 -D_GNU_SOURCE=1 -DUNICODE", "bit.c board.c flip.c"),
    "Halogen/src": ("-std=c++20 -I.", "chessboard/board_state.cpp movegen/movegen.cpp"),
    "issen/src": ("-std=c++14 -I../include", "bit_manipulations.cpp"),
    "Obsidian/src": ("-std=c++20", "bitboard.cpp movegen.cpp position.cpp"),
    "PlentyChess/src": ("-std=c++20", "bitboard.cpp board.cpp magic.cpp threat-inputs.cpp"),
    "Rose/src": (
        f"-std=c++26 {FMT} -I. -I../vendor/lps/include -I../vendor/fmt/include",
        "rose/movegen.cpp rose/position.cpp",
    ),
    "RubiChess/src": ("-std=c++17", "board.cpp move.cpp"),
    "Stockfish/src": ("-std=c++17 -DIS_64BIT -DUSE_POPCNT", "attacks.cpp bitboard.cpp movegen.cpp position.cpp"),
    "Stormphrax/src": (
        f"-std=c++20 -DSP_NATIVE {FMT} -I. -I../3rdparty/fmt/include",
        "movegen.cpp position.cpp see.cpp",
    ),
}
"""Files by folder, with the flags that they need."""
NAMES = re.compile("attack|threat|slider|ray|pin|check|flip", re.IGNORECASE)
PREFIXES = {"rep", "repne", "notrack", "lock", "data16"}


def functions(made: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield the name and the mnemonics of each function of an object. Comparisons have the name without the kind."""
    command = ["llvm-objdump-19", "-d", "--no-show-raw-insn", "--no-leading-addr", "--x86-asm-syntax=intel", str(made)]
    name, found = "", set[str]()
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        head = re.fullmatch(r"<(.*)>:", line)
        if head:
            yield name, found
            name, found = head[1], set()
        elif line.startswith((" ", "\t")) and not line.lstrip().startswith("#"):
            words = line.split()
            mnemonic = words[1] if words[0] in PREFIXES and len(words) > 1 else words[0]
            found.add(re.sub(r"^vpcmp(?:neq|eq|n?lt|n?le)(u?[bwdq])$", r"vpcmp\1", mnemonic.replace("movabs", "mov")))
    yield name, found


def main(folder: Path) -> None:
    """Print the table, and what was not compiled."""
    missing, number = Counter[str](), 0
    for place, (flags, files) in FILES.items():
        for file in files.split():
            for compilers in COMPILERS:
                compiler = compilers[not file.endswith(".c")]
                for processor in PROCESSORS:
                    with tempfile.TemporaryDirectory() as made:
                        output = Path(made, "made.o")
                        command = [compiler, *flags.split(), "-O3", "-DNDEBUG", "-w", f"-march={processor}", "-c", file]
                        ran = subprocess.run([*command, "-o", str(output)], cwd=folder / place, capture_output=True)
                        if ran.returncode:
                            print(f"not compiled: {place}/{file} by {compiler} for {processor}", file=sys.stderr)
                            continue
                        for name, mnemonics in functions(output):
                            if NAMES.search(name):
                                number += 1
                                missing.update(mnemonics - TABLE.keys())
    print(f"{number} functions")
    for mnemonic, times in missing.most_common():
        print(f"{times:6}  {mnemonic}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
