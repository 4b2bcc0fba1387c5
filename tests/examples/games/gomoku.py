import setwise
from setwise import ALL, EAST, NOEA, NORT, NOWE, Board, Word, spec


@setwise.routine
def winning(own: Board, other: Board) -> Board:
    """Empty squares that complete five own stones in a row."""
    found = []
    for direction in (EAST, NORT, NOEA, NOWE):
        before = [setwise.constant(ALL)]  # at n, the squares with n own stones in a row just before them
        after = [setwise.constant(ALL)]
        for _ in range(4):
            before.append((before[-1] & own).step(direction))
            after.append((after[-1] & own).step(direction.opposite))
        found += [before[n] & after[4 - n] for n in range(5)]
    return setwise.union(found) & ~(own | other)


@winning.specification
def _(own: Word, other: Word) -> Word:
    found = own & 0
    for line in (line for direction in spec.DIR8 for line in spec.lines(direction)):
        for five in (line[at : at + 5] for at in range(len(line) - 4)):
            for square in five:
                others = sum(1 << s for s in five if s != square)
                found |= (own & others == others) << square
    return found & ~own & ~other
