"""What compilers make of the seeds' C is proved; without its wrap mask, or with a mistaken one, it is refuted."""

from collections import Counter
from pathlib import Path

import pytest

from setwise.analysis.code.objects import ObjectError, load
from setwise.analysis.proof.certificate import Confirmation
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec import raywalk
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.analysis.listings import compiled
from tests.conftest import few, require_module
from tests.seeds_c import DIRECTIONS, ROUTINES, function, source, symbol

require_module("bitwuzla")

COMPILERS = ("gcc", "clang-19")
FLAGS = (("-O2",), ("-O3", "-march=x86-64-v4"), ("-O1", "-mbmi2"))
HEAD = "typedef unsigned long long U64;\n#define ABI\n"
NOT_A, NOT_H = "0xfefefefefefefefeULL", "0x7f7f7f7f7f7f7f7fULL"


def broken(routine: str) -> dict[str, str]:
    """The C function with its wrap mask left out, where it has one, and with a mistaken one."""
    text = function(routine)
    right, other = (NOT_A, NOT_H) if NOT_A in text else (NOT_H, NOT_A)
    if right in text:
        return {
            "left out": text.replace(f"pro &= {right};", "").replace(f" & {right}", ""),
            "left out of the path": text.replace(f"pro &= {right};", ""),
            "mistaken": text.replace(right, other),
        }
    # Up and down nothing wraps; a mask is mistaken there.
    return {"mistaken": text.replace("U64 pro) {", f"U64 pro) {{\n    pro &= {NOT_A};")}


@pytest.mark.parametrize(
    ("compiler", "flags"),
    [
        pytest.param(compiler, flags, id=" ".join((compiler, *flags)), marks=pytest.mark.slow if more else ())
        for compiler in COMPILERS
        for more, flags in enumerate(FLAGS)
    ],
)
def test_what_compilers_make_of_the_seeds_is_proved(tmp_path: Path, compiler: str, flags: tuple[str, ...]) -> None:
    made = compiled(tmp_path, source(), "-DABI=", *flags, compiler=compiler)
    prover = Prover()
    for routine in ROUTINES:
        task = task_of(lower(find(routine), "x86-64", "sysv"))
        proof = prover.prove(load(made, symbol(routine)), task)
        assert (routine, proof.status, proof.reason) == (routine, "proved", "")


ARRAYS = """
void batch(const U64 *gen, const U64 *pro, U64 *result, U64 n) {
    for (U64 i = 0; i < n; i++) result[i] = kogge_stone_attacks_noEa(gen[i], pro[i]);
}
"""
LOOPS = (
    "gcc -O2",
    "gcc -O2 -funroll-loops",
    "gcc -O3",
    "gcc -O3 -march=x86-64-v4",
    "clang-19 -O1",
    "clang-19 -O2",
    "clang-19 -O3 -march=x86-64-v4",
)


@pytest.mark.parametrize("how", few(LOOPS, 3))
def test_what_compilers_make_of_loops_over_arrays_is_proved_for_all_n(tmp_path: Path, how: str) -> None:
    """In vectors, with what is left over in loops of their own, and apart where arrays overlap."""
    compiler, *flags = how.split()
    name = "kogge-stone.attacks.noEa"
    task = task_of(lower(find(f"{name}.batch"), "x86-64", "sysv"))
    made = compiled(tmp_path, HEAD + "static inline " + function(name) + ARRAYS, *flags, compiler=compiler)
    proof = Prover().prove(load(made, "batch"), task)
    assert (proof.status, proof.reason) == ("proved", "")
    assert proof.induction
    text = HEAD + "static inline " + broken(name)["left out"] + ARRAYS
    proof = Prover().prove(load(compiled(tmp_path, text, *flags, compiler=compiler), "batch"), task)
    assert (proof.status, proof.reason) == ("refuted", "attacks is wrong")


