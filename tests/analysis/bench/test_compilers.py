"""What compilers make of our C: every routine has some, for its instruction set and no other, and it is judged."""

import itertools
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from setwise.analysis.bench.compilers import (
    Compiled,
    Compiler,
    CompilerError,
    compile_all,
    installed,
)
from setwise.analysis.code.decode import Reg, decode
from setwise.analysis.proof.prover import Prover
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.run.call import missing
from setwise.codegen.targets import TARGETS
from tests.analysis.bench.judging import judge
from tests.conftest import require_module, require_tool

require_module("bitwuzla")

EAST = "kogge-stone.attacks.east"
FAMILIES = ("gcc", "clang")
PATIENCE = 900.0  # seconds a proof: nothing here tests time


def compiler(family: str) -> Compiler:
    """The compiler of that family that is installed here."""
    require_tool({"gcc": "gcc", "clang": "clang-19"}[family])
    return next(one for one in installed() if one.name.startswith(family))


@cache
def kernel(name: str, isa: str, lanes: int | None = None) -> Kernel:
    return lower(find(name), isa, "sysv", lanes)


def routines(isa: str) -> list[str]:
    """All but the cases for corners, which the page names and leaves open: no C is written after it."""
    return [name for name, routine in catalogue().items() if isa in routine.isas and "-corners" not in name]


@cache
def made(isa: str, family: str) -> tuple[Compiled, ...]:
    return tuple(compile_all(routines(isa), isa, using=[compiler(family)]))


def program(folder: Path, name: str, says: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\necho more\n")
    path.chmod(0o755)


def test_the_latest_clang_and_what_compilers_say_of_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installed() == ()
    assert compile_all([EAST], "x86-64") == []
    program(tmp_path, "gcc", "gcc (Here) 12.2")
    for version in ("9", "19", "8"):
        program(tmp_path, f"clang-{version}", f"clang version {version}.1")
    program(tmp_path, "clang-tidy-20", "not a compiler")
    assert installed() == (Compiler("gcc", "gcc (Here) 12.2"), Compiler("clang-19", "clang version 19.1"))
    program(tmp_path, "clang", "clang version 17.0")
    assert installed()[1:] == (Compiler("clang", "clang version 17.0"),)


BY_THEMSELVES = [isa for isa, target in TARGETS.items() if target.extends is None]
"""Of a set that extends another one compilers make what they make of that one."""


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("isa", BY_THEMSELVES)
def test_every_routine_has_c_for_its_instruction_set_and_no_other(isa: str, family: str) -> None:
    here = made(isa, family)
    assert [one.reason for one in here if one.binary is None] == []
    assert {one.routine for one in here} == set(routines(isa))
    beyond = {"x86-64": "xyz", "bmi2": "xyz", "sse2": "yz", "avx2": "z", "avx512": ""}[isa]
    for one in here:
        assert one.binary is not None
        decoded = decode(one.binary.text)
        used = {
            word.name for each in decoded for word in each.operands if isinstance(word, Reg) and word.file == "vector"
        }
        assert not {name for name in used if name[0] in beyond}, one.label
        features = {feature for each in decoded for feature in each.features}
        assert isa == "avx512" or not {name for name in features if name.startswith("avx512")}, one.label
        assert isa != "sse2" or not {name for name in features if "avx" in name or name[:4] in ("sse3", "ssse", "sse4")}


def test_a_compiler_that_fails_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "gcc").write_text("#!/bin/sh\necho 'fills.c: more'\necho 'fills.c:1:2: error: no C' >&2\nexit 1\n")
    (tmp_path / "gcc").chmod(0o755)
    with pytest.raises(CompilerError, match=r"^gcc fails \(1\): fills\.c:1:2: error: no C$"):
        compile_all([EAST], "x86-64", using=[Compiler("gcc", "")])


@pytest.mark.skipif(bool(missing(TARGETS["bmi2"])), reason="not run: this processor lacks BMI2")
@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_look_up_tables_attack_what_the_ray_walk_attacks(family: str) -> None:
    names = ["sliders.union", "sliders.pair"]
    here = [one for one in compile_all(names, "bmi2", using=[compiler(family)]) if "look-up" in one.kind]
    assert [one.routine for one in here] == names * 2
    for one in here:
        verdict = judge(one, kernel(one.routine, "bmi2"), Prover(), 1.0)
        assert verdict is not None, "proved, in a second"
        assert (verdict.status, verdict.cases > 50_000) == ("passed", True), verdict


def judged(isa: str, family: str, names: Sequence[str]) -> list[str]:
    """Labels of what is not proved, of these routines."""
    prover = Prover()
    verdicts = [
        (one, judge(one, kernel(one.routine, isa), prover, PATIENCE))
        for one in compile_all(names, isa, using=[compiler(family)])
        if "look-up" not in one.kind
    ]
    return [f"{one.routine} {one.label}: {verdict}" for one, verdict in verdicts if verdict is not None]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("isa", "family"),
    [
        pytest.param(*each, marks=pytest.mark.long if each[0] in ("x86-64", "bmi2", "sse2") else ())
        for each in zip(BY_THEMSELVES, itertools.cycle(FAMILIES), strict=False)
    ],
)
def test_what_the_compilers_make_is_proved(isa: str, family: str) -> None:
    """Of every family and form three directions, queens and White; passed over are arrays' loops and long proofs."""
    over = [".black", ".noEa", ".soEa", ".sout", ".soWe", ".west", ".batch", "direction", "big-endian"]
    over += [".vertical", ".eastward", ".westward", ".rook", ".bishop"]
    if (isa, family) == ("avx2", "clang"):  # it counts squares with vpsadbw, which the prover does not know
        over += [".counts", ".mobility"]
    assert judged(isa, family, [name for name in routines(isa) if not name.endswith(tuple(over))]) == []
