"""Kernels as functions, with methods that have the names of subcommands of `setwise`."""

from collections.abc import Iterator, Sequence
from typing import Any

from setwise.analysis import api
from setwise.analysis.semantics.domains import Integers
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.task import TaskError, conditions
from setwise.codegen.catalogue import find
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.request import Request
from setwise.codegen.run.call import host
from setwise.codegen.run.function import Function, Recipe
from setwise.codegen.run.integers import integer
from setwise.codegen.run.timer import MODES
from setwise.shown import Table, Text


class KernelFunction(Function):
    """The function that `setwise.kernel` returns.

    A call runs the machine code, as described for `setwise.Function`. The methods list, count, cost, check, prove or
    time that code. They raise ValueError, with a message of one line, for a request that cannot be met.

    >>> import setwise
    >>> north = setwise.kernel("kogge-stone.attacks.nort", "bmi2")
    >>> north.count()["instructions"], north.prove().fine
    (15, True)
    """

    @property
    def request(self) -> Request:
        """The request that determines the kernel."""
        return Request.of(self.kernel, self.recipe[3])

    def listing(self, syntax: str = "nasm", *, endbr64: bool = False) -> Text:
        """Return the source in the syntax nasm, gas, att, masm or go. With `endbr64` the kernel begins with it."""
        return Text(api.listing(self.request, syntax, endbr64=endbr64))

    def count(self) -> dict[str, Any]:
        """Return name, isa, lanes, abi, `instructions` in all and by class, `memory_operands`, and sizes in bytes."""
        return api.counts([self.request])[0]

    def cost(self, cpu: str | None = None) -> Table:
        """Return lower bounds in cycles, `latency` and `bound` on throughput, one row a processor, or one for `cpu`."""
        return costed(self.request, cpu)

    def check(self, on: str | None = None, *, quick: bool = False) -> Table:
        """Check results against the specification, fewer if `quick`; `on` names a processor to emulate. Needs NumPy."""
        return checked([self.request], on, quick)

    def prove(self, time_limit: float = 60.0) -> Table:
        """Prove the bytes right or find a `counterexample`, if `time_limit` seconds suffice. Needs bitwuzla."""
        return proved([self.request], time_limit)

    def bench(
        self, mode: str | None = None, beside: str | None = None, boards: int = 512, patience: float = 30.0
    ) -> Table:
        """Time the kernel on this processor, with one row for each code and kind of call: `median` in core cycles.

        `mode` lists kinds of call (chained,independent,mixed), `beside` compilers (gcc,clang), whose code is timed too.
        An empty routine is timed for scale. `boards` is the length of arrays. `patience` is the time to wait for
        undisturbed trials, in seconds for each of several processes. A row without enough of them has no `median`.
        """
        return timed([self.request], mode, beside, boards, patience)


def costed(request: Request, cpu: str | None) -> Table:
    """Return the bounds of a kernel as a table, with one row for `cpu`, or one for each processor that can run it."""
    (code,) = api.costs([request], cpu)
    return Table(code.rows, ("name", "isa", "cpu", "latency", "bound", "limit", "depth", "bytes", "registers"))


def checked(requests: Sequence[Request], on: str | None, quick: bool) -> Table:
    """Check kernels, on the emulated processor `on` if given, and return the outcomes, one row a kernel."""
    rows = [each.row for each in api.check(requests, quick=quick, on=on)]
    return Table(rows, ("name", "isa", "lanes", "abi", "cases", "status", "on", "reason"))


def proved(requests: Sequence[Request], time_limit: float) -> Table:
    """Try to prove kernels, each in at most `time_limit` seconds, and return the outcomes, one row a kernel."""
    rows = [each.row for each in api.prove(requests, time_limit=time_limit)]
    return Table(rows, ("name", "isa", "lanes", "abi", "status", "seconds", "reason"))


