"""Calls of a user's function with the parameters of a C prototype: arrays and vectors are lists of elements."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from setwise.analysis.semantics.words import Word


@dataclass(frozen=True, slots=True)
class Shape:
    """A parameter or result in consecutive 64-bit words: an integer, or `elements` elements of `size` bytes each."""

    size: int
    elements: int = 0
    """The number of elements, or 0 for an integer."""

    @property
    def _per_word(self) -> int:
        return 8 // self.size

    def read(self, words: Iterator[Word]) -> Word | list[Word]:
        """Return the value that the next words hold; elements are not negative."""
        if not self.elements:
            return next(words)
        below = (1 << 8 * self.size) - 1
        read = [next(words) for _ in range(-(-self.elements // self._per_word))]
        places = (divmod(at, self._per_word) for at in range(self.elements))
        return [read[word] >> 8 * self.size * part & below for word, part in places]

    def words(self, value: Any) -> Iterator[Word | int]:
        """Yield the words that hold a value. Raises TypeError if it has another number of elements."""
        if not self.elements:
            yield value
            return
        is_list = isinstance(value, list | tuple)
        if not is_list or len(value) != self.elements:
            found = f"{len(value)} elements" if is_list else f"a value of type {type(value).__name__}"
            raise TypeError(f"returns {found} for an array: return a list of {self.elements} elements")
        below = (1 << 8 * self.size) - 1
        for start in range(0, self.elements, self._per_word):
            word: Word | int = 0
            for part, element in enumerate(value[start : start + self._per_word]):
                word = (element & below) << 8 * self.size * part | word
            yield word


def from_elements(
    function: Callable[..., Any], parameters: Sequence[tuple[str, Shape]], results: Sequence[Shape] = ()
) -> Callable[..., Any]:
    """Return the function of words that calls `function` with elements and returns the words of its results.

    The words of parameters with one name come once. Without `results` it returns what `function` returns, the word of a
    requirement.
    """

    @wraps(function)
    def called(*words: Word) -> Any:
        remaining, values = iter(words), dict[str, Any]()
        for name, shape in parameters:
            if name not in values:
                values[name] = shape.read(remaining)
        returned = function(*(values[name] for name, _ in parameters))
        if not results:
            return returned
        gave = returned if len(results) > 1 else (returned,)
        if not isinstance(gave, list | tuple) or len(gave) != len(results):
            raise TypeError(f"must return {len(results)} values: first what C returns, then each array that it writes")
        return tuple(word for shape, value in zip(results, gave, strict=True) for word in shape.words(value))

    return called
