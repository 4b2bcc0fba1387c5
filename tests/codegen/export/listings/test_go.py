"""The Go export: what it says, and what Go's assembler makes of it, proved and run from a Go program."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.code.decode import Binary
from setwise.analysis.code.objects import load_all
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.task import Place, Task
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.export.names import go_exported, go_name, symbol_of
from setwise.codegen.export.prototypes import returns
from setwise.codegen.export.sources import go_package
from setwise.codegen.export.sources.requirements import BITS, FAST_PEXT
from setwise.codegen.kernel import Kernel
from setwise.codegen.request import Request
from setwise.codegen.targets import TARGETS
from setwise.codegen.variants import variant_named
from tests.codegen.export.exports import kernel, order, spread
from tests.codegen.export.machines import natively, under_qemu
from tests.codegen.export.sources.exported import cpuid_cases
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


def go_build(directory: Path, *more: tuple[str, str]) -> Path:
    """The program of the module in a folder, without warnings, for this environment."""
    for command in (["vet", "./..."], ["build", "-o", "program", "."]):
        environment = {**os.environ, "CGO_ENABLED": "0", **dict(more)}
        done = subprocess.run(
            [require_tool("go"), *command], cwd=directory, capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
    return directory / "program"


def written(directory: Path, main: str, files: Mapping[str, bytes]) -> Path:
    """A folder with a Go module: the program's text, and the package setwise with these files."""
    (directory / "setwise").mkdir()
    (directory / "go.mod").write_text("module example\n\ngo 1.18\n")
    (directory / "main.go").write_text(main)
    for name, content in files.items():
        (directory / "setwise" / name).write_bytes(content)
    return directory


def package(directory: Path, kernels: Sequence[Kernel]) -> Path:
    """A Go module with the exported package and a program that holds on to all of it; gives the program."""
    main = MAIN % "\n".join(f"\tkeep(setwise.{go_name(one)})" for one in kernels)
    return go_build(written(directory, main, go_package.files(order(kernels))))


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


@pytest.mark.slow
def test_go_programs_call_the_kernels(program: Path) -> None:
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    rook, boards = 0x1010_1010_EF10_1010, [0xFE, 0xFC, 0xFE]
    assert done.stdout == f"{rook:x} [{' '.join(f'{board:x}' for board in boards)}]\n"


@pytest.mark.slow
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
@pytest.mark.long
def test_what_go_can_call_is_proved(tmp_path: Path) -> None:
    """Every family, form and kind of argument with every instruction set; directions take turns."""
    kernels = [kernel(*names) for names in SAMPLE]  # which the program calls
    names = {go_name(one) for one in kernels}
    kernels += [one for one in spread(which=callable_from_go) if go_name(one) not in names]
    assert len(kernels) > 100
    program = package(tmp_path, kernels)
    assert_proved(program, kernels)


