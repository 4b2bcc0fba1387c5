"""Pictures of the games and puzzles in tests/examples/games: `make golden` writes games/pictures.txt."""

import io
from contextlib import chdir, redirect_stdout
from pathlib import Path
from shlex import split

from setwise.analysis.commands.main import main

FOLDER = Path(__file__).parents[1] / "examples" / "games"
PICTURES = FOLDER / "pictures.txt"
SHOWN = (
    "amazons.py d4 c3,c4,d5,e5,e3,d6,a7,b6,g7",
    "backward_pawns.py b2,d3,c4,e4 c5,b5,g6",
    "breakthrough.py a2,c4,d4,e6 c5,d5,f7",
    "canonical.py d4,d6,g2,h2,h1,g1",
    "component.py c3 b3,c3,c4,d4,e5,f6,f5,e6,a8,h1",
    "draughts.py a3,c3,e3,g3 b4,d4,f6,h4,e5",
    "fifteen.py 0x0fedcba987654321 15 14",
    "forks.py a8,e8,g5 f7,h7",
    "go_capture.py a1,a2,b3,c2,d1,g6 b1,c1,b2,f6,f7",
    "gomoku.py b2,c3,e5,f6,d7,e7,f7,g7 c7",
    "hyperbola.py d4 d6,d2,f4,d8",
    "king_attack.py g8 --fen '6k1/5ppp/8/4N2R/8/3B4/8/6K1 w - - 0 1'",
    "knight_distance.py a1",
    "life.py b7,c6,a5,b5,c5,f3,g3,h3",
    "lights_out.py d4,e4,h8 d5,a1,h8",
    "minesweeper.py a1,c1,d3,e3,f3,d4,f4,d5,e5,f5,h8",
    "othello_flips.py c4 f4,c7,f7 d4,e4,c5,c6,d5,e6",
    "passed_pawns.py a5,d4,f4,h5 b6,d6,g3",
    "pins.py e1 d2,e2,f2,g2 --fen '4r3/8/8/b7/7b/8/3PPPP1/4K3 b - - 0 1'",
    "qubic.py 0x8000040000200001",
    "queens.py a1,b5,c8,d6,e3,f7,g2,h3",
    "torus_life.py a1,b1,c1,c2,b3",
    "warnsdorff.py c2 a1,c2,b4",
)
"""Arguments of `setwise run`, one for each file."""


def picture(shown: str) -> str:
    """Return the command and what it prints."""
    with redirect_stdout(io.StringIO()) as out, chdir(FOLDER):
        assert main(["run", *split(shown), "--isa", "x86-64"]) == 0
    return f"$ setwise run {shown} --isa x86-64\n{out.getvalue()}"


if __name__ == "__main__":
    PICTURES.write_text("\n".join(map(picture, SHOWN)), encoding="ascii")