def timed(requests: Sequence[Request], mode: str | None, beside: str | None, boards: int, patience: float) -> Table:
    """Time kernels and return the rows, as `KernelFunction.bench` describes."""
    modes, compilers = (given.split(",") if given else None for given in (mode, beside))
    result = api.bench(requests, modes or MODES, beside=compilers or (), boards=boards, patience=patience)
    return Table(result.rows, ("name", "isa", "maker", "mode", "unit", "median", "p10"))


class CheckedFunction(KernelFunction):
    """A function that raises ValueError for a call whose arguments do not meet the routine's requirements."""

    checks = "Every call checks the requirements."

    def __init__(self, kernel: Kernel, recipe: Recipe) -> None:
        super().__init__(kernel, recipe)
        self._task = task_of(kernel)

    def _require(self, given: Sequence[Any]) -> None:
        """Raise ValueError for the first requirement that the arguments violate."""
        pairs = zip(self._parameters, given, strict=True)
        for required, kept in self._kept([each if hasattr(each, "dtype") else integer(p, each) for p, each in pairs]):
            if not kept:
                raise ValueError(f"{self.kernel.name} requires {required}: this call violates it")

    def _kept(self, words: Sequence[Any]) -> Iterator[tuple[str, bool]]:
        """Yield requirements as text and whether words meet them: once for all boards, or for each if any branches.

        Yield nothing for arrays that are not of uint64.
        """
        if all(isinstance(word, int) for word in words):
            yield from conditions(self._task, Integers(), words)
            return
        if any(getattr(word, "dtype", "uint64") != "uint64" for word in words):
            return  # the call itself refuses other types
        import numpy as np

        from setwise.analysis.semantics.columns import Columns

        columns = [word if isinstance(word, int) else np.asarray(word, np.uint64) for word in words]
        try:
            yield from [(required, bool(np.all(kept))) for required, kept in conditions(self._task, Columns(), columns)]
        except TaskError:  # a requirement that branches is evaluated board by board
            for row in zip(*(column.ravel().tolist() for column in np.broadcast_arrays(*columns)), strict=True):
                yield from conditions(self._task, Integers(), row)


def made(
    routine: Routine, isa: str | None, abi: str | None, lanes: int | None, for_: str, cpu: str | None, checked: bool
) -> KernelFunction:
    """Compile a routine and return its function. The arguments are those of `setwise.kernel`."""
    variant = ""
    if for_:
        best = api.request(routine, isa, abi or host().name, lanes, for_=for_, cpu=cpu, here=True)
        isa, variant = best.isa, best.variant
    return (CheckedFunction if checked else KernelFunction).of(routine, isa, abi, lanes, variant)


def kernel(
    name: str,
    isa: str | None = None,
    abi: str | None = None,
    lanes: int | None = None,
    *,
    for_: str = "",
    cpu: str | None = None,
    checked: bool = False,
) -> KernelFunction:
    """Return the routine of that name as a function on integers and on NumPy arrays of uint64.

    The function runs machine code. Boards are integers from 0 to 2**64 - 1, a1 = bit 0, h8 = bit 63, unless the
    routine numbers squares otherwise. Parameters and results are the routine's; help() of the function lists them. The
    default of `isa` is the routine's newest set that this processor has, without vectors of boards unless the routine
    takes arrays; that of `abi` is the convention of this platform's C; that of `lanes`, the boards or directions in a
    register, is the most. Results do not depend on them. `for_` "size" selects the shortest variant, "latency" or
    "throughput" the fastest by timings and bounds, for the processor `cpu` if it is given, and without `isa` among this
    processor's sets. None with pext or pdep is selected where these are slow.

    The caller must meet the routine's requirements, which help() of the function lists. With `checked`, a call that
    violates them raises ValueError. Any number of threads may call the function. A pickle holds the name, the request
    and the variant that `for_` chose; unpickling compiles the function again. Raises ValueError for an unknown name,
    and setwise.codegen.run.executable.NotRunnable if the processor lacks the instruction set.
    """
    return made(find(name), isa, abi, lanes, for_, cpu, checked)
