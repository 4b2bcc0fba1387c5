"""The types of the public face: complete signatures, and a type checker that finds wrong arguments."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import setwise

ROOT = Path(__file__).parents[2]
MISUSED = '''\
import setwise
from setwise import Board


@setwise.routine
def two_up(pieces: Board) -> Board:
    """Squares two steps north."""
    return pieces.step(setwise.NORT, setwise.NORT)


north = setwise.kernel("kogge-stone.attacks.nort")
setwise.kernel(1)  # wrong
setwise.kernel("kogge-stone.attacks.nort", lanes="4")  # wrong
setwise.kernel("kogge-stone.attacks.nort", objective="size")  # wrong
north.listing(syntax=1)  # wrong
north.count("avx2")  # wrong
north.cost(cpu=1)  # wrong
north.check(quick="yes")  # wrong
north.prove(time_limit="60")  # wrong
north.bench(boards="many")  # wrong
two_up.kernel(isa=2)  # wrong
two_up.listing(lanes="4")  # wrong
two_up.count(isa=2)  # wrong
two_up.cost(cpu=1)  # wrong
two_up.check(on=1)  # wrong
two_up.prove(time_limit="60")  # wrong
two_up.bench(mode=1)  # wrong
two_up.export("out")  # wrong
two_up.export("out", "c", force="yes")  # wrong
north.listing("gas", endbr64=True).upper()
two_up.prove("avx2", 4).fine is True
'''
"""Each line that ends with `# wrong` has a wrong argument, no other line has."""


@pytest.mark.slow
def test_a_type_checker_finds_wrong_arguments(tmp_path: Path) -> None:
    file = tmp_path / "misused.py"
    file.write_text(MISUSED, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(ROOT)})
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error: " in line}
    assert found == {at for at, line in enumerate(MISUSED.splitlines(), 1) if line.endswith("# wrong")}, done.stdout


@pytest.mark.parametrize("kind", [setwise.OwnRoutine, setwise.OneDirection, setwise.KernelFunction])
def test_methods_are_documented_and_typed(kind: type) -> None:
    methods = {name: each for name, each in inspect.getmembers(kind, inspect.isfunction) if name[:1] != "_"}
    assert {"listing", "count", "cost", "check", "prove", "bench"} <= methods.keys()
    for name, method in methods.items():
        assert method.__doc__, name
        signature = inspect.signature(method)
        assert signature.return_annotation is not signature.empty, name
        for parameter in [*signature.parameters.values()][1:]:
            assert parameter.annotation is not parameter.empty, (name, parameter)
            assert parameter.kind is not parameter.VAR_KEYWORD, (name, parameter)
