"""Exchanges of the loops over pieces in known engines for one call of a setwise routine each.

An exchange finds its place by a regular expression and holds nothing of an engine but the names that the call needs.
How an engine is built stays with its users.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

ISAS = "x86-64,bmi2,avx2,avx512"
_FILES = {"c": "fills.h", "rust": "fills.rs", "zig": "fills.zig"}  # Reckless has a module setwise of its own
_DECLARATIONS = {
    "c": '#include "fills.h"\n',
    "rust": "\nmod fills;\n",
    "zig": '\nconst fills = @import("fills.zig");\n',
}


class Failed(Exception):
    """One line that names the step which failed."""


@dataclass(frozen=True)
class Exchange:
    """The exchange for one engine."""

    engine: str
    source: str  # the file that computes the threats, from the root of the checkout
    place: str  # regular expression; the body in braces is replaced if it ends in `\{`, otherwise the match
    code: str  # the replacement
    routine: str
    format: str = "c"
    root: str = ""  # the file that declares the module, if not the source itself


def recognized(checkout: Path) -> Exchange:
    """Return the exchange whose place is in the checkout."""
    for exchange in EXCHANGES:
        source = checkout / exchange.source
        if source.is_file() and re.search(exchange.place, source.read_text("utf-8"), re.DOTALL):
            return exchange
    raise Failed(f"{checkout}: no text to replace is known there; known are {', '.join(e.engine for e in EXCHANGES)}")


def apply(exchange: Exchange, checkout: Path, *, proved: bool = True) -> None:
    """Write setwise's source to the checkout and call it at the exchange's place."""
    source = checkout / exchange.source
    text = replaced(source.read_text("utf-8"), exchange.place, exchange.code)
    if not text:
        raise Failed(f"{source}: the text to replace is not there")
    source.write_text(text, "utf-8")
    root = checkout / (exchange.root or exchange.source)
    text, declaration = root.read_text("utf-8"), _DECLARATIONS[exchange.format]
    root.write_text(declaration + text if exchange.format == "c" else text + declaration, "utf-8")
    (root.parent / _FILES[exchange.format]).write_text(exported(exchange.routine, exchange.format, proved), "utf-8")


@cache
def exported(routine: str, language: str, proved: bool) -> str:
    """Return setwise's source of the routine in that language."""
    with TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "setwise",
            "export",
            routine,
            "--isa",
            ISAS,
            "--format",
            language,
            "-o",
            folder,
        ]
        command += ["--force", "--name", "fills", *([] if proved else ["--unproved"])]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"the export of {routine} failed: {done.stderr.strip()}")
        return (Path(folder) / _FILES[language]).read_text("utf-8")


def replaced(text: str, place: str, code: str) -> str:
    """Return the text with the code at each match of the place; an empty string if nothing matches."""
    parts, end = [], 0
    for match in re.finditer(place, text, re.DOTALL):
        braces = place.endswith(r"\{")
        parts += [text[end : match.end() if braces else match.start()], "\n" + code + "\n"]
        end = _closing_brace(text, match.end()) if braces else match.end()
    return "".join([*parts, text[end:]]) if parts else ""


def _closing_brace(text: str, start: int) -> int:
    """Return the index of the brace that closes the one just before start. Braces in strings are not expected."""
    depth = 1
    for index in range(start, len(text)):
        depth += (text[index] == "{") - (text[index] == "}")
        if not depth:
            return index
    raise Failed("the body to replace has no closing brace")


