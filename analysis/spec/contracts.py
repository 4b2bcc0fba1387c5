"""Translation of codegen's contracts into tasks, the data that the prover and other checks work on."""

from itertools import accumulate

from setwise.analysis.spec.task import Argument, Place, Result, Task
from setwise.codegen.ir.routine import Contract as Contract
from setwise.codegen.ir.routine import Parameter as Parameter
from setwise.codegen.kernel import Plan
from setwise.codegen.machine.code import Register
from setwise.codegen.machine.convention import Convention


def task_of(plan: Plan) -> Task:
    """Return the task of a kernel, which its plan determines."""
    return task_for(plan.routine.contract, plan.convention, plan.layout.lanes if plan.layout.batched else 1)


def task_for(contract: Contract, convention: Convention, lanes: int = 1) -> Task:
    """Return the task of a contract under a convention. Each parameter that is no scalar holds `lanes` words."""
    each = tuple(1 if parameter.scalar else lanes for parameter in contract.parameters)
    arguments = (
        Argument(parameter.name, parameter.kind, _place(place, count), parameter.below)
        for parameter, count, place in zip(contract.parameters, each, convention.places(each), strict=True)
    )
    return Task(
        contract.specification,
        contract.direction,
        tuple(arguments),
        _results(contract, convention, lanes),
        contract.requires,
        tuple(register.name for register in convention.saved),
        tuple(f"zmm{number}" for number in sorted(convention.saved_vectors)),
        convention.red_zone,
        convention.home,
        tuple(Argument(element.name, element.kind, Place("general"), element.below) for element in contract.elements),
        contract.numbering,
        contract.counts,
    )


def _results(contract: Contract, convention: Convention, lanes: int) -> tuple[Result, ...]:
    if contract.elements:
        return tuple(Result(name, Place("memory")) for name in contract.results)
    if any(parameter.kind == "results" for parameter in contract.parameters):
        starts = accumulate((8 * lanes for _ in contract.results), initial=0)
        places = [Place("memory", offset=start, lanes=lanes) for start in starts]
    else:
        places = [_place(convention.result_for(lanes), lanes)]
    return tuple(Result(name, place) for name, place in zip(contract.results, places, strict=False))


def _place(register: Register | int, lanes: int) -> Place:
    if isinstance(register, int):
        return Place("stack", offset=register)
    if register.file == "vector":
        return Place("vector", f"zmm{register.number}", lanes=lanes)
    return Place("general", register.at(64).name)
