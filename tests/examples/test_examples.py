"""The example programs: they compile without a warning against an exported header, and their answers are right."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

from setwise.analysis.code.count import count
from setwise.analysis.code.objects import load
from setwise.analysis.commands.main import main
from setwise.codegen.run.call import missing
from setwise.codegen.run.executable import runnable
from setwise.codegen.targets import TARGETS
from tests.conftest import require_module, require_tool

HERE = Path(__file__).parent
POSITIONS = Path(__file__).parents[1] / "data" / "positions.fen"
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")
C11, CXX17 = ("-std=c11",), ("-xc++", "-std=c++17")

# Perft Results, chessprogramming wiki: positions 1 to 6, and position 4 mirrored; moves to depth 1, 2, 3, 4.
PERFT = {
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1": (20, 400, 8902, 197281),
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": (48, 2039, 97862, 4085603),
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": (14, 191, 2812, 43238),
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": (6, 264, 9467, 422333),
    "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1": (6, 264, 9467, 422333),
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": (44, 1486, 62379, 2103487),
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": (46, 2079, 89890, 3894594),
}

runs = pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")


def exported(folder: Path, *arguments: str) -> None:
    """A header, made as a user makes it; proofs have their own tests."""
    assert main(("export", *arguments, "--format", "c", "--unproved", "-o", str(folder))) == 0


def built(folder: Path, source: str, compiler: str, *flags: str) -> Path:
    output = folder / "built"
    command = [require_tool(compiler), *STRICT, *flags, f"-I{folder}", str(HERE / source), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return output


def perft(program: Path, fen: str) -> tuple[int, ...]:
    done = subprocess.run([program, fen, "4"], capture_output=True, text=True, check=True)
    return tuple(int(line.split()[1]) for line in done.stdout.splitlines())


@runs
@pytest.mark.parametrize(
    ("isa", "flags"),
    [
        pytest.param("avx2,avx512", (), id="chosen by CPUID"),
        pytest.param("x86-64", (), id="x86-64", marks=pytest.mark.slow),
        pytest.param("bmi2", ("-mbmi", "-mbmi2"), id="bmi2", marks=pytest.mark.slow),
        pytest.param("avx2", ("-mavx2", "-mbmi", "-mbmi2"), id="avx2", marks=pytest.mark.slow),
        pytest.param("avx512", ("-march=x86-64-v4",), id="avx512", marks=pytest.mark.slow),
    ],
)
def test_perft_reaches_the_published_counts(tmp_path: Path, isa: str, flags: tuple[str, ...]) -> None:
    """By CPUID, or compiled for one instruction set: with its flags the compiler is told to use it."""
    if flags and missing(TARGETS[isa]):
        pytest.skip(f"not run: this processor lacks {', '.join(missing(TARGETS[isa]))}")
    several = "," in isa
    exported(tmp_path, "sliders.union", "sliders.rays", "--isa", f"x86-64,{isa}", *(["--dispatch"] if several else []))
    program = built(tmp_path, "perft.c", "gcc", *C11, "-O2", *flags)
    assert {fen: perft(program, fen) for fen in PERFT} == PERFT


@runs
@pytest.mark.slow
@pytest.mark.parametrize("flags", [(*C11, "-O0"), (*C11, "-O3"), (*CXX17, "-O2")], ids=" ".join)
def test_perft_by_another_compiler_and_as_cxx(tmp_path: Path, flags: tuple[str, ...]) -> None:
    exported(tmp_path, "sliders.union", "sliders.rays", "--isa", "avx2,avx512", "--dispatch")
    program = built(tmp_path, "perft.c", "clang++-19" if "-xc++" in flags else "clang-19", *flags)
    assert {fen: perft(program, fen) for fen in PERFT} == PERFT


@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang-19", marks=pytest.mark.slow)])
def test_joined_before_the_fold(tmp_path: Path, compiler: str) -> None:
    """All attackers of a side with one fold, nothing in memory but constants, and right in every position."""
    chess = require_module("chess")
    exported(tmp_path, "sliders.rays", "--isa", "avx512")
    # Loaded twice, as shared library and as object: the first runs, the second is counted.
    made = built(tmp_path, "side_attacks.c", compiler, *C11, "-O2", "-fcf-protection=none", "-c")
    counts = count(load(made, "side_attacks"))
    assert counts.stores == 0
    assert counts.instructions <= 44
    library = built(tmp_path, "side_attacks.c", compiler, *C11, "-O2", "-shared", "-fPIC")
    if missing(TARGETS["avx512"]):
        pytest.skip(f"not run: this processor lacks {', '.join(missing(TARGETS['avx512']))}")
    function = ctypes.CDLL(str(library)).side_attacks
    function.restype, function.argtypes = ctypes.c_uint64, (ctypes.c_uint64,) * 7
    fens = [line for line in POSITIONS.read_text().splitlines() if line and not line.startswith("#")]
    for fen in fens:
        board = chess.Board(fen)
        for color in (chess.WHITE, chess.BLACK):
            own = board.occupied_co[color]
            expected = 0
            for square in chess.scan_forward(own):
                expected |= board.attacks_mask(square)
            straight, diagonal = board.rooks | board.queens, board.bishops | board.queens
            given = (straight & own, diagonal & own, board.occupied, board.knights & own, board.kings & own)
            assert function(*given, board.pawns & own, int(color == chess.BLACK)) == expected, fen
    assert len(fens) > 50