# Each comment says what the engine's numbers are: the square of bit 0, the number of White, the own king's part.
EXCHANGES = (
    Exchange(  # a8, White is 0, and so the color argument is the other side's; rays pass the attacked king
        "Berserk",
        "src/board.c",
        r"inline void SetThreats\(Board\* board\) \{",
        """\
  const int them = board->xstm;
  const BitBoard occupied = OccBB(BOTH) ^ PieceBB(KING, board->stm);
  uint64_t threats[7];
  setwise_side_threats_any(board->stm, PieceBB(PAWN, them), PieceBB(KNIGHT, them), PieceBB(BISHOP, them),
      PieceBB(ROOK, them), PieceBB(QUEEN, them), PieceBB(KING, them), occupied, threats);
  for (int piece = PAWN; piece <= KING; piece++)
    board->threatenedBy[piece] = threats[piece];
  board->threatened = threats[6];
""",
        "side.threats.any",
    ),
    Exchange(  # a1, White is 0; the king stays
        "Obsidian",
        "src/position.cpp",
        r"void Position::calcThreats\(Threats& threats\) \{",
        """\
  const Color them = ~sideToMove;
  uint64_t by[3];
  setwise::side_nested_three_any(them, pieces(them, PAWN), pieces(them, KNIGHT), pieces(them, BISHOP),
      pieces(them, ROOK), pieces(), by);
  threats.byPawn = by[0];
  threats.byMinor = by[1];
  threats.byRook = by[2];
""",
        "side.nested-three.any",
    ),
    Exchange(  # a1, White is 0; the king stays
        "PlentyChess",
        "src/board.cpp",
        r"void Board::calculateThreats\(\) \{",
        """\
    const Color them = flip(stm);
    const Bitboard theirs = byColor[them];
    uint64_t by[7];
    setwise::side_threats_any(them, byPiece[Piece::PAWN] & theirs, byPiece[Piece::KNIGHT] & theirs,
        byPiece[Piece::BISHOP] & theirs, byPiece[Piece::ROOK] & theirs, byPiece[Piece::QUEEN] & theirs,
        byPiece[Piece::KING] & theirs, byColor[Color::WHITE] | byColor[Color::BLACK], by);
    threats.pawnThreats = by[0];
    threats.knightThreats = by[1];
    threats.bishopThreats = by[2];
    threats.rookThreats = by[3];
    threats.queenThreats = by[4];
    threats.kingThreats = by[5];
    threats.allThreats = by[6];
""",
        "side.threats.any",
    ),
    Exchange(  # a1, White is 1; rays pass the attacked king
        "Halogen",
        "src/chessboard/board_state.cpp",
        r"void BoardState::update_lesser_threats\(\)\s*\{",
        """\
    uint64_t by[5];
    setwise::side_nested_five_any(stm == WHITE, get_pieces_bb(PAWN, !stm), get_pieces_bb(KNIGHT, !stm),
        get_pieces_bb(BISHOP, !stm), get_pieces_bb(ROOK, !stm), get_pieces_bb(QUEEN, !stm),
        get_pieces_bb() ^ get_pieces_bb(KING, stm), by);
    lesser_threats[KNIGHT] = by[0];
    lesser_threats[BISHOP] = by[1];
    lesser_threats[ROOK] = by[2];
    lesser_threats[QUEEN] = by[3];
    lesser_threats[KING] = by[4];
""",
        "side.nested-five.any",
    ),
    Exchange(  # a1, White is 1; rays pass the attacked king
        "Stormphrax",
        "src/position.cpp",
        r"void Position::calcThreats\(\) \{",
        """\
        const auto us = stm();
        const auto them = us.flip();
        const auto queens = m_bbs.queens(them);
        m_threats = Bitboard{setwise::side_union_any(
            them == Colors::kBlack,
            m_bbs.rooks(them) | queens,
            m_bbs.bishops(them) | queens,
            m_bbs.knights(them),
            m_bbs.kings(them),
            m_bbs.pawns(them),
            this->occ() ^ m_bbs.kings(us)
        )};
""",
        "side.union.any",
    ),
    Exchange(  # a8, White is 0, and so the color argument is the other side's; rays pass the attacked king
        "Carp",
        "chess/src/movegen/gen.rs",
        r"fn gen_king_moves<[^{]*\{",
        """\
        let src = self.own_king().lsb();
        let queens = self.opp_queens().0;
        let threats = BitBoard(crate::fills::side_union_any(
            self.side as u64,
            self.opp_rooks().0 | queens,
            self.opp_bishops().0 | queens,
            self.opp_knights().0,
            self.opp_king().0,
            self.opp_pawns().0,
            self.occupancy().pop_bit(src).0,
        ));
        let safe = king_attacks(src) & !threats;
        for tgt in safe & self.opp_occupancy() {
            move_list.push(Move::new(src, tgt, MoveType::Capture));
        }
        if QUIET {
            for tgt in safe & !self.occupancy() {
                move_list.push(Move::new(src, tgt, MoveType::Quiet));
            }
        }
""",
        "side.union.any",
        "rust",
        "chess/src/lib.rs",
    ),
    Exchange(  # a1, White is 0; rays pass the attacked king
        "Reckless",
        "src/board.rs",
        r"(?<=pub fn update_threats\(&mut self\) \{).*?(?=let diagonal = )",
        """\
        let stm = self.side_to_move();
        let occupancies = self.occupancies() ^ self.colored_pieces(stm, PieceType::King);
        let theirs = |piece| self.colored_pieces(!stm, piece).0;
        let threats = crate::fills::side_threats_any(
            !stm as u64,
            theirs(PieceType::Pawn),
            theirs(PieceType::Knight),
            theirs(PieceType::Bishop),
            theirs(PieceType::Rook),
            theirs(PieceType::Queen),
            theirs(PieceType::King),
            occupancies.0,
        );
        for (board, threat) in self.state.piece_threats.iter_mut().zip(threats) {
            *board = Bitboard(threat);
        }
        self.state.all_threats = Bitboard(threats[6]);
""",
        "side.threats.any",
        "rust",
        "src/lib.rs",
    ),
    Exchange(  # a1, White is 0; rays pass the attacked king
        "Avalanche",
        "src/chess/position.zig",
        r"var danger: types\.Bitboard = 0;.*?(?=// King moves)",
        """\
        const danger = fills.side_union_any(
            @intFromEnum(opp),
            their_ortho_sliders,
            their_diag_sliders,
            self.piece_bitboards[types.Piece.new_comptime(opp, types.PieceType.Knight).index()],
            types.SquareIndexBB[their_king.index()],
            self.piece_bitboards[types.Piece.new_comptime(opp, types.PieceType.Pawn).index()],
            all_bb ^ types.SquareIndexBB[our_king.index()],
        );
""",
        "side.union.any",
        "zig",
    ),
)
