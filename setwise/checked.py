"""Kernels that check on every call what their routine requires."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from setwise.analysis.semantics.domains import Integers
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.task import TaskError, conditions
from setwise.codegen.run.function import Function, Recipe, named, words_of

if TYPE_CHECKING:
    from setwise.codegen.kernel import Kernel


class Checked(Function):
    """A function that raises ValueError where a call does not keep to what the routine requires, and runs nothing."""

    checks = "What is required is checked on every call."

    def __init__(self, kernel: Kernel, recipe: Recipe) -> None:
        super().__init__(kernel, recipe)
        self._task = task_of(kernel)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Check the arguments, and run the machine code: see the class."""
        options = self._chosen(named)
        given = self._bound(arguments, named)
        given = tuple(map(self._number, self._parameters, given))
        words = [
            each if hasattr(each, "dtype") else words_of(p, each)
            for p, each in zip(self._parameters, given, strict=True)
        ]
        for required, kept in self._kept(words):
            if not kept:
                raise ValueError(f"{self.kernel.name} requires {required}: this call does not keep to that")
        return super().__call__(*given, **options)

    def _kept(self, words: Sequence[Any]) -> Iterator[tuple[str, bool]]:
        """What is required, and whether all boards keep to it."""
        if all(isinstance(word, int) for word in words):
            yield from conditions(self._task, Integers(), words)
            return
        if any(getattr(word, "dtype", "uint64") != "uint64" for word in words):
            return  # what is of another type is refused where it is taken
        import numpy as np

        from setwise.analysis.semantics.columns import Columns

        columns = [word if isinstance(word, int) else np.asarray(word, np.uint64) for word in words]
        try:
            yield from [(required, bool(np.all(kept))) for required, kept in conditions(self._task, Columns(), columns)]
        except TaskError:  # a requirement that branches is asked board by board
            for row in zip(*(column.ravel().tolist() for column in np.broadcast_arrays(*columns)), strict=True):
                yield from conditions(self._task, Integers(), row)

    def __reduce__(self) -> tuple[Callable[..., Function], Recipe]:
        return checked, self.recipe


def checked(*recipe: Any) -> Checked:
    """Return the function of a recipe, which a pickle holds, that checks every call; errors as `named`."""
    return Checked(named(*recipe).kernel, recipe)
