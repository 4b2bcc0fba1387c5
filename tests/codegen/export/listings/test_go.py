"""The Go export: what it says, and what Go's assembler makes of it, proved and run from a Go program."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.code.decode import Binary
from setwise.analysis.code.objects import load_all
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.task import Place, Task
from setwise.codegen.export.listings import go
from setwise.codegen.export.names import go_name
from setwise.codegen.export.objects.relocatable import with_endbr64
from setwise.codegen.kernel import Kernel
from setwise.codegen.request import Request
from setwise.codegen.targets import TARGETS
from tests.codegen.export.exports import kernel, order, spread
from tests.conftest import require_tool

SAMPLE = (
    ("kogge-stone.attacks.sout", "x86-64"),
    ("sliders.union", "x86-64"),
    ("sliders.union", "avx2"),
    ("sliders.union", "avx512"),
    ("sliders.pair", "avx2"),
    ("sliders.sides", "x86-64"),  # values on the stack, the frame pointer in use
    ("side.pieces.white", "x86-64"),  # arguments beyond the registers, and beside values on the stack
    ("shift.one.any", "bmi2"),
    ("bytewise.carry-loop-32", "bmi2"),  # a loop, and its result on the stack
    ("dumb7.occluded-until-dry.any", "x86-64"),
    ("kogge-stone.attacks.east.batch", "sse2"),
    ("kogge-stone.attacks.east.batch", "avx512"),
)
MAIN = """package main

import (
	"example/setwise"
	"fmt"
)

//go:noinline
func keep(function any) {}

func main() {
%s
	boards, empty := []uint64{1, 2, 3}, []uint64{^uint64(1), ^uint64(2), ^uint64(3)}
	setwise.KoggeStoneAttacksEastBatchSSE2(&boards[0], &empty[0], &boards[0], 3)
	fmt.Printf("%%x %%x\\n", setwise.SlidersUnionX86(1<<28, 0, 1<<28), boards)
}
"""


def package(directory: Path, kernels: Sequence[Kernel]) -> Path:
    """A Go module with the exported package and a program that holds on to all of it; gives the program."""
    (directory / "setwise").mkdir()
    (directory / "go.mod").write_text("module example\n\ngo 1.19\n")
    for name, content in go.files(order(kernels)).items():
        (directory / "setwise" / name).write_bytes(content)
    (directory / "main.go").write_text(MAIN % "\n".join(f"\tkeep(setwise.{go_name(one)})" for one in kernels))
    for command in (["vet", "./..."], ["build", "-o", "program", "."]):
        done = subprocess.run([require_tool("go"), *command], cwd=directory, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return directory / "program"


def go_task(one: Kernel) -> Task:
    """The kernel's task in Go's convention: all words on the stack, only the frame pointer kept."""
    task = task_of(one)
    arguments = [replace(arg, place=Place("stack", offset=8 * at)) for at, arg in enumerate(task.arguments, 1)]
    words, results = len(arguments), task.results
    if results[0].place.file == "general":
        words += 1
        results = (replace(results[0], place=Place("stack", offset=8 * words)),)
    return replace(
        task, arguments=tuple(arguments), results=results, saved=("rbp",), saved_vectors=(), red_zone=0, home=8 * words
    )


def linked(program: Path, kernels: Sequence[Kernel]) -> list[tuple[Kernel, Binary]]:
    """The kernels with their functions' bytes as Go linked them."""
    names = {f"example/setwise.{go_name(one)}.abi0": one for one in kernels}
    found = load_all(program, names)
    assert found.keys() == names.keys()
    return [(names[name], one) for name, one in found.items() if isinstance(one, Binary)]


def assert_proved(program: Path, kernels: Sequence[Kernel]) -> None:
    prover = Prover()
    functions = linked(program, kernels)
    assert len(functions) == len(kernels)
    for one, binary in functions:
        made = prover.prove(binary, go_task(one))
        assert made.status == "proved", f"{one.name} {one.target.name}: {made.reason}"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(tmp_path_factory.mktemp("go"), [kernel(*names) for names in SAMPLE])


def test_go_programs_call_the_kernels(program: Path) -> None:
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    rook, boards = 0x1010_1010_EF10_1010, [0xFE, 0xFC, 0xFE]
    assert done.stdout == f"{rook:x} [{' '.join(f'{board:x}' for board in boards)}]\n"


def test_the_bytes_that_go_makes_are_proved(program: Path) -> None:
    assert_proved(program, [kernel(*names) for names in SAMPLE])


def test_a_wrong_result_on_the_stack_would_be_refuted(program: Path) -> None:
    one = kernel("kogge-stone.attacks.sout")
    ((_, binary),) = linked(program, [one])
    other = replace(go_task(one), direction="nort")
    assert Prover().prove(binary, other).status == "refuted"


def callable_from_go(job: Request) -> bool:
    """Whether Go has words for its jumps and its arguments; arrays in the widest registers alone."""
    if job.routine.contract.elements:
        return job.lanes == TARGETS[job.isa].widths[0]
    vectors = (job.lanes or 1) > 1 and job.routine.batched
    return not vectors and job.routine.family != "exploding"


@pytest.mark.slow
def test_what_go_can_call_is_proved(tmp_path: Path) -> None:
    """Every family, form and kind of argument with every instruction set; directions take turns."""
    kernels = [kernel(*names) for names in SAMPLE]  # which the program calls
    names = {go_name(one) for one in kernels}
    kernels += [one for one in spread(which=callable_from_go) if go_name(one) not in names]
    assert len(kernels) > 100
    program = package(tmp_path, kernels)
    assert_proved(program, kernels)


def test_the_files_are_as_gofmt_wants_them(tmp_path: Path) -> None:
    files = go.files(order([kernel("sliders.pair", "avx2"), kernel("kogge-stone.attacks.east.batch", "avx512")]))
    (tmp_path / "setwise.go").write_bytes(files["setwise_amd64.go"])
    done = subprocess.run([require_tool("gofmt"), "-d", tmp_path / "setwise.go"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (("kogge-stone.attacks.sout", "avx2"), "takes vectors, which Go cannot pass"),
        (("kogge-stone.attacks.sout", "x86-64", "win64"), "its own calling convention, not win64"),
        (("exploding.rook",), "jump table"),
    ],
)
def test_what_go_cannot_have_is_refused(names: tuple[str, ...], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        go.files(order([kernel(*names)]))


def test_endbr64_is_refused() -> None:
    wanted = replace(order([with_endbr64(kernel("kogge-stone.attacks.sout"))]), endbr64=True)
    with pytest.raises(ValueError, match="omit --endbr64"):
        go.files(wanted)
