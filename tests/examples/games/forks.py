import setwise
from setwise import EAST, NORT, SOUT, WEST, Board, Word, spec

JUMPS = [(NORT, EAST), (NORT, WEST), (SOUT, EAST), (SOUT, WEST), (EAST, NORT), (EAST, SOUT), (WEST, NORT), (WEST, SOUT)]


@setwise.routine
def forks(targets: Board, guarded: Board) -> Board:
    """Squares off the guarded ones from which a knight attacks two targets or more."""
    once = twice = setwise.constant(0)
    for a, b in JUMPS:
        attackers = targets.step(a, a, b)
        twice |= once & attackers
        once |= attackers
    return twice & ~guarded


@forks.specification
def _(targets: Word, guarded: Word) -> Word:
    found = targets & 0
    for square in range(64):
        attacked = [s for s in range(64) if abs(s % 8 - square % 8) * abs(s // 8 - square // 8) == 2]
        count = spec.population(targets & sum(1 << s for s in attacked))
        found |= (count >= 2) << square
    return found & ~guarded
