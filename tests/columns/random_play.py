"""Positions of random play as columns of a Parquet file: python -m tests.columns.random_play 1_000_000 games.parquet

Thousands of games are played at once, a column each. Every legal move is as likely as any other, except that nobody
castles or takes en passant, and that what a pawn becomes is drawn apart. A game ends after 200 half-moves, or when 64
draws in a row gave no legal move (mate, stalemate, or hardly a way out of check); then the next one begins. A row is
what stands after a move: rooks and bishops of the side to move (a queen is both), and all pieces. Needs NumPy 2.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

import setwise

Boards = npt.NDArray[np.uint64]

OWN, THEIRS, PAWNS, KNIGHTS, BISHOPS, ROOKS, KINGS = range(7)
"""The boards of a position as whoever is to move sees it, from below; kinds are those of both sides."""
START = np.array(
    [0xFFFF, 0xFFFF << 48, 0x00FF_0000_0000_FF00, *(row | row << 56 for row in (0x42, 0x2C, 0x89, 0x10))], np.uint64
)
LONGEST, DRAWS = 200, 64

ROYAL = [(file, rank) for file in (-1, 0, 1) for rank in (-1, 0, 1) if (file, rank) != (0, 0)]
LEAPS = [(file, rank) for file in (-2, -1, 1, 2) for rank in (-2, -1, 1, 2) if abs(file) != abs(rank)]
# How far a piece goes that is no slider, by the way it goes; ways 0 to 7 are the sliders' directions.
FAR = np.array([0] * 8 + [file + 8 * rank for file, rank in ROYAL + LEAPS] + [8, 16, 7, 9])

kernel = cache(setwise.kernel)


def step(boards: Boards, files: int, ranks: int) -> Boards:
    """All pieces moved so many files to the east and ranks to the north; those that leave the board are gone."""
    by = np.uint64(abs(8 * ranks + files))
    return (boards << by if 8 * ranks + files > 0 else boards >> by) & reached(files)


@cache
def reached(files: int) -> np.uint64:
    """The files that so many steps to the east can arrive at."""
    return np.uint64(sum(setwise.FILE_A << file for file in range(8) if 0 <= file - files < 8))


def targets(boards: Boards) -> Boards:
    """Where the side to move can go, a board per way: eight directions, the king's, the knights', the pawns'."""
    own, theirs, pawns, knights, bishops, rooks, kings = boards
    occupied = own | theirs
    sliding = kernel("sliders.rays")(rooks & own, bishops & own, occupied)
    leaping = (step(kind & own, *way) for kind, ways in ((kings, ROYAL), (knights, LEAPS)) for way in ways)
    once = step(pawns & own, 0, 1) & ~occupied
    twice = step(once & np.uint64(setwise.RANK_3), 0, 1) & ~occupied
    return np.array(
        [
            *(to & ~own for to in chain(sliding, leaping)),
            *(once, twice, step(pawns & own, -1, 1) & theirs, step(pawns & own, 1, 1) & theirs),
        ]
    )


def drawn(to: Boards, random: np.random.Generator) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """One of a game's targets, each as likely as any other: the way there, and the square; any if there is none."""
    counts = np.cumsum(np.bitwise_count(to), axis=0, dtype=np.int64)
    rank, games = random.integers(np.maximum(counts[-1], 1)), np.arange(to.shape[1])
    way = np.minimum((counts <= rank).sum(axis=0), len(to) - 1)
    boards = to[way, games]
    rank -= np.where(way > 0, counts[way - 1, games], 0)
    square = np.zeros_like(rank)
    for width in (32, 16, 8, 4, 2, 1):  # the rank-th square of a board, by halves
        below = np.bitwise_count(boards & np.uint64((1 << width) - 1))
        upper = rank >= below
        rank -= upper * below
        square += upper * width
        boards = boards >> (upper * np.uint64(width))
    return way, square