def test_another_convention_is_held_to_its_own_registers(tmp_path: Path) -> None:
    made = compiled(tmp_path, source(), "-DABI=__attribute__((ms_abi))")
    binary = load(made, symbol("kogge-stone.attacks.west"))
    for abi, status in (("win64", "proved"), ("sysv", "refuted")):
        kernel = lower(find("kogge-stone.attacks.west"), "x86-64", abi)
        assert Prover().prove(binary, task_of(kernel)).status == status


@pytest.mark.parametrize("compiler", few(["gcc", "clang-19"], 1))
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("family", [pytest.param("dumb7", marks=pytest.mark.slow), "kogge-stone"])
def test_a_wrap_mask_that_is_not_right_is_refuted_by_a_board(
    tmp_path: Path, compiler: str, direction: str, family: str
) -> None:
    routine = f"{family}.attacks.{direction}"
    kernel = lower(find(routine), "x86-64", "sysv")
    for how, text in broken(routine).items():
        made = compiled(tmp_path, HEAD + text, compiler=compiler)
        proof = Prover().prove(load(made, symbol(routine)), task_of(kernel))
        assert (how, proof.status, proof.reason) == (how, "refuted", "attacks is wrong")
        found = proof.counterexample
        assert found is not None
        words = dict(found.words)
        assert found.expected == (raywalk.attacks(direction, words["sliders"], words["empty"]),)
        assert words["sliders"].bit_count() == 1  # a board that is easy to read
        assert proof.confirmation == Confirmation("confirmed", "confirmed by stepping", found.got)


CONTRACTS = {
    "pair": "sliders.pair",
    "one": "kogge-stone.attacks.nort",
    "boards": "kogge-stone.attacks.nort.batch",
    "any": "kogge-stone.attacks.any",
}
WIDE = "-O3 -march=x86-64-v4 -mprefer-vector-width=512"
GCC = f"""-O0|-O2|-O3|-Os|-O3 -march=icelake-server|{WIDE}
-O3 -march=skylake-avx512 --param vect-partial-vector-usage=1|-O2 -fstack-check|-O2 -fstack-clash-protection
-O2 -mstackrealign|-O2 -fPIC|-O3 -mtune=bdver4 -mavx|-O3 -march=silvermont|-O3 -fprefetch-loop-arrays
-O3 -march=haswell -funroll-all-loops|-O2 -mno-red-zone -fno-omit-frame-pointer
-O2 -ftrivial-auto-var-init=pattern|-O2 -fno-jump-tables -fcf-protection=full"""
CLANG = """-O0|-O2|-O3|-Oz|-O3 -march=sapphirerapids|-O3 -march=znver4
-O3 -march=skylake -mllvm -force-vector-interleave=4|-O2 -mspeculative-load-hardening|-O2 -mretpoline
-O2 -fsanitize=undefined -fsanitize-trap=all
-O3 -march=sapphirerapids -mllvm -prefer-predicate-over-epilogue=predicate-dont-vectorize
-O3 -march=haswell -mllvm -enable-epilogue-vectorization"""
MOST_UNPROVED = {"gcc": 0, "clang-19": 1}


@pytest.mark.slow
@pytest.mark.parametrize(("compiler", "ways"), [("gcc", GCC), pytest.param("clang-19", CLANG, marks=pytest.mark.long)])
def test_what_compilers_make_by_any_option_is_not_refuted(compiler: str, ways: str, tmp_path: Path) -> None:
    statuses = Counter[str]()
    text = Path(__file__).with_name("options.c").read_text()
    for options in ways.replace("\n", "|").split("|"):
        made = compiled(tmp_path, text, *options.split(), compiler=compiler)
        for name, spec in CONTRACTS.items():
            try:
                certificate = Prover().prove(load(made, name, calls=True), task_of(lower(find(spec), "x86-64", "sysv")))
            except ObjectError:
                statuses["refused"] += 1
                continue
            statuses[certificate.status] += 1
            assert certificate.status != "refuted", f"{options}: {name}: {certificate.reason}"
    assert statuses["refused"] + statuses["not proved"] <= MOST_UNPROVED[compiler], statuses
