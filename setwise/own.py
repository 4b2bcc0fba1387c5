"""The object that `setwise.routine` makes of a function: what the command line does with its routine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from setwise.codegen.own.definition import Definition
from setwise.codegen.targets import ALL_SETS

if TYPE_CHECKING:
    from setwise.codegen.run.call import Function

F = TypeVar("F", bound=Callable[..., Any])


class OwnRoutine(Definition):
    """A routine of one's own: called, it runs its machine code; its methods are the subcommands of `setwise`."""

    def kernel(self, isa: str | None = None) -> Function:
        """The routine as a function on integers: machine code of this processor, of its best instruction set here."""
        from setwise.codegen.run.call import function

        return function(self.routine, isa)

    def __call__(self, *arguments: Any) -> Any:
        """Run the machine code."""
        return self.kernel()(*arguments)


@overload
def routine(function: Callable[..., Any], /) -> OwnRoutine: ...
@overload
def routine(*, isas: Sequence[str] = ...) -> Callable[[Callable[..., Any]], OwnRoutine]: ...
def routine(
    function: Callable[..., Any] | None = None, /, *, isas: Sequence[str] = ALL_SETS
) -> OwnRoutine | Callable[[Callable[..., Any]], OwnRoutine]:
    """Make a routine of a function: its annotations say what it takes and gives, its first line what it computes.

    `isas` are the instruction sets that it comes for, by default all that have what it needs. Raises
    setwise.DescriptionError, one line with its place in the file, for annotations that say too little.
    """
    if function is None:
        return lambda described: OwnRoutine(described, isas)
    return OwnRoutine(function, isas)
