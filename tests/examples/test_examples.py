"""The example programs: they compile without a warning against an exported header, and their answers are right."""

import ctypes
import subprocess
from pathlib import Path

import pytest

from setwise.analysis.code.count import count
from setwise.analysis.code.objects import load
from setwise.analysis.commands.main import main
from tests.conftest import few, require_module, require_set, require_tool

HERE = Path(__file__).parent
POSITIONS = Path(__file__).parents[1] / "data" / "positions.fen"
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")
C11, CXX17 = ("-std=c11",), ("-xc++", "-std=c++17")


def exported(folder: Path, *arguments: str) -> None:
    """A header, made as a user makes it; proofs have their own tests."""
    assert main(("export", *arguments, "--format", "c", "--unproved", "-o", str(folder))) == 0


def built(folder: Path, source: str, compiler: str, *flags: str) -> Path:
    output = folder / "built"
    command = [require_tool(compiler), *STRICT, *flags, f"-I{folder}", str(HERE / source), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return output


@pytest.mark.parametrize("compiler", few(["gcc", "clang-19"], 1))
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
    require_set("avx512")
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