def moved(boards: Boards, way: npt.NDArray[np.intp], square: npt.NDArray[np.int64], becomes: Any) -> Boards:
    """The boards after a move; `becomes` says what a pawn on the last rank does."""
    own, theirs = boards[OWN], boards[THEIRS]
    to = np.uint64(1) << square.astype(np.uint64)
    back = kernel("kogge-stone.attacks.any")(to, ~(own | theirs), ((way + 4) % 8).astype(np.uint64)) & own
    origin = np.where(way < 8, back, np.uint64(1) << (square - FAR[way]).astype(np.uint64))
    after = boards & ~(origin | to)
    after[OWN] |= to
    after[PAWNS:] |= np.where(boards[PAWNS:] & origin, to, 0)
    last = after[PAWNS] & after[OWN] & np.uint64(setwise.RANK_8)
    after[PAWNS] ^= last
    for kind, chosen in ((KNIGHTS, becomes == 0), (BISHOPS, becomes & 1), (ROOKS, becomes & 2)):
        after[kind] |= np.where(chosen, last, 0)
    return after


def in_check(boards: Boards) -> npt.NDArray[np.bool_]:
    """Whether the other side attacks the king of the side that has the boards' own pieces."""
    own, theirs, pawns, knights, bishops, rooks, kings = boards
    king = kings & own
    orthogonal, diagonal = kernel("sliders.pair")(king, king, own | theirs)
    attackers = orthogonal & rooks | diagonal & bishops | (step(king, -1, 1) | step(king, 1, 1)) & pawns
    for kind, ways in ((kings, ROYAL), (knights, LEAPS)):
        for way in ways:
            attackers |= step(king, *way) & kind
    return attackers & theirs != 0


def play(games: int, seed: int, start: Boards = START) -> Iterator[tuple[Boards, npt.NDArray[np.bool_], Any]]:
    """Every half-move of that many games: the boards, where black is to move, and which games have just moved."""
    random = np.random.default_rng(seed)
    boards = np.repeat(start[:, None], games, axis=1)
    black, length, draws = np.zeros(games, bool), np.zeros(games, int), np.zeros(games, int)
    while True:
        to = targets(boards)
        after = moved(boards, *drawn(to, random), random.integers(4, size=games))
        legal = to.any(axis=0) & ~in_check(after)
        # The other side sees the board from the other end: ranks are bytes.
        turned = after[[THEIRS, OWN, PAWNS, KNIGHTS, BISHOPS, ROOKS, KINGS]].byteswap()
        boards = np.where(legal, turned, boards)
        black, length, draws = black ^ legal, length + legal, np.where(legal, 0, draws + 1)
        yield boards, black, legal
        over = (length == LONGEST) | (draws == DRAWS)
        boards[:, over], black[over], length[over], draws[over] = start[:, None], False, 0, 0


def columns(rows: int, seed: int) -> Iterator[Boards]:
    """Rooks, bishops and occupied squares of so many positions, at most 4096 at a time."""
    for boards, black, legal in play(min(4096, rows // LONGEST + 1), seed):
        three = np.array([boards[ROOKS] & boards[OWN], boards[BISHOPS] & boards[OWN], boards[OWN] | boards[THEIRS]])
        part = np.where(black, three.byteswap(), three)[:, legal][:, :rows]
        yield part
        rows -= part.shape[1]
        if not rows:
            return


def write(path: str, rows: int, seed: int, group: int) -> None:
    """A Parquet file of so many positions, `group` of them in each of its row groups."""
    import pyarrow
    import pyarrow.parquet

    names = ("rooks", "bishops", "occupied")
    with pyarrow.parquet.ParquetWriter(path, pyarrow.schema([(name, pyarrow.uint64()) for name in names])) as file:
        waiting = np.empty((3, 0), np.uint64)
        for part in columns(rows, seed):
            waiting = np.concatenate([waiting, part], axis=1)
            rows -= part.shape[1]
            while waiting.shape[1] >= group or (not rows and waiting.shape[1]):
                file.write_table(pyarrow.table(list(waiting[:, :group]), names))
                waiting = waiting[:, group:]


def main() -> None:
    parser = argparse.ArgumentParser(description="positions of random play as columns of a Parquet file")
    parser.add_argument("rows", type=int)
    parser.add_argument("path")
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--group", type=int, default=100_000, help="rows in a row group (default: %(default)s)")
    arguments = parser.parse_args()
    if min(arguments.rows, arguments.group) < 1:
        parser.error("there must be rows: 1000 games.parquet")
    write(arguments.path, arguments.rows, arguments.seed, arguments.group)


if __name__ == "__main__":
    main()
