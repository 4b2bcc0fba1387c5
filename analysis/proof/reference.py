"""The results of a reference function, another function with the same contract, for unknown arguments.

It is executed symbolically as the routine is. It has the same arguments, and the same blocks at the same addresses.
Everything else that it may read at entry is unknown and independent: registers, stack, undefined flags, the upper bits
of narrow arguments, and the addresses of its code, data and stack. So its results equal the routine's only if neither
depends on these.
"""

from collections.abc import Sequence

from setwise.analysis.proof.claims import Case, EntryUnknowns, base_of, claims, entry_state, results
from setwise.analysis.proof.solver import Solver
from setwise.analysis.proof.symbolic import CodeMap, Explorer, Path, Stop
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.spec.task import ReferenceFunction, TaskError


def reference_results(
    solver: Solver, entry: EntryUnknowns, function: ReferenceFunction, case: Case, assumptions: Sequence[Bits]
) -> list[Bits]:
    """Return the word of each result, selected by the conditions of the function's paths.

    Raises SemanticsError or TaskError if the function cannot be followed or breaks the contract.
    """
    domain, code = solver.domain, CodeMap(function.binary)
    explorer = Explorer(solver, code, entry, case, assumptions)
    paths: list[Path] = []
    for end in explorer.run(Path(entry_state(entry, code.image, case), 0)):
        if isinstance(end, Stop):
            raise TaskError(f"{function.name}: {end.complaint}")
        paths.append(end)
    if not paths:
        raise TaskError(f"{function.name}: no path returns")
    for path in paths:
        for claim in claims(entry, case, path.state, ()):
            if not explorer.sure(path, domain.not_(claim.differs, 1)):
                raise TaskError(f"{function.name}: {claim.complaint}")
    *others, last = paths
    words = results(case, last.state, 0)
    for path in others:
        taken, mine = domain.conjunction(path.conditions), results(case, path.state, 0)
        words = [domain.ite(taken, one, other, 64) for one, other in zip(mine, words, strict=True)]
    return domain.elsewhere(words, [base_of(block) for block in case.task.blocks])