def test_the_files_are_as_gofmt_wants_them(tmp_path: Path) -> None:
    made = [kernel(name, isa) for name, isa in SAMPLE if isa == "x86-64"]
    files = go_package.files(order([*made, *choosing(), kernel("kogge-stone.attacks.east.batch", "avx512")]))
    sources = [name for name in files if name.endswith(".go")]
    assert sources == ["setwise_amd64.go", "setwise_generic.go"]
    for name in sources:
        (tmp_path / name).write_bytes(files[name])
    done = subprocess.run([require_tool("gofmt"), "-d", tmp_path], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


COMPARED = """package main

import (
	"example/generic"
	"example/setwise"
	"fmt"
	"math/rand"
)

func panics(call func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	call()
	return
}

func main() {
	for i := 0; i < 500; i++ {
		boards := func() []uint64 {
			made := make([]uint64, i%%11)
			for at := range made {
				made[at] = rand.Uint64() & rand.Uint64()
			}
			return made
		}
		_ = boards
%s
	}
%s
	fmt.Println("same")
}
"""


def compared(one: Kernel) -> str:
    """Statements that call a routine's Go code and its assembly with equal arguments, and compare the results."""
    contract, name = one.routine.contract, go_exported(symbol_of(one.name))
    said = f'panic("{name} differs")'
    if contract.elements:
        *inputs, _ = [p.name for p in contract.parameters if p.kind == "boards"]
        boards = ", ".join(inputs)
        return f"""{{
            {boards}, got, want := {"boards(), " * len(inputs)}make([]uint64, i%11), make([]uint64, i%11)
            generic.{name}({boards}, got)
            setwise.{name}({boards}, want)
            for at := range got {{ if got[at] != want[at] {{ {said} }} }}
        }}"""
    given = [p for p in contract.parameters if p.kind != "results"]
    values = [f"rand.Uint64()%{p.below}" if p.below else "rand.Uint64()&rand.Uint64()" for p in given]
    names, start = ", ".join(p.name for p in given), f"{{ {', '.join(p.name for p in given)} := {', '.join(values)}; "
    if returns(one):
        return f"{start}if generic.{name}({names}) != setwise.{name}({names}) {{ {said} }} }}"
    arrays = f"var got, want [{len(contract.results)}]uint64; generic.{name}({names}, &got); "
    return f"{start}{arrays}setwise.{name}({names}, &want); if got != want {{ {said} }} }}"


PANICS = """
	for _, call := range []func(){
		func() { generic.KoggeStoneAttacksAny(1, 0, 8) },
		func() { setwise.KoggeStoneAttacksAny(1, 0, 8) },
		func() { generic.KoggeStoneAttacksEastBatch(make([]uint64, 2), make([]uint64, 1), make([]uint64, 2)) },
		func() { setwise.KoggeStoneAttacksEastBatch(make([]uint64, 2), make([]uint64, 1), make([]uint64, 2)) },
		func() { setwise.KoggeStoneAttacksEastBatch(make([]uint64, 1), make([]uint64, 2), make([]uint64, 2)) },
	} {
		if !panics(call) {
			panic("no panic")
		}
	}
"""


def assert_same(directory: Path, kernels: Sequence[Kernel], others: str = "") -> None:
    """The Go code of these routines, which is for other processors, computes what the assembly does."""
    files = go_package.files(order(kernels))
    code = files.pop("setwise_generic.go").decode().replace("//go:build !amd64\n", "")
    calls = "\n".join(map(compared, kernels))
    written(directory, COMPARED % (calls, others), files)
    (directory / "generic").mkdir()
    (directory / "generic" / "generic.go").write_text(code.replace("package setwise", "package generic"))
    assert natively(go_build(directory)) == "same\n"


def test_go_code_computes_the_same(tmp_path: Path) -> None:
    names = [name for name, isa in SAMPLE if isa == "x86-64"]
    names += ["kogge-stone.attacks.east.batch", "kogge-stone.attacks.any", "bytewise.carry-loop-32"]
    exploding = [variant_named("compares", find(f"exploding.{form}"), "x86-64") for form in ("rook", "direction")]
    assert_same(tmp_path, [*map(kernel, names), *exploding], PANICS)


@pytest.mark.slow
def test_go_code_of_all_routines_computes_the_same(tmp_path: Path) -> None:
    wanted = [each for each in catalogue().values() if each.family != "exploding"]
    assert_same(tmp_path, [kernel(each.name) for each in wanted if "x86-64" in each.isas])


CHOOSES = """package main

import (
	"example/setwise"
	"fmt"
)

func main() {
	fmt.Println(setwise.SlidersUnion(1, 4, 5), setwise.SlidersUnionISA()%s)
}
"""
ATTACKED = 0x0101_8141_2111_0B06


def choosing() -> list[Kernel]:
    made = [kernel("sliders.union", isa) for isa in ("x86-64", "bmi2", "avx2", "avx512", "gfni")]
    return [*made, variant_named("pext", find("sliders.union"), "bmi2")]


def test_a_program_chooses_on_other_processors(tmp_path: Path) -> None:
    program = go_build(written(tmp_path, CHOOSES % "", go_package.files(order(choosing()))))
    told = {
        "Nehalem": "x86-64",
        "Haswell": "avx2",
        "Haswell,-xsave": "bmi2-pext",
        "Haswell,-avx2": "bmi2-pext",
        "EPYC": "avx2",
        "EPYC,-avx2": "bmi2",
        "EPYC-Rome,-avx2": "bmi2",
        "EPYC-Milan,-avx2": "bmi2-pext",
    }
    for processor, isa in told.items():
        assert under_qemu(processor, program).split() == [str(ATTACKED), isa], processor


def test_kernels_require_the_features_of_their_bytes(tmp_path: Path) -> None:
    """The kernel for AVX2 has rorx, of BMI2; its source would not need it."""
    kernels = [kernel("kogge-stone.attacks.east.batch", isa) for isa in ("x86-64", "sse2", "avx2")]
    main = CHOOSES.replace("setwise.SlidersUnion(1, 4, 5), ", "") % ""
    main = main.replace("SlidersUnion", "KoggeStoneAttacksEastBatch")
    program = go_build(written(tmp_path, main, go_package.files(order(kernels))))
    assert [under_qemu(name, program) for name in ("Haswell", "Haswell,-bmi2")] == ["avx2\n", "sse2\n"]


def test_other_architectures_have_go_code(tmp_path: Path) -> None:
    folder = written(tmp_path, CHOOSES % "", go_package.files(order(choosing())))
    program = go_build(folder, ("GOARCH", "arm64"))
    assert under_qemu("max", program, machine="aarch64").split() == [str(ATTACKED), "portable"]


def test_every_bit_that_bytes_need_is_asked_for_in_go(tmp_path: Path) -> None:
    kernels = [*choosing(), kernel("sliders.rays", "avx512"), kernel("sliders.rays"), kernel("sliders.rays", "sse2")]
    files = go_package.files(order(kernels))
    wanted = [each for each in BITS if f"found.{each.replace('-p', 'P')} " in files["setwise_amd64.go"].decode()]
    assert {"sse2", "bmi1", "bmi2", FAST_PEXT, "avx2", "avx512f", "avx512vl", "gfni"} <= {*wanted}
    cases: list[str] = []
    for a, b, c, state, bits in cpuid_cases(wanted):
        words = ", ".join(f"[4]uint32{{{', '.join(map(str, leaf))}}}" for leaf in (a, b, c))
        found = ", ".join(f"{each.replace('-p', 'P')}: true" for each in wanted if BITS[each] & bits)
        cases.append(f"\tif featuresOf({words}, {state}) != (features{{{found}}}) {{ return {len(cases) + 1} }}")
    files["words.go"] = "\n".join(("package setwise", "func Wrong() int {", *cases, "\treturn 0", "}")).encode()
    program = go_build(written(tmp_path, CHOOSES % ", setwise.Wrong()", files))
    assert natively(program).split()[-1] == "0"


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
        go_package.files(order([kernel(*names)]))
