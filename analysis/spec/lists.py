"""Lists that functions write: a block holds as many items as the function returns, and the rest of it is free."""

from collections.abc import Iterator, Sequence

from setwise.analysis.semantics.domains import Bits, Domain, Integers
from setwise.analysis.spec.task import Task


def comparable(task: Task, domain: Domain, words: Sequence[Bits], item: Bits = 0) -> list[Bits]:
    """Return words that are equal if, and for ordered lists only if, the results are equal. `words` are the results'.

    Words of a list have 0 for what is no item. Those of an unordered list are 0 but the first, which is the number of
    times that `item` is in the list. So unordered lists are equal if the words are equal for each item.
    """
    if task.items is None:
        return [*words]
    kept, first = list[Bits](), len(words)
    times: Bits = 0
    for at, result in enumerate(task.results):
        if result.place.block != task.items.block:
            kept.append(words[at])
            continue
        first = min(first, at)
        kept.append(0)
        for low, is_item, value in _items(task, domain, words, at):
            if task.items.unordered:
                same = domain.and_(is_item, domain.eq(value, item, 64), 1)
                times = domain.add(times, domain.concat(0, same, 63, 1), 64)
            else:
                one = domain.shl(domain.ite(is_item, value, 0, 64), low, 64)
                kept[-1] = domain.or_(kept[-1], one, 64)
    if task.items.unordered:
        kept[first] = times
    return kept


def equal(task: Task, one: Sequence[int], other: Sequence[int]) -> bool:
    """Return whether the words of two results say the same."""
    found = {0, *listed(task, one), *listed(task, other)} if task.items and task.items.unordered else {0}
    return all(comparable(task, _KNOWN, one, item) == comparable(task, _KNOWN, other, item) for item in found)


def listed(task: Task, words: Sequence[int]) -> list[int]:
    """Return the items of the list."""
    places = [at for at, result in enumerate(task.results) if task.items and result.place.block == task.items.block]
    return [int(value) for at in places for _, is_item, value in _items(task, _KNOWN, words, at) if is_item]


_KNOWN = Integers()


def _items(task: Task, domain: Domain, words: Sequence[Bits], at: int) -> Iterator[tuple[int, Bits, Bits]]:
    """Yield each element in a word of the list: its lowest bit, the bit whether it is an item, and its value."""
    place = task.results[at].place
    (size,) = (block.alignment for block in task.blocks if block.name == place.block)
    for low in range(0, place.bytes, size):
        is_item = domain.ult((place.offset + low) // size, words[0], 64)
        value = domain.concat(0, domain.extract(words[at], 8 * low, 8 * size, 64), 64 - 8 * size, 8 * size)
        yield 8 * low, is_item, value
