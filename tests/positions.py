"""Positions that several tests use."""

from collections.abc import Iterator
from random import Random

import chess

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
"""The usual test position for move generators, from the chessprogramming wiki."""


def random_positions(seed: int) -> Iterator[chess.Board]:
    """Yield the positions of games with random moves, of at most 200 plies each."""
    random = Random(seed)
    while True:
        board = chess.Board()
        for _ in range(200):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(random.choice(moves))
            yield board.copy(stack=False)
