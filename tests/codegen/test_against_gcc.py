"""Our kernels against gcc -O3 from the seeds' C: no more instructions, no more moves, masks counted on both sides.

gcc loads a mask constant by an instruction of its own; ours is read from memory by the instruction that uses it. So
that neither gets it for free, every constant that lies beside our code counts as one instruction more.
"""

from __future__ import annotations

import random
from functools import cache

import pytest

from setwise.analysis.code.count import Counts, count
from setwise.analysis.code.decode import Binary
from setwise.analysis.spec import raywalk
from setwise.codegen.assemble import assemble
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.run.executable import runnable
from tests import seeds_c
from tests.codegen.programs import called
from tests.conftest import require_tool

PARTNER = {"wiki": "sysv", "sysv": "sysv", "win64": "win64"}
"""gcc knows no wiki convention: there System V is the one to beat."""

FLAGS = {"x86-64": (), "bmi2": ("-mbmi", "-mbmi2")}


@cache
def ours(routine: str, isa: str, abi: str) -> Counts:
    assembled = assemble(lower(find(routine), isa, abi).code)
    return count(Binary(assembled.text, assembled.data, assembled.data_offset))


def with_constants(counts: Counts) -> int:
    """Instructions, and every constant of 8 bytes beside the code as one more."""
    return counts.instructions + counts.data_bytes // 8


def gcc() -> str:
    require_tool("objcopy")
    return require_tool("gcc")


@pytest.mark.parametrize("abi", PARTNER)
@pytest.mark.parametrize("isa", FLAGS)
def test_no_more_instructions_and_moves_than_gcc(isa: str, abi: str) -> None:
    theirs = seeds_c.counted(gcc(), PARTNER[abi], FLAGS[isa])
    for routine, their in theirs.items():
        our = ours(routine, isa, abi)
        assert our.moves <= their.moves, f"{routine}: {our.moves} moves, gcc {their.moves}"
        assert with_constants(our) <= with_constants(their), (
            f"{routine}: {with_constants(our)} instructions with constants, gcc {with_constants(their)}"
        )


@pytest.mark.parametrize("abi", PARTNER)
def test_a_constant_beside_the_code_is_counted(abi: str) -> None:
    """The comparison would mean nothing if our masks were not seen: a wrapping direction has one, a vertical none."""
    for routine in seeds_c.ROUTINES:
        vertical = routine.endswith(("nort", "sout"))
        assert (with_constants(ours(routine, "x86-64", abi)) > ours(routine, "x86-64", abi).instructions) != vertical


def test_gcc_counts_its_masks() -> None:
    """In gcc's code the mask is an instruction: what is extracted is whole, and read as what it is."""
    theirs = seeds_c.counted(gcc(), "sysv")
    for routine, counts in theirs.items():
        vertical = routine.endswith(("nort", "sout"))
        assert counts.constants + counts.data_bytes >= (0 if vertical else 1), routine
        assert counts.operations >= {"dumb7": 18, "kogge-stone": 12}[routine.split(".")[0]], routine


@pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")
@pytest.mark.parametrize("abi", ["sysv", "win64"])
def test_the_c_computes_the_same(abi: str) -> None:
    """A comparison with other C would be worth nothing: what gcc made of ours gives what the ray-walk gives."""
    boards = random.Random(2)
    for routine, code in seeds_c.compiled(gcc(), abi).items():
        _, form, direction = routine.split(".")
        function = called(code, CONVENTIONS[abi], 2)
        specification = {"occluded": raywalk.occluded, "attacks": raywalk.attacks}[form]
        for _ in range(20):
            empty = boards.getrandbits(64) | boards.getrandbits(64)
            sliders = boards.getrandbits(64) & boards.getrandbits(64) & ~empty
            assert function(sliders, empty) == specification(direction, sliders, empty), routine


def test_fewest_is_the_least_of_all_compilers() -> None:
    compilers = [gcc(), require_tool("clang-19")]
    least = seeds_c.fewest(compilers, "sysv")
    each = [seeds_c.counted(compiler, "sysv") for compiler in compilers]
    for routine in seeds_c.ROUTINES:
        assert least[routine] in [counts[routine].instructions for counts in each]
        assert all(least[routine] <= counts[routine].instructions for counts in each)
