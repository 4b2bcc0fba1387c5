"""Values of many samples side by side: each is what integers give."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.analysis.semantics.domains import Domain, Integers
from setwise.analysis.semantics.samples import Samples

NUMBER = 3
OPERATIONS: list[Callable[..., object]] = [
    *(Domain.and_, Domain.or_, Domain.xor, Domain.add, Domain.sub, Domain.mul),
    *(Domain.shl, Domain.shr, Domain.sar, Domain.eq, Domain.ult, Domain.ne),
]
WIDTHS = (1, 8, 32, 64, 65)


@settings(max_examples=20)
@given(st.sampled_from(WIDTHS), st.data())
def test_two_operands(width: int, data: st.DataObject) -> None:
    words = st.integers(0, (1 << width) - 1)
    a, b = (data.draw(st.lists(words, min_size=NUMBER, max_size=NUMBER)) for _ in range(2))
    samples, known = Samples(NUMBER), Integers()
    b = [min(count, width) if data.draw(st.booleans()) else count for count in b]
    for operation in OPERATIONS:
        expected = [operation(known, x, y, width) for x, y in zip(a, b, strict=True)]
        assert samples.words(operation(samples, samples.of(a), samples.of(b), width)) == expected
        expected = [operation(known, x, b[0], width) for x in a]
        assert samples.words(operation(samples, samples.of(a), b[0], width)) == expected
        expected = [operation(known, b[0], x, width) for x in a]
        assert samples.words(operation(samples, b[0], samples.of(a), width)) == expected


@settings(max_examples=20)
@given(st.lists(st.integers(0, (1 << 64) - 1), min_size=NUMBER, max_size=NUMBER))
def test_parts_and_choices(words: list[int]) -> None:
    samples, known = Samples(NUMBER), Integers()
    value = samples.of(words)
    low = [known.extract(word, 7, 9, 64) for word in words]
    assert samples.words(samples.extract(value, 7, 9, 64)) == low
    joined = samples.concat(samples.extract(value, 7, 9, 64), value, 9, 64)
    assert samples.words(joined) == [part << 64 | word for part, word in zip(low, words, strict=True)]
    odd = samples.extract(value, 0, 1, 64)
    assert samples.words(samples.ite(odd, value, 5, 64)) == [word if word & 1 else 5 for word in words]


def test_a_value_and_itself() -> None:
    samples = Samples(NUMBER)
    value = samples.of([1, 2, 3])
    assert samples.xor(value, value, 64) == samples.sub(value, value, 64) == samples.ult(value, value, 64) == 0
    assert samples.and_(value, value, 64) is value


def test_samples_in_a_row() -> None:
    few, many = Samples(2), Samples(4)
    one, other = few.of([1, 2]), few.of([3, 4])
    assert many.words(many.joined([one, other], few)) == [1, 2, 3, 4]
    assert many.words(many.repeated(one, few)) == [1, 2, 1, 2]
    assert many.repeated(7, few) == 7
    assert many.words(many.joined([one, 9], few)) == [1, 2, 9, 9]
    assert many.differing(many.repeated(one, few), many.joined([one, other], few)).bit_count() == 2


def test_what_is_too_wide_is_refused() -> None:
    samples = Samples(NUMBER)
    with pytest.raises(TypeError, match="too wide"):
        samples.add(samples.of([1, 2, 3]), 1, 200)
